"""Rows assigned to the parts of a coarse tree as they are read, in memory or, if there are many, in files."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np

from krein.learning.leaves.choice import LeafRows
from krein.learning.leaves.splits import SplitTree

__all__ = ["DealtRows"]

_IN_MEMORY = 2**30  # bytes of placed rows and targets; more go to files


Result = TypeVar("Result")


@final
class DealtRows:
    """Rows of the parts of a tree, which come block by block and are worked on part by part.

    Up to 1 GiB they are kept in memory; from there on all of them in temporary files, which vanish with this object.

    Parameters
    ----------
    tree : SplitTree
    prepare : callable
        ``(start, X, y, weight) -> LeafRows``, a block as leaves learn from it.
    in_memory : int, default=2**30
        Bytes to keep in memory.
    """

    def __init__(self, tree: SplitTree, prepare: Callable[..., LeafRows], *, in_memory: int | None = None) -> None:
        self.tree, self._prepare = tree, prepare
        self.n_parts = tree.n_leaves
        self._limit, self._bytes = _IN_MEMORY if in_memory is None else in_memory, 0
        self._parts: list[list[LeafRows]] = [[] for _ in range(tree.n_leaves)]
        self._kinds: dict[str, tuple[int, np.dtype]] = {}
        self._folder: Path | None = None

    @property
    def on_disk(self) -> bool:
        """Whether the rows went to files."""
        return self._folder is not None

    def cut(self, start: int, X: Any, y: Any, weight: np.ndarray | None) -> list[LeafRows]:
        """The rows of a block that fall into each part, in their order."""
        if weight is not None and not weight.all():  # rows of weight zero are not there
            present = np.flatnonzero(weight)
            X, y, weight = X[present], y[present], weight[present]
        block = self._prepare(start, X, y, weight)
        found = self.tree(block.X)
        return [block.some(np.flatnonzero(found == part)) for part in range(self.n_parts)]

    def joined(self, pieces: list[LeafRows]) -> LeafRows:
        """Rows of several pieces, one after the other."""
        if len(pieces) == 1:
            return pieces[0]
        trends = [piece.trend for piece in pieces if piece.trend is not None]
        weights = [piece.weight for piece in pieces if piece.weight is not None]
        return LeafRows(
            np.concatenate([piece.X for piece in pieces]),
            np.concatenate([piece.targets for piece in pieces]),
            np.concatenate(trends) if trends else None,
            np.concatenate(weights) if weights else None,
        )

    def add(self, start: int, X: Any, y: Any, weight: np.ndarray | None) -> None:
        """Deal a block."""
        dealt = self.cut(start, X, y, weight)
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

    def map(
        self,
        work: Callable[[LeafRows], Result],
        numbers: Sequence[int],
        *,
        last: bool = False,
        report: Callable[[int, int], object] | None = None,
    ) -> list[Result]:
        """Results for some parts; `last`: a part is forgotten once its result is there."""
        found = []
        for done, number in enumerate(numbers):
            found.append(work(self._rows(number)))
            if last:
                self._drop(number)
            if report is not None:
                report(done + 1, len(numbers))
        return found

    def _rows(self, part: int) -> LeafRows:
        """All rows of a part, in the order they came in."""
        if self._folder is not None:
            return self._read(part)
        whole = self.joined(self._parts[part])
        self._parts[part] = [whole]
        return whole

    def _drop(self, part: int) -> None:
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
