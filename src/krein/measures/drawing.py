"""The paper's Figure 1: a kernel, the kernel that its measure represents, and the measure with its two signs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from krein.kernels import Kernel
from krein.measures.radial_parts import Atoms, RadialPart
from krein.measures.signed import SignedMeasure
from krein.show.cards import visible_reach
from krein.show.style import COLORS, Look, Style, axes_for, dress, look_of, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Profile", "SignedPart", "draw_degrees", "draw_measure", "plot_measure", "plot_measures", "radial_profile"]

_STEPS = 1200  # points of a curve, about one per dot of a printed line
Sign = Literal["positive", "negative"]
_SHOWN = 0.99  # of the mass of a density; heavy tails would squeeze the rest into a corner
_WIDE = 12.0  # ratio of radii beyond which the axis is logarithmic


def plot_measure(kernel: Kernel, measure: SignedMeasure, *, title: str = "", style: Style = "auto") -> Figure:
    """Draw a kernel and its signed measure.

    Left, k(z) and the kernel that the measure represents. Right, the measure on radii: positive part upwards, negative part
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
        ``"auto"`` has a transparent background and suits light and dark pages.

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
        raise ValueError("there is nothing to draw; pass at least one (kernel, measure, title)")
    look = look_of(style)
    figure = new_figure(9.5, 3.4 * len(rows), style)
    grid = figure.subplots(len(rows), 2, squeeze=False)
    for (left, right), (kernel, measure, title) in zip(grid, rows, strict=True):
        _draw_kernel(left, kernel, measure, title or repr(kernel), look)
        draw_measure(measure, right, style)
    return figure


def _draw_kernel(axes: Axes, kernel: Kernel, measure: SignedMeasure, title: str, look: Look) -> None:
    reach = measure.radius if math.isfinite(measure.radius) else visible_reach(kernel.radial)
    z = np.linspace(0.0, reach, 400)
    dress(axes, look, xlabel="distance z (units of the data)", ylabel="similarity k(z)", title=title)
    axes.axhline(0.0, color=look.grid, linewidth=1.0)
    axes.plot(z, kernel.radial(z), color=look.ink, linewidth=2.2, label="kernel")
    bias = f"bias ≤ {measure.bias:.1e}" if measure.bias > 0 else "exact"
    given = measure.evaluate(z)
    axes.plot(z, given, color=COLORS["measure"], linewidth=1.8, linestyle=(0, (4, 2)), label=f"measure, {bias}")
    axes.legend(frameon=False, labelcolor=look.ink, fontsize="small")


def draw_measure(measure: SignedMeasure, ax: Any = None, style: Style = "auto") -> Axes:
    """Draw a measure on its radii: positive part upwards, negative part downwards; atoms are stems, densities are curves."""
    (axes,) = axes_for(ax, 5.2, 3.4, style)
    look, profile = look_of(style), radial_profile(measure, _STEPS)
    label = "radius of the frequency r (1 / unit of distance)"
    dress(axes, look, xlabel=label, ylabel=_height_label(profile), title=_summary(measure))
    axes.axhline(0.0, color=look.ink, linewidth=0.8)
    for part in profile.parts:
        name = f"{part.name}, mass {part.mass:.3g}"
        if part.atoms:
            _draw_stems(axes, part.radii, part.heights, part.name, name)
        else:
            axes.fill_between(part.radii, part.heights, 0.0, color=COLORS[part.name], alpha=0.25, linewidth=0)
            axes.plot(part.radii, part.heights, color=COLORS[part.name], linewidth=1.6, label=name)
    if profile.logarithmic:
        zero = any((part.radii == 0.0).any() for part in profile.parts)
        _logarithmic(axes, profile.low, profile.high, zero=zero)
    else:
        axes.set_xlim(-0.02 * profile.high, profile.high)
    if profile.parts:
        axes.legend(frameon=False, labelcolor=look.ink, fontsize="small")
    return axes


