"""Confusion matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from krein._core.look import COLORS, Style, axes_for, dress, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_confusion"]

_CELL = 0.42  # inches
_MOST_NUMBERS = 12  # classes, beyond which cells have no numbers


def plot_confusion(y_true: Any, y_pred: Any, ax: Any = None, *, title: str = "", style: Style = "auto") -> Axes:
    """Draw a confusion matrix: how many rows of each class are predicted as which class.

    The darker a cell, the larger its share of the rows of its true class; cells on the diagonal (correct) are blue, the others
    (wrong) orange.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None for a new figure.
    title : str, default=""
        If empty, the accuracy.
    style : {"auto", "light", "dark"}, default="auto"

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from krein.plotting import plot_confusion
    >>> axes = plot_confusion(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    >>> [text.get_text() for text in axes.texts]
    ['1', '1', '1']
    """
    from matplotlib.colors import to_rgb
    from sklearn.metrics import confusion_matrix
    from sklearn.utils.multiclass import unique_labels

    counts = confusion_matrix(y_true, y_pred)
    names = [str(name) for name in unique_labels(y_true, y_pred)]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    size = len(names)
    look = look_of(style)
    (axes,) = axes_for(ax, 2.0 + _CELL * size, 1.4 + _CELL * size, style)
    right = float(np.trace(counts)) / float(counts.sum())
    dress(axes, look, xlabel="predicted class", ylabel="true class", title=title or f"{100 * right:.1f} % correct")
    colors = np.empty((size, size, 4))
    colors[:, :, :3] = to_rgb(COLORS["negative"])
    colors[np.arange(size), np.arange(size), :3] = to_rgb(COLORS["positive"])
    colors[:, :, 3] = 0.75 * np.sqrt(shares)
    axes.imshow(colors)
    axes.grid(False)
    axes.set_xticks(np.arange(size), names, rotation=90 if max(map(len, names)) > 3 else 0)
    axes.set_yticks(np.arange(size), names)
    if size <= _MOST_NUMBERS:
        for i, j in zip(*np.nonzero(counts), strict=True):
            axes.text(j, i, f"{counts[i, j]:,}", ha="center", va="center", color=look.ink, fontsize="small")
    return axes
