"""A tree of exact leaves on a cluster: rows are assigned where they are stored, and each part is solved by one worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from krein.learning.leaves.choice import LeafChoice, LeafRows, choose_settings
from krein.learning.leaves.dealt_rows import deal_block, stacked_rows
from krein.learning.leaves.fit import LeafFit, fit_part, leaves_to_look_at, parts_to_look_at
from krein.learning.leaves.local import LocalPart, LocalTask
from krein.learning.leaves.model import LeafModel, joined
from krein.rows.dask_compute import import_dask
from krein.rows.dask_rows import DaskRows, plain_block

__all__ = ["fit_local_dask"]

CheckTargets = Callable[[Any, int], np.ndarray]


def fit_local_dask(task: LocalTask, rows: DaskRows, check: CheckTargets) -> LocalPart:
    """Deal the rows of a Dask collection to leaves and solve them there.

    Every block becomes one piece for each part of the coarse tree, and the pieces of a part meet on the worker that solves its
    leaves, in the order of the blocks: the same rows in the same order as on one machine. All is one graph, so that what a
    worker takes with it when it dies is computed again.
    """
    dask = import_dask()
    tree, leaf_rows = task.plan.tree, task.plan.leaf_rows
    # one node of the graph each, not a copy per task
    shared, coarse = (dask.delayed(part, traverse=False, pure=False) for part in (task, tree))
    dealt = [dask.delayed(_deal, nout=tree.n_leaves)(shared, check, block) for block in rows.blocks()]
    parts = [dask.delayed(stacked_rows)([pieces[i] for pieces in dealt]) for i in range(tree.n_leaves)]
    looked = [dask.delayed(leaves_to_look_at)(parts[i], coarse, leaf_rows=leaf_rows) for i in parts_to_look_at(tree)]
    choice = dask.delayed(_choose)(looked)
    models = [dask.delayed(fit_part)(part, choice, leaf_rows=leaf_rows) for part in parts]
    found: tuple[LeafChoice, list[LeafModel]] = rows.compute(choice, models)
    return task.part(LeafFit(joined(tree, found[1]), found[0]))


def _deal(task: LocalTask, check: CheckTargets, block: tuple[int, Any, Any, Any]) -> list[LeafRows]:
    start, X, y, weight = plain_block(block)
    return deal_block(task.plan.tree, task(start, X, check(y, start), weight))


def _choose(looked: list[list[LeafRows]]) -> LeafChoice:
    return choose_settings([leaf for leaves in looked for leaf in leaves])