def draw_degrees(weights: Sequence[float], title: str, ax: Any = None, style: Style = "auto") -> Axes:
    """Draw the share of each degree of spherical harmonics in k(0), with its sign."""
    (axes,) = axes_for(ax, 5.2, 3.4, style)
    look, values = look_of(style), np.asarray(weights, dtype=np.float64)
    dress(axes, look, xlabel="degree of the spherical harmonics", ylabel="share of k(0), with its sign", title=title)
    axes.axhline(0.0, color=look.ink, linewidth=0.8)
    for name, here in (("positive", np.flatnonzero(values > 0.0)), ("negative", np.flatnonzero(values < 0.0))):
        if here.size:
            _draw_stems(axes, here, values[here], name, name)
    size = np.abs(values[values != 0.0])
    if size.size and size.min() < 1e-2 * size.max():
        axes.set_yscale("symlog", linthresh=max(float(size.min()), 1e-6 * float(size.max())))
    if size.size:
        axes.legend(frameon=False, labelcolor=look.ink, fontsize="small")
    return axes


def _draw_stems(axes: Axes, at: np.ndarray, heights: np.ndarray, sign: str, label: str) -> None:
    axes.vlines(at, 0.0, heights, color=COLORS[sign], linewidth=1.8)
    marker = "^" if sign == "positive" else "v"
    axes.plot(at, heights, marker, color=COLORS[sign], markersize=5.5, linestyle="none", label=label)


def _height_label(profile: Profile) -> str:
    stems = [part.atoms for part in profile.parts]
    if all(stems):
        return "mass of the atom"
    unit = "log r" if profile.logarithmic else "r"
    return f"density, mass per unit of {unit}" + ("; stems: mass" if any(stems) else "")


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


@dataclass(frozen=True, eq=False)
class SignedPart:
    """One of the two parts of a measure.

    Parameters
    ----------
    name : {"positive", "negative"}
    mass : float
    atoms : bool
        Whether it is one of atoms; else it has a density.
    radii : ndarray
    heights : ndarray
        With the sign of the part: masses of atoms, or the density, per unit of log r where the axis is logarithmic, so that areas
        are masses there too.
    """

    name: Sign
    mass: float
    atoms: bool
    radii: np.ndarray
    heights: np.ndarray


@dataclass(frozen=True, eq=False)
class Profile:
    """A measure on radii.

    Parameters
    ----------
    low, high : float
        Radii worth showing: all atoms but the one at 0, and the bulk of each density.
    logarithmic : bool
    parts : tuple of SignedPart
        Those that have mass, the positive one first.
    """

    low: float
    high: float
    logarithmic: bool
    parts: tuple[SignedPart, ...]


def radial_profile(measure: SignedMeasure, steps: int) -> Profile:
    """The numbers behind a picture of a measure."""
    low, high = _radius_range(measure)
    wide = high > _WIDE * low
    grid = np.geomspace(low, high, steps) if wide else np.linspace(0.0, high, steps)
    parts = []
    both: tuple[tuple[float, Sign, RadialPart], ...]
    both = ((1.0, "positive", measure.positive), (-1.0, "negative", measure.negative))
    for sign, name, part in both:
        if part.mass > 0.0:
            atoms = isinstance(part, Atoms)
            if isinstance(part, Atoms):
                r, height = part.radii, part.weights
            else:  # the mean between neighboring radii, from the distribution function that every part has
                r, height = 0.5 * (grid[:-1] + grid[1:]), part.mass * np.diff(part.cdf(grid)) / np.diff(grid)
            parts.append(SignedPart(name, part.mass, atoms, r, sign * height * (r if wide and not atoms else 1.0)))
    return Profile(low, high, wide, tuple(parts))


def _radius_range(measure: SignedMeasure) -> tuple[float, float]:
    radii: list[float] = []
    for part in (measure.positive, measure.negative):
        if part.mass > 0.0:
            shown = part.radii if isinstance(part, Atoms) else part.ppf(np.array([1 - _SHOWN, _SHOWN]))
            radii.extend(shown[shown > 0])
    if not radii:
        return 0.1, 1.0
    return 0.7 * float(min(radii)), 1.15 * float(max(radii))
