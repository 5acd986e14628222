"""The paper's Figure 1: a kernel with what its measure makes of it, and the measure with its two signs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from krein.measures import Atoms, Mixture, RadialPart, SignedMeasure
from krein.plotting.look import COLORS, Look, Style, dress, look_of, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from krein.kernels import Kernel

__all__ = ["plot_measure", "plot_measures"]

_SHOWN = 0.99  # of the mass of a density; heavy tails would squeeze the rest into a corner
_WIDE = 12.0  # ratio of radii beyond which the axis is logarithmic
_STEPS = 1200  # points of a curve, about one per dot of a printed line


def plot_measure(kernel: Kernel, measure: SignedMeasure, *, title: str = "", style: Style = "auto") -> Figure:
    """Draw a kernel and its signed measure.

    Left, k(z) and the kernel as the measure gives it. Right, the measure on radii: positive part upwards, negative part
    downwards; atoms are stems, densities are curves. On a logarithmic axis a density is shown per unit of log r, so that areas
    are masses there too.

    Parameters
    ----------
    kernel : Kernel
    measure : SignedMeasure
        From :func:`krein.signed_measure`.
    title : str, default=""
        Shown above the kernel; empty for the kernel's ``repr``.
    style : {"auto", "light", "dark"}, default="auto"
        ``"auto"`` has a transparent page and reads on light and dark.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import krein
    >>> from krein.kernels import NTK
    >>> from krein.plotting import plot_measure
    >>> figure = plot_measure(NTK(), krein.signed_measure(NTK(), dim=16, radius=2**0.5))
    >>> len(figure.axes)
    2
    """
    return plot_measures([(kernel, measure, title)], style=style)


def plot_measures(rows: Sequence[tuple[Kernel, SignedMeasure, str]], *, style: Style = "auto") -> Figure:
    """Draw several kernels and their measures below each other.

    Parameters
    ----------
    rows : sequence of (kernel, measure, title)
        An empty title means the kernel's ``repr``.
    style : {"auto", "light", "dark"}, default="auto"

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not rows:
        raise ValueError("there is nothing to draw; give at least one (kernel, measure, title)")
    look = look_of(style)
    figure = new_figure(9.5, 3.4 * len(rows), style)
    grid = figure.subplots(len(rows), 2, squeeze=False)
    for (left, right), (kernel, measure, title) in zip(grid, rows, strict=True):
        _draw_kernel(left, kernel, measure, title or repr(kernel), look)
        _draw_measure(right, measure, look)
    return figure


def _draw_kernel(axes: Axes, kernel: Kernel, measure: SignedMeasure, title: str, look: Look) -> None:
    reach = measure.radius if math.isfinite(measure.radius) else _visible_reach(kernel)
    z = np.linspace(0.0, reach, 400)
    dress(axes, look, xlabel="distance z (units of the data)", ylabel="similarity k(z)", title=title)
    axes.axhline(0.0, color=look.grid, linewidth=1.0)
    axes.plot(z, kernel.radial(z), color=look.ink, linewidth=2.2, label="kernel")
    bias = f"bias ≤ {measure.bias:.1e}" if measure.bias > 0 else "exact"
    given = measure.evaluate(z)
    axes.plot(z, given, color=COLORS["measure"], linewidth=1.8, linestyle=(0, (4, 2)), label=f"measure, {bias}")
    axes.legend(frameon=False, labelcolor=look.ink, fontsize="small")


