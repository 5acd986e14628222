"""Learning from features with a signature, in numbers only: sums over rows, solvers, the choice of λ and of C."""

from krein.learning.components import SignedComponents, signed_components
from krein.learning.path import Regularizer, RidgePath, ridge_path
from krein.learning.selection import default_grid, gcv_scores, held_out_scores, loo_scores
from krein.learning.solve import SingularSystemError, solve_definite
from krein.learning.sums import CenteredFeatures, CenteredSums, FeatureSums, NormalSums

__all__ = [
    "FeatureSums",
    "CenteredFeatures",
    "NormalSums",
    "CenteredSums",
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
