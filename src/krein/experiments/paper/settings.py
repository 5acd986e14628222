"""What several figures of the paper share: its two kernels, and who is compared."""

from __future__ import annotations

__all__ = ["COMPARED", "DELTA", "PRINTED", "SPHERE"]

DELTA = "delta-gaussian(1, 10)"
SPHERE = "spherical-polynomial(2, 2)"
# The methods of the paper, with this library's default beside the one as printed.
PRINTED = ("printed", "default", "srf", "digmm", "nystroem", "rm", "ts", "trp")
# And this library's other weights, where errors are compared.
COMPARED = (*PRINTED, "unbiased", "projected")
