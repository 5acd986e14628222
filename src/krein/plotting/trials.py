"""A figure of the kernels that were tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krein._core.look import COLORS, Style, dress, look_of, new_figure
from krein.learning.tuning.trials import Trial, Trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_trials"]

_MARKERS = "os^Dv<>P"


def plot_trials(trials: Trials, *, title: str = "", style: Style = "auto") -> Figure:
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
    groups: dict[int, list[Trial]] = {}
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
