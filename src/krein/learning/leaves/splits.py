"""A balanced tree of splits: rows are halved at the median along their first principal direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from krein._core.rows import row_blocks

__all__ = ["Division", "SplitTree", "divide", "outline", "principal_direction"]

_Rows = tuple[np.ndarray, np.ndarray]  # numbers of a part's own rows, and of these and those beyond its borders
_Split = tuple[np.ndarray, float, tuple[_Rows, _Rows]]  # direction, cut, rows on either side

_DIRECTION_ROWS = 2048  # rows that a direction is found from
_ROUTED_AT_A_TIME = 2**14  # rows


@final
@dataclass(frozen=True, eq=False)
class SplitTree:
    r"""Splits :math:`v^\top x \le c`, each leading to two further splits or leaves.

    Parameters
    ----------
    directions : ndarray of shape (n_splits, n_features)
    cuts : ndarray of shape (n_splits,)
    children : ndarray of shape (n_splits, 2), integer
        Where rows go with :math:`v^\top x \le c`, and the others: to split i, or as ``~i`` to leaf i. The first split is
        the root. Children come after their parents.

    Examples
    --------
    >>> import numpy as np
    >>> tree = SplitTree(np.array([[1.0, 0.0]]), np.array([0.5]), np.array([[~0, ~1]]))
    >>> tree(np.array([[0.0, 7.0], [1.0, 7.0]]))
    array([0, 1])
    """

    directions: np.ndarray
    cuts: np.ndarray
    children: np.ndarray

    def __post_init__(self) -> None:
        n = self.cuts.shape[0]
        if self.cuts.shape != (n,) or self.directions.shape[:1] != (n,) or self.children.shape != (n, 2):
            raise ValueError(
                f"directions {self.directions.shape}, cuts {self.cuts.shape} and children {self.children.shape} are not "
                "those of one tree"
            )
        if not (np.isfinite(self.directions).all() and np.isfinite(self.cuts).all()):
            raise ValueError("directions and cuts of a tree must be finite")
        if self.children.dtype.kind not in "iu":
            raise ValueError(f"children must be whole numbers, got {self.children.dtype}")
        splits, leaves = self.children[self.children >= 0], ~self.children[self.children < 0]
        later = self.children > np.arange(n)[:, None]
        if not np.array_equal(np.sort(splits), np.arange(1, n)) or not (later | (self.children < 0)).all():
            raise ValueError("children must name every split but the first once, after its parent")
        if n and not np.array_equal(np.sort(leaves), np.arange(n + 1)):
            raise ValueError(f"children must name each of {n + 1} leaves once")

    @property
    def n_leaves(self) -> int:
        """One more than the splits."""
        return int(self.cuts.shape[0]) + 1

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """The leaf of each row, shape (n_rows,)."""
        found = np.zeros(X.shape[0], dtype=np.intp)
        if self.n_leaves == 1:
            return found
        for rows in row_blocks(X.shape[0], _ROUTED_AT_A_TIME):
            block = np.asarray(X[rows])
            todo = [(0, np.arange(block.shape[0]))]
            while todo:
                place, here = todo.pop()
                if place < 0:
                    found[rows.start + here] = ~place
                elif here.size:
                    left = _projected(block[here], self.directions[place]) <= self.cuts[place]
                    todo += [
                        (int(child), here[side])
                        for child, side in zip(self.children[place], (left, ~left), strict=True)
                    ]
        return found

    def grown(self, subtrees: list[SplitTree]) -> SplitTree:
        """The tree with a tree in the place of each leaf; leaves are numbered along the subtrees."""
        first_split, first_leaf = self.cuts.shape[0], 0
        roots, children = [], []
        for subtree in subtrees:
            roots.append(first_split if subtree.n_leaves > 1 else ~first_leaf)
            moved = subtree.children
            children.append(np.where(moved >= 0, moved + first_split, moved - first_leaf))
            first_split += subtree.cuts.shape[0]
            first_leaf += subtree.n_leaves
        if self.n_leaves == 1:
            return subtrees[0]
        own = np.where(self.children >= 0, self.children, np.array(roots)[~self.children])
        return SplitTree(
            np.concatenate([self.directions, *(subtree.directions for subtree in subtrees)]),
            np.concatenate([self.cuts, *(subtree.cuts for subtree in subtrees)]),
            np.concatenate([own, *children]),
        )


@final
@dataclass(frozen=True, eq=False)
class Division:
    """Rows dealt to the leaves of a tree.

    Parameters
    ----------
    tree : SplitTree
    order : ndarray of shape (n_dealt,)
        Numbers of the rows, leaf after leaf, ascending within each; with an overlap some occur in several leaves.
    bounds : ndarray of shape (n_leaves + 1,)
        Where each leaf begins and ends in that order.
    """

    tree: SplitTree
    order: np.ndarray
    bounds: np.ndarray

    def rows_of(self, leaf: int) -> np.ndarray:
        """Numbers of the rows of a leaf."""
        return self.order[self.bounds[leaf] : self.bounds[leaf + 1]]


def divide(X: np.ndarray, most: int, *, overlap: float = 0.0) -> Division:
    """Halve rows until no part has more than so many.

    Parts of a split differ by one row at most, whatever the data: rows that lie on the cut are dealt by their numbers, so
    that a million copies of one row are split like any others.
    """

    def halved(here: _Rows, level: int) -> _Split | None:
        own, more = here
        if own.size <= most:
            return None
        direction, along = _along(X, own)
        order = np.argsort(along, kind="stable")
        half = (own.size + 1) // 2
        cut = _cut(along, order, half)
        left, right = np.sort(own[order[:half]]), np.sort(own[order[half:]])
        if not overlap:
            return direction, cut, ((left, left), (right, right))
        all_along = _projected(X[more], direction)
        everything = np.lexsort((more, all_along))  # by place, then by number: ties are dealt out here too
        middle = int(np.flatnonzero(more[everything] == own[order[half - 1]])[0]) + 1
        border = int(0.5 * overlap * own.size)
        low, high = max(0, middle - border), middle + border
        return direction, cut, ((left, np.sort(more[everything[:high]])), (right, np.sort(more[everything[low:]])))

    everyone = np.arange(X.shape[0])
    tree, parts = _grown(X, (everyone, everyone), halved)
    leaves = [more for _, more in parts]
    bounds = np.concatenate([[0], np.cumsum([leaf.size for leaf in leaves])]).astype(np.int64)
    return Division(tree, np.concatenate(leaves), bounds)


def outline(X: np.ndarray, depth: int) -> SplitTree:
    """A tree of so many levels at most, whose leaves all hold some of the rows.

    Unlike `divide` it sends all rows that lie on a cut to its left, as the tree itself does, and stops where nothing would be
    left for the right.
    """

    def cut(here: _Rows, level: int) -> _Split | None:
        own, _ = here
        if level >= depth or own.size < 2:
            return None
        direction, along = _along(X, own)
        place = _cut(along, np.argsort(along, kind="stable"), (own.size + 1) // 2)
        left = along <= place
        return None if left.all() else (direction, place, ((own[left], own[left]), (own[~left], own[~left])))

    everyone = np.arange(X.shape[0])
    return _grown(X, (everyone, everyone), cut)[0]


def principal_direction(X: np.ndarray) -> np.ndarray:
    """The direction of most variance, of at most 2,048 of the rows; its largest entry is positive."""
    some = np.asarray(X[:: max(1, X.shape[0] // _DIRECTION_ROWS)][:_DIRECTION_ROWS], dtype=np.float64)
    some = some - some.mean(axis=0)
    direction: np.ndarray = np.linalg.eigh(some.T @ some)[1][:, -1]
    return np.asarray(direction * np.copysign(1.0, direction[np.argmax(np.abs(direction))]))


def _grown(
    X: np.ndarray, everyone: _Rows, split: Callable[[_Rows, int], _Split | None]
) -> tuple[SplitTree, list[_Rows]]:
    """The tree that a way to split leads to, left sides first, and the rows of its leaves."""
    splits: list[_Split] = []
    children: list[list[int]] = []
    parts: list[_Rows] = []
    todo = [(everyone, 0, -1, 0)]
    while todo:
        here, level, parent, side = todo.pop()
        found = split(here, level)
        place = ~len(parts) if found is None else len(splits)
        if found is None:
            parts.append(here)
        else:
            splits.append(found)
            children.append([0, 0])
            todo += [(found[2][1], level + 1, place, 1), (found[2][0], level + 1, place, 0)]
        if parent >= 0:
            children[parent][side] = place
    tree = SplitTree(
        np.array([direction for direction, _, _ in splits]).reshape(len(splits), X.shape[1]),
        np.array([cut for _, cut, _ in splits], dtype=np.float64),
        np.array(children, dtype=np.int64).reshape(len(splits), 2),
    )
    return tree, parts


def _along(X: np.ndarray, here: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows = X[here]
    direction = principal_direction(rows)
    return direction, _projected(rows, direction)


def _cut(along: np.ndarray, order: np.ndarray, half: int) -> float:
    """Between the two values in the middle, or on the lower where nothing is between."""
    low, high = float(along[order[half - 1]]), float(along[order[half]])
    middle = 0.5 * (low + high)
    return middle if low < middle < high else low


def _projected(rows: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Row by row in one order of summation, so that a row goes the same way in whatever block it comes."""
    return np.asarray(np.einsum("ij,j->i", rows, direction, dtype=np.float64))
