"""Figure 6, beyond the paper: kernels of neural networks."""

from __future__ import annotations

from krein.paper.experiment import Experiment, Sizes
from krein.paper.figures import error_panels
from krein.paper.measurements import kernel_error
from krein.paper.result_tables import errors_by_arm

__all__ = ["FIGURE6"]

FIGURE6 = Experiment(
    "figure6",
    "Figure 6: kernels of neural networks",
    "As Figure 2, for the arc-cosine kernels of order 0 and 1, which the paper leaves out. Figure 2 has the neural tangent kernel.",
    measure=kernel_error,
    kernels=("arc-cosine(0)", "arc-cosine(1)"),
    methods=("unbiased", "default", "projected", "srf", "digmm", "nystroem", "rm", "arccos"),
    quick=Sizes((2, 8), 1, 4000, 1000),
    full=Sizes((2, 8, 32), 5, 10_000, 1000),
    figures=error_panels,
    tables=errors_by_arm,
    beyond=True,
)
