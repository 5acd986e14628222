"""Learning from features with a signature, in numbers only: sums over rows, solvers, the choice of λ and of C."""

from krein.learning.components import SignedComponents, signed_components
from krein.learning.path import Regularizer, RidgePath, ridge_path
from krein.learning.solve import SingularSystemError, solve_definite
from krein.learning.sums import CenteredSums, NormalSums

__all__ = [
    "NormalSums",
    "CenteredSums",
    "Regularizer",
    "RidgePath",
    "ridge_path",
    "SingularSystemError",
    "solve_definite",
    "SignedComponents",
    "signed_components",
]
