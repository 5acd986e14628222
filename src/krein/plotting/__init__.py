"""Figures of kernels and signed measures; needs matplotlib, which comes with the extra ``krein[plot]``.

Every function returns a :class:`matplotlib.figure.Figure` made without ``pyplot``: no global state, no window, safe in threads.
"""

from krein.plotting.importances import plot_importances
from krein.plotting.look import COLORS, STYLES, Look, dress, look_of, new_figure, save_figure
from krein.plotting.matrix import plot_spectrum
from krein.plotting.measure import plot_measure, plot_measures
from krein.plotting.trials import plot_trials

__all__ = [
    "plot_measure",
    "plot_measures",
    "plot_spectrum",
    "plot_trials",
    "plot_importances",
    "save_figure",
    "new_figure",
    "dress",
    "look_of",
    "Look",
    "COLORS",
    "STYLES",
]
