"""Errata: the printed measure does not exist."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import krein
from krein.kernels import parse_kernel
from krein.paper.claims import Claim, Finding, ruled
from krein.paper.data import DIMENSIONS
from krein.paper.experiment import Experiment, Outcome, Sizes
from krein.paper.methods import library_measure, method_of, printed_measure
from krein.paper.plan import Run
from krein.paper.records import Record
from krein.paper.rules import BY_NAME
from krein.paper.settings import SPHERE
from krein.show.figure import Line, Panel
from krein.show.table import Table

__all__ = ["ERRATA"]

_ONCE = Sizes((0,), 1, 0, 0)
_RADIUS = 2.0  # the largest distance on the sphere
_GOOD = 0.01  # of the kernel's largest value: an error below is small


def _measure(run: Run) -> Outcome:
    """Mass of a measure and how far the kernel it gives is from the kernel asked for; nothing random."""
    kernel, dim = parse_kernel(run.kernel), DIMENSIONS[run.dataset]
    measure = library_measure(kernel, dim) if run.cut is None else printed_measure(kernel, dim, run.cut)
    z = np.linspace(0.0, _RADIUS, 2001)
    exact = kernel.radial(z)
    gap = np.abs(measure.evaluate(z) - exact)
    diagnosis = krein.diagnose(kernel, dim)
    return {
        "mass": measure.mass,
        "bias": float(gap.max() / np.abs(exact).max()),
        "bias_rms": float(np.sqrt(np.mean(gap**2) / np.mean(exact**2))),
        "finite": diagnosis.finite,
        "reason": diagnosis.reason,
    }, {}


def _cut(record: Record) -> float:
    """For sorting: the measure that is not cut comes last."""
    return np.inf if record.run.cut is None else record.run.cut


def _figures(records: Sequence[Record], width: str) -> list[Panel]:
    dim = DIMENSIONS[records[0].run.dataset]
    axis = "radius at which the measure is cut"
    return [
        Panel(f"{title}, d = {dim}", axis, title, _lines(records, result), xlog=True, ylog=True)
        for title, result in (("total mass", "mass"), ("largest error of the kernel / largest value", "bias"))
    ]


def _lines(records: Sequence[Record], result: str) -> tuple[Line, ...]:
    """For each kernel the cut measures as they are, and this library's as a level at all radii."""
    cuts = [one.run.cut for one in records if one.run.cut is not None] or [1.0]
    lines = []
    for marker, kernel in zip("v^<>", dict.fromkeys(one.run.kernel for one in records), strict=False):
        mine = sorted((one for one in records if one.run.kernel == kernel), key=_cut)
        cut = [(one.run.cut, float(one.results[result])) for one in mine if one.run.cut is not None]
        level = [(r, float(one.results[result])) for one in mine if one.run.cut is None for r in (min(cuts), max(cuts))]
        for label, method, points in (("cut", "jacobian", cut), ("ours", "default", level)):
            if points:
                x, y = zip(*points, strict=True)
                lines.append(Line(f"{label}, {kernel}", x, y, (), method_of(method).color, marker))
    return tuple(lines)


def _tables(records: Sequence[Record], width: str) -> list[Table]:
    dim = DIMENSIONS[records[0].run.dataset]
    finite = {True: "finite", False: "infinite", None: "undecided"}
    rows = tuple(
        (
            one.run.kernel,
            "this library" if one.run.cut is None else f"with the Jacobian, cut at r = {one.run.cut:g}",
            f"{one.results['mass']:.4g}",
            f"{one.results['bias']:.2%}" if one.results["bias"] < 10 else f"{one.results['bias']:.2g} times",
            "" if one.run.cut is None else finite[one.results["finite"]],
        )
        for one in sorted(records, key=lambda one: (one.run.kernel, _cut(one)))
    )
    header = ("kernel", "measure", "mass", "largest error / largest value", "mass without a cut")
    return [Table(f"Mass and bias in dimension {dim}, distances up to {_RADIUS:g}", header, rows)]


def _finite_mass(records: Sequence[Record]) -> Finding | None:
    mine = [one for one in records if one.run.kernel == SPHERE]
    cuts = sorted((one.run.cut, one.results["mass"]) for one in mine if one.run.cut is not None)
    ours = next((one for one in mine if one.run.cut is None), None)
    if ours is None or len(cuts) < 2:
        return None
    (near, less), (far, more) = cuts[-2:]
    growth = float(np.log(more / less) / np.log(far / near))
    listed = ", ".join(f"{mass:.3g} up to r = {r:g}" for r, mass in cuts)
    words = (
        f"at d = 16, p = 2 the mass of the printed measure is {listed}: it grows like r^{growth:.2g}. "
        f"Why: {ours.results['reason']}. The measure used here instead has mass {ours.results['mass']:.3g} and is off by at "
        f"most {ours.results['bias']:.2%} of the kernel's largest value."
    )
    finite, bias = bool(ours.results["finite"]) or growth < 0, ours.results["bias"]
    return Finding({"literal": ruled(finite, words), "corrected": ruled(bias < _GOOD, f"off by at most {bias:.2%}.")})


ERRATA = Experiment(
    "errata",
    "Errata: the printed measure does not exist",
    "Mass and bias of the printed measure, cut at ever larger radii, and of the measure this library uses instead.",
    measure=_measure,
    kernels=(SPHERE, "spherical-polynomial(2, 8)"),
    methods=("jacobian", "default"),
    quick=_ONCE,
    full=_ONCE,
    figures=_figures,
    tables=_tables,
    claims=(Claim(BY_NAME["mass"], _finite_mass),),
    only=("letter",),
    cuts={"jacobian": (10.0, 5.0, 20.0, 40.0)},
)
