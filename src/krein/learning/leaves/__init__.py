"""Learning locally and exactly: a balanced tree whose leaves are ridge problems of a few thousand rows each."""

from krein.learning.leaves.choice import LeafChoice, LeafRows, choose_settings
from krein.learning.leaves.dealt_rows import DealtRows, deal_block
from krein.learning.leaves.fit import LEAF_ROWS, LeafFit, coarse_tree, fit_leaves, fit_part
from krein.learning.leaves.leaf import LeafSettings, solve_leaf
from krein.learning.leaves.local import (
    LocalModel,
    LocalPart,
    LocalPlan,
    LocalTask,
    fit_local,
    matrix_blocks,
    plan_local,
)
from krein.learning.leaves.model import LeafModel, joined
from krein.learning.leaves.splits import SplitTree, divide, outline

__all__ = [
    "LEAF_ROWS",
    "DealtRows",
    "LeafChoice",
    "LeafFit",
    "LeafModel",
    "LeafRows",
    "LeafSettings",
    "LocalModel",
    "LocalPart",
    "LocalPlan",
    "LocalTask",
    "SplitTree",
    "choose_settings",
    "coarse_tree",
    "deal_block",
    "divide",
    "fit_leaves",
    "fit_local",
    "fit_part",
    "joined",
    "matrix_blocks",
    "outline",
    "plan_local",
    "solve_leaf",
]
