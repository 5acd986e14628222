"""Figure 1: a kernel, what each measure makes of it, and the measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from krein.kernels import Kernel, parse_kernel
from krein.paper.claims import Claim, Finding, decided
from krein.paper.data import DIMENSIONS
from krein.paper.experiment import Experiment, Outcome, Sizes
from krein.paper.methods import PRINTED_CUT, library_measure, method_of, positive_mixture, printed_measure
from krein.paper.plan import Run
from krein.paper.records import Record
from krein.paper.settings import SPHERE
from krein.show.figure import Line, Panel

__all__ = ["FIGURE1"]

_ONCE = Sizes((0,), 1, 0, 0)
_RADIUS = "radius of the frequency r"  # label of an axis


def _measure(run: Run) -> Outcome:
    """A kernel and its measure as a method has them, on a grid of distances; nothing random."""
    kernel, dim = parse_kernel(run.kernel), DIMENSIONS[run.dataset]
    z = np.linspace(0.0, 2.0, 201)
    of_method = {"srf": _positive_curve, "printed": _printed_curve, "default": _library_curve}[run.method]
    return {"z": z.tolist(), "kernel": kernel.radial(z).tolist(), **of_method(kernel, dim, z)}, {}


def _positive_curve(kernel: Kernel, dim: int, z: np.ndarray) -> dict[str, Any]:
    mixture = positive_mixture(kernel, dim)
    return {
        "value": mixture.evaluate(z).tolist(),
        "mass": mixture.mass,
        "radii": mixture.scales.tolist(),
        "weights": mixture.masses.tolist(),
    }


def _printed_curve(kernel: Kernel, dim: int, z: np.ndarray) -> dict[str, Any]:
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
        title = f"the printed measure, cut at r = {PRINTED_CUT:g}: {mass}"
        return Panel(title, _RADIUS, "mass per unit of r", (density,))
    radii, weights = zip(*sorted(zip(found["radii"], found["weights"], strict=True)), strict=True)
    stems = Line("atoms", radii, weights, (), method.color, method.marker, stems=True)
    return Panel(f"{method.label}: {mass}", _RADIUS, "mass of the atom", (stems,))


def _no_gap(records: Sequence[Record]) -> Finding | None:
    gaps = {}
    for record in records:
        kernel, value = np.array(record.results["kernel"]), np.array(record.results["value"])
        gaps[record.run.method] = float(np.max(np.abs(kernel - value)) / np.max(np.abs(kernel)))
    if not {"srf", "printed", "default"} <= set(gaps):
        return None
    words = (
        f"Largest error of the kernel itself, before any sampling: SRF {gaps['srf']:.1%}, the printed measure cut at r = 10 "
        f"{gaps['printed']:.1%}, this library's measure {gaps['default']:.2%}."
    )
    return Finding(decided(gaps["printed"] < gaps["srf"]), decided(gaps["default"] < gaps["srf"]), words)


FIGURE1 = Experiment(
    "figure1",
    "Figure 1: a kernel and its signed measure",
    "The kernel as each measure gives it, and the measures themselves. The printed one is the Fourier transform of the kernel "
    "extended by zero, cut at r = 10 as in the paper's Section 5; SRF's is the nearest positive measure; ours is an exact "
    "polynomial head and the atoms of least total mass that give the rest to within 0.001.",
    measure=_measure,
    kernels=(SPHERE,),
    methods=("printed", "default", "srf"),
    quick=_ONCE,
    full=_ONCE,
    figures=_figures,
    tables=lambda records, width: [],
    claims=(Claim("A positive measure leaves a gap to the kernel (SRF); the signed measure does not.", _no_gap),),
    only=("letter",),
)
