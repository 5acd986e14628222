"""Error of the kernel matrix against the width of a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from krein._core.look import COLORS, Style, axes_for, dress, look_of
from krein.features.width_trials import WidthSearch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_widths"]

_MARKERS = "os^Dv<>P"


def plot_widths(
    errors: Mapping[str, Sequence[tuple[float, float]]] | WidthSearch,
    ax: Any = None,
    *,
    target: float | None = None,
    title: str = "",
    style: Style = "auto",
) -> Axes:
    """Draw errors against widths, both on logarithmic axes.

    Parameters
    ----------
    errors : mapping of str to sequence of (width, error), or WidthSearch
        A line for each name; or ``width_search_``, the widths that ``SignedFourierFeatures(n_components="auto", error=...)``
        tried.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None for a new figure.
    target : float, default=None
        A target error, drawn as a line; by default that of a search.
    title : str, default=""
    style : {"auto", "light", "dark"}, default="auto"

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from krein.plotting import plot_widths
    >>> axes = plot_widths({"plain": [(64, 0.1), (256, 0.05)], "projected": [(64, 0.01), (256, 1e-4)]})
    >>> axes.get_xscale(), len(axes.lines)
    ('log', 2)
    """
    chosen = None
    if isinstance(errors, WidthSearch):
        taken = errors.trials[errors.chosen]
        chosen, target = (taken.n_components, taken.error), errors.target if target is None else target
        kinds = dict.fromkeys(trial.weights for trial in errors.trials)
        errors = {
            kind: [(trial.n_components, trial.error) for trial in errors.trials if trial.weights == kind]
            for kind in kinds
        }
    if not any(errors.values()):
        raise ValueError("errors is empty: give at least one (width, error)")
    look = look_of(style)
    (axes,) = axes_for(ax, 5.2, 3.8, style)
    ylabel = "relative error of the kernel matrix"
    dress(axes, look, xlabel="width (output columns)", ylabel=ylabel, title=title)
    for number, (name, points) in enumerate(errors.items()):
        widths, values = np.array(sorted(points), dtype=np.float64).reshape(-1, 2).T
        color = list(COLORS.values())[number % len(COLORS)]
        axes.plot(widths, values, _MARKERS[number % len(_MARKERS)] + "-", color=color, markersize=5, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    if target is not None:
        axes.axhline(target, color=look.ink, linewidth=1.0, linestyle="--", label=f"target: {target:g}")
    if chosen is not None:
        axes.plot(*chosen, "o", markersize=12, fillstyle="none", color=look.ink, label="chosen", linestyle="none")
    axes.legend(frameon=False, labelcolor=look.ink, fontsize="small")
    return axes
