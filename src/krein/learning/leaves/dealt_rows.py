"""Rows assigned to the parts of a coarse tree as they are read, in memory or, if there are many, in files."""

from __future__ import annotations

import tempfile
import weakref
from pathlib import Path
from typing import final

import numpy as np

from krein.learning.leaves.choice import LeafRows
from krein.learning.leaves.splits import SplitTree

__all__ = ["DealtRows", "deal_block", "stacked_rows"]

_IN_MEMORY = 2**30  # bytes of placed rows and targets; more go to files


def deal_block(tree: SplitTree, block: LeafRows) -> list[LeafRows]:
    """The rows of a block that fall into each part of a tree, in their order."""
    found = tree(block.X)
    if block.weight is not None:
        found = np.where(block.weight > 0.0, found, -1)
    return [block.some(np.flatnonzero(found == part)) for part in range(tree.n_leaves)]


@final
class DealtRows:
    """Rows of the parts of a tree, which come block by block and are taken out part by part.

    Up to 1 GiB they are kept in memory; from there on all of them in temporary files, which vanish with this object.

    Parameters
    ----------
    tree : SplitTree
    in_memory : int, default=2**30
        Bytes to keep in memory.
    """

    def __init__(self, tree: SplitTree, *, in_memory: int = _IN_MEMORY) -> None:
        self.tree = tree
        self._limit, self._bytes = in_memory, 0
        self._parts: list[list[LeafRows]] = [[] for _ in range(tree.n_leaves)]
        self._kinds: dict[str, tuple[int, np.dtype]] = {}
        self._folder: Path | None = None

    @property
    def on_disk(self) -> bool:
        """Whether the rows went to files."""
        return self._folder is not None

    def add(self, block: LeafRows) -> None:
        """Deal some more rows."""
        dealt = deal_block(self.tree, block)
        if self._folder is None:
            for kept, part in zip(self._parts, dealt, strict=True):
                if part.X.shape[0] or not kept:
                    kept.append(part)
                    self._bytes += sum(array.nbytes for array in _arrays(part).values())
            if self._bytes > self._limit:
                self._to_files()
            return
        for number, part in enumerate(dealt):
            self._write(number, part)

    def rows(self, part: int) -> LeafRows:
        """All rows of a part, in the order they came in."""
        if self._folder is not None:
            return self._read(part)
        whole = stacked_rows(self._parts[part])
        self._parts[part] = [whole]
        return whole

    def drop(self, part: int) -> None:
        """Forget the rows of a part."""
        self._parts[part] = []
        for path in [] if self._folder is None else self._folder.glob(f"{part}.*"):
            path.unlink()

    def _to_files(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="krein-leaves-")
        weakref.finalize(self, folder.cleanup)
        self._folder = Path(folder.name)
        for number, kept in enumerate(self._parts):
            for block in kept:
                self._write(number, block)
            kept.clear()

    def _write(self, number: int, part: LeafRows) -> None:
        assert self._folder is not None
        for name, array in _arrays(part).items():
            self._kinds[name] = (array.shape[1] if array.ndim > 1 else 0, array.dtype)
            with (self._folder / f"{number}.{name}").open("ab") as file:
                np.ascontiguousarray(array).tofile(file)

    def _read(self, number: int) -> LeafRows:
        assert self._folder is not None
        arrays: dict[str, np.ndarray | None] = dict.fromkeys(("X", "targets", "trend", "weight"))
        for name, (width, dtype) in self._kinds.items():
            flat = np.fromfile(self._folder / f"{number}.{name}", dtype=dtype)
            arrays[name] = flat.reshape(-1, width) if width else flat
        X, targets = arrays["X"], arrays["targets"]
        assert X is not None and targets is not None  # noqa: PT018  # written with the first block
        return LeafRows(X, targets, arrays["trend"], arrays["weight"])


def _arrays(part: LeafRows) -> dict[str, np.ndarray]:
    named = {"X": part.X, "targets": part.targets, "trend": part.trend, "weight": part.weight}
    return {name: array for name, array in named.items() if array is not None}


def stacked_rows(blocks: list[LeafRows]) -> LeafRows:
    """Rows of several blocks, one after the other."""
    if len(blocks) == 1:
        return blocks[0]
    trends = [block.trend for block in blocks if block.trend is not None]
    weights = [block.weight for block in blocks if block.weight is not None]
    return LeafRows(
        np.concatenate([block.X for block in blocks]),
        np.concatenate([block.targets for block in blocks]),
        np.concatenate(trends) if trends else None,
        np.concatenate(weights) if weights else None,
    )
