r"""Fitting a tree of exact leaves.

Rows go through a *coarse tree*, found from a sample, into parts of some tens of thousands; each part is halved at exact
medians into leaves, and each leaf is solved alone. So one machine, files and a cluster deal the same rows to the same leaves.
Equal rows count as one there, so a leaf has a few thousand distinct rows, with however many copies.

What was compared, on *covtype*, *ijcnn1*, *cod-RNA*, *letter* and *magic* (25,000 to 60,000 rows, leaves of 1,600 to
2,000), and what is kept:

- Split direction, *covtype* 60,000: first principal direction 88.3 %, gradient of a linear fit 88.3, two-means 88.6, random 87.5.
  The principal direction is kept.
- Length scale: the leaf's own median distance 88.3 %, the same for all 88.0. Its factor, λ and the kernel are shared, chosen by
  leave-one-out on a few leaves.
- Overlap: leaves that also learn from the tenth of a split's rows next to the cut are better than leaves of twice the rows, and
  cheaper (squared error on *covtype* 25,000: 0.141 without, 0.130, and 0.133 for twice the rows; *cod-RNA* 0.146, 0.142, 0.146;
  *ijcnn1* 0.057, 0.052, 0.053). A tenth is kept, within a part.
- Averages of two trees of other directions (*covtype* 0.132, *cod-RNA* 0.145, *ijcnn1* 0.056) gain less for as much. One tree.
- The part of the global model is chosen by leave-one-out on all leaves as they are solved, as it helps some data (*letter* 94.4
  to 95.4 %) and harms other (*magic*, squared error 0.41 to 0.46).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from krein._core.threads import n_threads, share
from krein.learning.leaves.choice import LeafChoice, LeafRows, choose_part, choose_settings
from krein.learning.leaves.leaf import LeafSettings, LeftOutErrors, SolvedLeaf, solve_leaf
from krein.learning.leaves.model import LeafModel, joined
from krein.learning.leaves.splits import Division, SplitTree, divide, outline
from krein.learning.link import LeftOut
from krein.rows.equal import equal_rows
from krein.rows.source import Parts
from krein.show.progress import report as told

__all__ = [
    *(
        "LEAF_ROWS",
        "ONE_LEAF_ROWS",
        "LeafFit",
        "PartFit",
        "Report",
        "coarse_tree",
        "fit_leaves",
        "fit_part",
        "leaf_rows_for",
    ),
    *("leaves_to_look_at", "parts_to_look_at"),
]

Report = Callable[[int, int], object]

LEAF_ROWS = 4096  # of a leaf: between two thirds and four thirds of this, and a third more from beyond its borders
ONE_LEAF_ROWS = 16_384  # up to which all rows are one leaf, whose matrix takes 1 GiB
_OVERLAP = 0.1  # share of a split's rows that both sides learn from
_LEAVES_PER_PART = 8  # of the coarse tree, about
_SAMPLE_PER_PART = 128  # sampled rows that a part's share of all rows is known from to a tenth
_LOOKED_AT = 2  # leaves that settings are chosen on
_SCORED_SHARE = 4  # of the rows of a leaf one in so many is left out: their errors cost a hundredth of its factor
_MATRIX_BYTES = 2**30  # of all leaves that are solved at the same time


@final
@dataclass(frozen=True, eq=False)
class LeafFit:
    """A tree of leaves, what was chosen for them, and what they say of some rows without them."""

    model: LeafModel
    choice: LeafChoice
    left_out: LeftOut


@final
@dataclass(frozen=True, eq=False)
class PartFit:
    """The leaves of a part of a coarse tree, whose outputs for each part of the global model stand side by side."""

    model: LeafModel
    errors: list[LeftOutErrors]
    parts: tuple[float, ...]


def leaf_rows_for(n_rows: int) -> int:
    """Rows of a leaf: all of them up to 16,384, else about 4,096."""
    return max(1, n_rows) if n_rows <= ONE_LEAF_ROWS else LEAF_ROWS


def coarse_tree(sample: np.ndarray, n_rows: int, *, leaf_rows: int = LEAF_ROWS) -> SplitTree:
    """Splits into parts of about eight leaves, from some of the rows."""
    sample = sample[equal_rows(sample)[0]]
    wanted = math.log2(max(1.0, n_rows / (_LEAVES_PER_PART * leaf_rows)))
    known = math.log2(max(1.0, sample.shape[0] / _SAMPLE_PER_PART))
    return outline(sample, int(min(round(wanted), math.floor(known))))


def fit_leaves(parts: Parts, tree: SplitTree, *, leaf_rows: int = LEAF_ROWS, report: Report | None = None) -> LeafFit:
    """Choose settings on some parts and solve the leaves of all, part after part; then the part of the global model."""
    looked = parts.map(partial(leaves_to_look_at, tree=tree, leaf_rows=leaf_rows), parts_to_look_at(tree))
    settings = choose_settings([leaf for leaves, _ in looked for leaf in leaves], looked[0][1] * tree.n_leaves)
    work = partial(fit_part, settings=settings, leaf_rows=leaf_rows)
    fits = parts.map(work, range(tree.n_leaves), last=True, report=report)
    of = fits[0].parts
    choice = choose_part(settings, of, [leaf for fit in fits for leaf in fit.errors])
    width, place = fits[0].model.dual.shape[1] // len(of), of.index(choice.part)
    model = joined(tree, [fit.model.only(slice(place * width, (place + 1) * width)) for fit in fits])
    errors = [leaf for fit in fits for leaf in fit.errors]
    weight = np.concatenate([leaf.weight for leaf in errors])
    targets, global_rest, missed = (
        np.concatenate([array[:, i * width : (i + 1) * width] for array in arrays])
        for i, arrays in (
            (of.index(0.0), [leaf.targets for leaf in errors]),
            (0, [leaf.targets for leaf in errors]),
            (place, [leaf.residuals for leaf in errors]),
        )
    )
    if np.isfinite(choice.settings.lam):
        return LeafFit(model, choice, LeftOut(targets - missed, targets, weight))
    return LeafFit(model.emptied(), choice, LeftOut(targets - global_rest, targets, weight))


def parts_to_look_at(tree: SplitTree) -> list[int]:
    """Parts of a coarse tree that settings are chosen on: two far apart."""
    return sorted({tree.n_leaves // 4, (3 * tree.n_leaves) // 4})


def leaves_to_look_at(rows: LeafRows, tree: SplitTree, *, leaf_rows: int = LEAF_ROWS) -> tuple[list[LeafRows], int]:
    """Leaves of such a part that settings are chosen on, and how many it has."""
    divided = _divided(rows, leaf_rows)
    wanted = -(-_LOOKED_AT // len(parts_to_look_at(tree)))
    n = divided.distinct.tree.n_leaves
    found = sorted({(2 * i + 1) * n // (2 * wanted) for i in range(wanted)})
    return [rows.some(divided.rows_of(leaf)) for leaf in found], n


def fit_part(rows: LeafRows, settings: LeafSettings, *, leaf_rows: int = LEAF_ROWS) -> PartFit:
    """Divide the rows of a part into leaves and solve each; threads take leaves."""
    divided = _divided(rows, leaf_rows)
    tree = divided.distinct.tree
    solved: list[SolvedLeaf | None] = [None] * tree.n_leaves

    def solve(leaf: int) -> None:
        here = rows.some(divided.rows_of(leaf)).merged()
        solved[leaf] = solve_leaf(here, settings, -(-len(here) // _SCORED_SHARE), alone=tree.n_leaves == 1)
        told("leaves", sum(leaf is not None for leaf in solved), tree.n_leaves)

    largest = int(np.diff(divided.distinct.bounds).max())
    at_once = max(1, _MATRIX_BYTES // max(1, 4 * largest**2))
    if tree.n_leaves == 1:
        solve(0)
    else:
        share(solve, range(tree.n_leaves), threads=min(n_threads(), at_once))
    leaves = [leaf for leaf in solved if leaf is not None]
    model = LeafModel(
        tree,
        settings.kernel,
        np.concatenate([leaf.rows for leaf in leaves]),
        np.concatenate([leaf.dual for leaf in leaves]),
        np.cumsum([0, *(leaf.rows.shape[0] for leaf in leaves)]),
        np.array([leaf.scale for leaf in leaves]),
        np.array([leaf.offset for leaf in leaves]),
        np.array([leaf.dual.dtype == np.float64 for leaf in leaves]),
    )
    return PartFit(model, [leaf.errors for leaf in leaves], rows.parts)


@final
@dataclass(frozen=True, eq=False)
class _DividedRows:
    """Distinct rows dealt to leaves, and the group of equal rows that each row belongs to."""

    distinct: Division
    group: np.ndarray

    def rows_of(self, leaf: int) -> np.ndarray:
        """Numbers of the rows of a leaf, all copies."""
        inside = np.zeros(int(self.group.max(initial=-1)) + 1, dtype=bool)
        inside[self.distinct.rows_of(leaf)] = True
        return np.flatnonzero(inside[self.group])


def _divided(rows: LeafRows, leaf_rows: int) -> _DividedRows:
    first, group = equal_rows(rows.X)
    return _DividedRows(divide(rows.X[first], max(1, (4 * leaf_rows) // 3), overlap=_OVERLAP), group)
