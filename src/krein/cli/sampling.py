"""A sample of the rows of a table, taken in one pass."""

import numpy as np

from krein.files.tables import TableChunks

__all__ = ["fair_sample"]


def fair_sample(chunks: TableChunks, most_rows: int, seed: int) -> tuple[np.ndarray, ...]:
    """Rows drawn with equal chances, in a random order.

    Parameters
    ----------
    chunks : TableChunks
        Passed over once; no more than the sample and a chunk are held.
    most_rows : int
        All of them if there are fewer.
    seed : int

    Returns
    -------
    tuple of ndarray
        What a chunk is: rows, and targets if it has them.
    """
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