def _draw_measure(axes: Axes, measure: SignedMeasure, look: Look) -> None:
    low, high = _radius_range(measure)
    wide = high > _WIDE * low
    pieces = [
        (1.0, "positive", measure.positive),
        (-1.0, "negative", measure.negative),
    ]
    curves = any(_continuous(part) for _, _, part in pieces)
    stems = any(_atoms(part).radii.size for _, _, part in pieces)
    if curves and wide:
        ylabel = "density, mass per unit of log r"
    elif curves:
        ylabel = "density, mass per unit of r"
    else:
        ylabel = "mass of the atom"
    if curves and stems:
        ylabel += "; stems: mass"
    dress(axes, look, xlabel="radius of the frequency r (1 / unit of distance)", ylabel=ylabel, title=_summary(measure))
    axes.axhline(0.0, color=look.ink, linewidth=0.8)
    grid = np.geomspace(low, high, _STEPS) if wide else np.linspace(0.0, high, _STEPS)
    for sign, name, part in pieces:
        if part.mass == 0.0:
            continue
        label: str | None = f"{name}, mass {part.mass:.3g}"
        for piece in _continuous(part):
            middle, density = _density(piece, grid)
            height = sign * density * (middle if wide else 1.0)
            axes.fill_between(middle, 0.0, height, color=COLORS[name], alpha=0.25, linewidth=0)
            axes.plot(middle, height, color=COLORS[name], linewidth=1.6, label=label)
            label = None
        atoms = _atoms(part)
        if atoms.radii.size:
            axes.vlines(atoms.radii, 0.0, sign * atoms.weights, color=COLORS[name], linewidth=1.8)
            marker = "^" if sign > 0 else "v"
            axes.plot(
                atoms.radii,
                sign * atoms.weights,
                marker,
                color=COLORS[name],
                markersize=5.5,
                linestyle="none",
                label=label,
            )
    if wide:
        _logarithmic(axes, low, high, zero=any((_atoms(part).radii == 0.0).any() for _, _, part in pieces))
    else:
        axes.set_xlim(-0.02 * high, high)
    if measure.mass > 0.0:
        axes.legend(frameon=False, labelcolor=look.ink, fontsize="small")


def _logarithmic(axes: Axes, low: float, high: float, *, zero: bool) -> None:
    """A logarithmic axis with plain numbers, 1-2-5 where there are few decades; linear next to 0 if an atom sits there."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    if zero:
        axes.set_xscale("symlog", linthresh=low)
        axes.set_xlim(-0.1 * low, high)
    else:
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 300 * low else (1.0,)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _summary(measure: SignedMeasure) -> str:
    """The head in words and the total mass."""
    powers = ("", " z²", " z⁴")
    text = ""
    for power, c in zip(powers, measure.head.coefficients, strict=False):
        sign = "−" if c < 0 else "+"
        text += (f" {sign} " if text else ("−" if c < 0 else "")) + f"{abs(c):.3g}{power}"
    head = f"head {text}, " if text else ""
    return f"{head}mass {measure.mass:.3g}, dimension {measure.dim}"


def _leaves(part: RadialPart) -> tuple[RadialPart, ...]:
    return part.parts if isinstance(part, Mixture) else (part,)


def _continuous(part: RadialPart) -> list[RadialPart]:
    return [leaf for leaf in _leaves(part) if not isinstance(leaf, Atoms) and leaf.mass > 0]


def _atoms(part: RadialPart) -> Atoms:
    found = [leaf for leaf in _leaves(part) if isinstance(leaf, Atoms)]
    return found[0] if found else Atoms(np.empty(0), np.empty(0))


def _density(part: RadialPart, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean density between neighboring radii, from the distribution function that every part has."""
    return 0.5 * (grid[:-1] + grid[1:]), part.mass * np.diff(part.cdf(grid)) / np.diff(grid)


def _radius_range(measure: SignedMeasure) -> tuple[float, float]:
    """Radii worth showing: all atoms but the one at 0, and the bulk of each density."""
    radii: list[Any] = []
    for part in (measure.positive, measure.negative):
        atoms = _atoms(part)
        radii.extend(atoms.radii[atoms.radii > 0])
        for leaf in _continuous(part):
            radii.extend(leaf.ppf(np.array([1 - _SHOWN, _SHOWN])))
    if not radii:
        return 0.1, 1.0
    return 0.7 * float(min(radii)), 1.15 * float(max(radii))


def _visible_reach(kernel: Kernel) -> float:
    """Where the kernel has fallen to a few per cent, for measures that hold at all distances."""
    z = np.geomspace(1e-3, 1e4, 1401)
    size = np.abs(kernel.radial(z))
    seen = np.flatnonzero(size > 0.03 * size.max())
    return float(z[min(seen[-1] + 1, z.size - 1)]) if seen.size else 1.0
