"""What several figures of the paper share: its two kernels, and who is compared."""

from __future__ import annotations

from krein.paper.methods import MOST_ACCURATE, NYSTROEM_RULES

__all__ = ["COMPARED", "DELTA", "NEURAL", "PRINTED", "SPHERE"]

DELTA = "delta-gaussian(1, 10)"
SPHERE = "spherical-polynomial(2, 2)"
NEURAL = "ntk"  # beyond the paper
# The methods of the paper, with this library's default beside the one as printed.
PRINTED = ("printed", "default", "srf", "digmm", "nystroem", "rm", "ts", "trp")
# And this library's other weights, where errors are compared, with Nyström by every rule for its landmarks.
COMPARED = (*PRINTED, "unbiased", MOST_ACCURATE, *NYSTROEM_RULES)
