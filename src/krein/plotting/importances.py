"""Importances of columns, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from krein._core.look import COLORS, Style, axes_for, dress, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_importances"]

_SHOWN = 20  # columns, the most important ones
_BAR = 0.28  # inches


def plot_importances(
    importances: Any, names: Any = None, ax: Any = None, *, title: str = "", style: Style = "auto"
) -> Axes:
    """Draw the importances of columns, the largest at the top; of many columns the first twenty.

    Parameters
    ----------
    importances : array-like of shape (n_features,)
        ``feature_importances_`` of a model.
    names : sequence of str, default=None
        Names of the columns, such as ``feature_names_in_`` of a model fitted on a data frame; None for their numbers.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None for a new figure.
    title : str, default=""
    style : {"auto", "light", "dark"}, default="auto"

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from krein.plotting import plot_importances
    >>> axes = plot_importances([0.7, 0.1, 0.2], ["height", "shade", "slope"])
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['shade', 'slope', 'height']
    """
    values = np.asarray(importances, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise ValueError(f"importances must be finite numbers, one for each column, got {importances!r}")
    labels = [f"column {i}" for i in range(values.size)] if names is None else [str(name) for name in names]
    if len(labels) != values.size:
        raise ValueError(f"there must be as many names as importances, got {len(labels)} for {values.size}")
    shown = np.argsort(-values, kind="stable")[:_SHOWN][::-1]
    look = look_of(style)
    (axes,) = axes_for(ax, 6.0, 1.2 + _BAR * shown.size, style)
    axes.barh(np.arange(shown.size), values[shown], color=COLORS["positive"])
    axes.set_yticks(np.arange(shown.size), [labels[i] for i in shown])
    left_out = f" ({shown.size} of {values.size} columns)" if shown.size < values.size else ""
    dress(axes, look, xlabel=f"share of the mean squared derivative{left_out}", ylabel="", title=title)
    return axes
