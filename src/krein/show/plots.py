"""Figures of models: confusion, importances of columns, kernels that were tried, errors against widths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from krein.show.style import COLORS, Style, axes_for, dress, look_of, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_trials", "plot_confusion", "plot_importances", "plot_widths"]

_MARKERS = "os^Dv<>P"


def plot_trials(trials: Any, *, title: str = "", style: Style = "auto") -> Figure:
    """Draw the error of each kernel tried against its length scale, one panel for each number of rows.

    Parameters
    ----------
    trials : Trials
        ``TunedFeatures().fit(X, y).scores_`` or ``KreinRidge().fit(X, y).choice_.trials``.
    title : str, default=""
    style : {"auto", "light", "dark"}, default="auto"

    Returns
    -------
    matplotlib.figure.Figure
        Kernels without a length scale are horizontal lines; the chosen kernel has a ring.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = krein.KreinRidge().fit(X, np.sin(3 * X[:, 0]))
    >>> len(krein.plotting.plot_trials(model.choice_.trials).axes)
    1
    """
    if not len(trials):
        raise ValueError(
            "trials is empty: no kernels were tried, because the kernel was given or there were no targets"
        )
    look = look_of(style)
    groups: dict[int, list[Any]] = {}
    for trial in reversed(trials.trials):
        groups.setdefault(trial.n_rows, []).append(trial)
    families = sorted({trial.family for trial in trials})
    dress_of = {
        name: (list(COLORS.values())[i % len(COLORS)], _MARKERS[i % len(_MARKERS)]) for i, name in enumerate(families)
    }
    figure = new_figure(3.2 * len(groups) + 2.0, 3.8, style)
    panels = figure.subplots(1, len(groups), squeeze=False)[0]
    for axes, (n_rows, group) in zip(panels, groups.items(), strict=True):
        dress(
            axes,
            look,
            xlabel="length scale / median distance",
            ylabel="error of left-out rows",
            title=f"{n_rows:,} rows",
        )
        axes.set_xscale("log", base=2)
        for family in families:
            color, marker = dress_of[family]
            mine = [trial for trial in group if trial.family == family]
            points = sorted((trial.factor, trial.error) for trial in mine if trial.factor is not None)
            if points:
                axes.plot(
                    *zip(*points, strict=True), color=color, marker=marker, markersize=4, linewidth=1.2, label=family
                )
            levels = [trial.error for trial in mine if trial.factor is None]
            if levels:
                axes.axhline(min(levels), color=color, linewidth=1.2, linestyle="--", label=family)
        for trial in group:
            if trial.chosen and trial.factor is not None:
                axes.plot([trial.factor], [trial.error], "o", markersize=11, fillstyle="none", color=look.ink)
            elif trial.chosen:
                axes.axhline(trial.error, color=look.ink, linewidth=3.0, alpha=0.4)
    panels[0].legend(fontsize=7, frameon=False, labelcolor=look.ink)
    figure.suptitle(title, color=look.ink, fontsize=10)
    return figure


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

    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != predicted.shape or not true.size:
        raise ValueError(
            f"y_true and y_pred must be vectors of one length, got shapes {true.shape} and {predicted.shape}"
        )
    labels, codes = np.unique(np.concatenate([true, predicted]), return_inverse=True)
    names = [str(name) for name in labels]
    counts = np.zeros((labels.size, labels.size), dtype=np.int64)
    np.add.at(counts, (codes[: true.size], codes[true.size :]), 1)
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


_MARKERS = "os^Dv<>P"


def plot_widths(
    errors: Any,
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
    if not isinstance(errors, Mapping):  # a search
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
