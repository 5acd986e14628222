"""Figures of kernels, measures, spectra and models; needs matplotlib, which is installed with the extra ``krein[plot]``.

A function that draws one panel takes the axes to draw on, ``ax``, and returns them; with ``ax=None`` it makes a figure with
``pyplot``, which a notebook and ``plt.show()`` show. Functions that draw several panels return a figure that is made without
``pyplot``: no global state, no window, safe in threads.
"""

from krein.measures.drawing import plot_measure, plot_measures
from krein.show.matrix_plots import plot_objects, plot_spectrum
from krein.show.plots import plot_confusion, plot_importances, plot_trials, plot_widths
from krein.show.style import COLORS, STYLES, Look, dress, look_of, new_figure, save_figure

__all__ = [
    "plot_measure",
    "plot_measures",
    "plot_spectrum",
    "plot_objects",
    "plot_trials",
    "plot_widths",
    "plot_importances",
    "plot_confusion",
    "save_figure",
    "new_figure",
    "dress",
    "look_of",
    "Look",
    "COLORS",
    "STYLES",
]
