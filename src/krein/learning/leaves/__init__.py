"""Learning locally and exactly: a balanced tree whose leaves are ridge problems of a few thousand rows each."""

from krein.learning.leaves.choice import LeafChoice, LeafRows, choose_settings
from krein.learning.leaves.dealt_rows import DealtRows, deal_block
from krein.learning.leaves.fit import LEAF_ROWS, LeafFit, coarse_tree, fit_leaves, fit_part
from krein.learning.leaves.leaf import LeafSettings, solve_leaf
from krein.learning.leaves.local import LocalPart, LocalPlan, fit_local, local_part, placed_block, plan_local
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
    "LocalPart",
    "LocalPlan",
    "SplitTree",
    "choose_settings",
    "coarse_tree",
    "deal_block",
    "divide",
    "fit_leaves",
    "fit_local",
    "fit_part",
    "joined",
    "local_part",
    "outline",
    "placed_block",
    "plan_local",
    "solve_leaf",
]
