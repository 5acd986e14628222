"""A sample of the rows of a table, taken in one pass."""

import numpy as np

from krein.files.tables import TableChunks

__all__ = ["fair_sample"]


def fair_sample(chunks: TableChunks, most_rows: int, seed: int) -> tuple[np.ndarray, ...]:
    """Rows drawn with equal chances, in a random order."""
    rng = np.random.default_rng(seed)
    kept: tuple[np.ndarray, ...] | None = None
    keys = np.empty(0)
    for chunk in chunks:
        kept = chunk if kept is None else tuple(np.concatenate(pair) for pair in zip(kept, chunk, strict=True))
        keys = np.concatenate([keys, rng.random(chunk[0].shape[0])])
        best = np.argsort(keys, kind="stable")[:most_rows]  # those with the smallest of independent keys
        kept, keys = tuple(part[best] for part in kept), keys[best]
    assert kept is not None  # an empty table is refused in reading
    return kept
