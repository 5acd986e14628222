"""A fitted tree of exact leaves: each row is predicted by the one leaf it falls into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from krein._core.rows import row_blocks
from krein._core.threads import share
from krein.kernels import Kernel
from krein.learning.leaves.splits import SplitTree
from krein.learning.single_gram import cross_gram

__all__ = ["LeafModel", "joined"]

_ROWS_AT_A_TIME = 1024  # of those predicted: their kernel matrix with a leaf of 4,096 rows takes 16 MiB


@final
@dataclass(frozen=True, eq=False)
class LeafModel:
    r"""Rows to :math:`f(x) = k(x, X_l)\,\alpha_l + b_l`, with :math:`l` the leaf of x.

    Parameters
    ----------
    tree : SplitTree
    kernel : Kernel
        Of length scale 1.
    rows : ndarray of shape (n_rows, n_features), float32
        Leaf after leaf.
    dual : ndarray of shape (n_rows, n_outputs)
    bounds : ndarray of shape (n_leaves + 1,)
        Where each leaf begins and ends.
    scales : ndarray of shape (n_leaves,)
        Length scale in each leaf.
    offsets : ndarray of shape (n_leaves, n_outputs)
    double : ndarray of shape (n_leaves,), bool
        Leaves that single precision does not do for.
    """

    tree: SplitTree
    kernel: Kernel
    rows: np.ndarray
    dual: np.ndarray
    bounds: np.ndarray
    scales: np.ndarray
    offsets: np.ndarray
    double: np.ndarray

    def __post_init__(self) -> None:
        leaves, outputs = self.tree.n_leaves, self.dual.shape[-1]
        shapes = {
            "bounds": (self.bounds, (leaves + 1,)),
            "scales": (self.scales, (leaves,)),
            "offsets": (self.offsets, (leaves, outputs)),
            "double": (self.double, (leaves,)),
            "dual": (self.dual, (self.rows.shape[0], outputs)),
        }
        for name, (array, shape) in shapes.items():
            if array.shape != shape:
                raise ValueError(f"{name} of a model of {leaves} leaves has shape {array.shape}, not {shape}")
        if self.rows.ndim != 2 or (leaves > 1 and self.tree.directions.shape[1] != self.rows.shape[1]):
            raise ValueError(f"rows of shape {self.rows.shape} do not fit the tree's directions")
        if self.bounds.dtype.kind not in "iu" or self.double.dtype.kind != "b":
            raise ValueError(
                f"bounds must hold whole numbers and double truth values, got {self.bounds.dtype} and {self.double.dtype}"
            )
        if self.bounds[0] != 0 or self.bounds[-1] != self.rows.shape[0] or (np.diff(self.bounds) < 1).any():
            raise ValueError("bounds must lead from 0 to the number of rows, with a row in each leaf")
        if not (np.isfinite(self.scales).all() and (self.scales > 0.0).all() and np.isfinite(self.offsets).all()):
            raise ValueError("scales must be positive, and scales and offsets finite")

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return self.tree.n_leaves

    def combined(self, weights: np.ndarray, constant: np.ndarray | float = 0.0) -> LeafModel:
        """Outputs that are linear functions of these: ``f(x) @ weights + constant``."""
        dual = (self.dual @ weights).astype(self.dual.dtype)
        return replace(self, dual=dual, offsets=self.offsets @ weights + constant)

    def only(self, outputs: slice) -> LeafModel:
        """Some of the outputs."""
        return replace(self, dual=self.dual[:, outputs].copy(), offsets=self.offsets[:, outputs])

    def emptied(self) -> LeafModel:
        """Zero, on the same tree, with a row in each leaf."""
        first, n = self.bounds[:-1], np.arange(self.n_leaves + 1)
        dual = np.zeros_like(self.dual[first])
        return replace(self, rows=self.rows[first], dual=dual, bounds=n, offsets=np.zeros_like(self.offsets))

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Values of shape (n_rows, n_outputs), float64, for rows placed as those of the leaves were."""
        X = np.asarray(X)
        out = np.empty((X.shape[0], self.offsets.shape[1]))
        found = self.tree(X)
        order = np.argsort(found, kind="stable")
        ends = np.searchsorted(found[order], np.arange(self.n_leaves + 1))
        pieces = [
            (leaf, order[ends[leaf] + part.start : ends[leaf] + part.stop])
            for leaf in range(self.n_leaves)
            for part in row_blocks(int(ends[leaf + 1] - ends[leaf]), _ROWS_AT_A_TIME)
        ]

        def predict(piece: tuple[int, np.ndarray]) -> None:
            leaf, here = piece
            dtype = np.float64 if self.double[leaf] else np.float32
            inside = slice(self.bounds[leaf], self.bounds[leaf + 1])
            gram = cross_gram(
                self.kernel.scaled(float(self.scales[leaf])),
                X[here].astype(dtype, copy=False),
                np.asarray(self.rows[inside], dtype=dtype),
            )
            out[here] = gram @ np.asarray(self.dual[inside], dtype=dtype)
            out[here] += self.offsets[leaf]

        share(predict, pieces)
        return out


def joined(tree: SplitTree, models: Sequence[LeafModel]) -> LeafModel:
    """One model of models that stand in the leaves of a tree."""
    if len(models) == 1:
        return models[0]
    ends = np.cumsum([0, *(model.rows.shape[0] for model in models)])
    return LeafModel(
        tree.grown([model.tree for model in models]),
        models[0].kernel,
        np.concatenate([model.rows for model in models]),
        np.concatenate([model.dual for model in models]),
        np.concatenate([[0], *(model.bounds[1:] + end for model, end in zip(models, ends[:-1], strict=True))]),
        np.concatenate([model.scales for model in models]),
        np.concatenate([model.offsets for model in models]),
        np.concatenate([model.double for model in models]),
    )
