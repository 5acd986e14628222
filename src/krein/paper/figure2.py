"""Figure 2: error of the kernel matrix against width."""

from __future__ import annotations

from krein.paper.claims import Claim, contest
from krein.paper.experiment import Experiment, Sizes
from krein.paper.figures import error_panels
from krein.paper.measurements import kernel_error
from krein.paper.result_tables import arms_table, errors_by_arm
from krein.paper.rules import BY_NAME
from krein.paper.settings import DELTA, EVERY, NEURAL, SPHERE

__all__ = ["FIGURE2"]

FIGURE2 = Experiment(
    "figure2",
    "Figure 2: error of the kernel matrix",
    "Relative Frobenius error on 1,000 unseen rows, mean and standard deviation over the runs: the paper's two kernels, and beyond "
    "it the neural tangent kernel and Nyström by every rule for landmarks.",
    measure=kernel_error,
    kernels=(DELTA, SPHERE, NEURAL),
    methods=EVERY,
    quick=Sizes((2, 8, 32), 2, 4000, 1000),
    full=Sizes((2, 4, 8, 16, 32), 10, 10_000, 1000),
    figures=error_panels,
    tables=errors_by_arm,
    summary=arms_table,
    claims=tuple(
        Claim(BY_NAME[name], contest(BY_NAME[name]))
        for name in ("lowest", "mixtures", "sketches", "first", "first_map", "first_free")
    ),
)
