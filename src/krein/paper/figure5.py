"""Figure 5: other orders of the spherical polynomial."""

from __future__ import annotations

from krein.paper.claims import Claim, lowest_error
from krein.paper.experiment import Experiment, Sizes
from krein.paper.figures import error_panels
from krein.paper.measurements import kernel_error
from krein.paper.result_tables import factors_and_errors
from krein.paper.settings import COMPARED

__all__ = ["FIGURE5"]

FIGURE5 = Experiment(
    "figure5",
    "Figure 5: other orders of the spherical polynomial",
    "As Figure 2, for p = 1 and p = 3.",
    measure=kernel_error,
    kernels=("spherical-polynomial(2, 1)", "spherical-polynomial(2, 3)"),
    methods=COMPARED,
    quick=Sizes((2, 8), 1, 4000, 1000),
    full=Sizes((2, 8, 32), 5, 10_000, 1000),
    figures=error_panels,
    tables=factors_and_errors,
    claims=(Claim("At orders p = 1 and p = 3 our method has lower error than the other algorithms.", lowest_error),),
)
