"""What several figures of the paper share: its kernels, and who is compared."""

from __future__ import annotations

from krein.paper.methods import METHODS, MOST_ACCURATE, NYSTROEM_RULES, PUBLISHED

__all__ = ["COMPARED", "DELTA", "EVERY", "NEURAL", "ORDERS", "SPHERE"]

DELTA = "delta-gaussian(1, 10)"
SPHERE = "spherical-polynomial(2, 2)"
ORDERS = ("spherical-polynomial(2, 1)", "spherical-polynomial(2, 3)")
NEURAL = "ntk"  # beyond the paper
# The three arms, and the rivals as published and as they are today.
COMPARED = (
    *("literal", "code", "default", MOST_ACCURATE, *PUBLISHED),
    *("srf", "srf_plus", "digmm", "nystroem", "rm", "ts", "trp"),
)
# And the measure with its Jacobian, unbiased weights, and Nyström by every rule for its landmarks, where errors are compared.
_ERRORS = {*COMPARED, "jacobian", "unbiased", *NYSTROEM_RULES}
EVERY = tuple(method.name for method in METHODS if method.name in _ERRORS)
