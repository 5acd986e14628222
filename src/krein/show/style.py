"""How figures look: ink for light and dark pages, colors that color-blind readers can distinguish, and saving."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from krein._core.checks import one_of
from krein._core.files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLORS", "FORMATS", "STYLES", "Look", "Style", "axes_for", "dress", "look_of", "new_figure", "save_figure"]

Style = Literal["auto", "light", "dark"]
_SCREEN_DPI = 100  # of a picture in a notebook
FORMATS = ("png", "svg", "pdf")  # suffixes of files that can be written

# Okabe and Ito's palette without its yellow and black, which vanish on a light or a dark page.
COLORS = {
    "positive": "#0072B2",
    "negative": "#D55E00",
    "measure": "#009E73",
    "other": "#CC79A7",
    "fifth": "#E69F00",
    "sixth": "#56B4E9",
}


@dataclass(frozen=True)
class Look:
    """Colors of text, lines and page.

    Parameters
    ----------
    ink : str
        Text, axes and the exact kernel.
    grid : str
        Grid lines and the zero line.
    page : str
        Background; ``"none"`` for transparent.
    """

    ink: str
    grid: str
    page: str


# The gray of "auto" has a contrast of 4.5 against white and of 4.6 against black, so it reads on both.
STYLES: dict[str, Look] = {
    "auto": Look(ink="#767676", grid="#76767640", page="none"),
    "light": Look(ink="#1a1a1a", grid="#d9d9d9", page="#ffffff"),
    "dark": Look(ink="#e8e8e8", grid="#454545", page="#131416"),
}


def look_of(style: str) -> Look:
    """The look of a style.

    Parameters
    ----------
    style : {"auto", "light", "dark"}
        Another name is an error that lists these.

    Returns
    -------
    Look
    """
    return STYLES[one_of(style, "style", STYLES)]


def new_figure(width: float, height: float, style: Style = "auto") -> Figure:
    """An empty figure that belongs to no window.

    Parameters
    ----------
    width, height : float
        In inches.
    style : {"auto", "light", "dark"}, default="auto"
        ``"auto"`` has a transparent background and ink that is legible on light and dark pages.

    Returns
    -------
    matplotlib.figure.Figure
    """
    look = look_of(style)
    return _figure_class()(figsize=(width, height), layout="constrained", facecolor=look.page)


@cache
def _figure_class() -> type[Figure]:
    """A figure that a notebook shows although ``pyplot`` does not know it."""
    with _needs_matplotlib():
        from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            self.savefig(stream, format="png", dpi=_SCREEN_DPI, facecolor=self.get_facecolor())
            return stream.getvalue()

    return ShownFigure


def axes_for(ax: Any, width: float, height: float, style: Style = "auto", *, n_panels: int = 1) -> list[Axes]:
    """The axes to draw on: those given, or new ones that a notebook and ``plt.show()`` show."""
    look = look_of(style)
    if ax is None:
        with _needs_matplotlib():
            from matplotlib import pyplot
        figure = pyplot.figure(figsize=(width, height), layout="constrained", facecolor=look.page)
        return list(figure.subplots(1, n_panels, squeeze=False).flat)
    with _needs_matplotlib():
        from matplotlib.axes import Axes
    given = [ax] if isinstance(ax, Axes) else list(np.ravel(ax))
    if len(given) != n_panels or not all(isinstance(one, Axes) for one in given):
        raise TypeError(f"ax must be {n_panels} axes of matplotlib, got {ax!r}; leave it out for new ones")
    return given


@contextmanager
def _needs_matplotlib() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "drawing needs matplotlib, which is not installed; install it with: pip install 'krein[plot]'",
            name="matplotlib",
        ) from error


def dress(axes: Axes, look: Look, *, xlabel: str, ylabel: str, title: str = "") -> None:
    """Give axes their labels, ink and a light grid, and no box above and to the right.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    look : Look
        From `look_of`, the one the figure was made with.
    xlabel, ylabel : str
        With units.
    title : str, default=""
    """
    axes.set_facecolor("none")
    axes.set_xlabel(xlabel, color=look.ink)
    axes.set_ylabel(ylabel, color=look.ink)
    if title:
        axes.set_title(title, color=look.ink, fontsize="medium", loc="left")
    axes.tick_params(colors=look.ink, which="both")
    axes.grid(True, color=look.grid, linewidth=0.6)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_color(look.ink)
        spine.set_visible(side in ("left", "bottom"))


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: int = 160) -> Path:
    """Write a figure as png, svg or pdf, by the suffix of the path; the folder is made if it is missing.

    The file is written whole or not at all.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : str or path
    dpi : int, default=160
        Dots per inch of a png.

    Returns
    -------
    pathlib.Path
    """
    target = Path(path)
    kind = target.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise ValueError(
            f"the suffix of {str(path)!r} does not name a format this can write; use one of "
            f"{', '.join('.' + name for name in FORMATS)}"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    # Without a date two runs on the same input give the same file.
    stamp: dict[str, Any] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with whole_file(target) as stream:
        figure.savefig(stream, format=kind, dpi=dpi, facecolor=figure.get_facecolor(), metadata=stamp)
    return target
