"""Learning from features with a signature: sums over rows, the ridge path of three regularisers, the choice of λ."""

from krein.learning.components import SignedComponents, signed_components
from krein.learning.path import Regularizer, RidgePath, ridge_path
from krein.learning.rows import RowSample, row_keys
from krein.learning.selection import default_grid, gcv_scores, held_out_scores, loo_scores
from krein.learning.solve import SingularSystemError, solve_definite
from krein.learning.sums import CentredSums, NormalSums

__all__ = [
    "NormalSums",
    "CentredSums",
    "RowSample",
    "row_keys",
    "Regularizer",
    "RidgePath",
    "ridge_path",
    "SingularSystemError",
    "solve_definite",
    "default_grid",
    "loo_scores",
    "gcv_scores",
    "held_out_scores",
    "SignedComponents",
    "signed_components",
]
