"""Figures of a matrix of similarities: its spectrum with signs, and its objects on two axes of a pseudo-Euclidean space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from krein.show.style import COLORS, Look, Style, axes_for, dress, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_objects", "plot_spectrum"]

_SHOWN = 60  # eigenvalues from each end; the middle is left out of a long spectrum
_FEW_CLASSES = 6  # labels with a color each


def plot_spectrum(
    spectrum: Any,
    ax: Any = None,
    *,
    band: Any = None,
    title: str = "",
    style: Style = "auto",
) -> Axes:
    """Draw eigenvalues from the largest to the smallest, positive upwards and negative downwards.

    Parameters
    ----------
    spectrum : MatrixSpectrum
        ``diagnose(K).spectrum``.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None for a new figure.
    band : NoiseBand, default=None
        The interval that noise in the entries would fill.
    title : str, default=""
    style : {"auto", "light", "dark"}, default="auto"

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> krein.diagnose(np.tanh(X @ X.T - 1.0)).plot().get_ylabel()
    'eigenvalue'
    """
    look = look_of(style)
    (axes,) = axes_for(ax, 5.2, 3.8, style)
    values = spectrum.values[::-1]
    total = values.size
    if total > 2 * _SHOWN:
        values = np.concatenate([values[:_SHOWN], values[-_SHOWN:]])
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    least = max(spectrum.rounding, 1e-16 * size)
    places = np.arange(values.size)
    label = "eigenvalue, from the largest" + (f" ({_SHOWN} from each end)" if total > 2 * _SHOWN else "")
    dress(axes, look, xlabel=label, ylabel="eigenvalue", title=title or _summary(spectrum))
    for sign, name in ((1.0, "positive"), (-1.0, "negative")):
        here = sign * values > spectrum.rounding
        if here.any():
            axes.vlines(places[here], 0.0, values[here], color=COLORS[name], linewidth=1.5)
            axes.plot(places[here], values[here], "o", color=COLORS[name], markersize=3, label=name)
    counted = np.abs(values[np.abs(values) > spectrum.rounding])
    if counted.size and counted.min() < 1e-2 * size:
        axes.set_yscale("symlog", linthresh=max(least, float(np.median(counted)) * 0.1))
    if band is not None and band.radius > 0.0:
        words = "stated" if band.given else "with the median of the negative part"
        axes.axhspan(-band.radius, band.radius, color=look.grid, alpha=0.5, linewidth=0, label=f"noise, {words}")
    axes.axhline(0.0, color=look.ink, linewidth=0.8)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, labelcolor=look.ink, fontsize="small")
    return axes


def plot_objects(spectrum: Any, ax: Any = None, *, labels: np.ndarray | None = None, style: Style = "auto") -> Axes:
    """Draw the objects on the largest positive axis and the most negative one, or on two positive axes if none is negative.

    Parameters
    ----------
    spectrum : MatrixSpectrum
        ``diagnose(K).spectrum``.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None for a new figure.
    labels : array of shape (n_objects,), default=None
        Colors of the objects.
    style : {"auto", "light", "dark"}, default="auto"

    Returns
    -------
    matplotlib.axes.Axes
    """
    (axes,) = axes_for(ax, 5.2, 3.8, style)
    _draw_objects(axes, spectrum, labels, look_of(style))
    return axes


def _draw_objects(axes: Axes, spectrum: Any, labels: np.ndarray | None, look: Look) -> None:
    values = spectrum.axis_values
    positive, negative = np.flatnonzero(values > 0.0), np.flatnonzero(values < 0.0)
    picked = np.concatenate([positive[:1], negative[:1]]) if negative.size else positive[:2]
    columns = [spectrum.axes[:, i] for i in picked]
    names = [f"axis of eigenvalue {values[i]:.3g} ({'+' if values[i] > 0 else '−'})" for i in picked]
    while len(columns) < 2:  # a matrix of rank one, or of zeros
        columns.append(np.zeros(spectrum.axes.shape[0]))
        names.append("no further axis")
    dress(axes, look, xlabel=names[0], ylabel=names[1], title="objects in the pseudo-Euclidean space")
    classes = np.unique(labels) if labels is not None else np.empty(0)
    if 0 < classes.size <= _FEW_CLASSES and labels is not None:
        for color, one in zip(COLORS.values(), classes, strict=False):
            here = labels == one
            axes.scatter(columns[0][here], columns[1][here], s=14, color=color, alpha=0.8, linewidths=0, label=str(one))
        axes.legend(frameon=False, labelcolor=look.ink, fontsize="small")
        return
    shades = None
    if labels is not None:
        shades = np.unique(labels, return_inverse=True)[1] if labels.dtype.kind not in "fi" else labels
    axes.scatter(
        columns[0], columns[1], s=14, c=COLORS["positive"] if shades is None else shades, alpha=0.8, linewidths=0
    )


def _summary(spectrum: Any) -> str:
    about = "" if spectrum.exact else "about "
    return f"negative eigenfraction {about}{spectrum.negative_fraction:.3g}"
