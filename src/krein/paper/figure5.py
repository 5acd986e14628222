"""Figure 5: other orders of the spherical polynomial."""

from __future__ import annotations

from krein.paper.claims import Claim, contest
from krein.paper.experiment import Experiment, Sizes
from krein.paper.figures import error_panels
from krein.paper.measurements import kernel_error
from krein.paper.result_tables import errors_by_arm
from krein.paper.rules import BY_NAME
from krein.paper.settings import EVERY, ORDERS

__all__ = ["FIGURE5"]

FIGURE5 = Experiment(
    "figure5",
    "Figure 5: other orders of the spherical polynomial",
    "As Figure 2, for p = 1 and p = 3.",
    measure=kernel_error,
    kernels=ORDERS,
    methods=EVERY,
    quick=Sizes((2, 8), 1, 4000, 1000),
    full=Sizes((2, 8, 32), 5, 10_000, 1000),
    figures=error_panels,
    tables=errors_by_arm,
    claims=(Claim(BY_NAME["orders"], contest(BY_NAME["orders"])),),
)
