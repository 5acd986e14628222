"""Figure 1: a kernel, what each measure makes of it, and the measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from krein.kernels import Kernel, SphericalPolynomial, parse_kernel
from krein.paper.claims import Claim, Finding, ruled
from krein.paper.data import DIMENSIONS
from krein.paper.experiment import Experiment, Outcome, Sizes
from krein.paper.line_features import line_measure
from krein.paper.methods import PRINTED_CUT, library_measure, method_of, positive_mixture, printed_measure
from krein.paper.plan import Run
from krein.paper.records import Record
from krein.paper.rules import ARMS, BY_NAME
from krein.paper.settings import SPHERE
from krein.show.figure import Line, Panel

__all__ = ["FIGURE1"]

_ONCE = Sizes((0,), 1, 0, 0)
_RADIUS = "radius of the frequency r"  # label of an axis


def _measure(run: Run) -> Outcome:
    """A kernel and its measure as a method has them, on a grid of distances; nothing random."""
    kernel, dim = parse_kernel(run.kernel), DIMENSIONS[run.dataset]
    z = np.linspace(0.0, 2.0, 201)
    of_method = {
        "literal": _line_curve,
        "code": _scaled_curve,
        "srf_published": _positive_curve,
        "jacobian": _cut_curve,
        "default": _library_curve,
    }[run.method]
    return {"z": z.tolist(), "kernel": kernel.radial(z).tolist(), **of_method(kernel, dim, z)}, {}


def _positive_curve(kernel: Kernel, dim: int, z: np.ndarray) -> dict[str, Any]:
    mixture = positive_mixture(kernel, dim)
    return {
        "value": mixture.evaluate(z).tolist(),
        "mass": mixture.mass,
        "radii": mixture.scales.tolist(),
        "weights": mixture.masses.tolist(),
    }


def _line_curve(kernel: Kernel, dim: int, z: np.ndarray, scale: float = 1.0) -> dict[str, Any]:
    assert isinstance(kernel, SphericalPolynomial)
    measure = line_measure(kernel, dim)
    shown = measure.radii <= PRINTED_CUT
    density = (measure.densities[0] - measure.densities[1])[shown][::10]
    return {
        "value": (scale * measure.evaluate(dim, z)).tolist(),
        "mass": scale * sum(measure.masses),
        "r": measure.radii[shown][::10].tolist(),
        "density": (scale * density).tolist(),
    }


def _scaled_curve(kernel: Kernel, dim: int, z: np.ndarray) -> dict[str, Any]:
    return _line_curve(kernel, dim, z, 1.0 / _line_curve(kernel, dim, z[:1])["mass"])


def _cut_curve(kernel: Kernel, dim: int, z: np.ndarray) -> dict[str, Any]:
    measure = printed_measure(kernel, dim, PRINTED_CUT)
    edges = np.linspace(0.0, PRINTED_CUT, 401)
    parts = [part.mass * np.diff(part.cdf(edges)) / np.diff(edges) for part in (measure.positive, measure.negative)]
    return {
        "value": measure.evaluate(z).tolist(),
        "mass": measure.mass,
        "r": (0.5 * (edges[1:] + edges[:-1])).tolist(),
        "density": (parts[0] - parts[1]).tolist(),
    }


def _library_curve(kernel: Kernel, dim: int, z: np.ndarray) -> dict[str, Any]:
    measure = library_measure(kernel, dim)
    pairs = [(sign, part.atoms()) for sign, part in ((1.0, measure.positive), (-1.0, measure.negative))]
    return {
        "value": measure.evaluate(z).tolist(),
        "mass": measure.mass,
        "radii": np.concatenate([atoms.radii for _, atoms in pairs]).tolist(),
        "weights": np.concatenate([sign * atoms.weights for sign, atoms in pairs]).tolist(),
    }


def _figures(records: Sequence[Record], width: str) -> list[Panel]:
    first = records[0]
    dim = DIMENSIONS[first.run.dataset]
    lines = [Line("kernel", tuple(first.results["z"]), tuple(first.results["kernel"]))]
    for one in records:
        method, found = method_of(one.run.method), one.results
        label = f"{method.label} (mass {found['mass']:.3g})"
        lines.append(Line(label, tuple(found["z"]), tuple(found["value"]), color=method.color, dash="--"))
    kernel = Panel(f"{first.run.kernel} in dimension {dim}", "distance z", "k(z)", tuple(lines))
    return [kernel, *(_measure_panel(one) for one in records)]


def _measure_panel(record: Record) -> Panel:
    """The measure: a density as a curve, atoms as stems."""
    method, found = method_of(record.run.method), record.results
    mass = f"mass {found['mass']:.3g}"
    if "density" in found:
        density = Line("density", tuple(found["r"]), tuple(found["density"]), (), method.color)
        title = f"{method.label}: {mass}"
        return Panel(title, _RADIUS, "mass per unit of r", (density,))
    radii, weights = zip(*sorted(zip(found["radii"], found["weights"], strict=True)), strict=True)
    stems = Line("atoms", radii, weights, (), method.color, method.marker, stems=True)
    return Panel(f"{method.label}: {mass}", _RADIUS, "mass of the atom", (stems,))


def _no_gap(records: Sequence[Record]) -> Finding | None:
    gaps = {}
    for record in records:
        kernel, value = np.array(record.results["kernel"]), np.array(record.results["value"])
        gaps[record.run.method] = float(np.max(np.abs(kernel - value)) / np.max(np.abs(kernel)))
    rule, rulings = BY_NAME["gap"], {}
    for arm, ours, (rival,) in zip(ARMS, rule.ours, rule.rivals, strict=True):
        if ours in gaps and rival in gaps:
            holds = gaps[ours] < gaps[rival]
            words = f"largest error {gaps[ours]:.3g} of the largest value, SRF {gaps[rival]:.3g}."
            rulings[arm.name] = ruled(holds, words)
    return Finding(rulings) if rulings else None


FIGURE1 = Experiment(
    "figure1",
    "Figure 1: a kernel and its signed measure",
    "The kernel as each measure gives it, and the measures themselves. Literal: the paper's Fourier transform of the kernel "
    "extended "
    "by zero as a density of radii on the line. Public code: the same, scaled to mass 1. With the Jacobian: the measure whose "
    "transform that is, cut at r = 10 as in the paper's Section 5. SRF's is positive: ten Gaussians, clipped at zero. Corrected: "
    "an "
    "exact polynomial head and the atoms of least total mass that give the rest to within 0.001.",
    measure=_measure,
    kernels=(SPHERE,),
    methods=("literal", "code", "jacobian", "default", "srf_published"),
    quick=_ONCE,
    full=_ONCE,
    figures=_figures,
    tables=lambda records, width: [],
    claims=(Claim(BY_NAME["gap"], _no_gap),),
    only=("letter",),
)
