r"""Linear maps to signed features in a form that half of the work multiplies with.

Features :math:`BR` and their signature stand for :math:`BRJR^TB^T`, which stays as it is where the columns of one sign are turned
among themselves. They can be turned so that column j of a group has zeros above row j: with as many rows as columns a triangle.
Penalties on the length of weights do not notice, either.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self, final

import numpy as np
from scipy import linalg

__all__ = ["Staircase", "as_staircase"]

_LEAST_COLUMNS = 16  # of a group, and
_LEAST_SHARE = 0.125  # of the rows: products with fewer are done as fast as a whole
_NEARLY_ALL = 0.85  # of the rows: a group with so many columns is a triangle of all rows, which takes no copies


def as_staircase(root: np.ndarray, signature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn the columns of each sign so that they have zeros above the diagonal; those of the more frequent sign first.

    Examples
    --------
    >>> import numpy as np
    >>> root, signature = as_staircase(np.array([[3.0, 4.0], [1.0, 2.0]]), np.ones(2))
    >>> root.round(12)
    array([[5. , 0. ],
           [2.2, 0.4]])
    """
    parts, first = [], 1.0 if 2 * np.count_nonzero(signature > 0.0) >= signature.size else -1.0
    for sign in (first, -first):
        group = root[:, signature == sign]
        if group.shape[1] and not np.triu(group[: group.shape[1]], 1).any():  # as it is to be
            parts.append(group)
        elif group.shape[1]:
            (turned,) = linalg.qr(group.T, mode="r", check_finite=False)
            turned = turned[: group.shape[1]].T
            parts.append(turned * np.where(np.diagonal(turned) < 0.0, -1.0, 1.0))
    return np.concatenate([root[:, :0], *parts], axis=1), first * -np.sort(-first * signature)


@final
@dataclass(frozen=True, eq=False)
class _Group:
    """Some columns of a matrix: whole, or a lower triangle with rows below it."""

    columns: slice
    triangle: np.ndarray | None
    others: np.ndarray


@final
@dataclass(frozen=True, eq=False)
class Staircase:
    """A matrix of which the zeros above the diagonals of some groups of columns are known; make it by `of`.

    Parameters
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    groups : tuple
        Of columns, from the first to the last.
    square : bool
        The first group is a triangle of all rows, with columns of zeros at its end.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    groups: tuple[_Group, ...]
    square: bool

    @classmethod
    def of(cls, matrix: np.ndarray, signature: np.ndarray) -> Self:
        """Look for zeros above the diagonals of columns that have one sign."""
        rows, columns = matrix.shape
        ends = [0, *(np.flatnonzero(np.diff(signature[:columns])) + 1).tolist(), columns]
        groups = []
        square = False
        for first, last in pairwise(ends):
            group, width = matrix[:, first:last], last - first
            enough = max(_LEAST_COLUMNS, _LEAST_SHARE * rows)
            if not enough <= width <= rows or np.triu(group[:width], 1).any():
                groups.append(_Group(slice(first, last), None, np.ascontiguousarray(group)))
            elif first == 0 and width > _NEARLY_ALL * rows:
                groups.append(_Group(slice(first, last), np.pad(group, ((0, 0), (0, rows - width))), group[rows:]))
                square = True
            else:
                groups.append(_Group(slice(first, last), np.ascontiguousarray(group[:width]), group[width:]))
        return cls((rows, columns), matrix.dtype, tuple(groups), square)

    @property
    def in_place(self) -> bool:
        """Whether a product may be written where the other factor was."""
        return self.square and self.shape[0] == self.shape[1]

    def multiply(self, block: np.ndarray, out: np.ndarray) -> None:
        """Write ``block @ matrix``."""
        products = [_product(block, group) for group in self.groups[self.square :]]
        if self.square:
            triangle, columns = self.groups[0].triangle, self.groups[0].columns
            assert triangle is not None
            _triangular(block, triangle)
            if out is not block:
                out[:, columns] = block[:, columns]
        for group, product in zip(self.groups[self.square :], products, strict=True):
            out[:, group.columns] = product


def _product(block: np.ndarray, group: _Group) -> np.ndarray:
    if group.triangle is None:
        return np.asarray(block @ group.others)
    width = len(group.triangle)
    product = _triangular(block[:, :width].copy(), group.triangle)
    return product + block[:, width:] @ group.others if len(group.others) else product


def _triangular(block: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """``block @ triangle``, written over the block; BLAS sees the transposes of both, which lie in its order."""
    trmm: Any = linalg.get_blas_funcs("trmm", (triangle, block))
    return np.asarray(trmm(1.0, triangle.T, block.T, lower=0, overwrite_b=True).T)
