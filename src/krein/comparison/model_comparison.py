"""The result of a comparison of models: a summary of each, a table for the terminal or a notebook, and a page."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from krein._core.files import write_whole
from krein.comparison.contenders import Contender
from krein.show.cards import card, card_table
from krein.show.figure import Line, Panel, draw_svg, inline_svg
from krein.show.page import document, figures_html, table_html
from krein.show.table import Table

__all__ = ["FoldScore", "ModelComparison", "Summary"]

_MEASURES = {"classification": "accuracy", "regression": "R²"}
_OURS = ("#0072B2", "#D55E00", "#009E73")  # in the order of the contenders; the others have the color of the text
_MARKERS = "osD^vPX<>*hp"


@dataclass(frozen=True)
class FoldScore:
    """A contender on one fold, numbered from 0.

    Parameters
    ----------
    contender : str
        Its name.
    fold : int
    score : float
        Accuracy or R² on the held-out rows; NaN if it failed.
    fit_seconds, predict_seconds : float
    chosen : str, default=""
        What the model chose from the data, in a few words.
    kernel : str, default=""
        Family of the kernel that it chose, if it chose one.
    indefinite : bool, default=False
        Whether that kernel is not positive definite on the rows.
    processor_seconds : float, default=0.0
        Processor time of this process to fit and to predict, which a busy machine changes least.
    failure : str, default=""
        What the error said, if there was one.
    """

    contender: str
    fold: int
    score: float
    fit_seconds: float
    predict_seconds: float
    chosen: str = ""
    kernel: str = ""
    indefinite: bool = False
    processor_seconds: float = 0.0
    failure: str = ""


@dataclass(frozen=True)
class Summary:
    """One contender over the folds that are done.

    Parameters
    ----------
    contender : Contender
    mean, deviation : float
        Mean and standard deviation of the score over the folds; NaN if there is none.
    fit_seconds, predict_seconds : float
        Median of the folds: the first fit of a process loads and compiles.
    folds : int
        Number of folds that succeeded.
    chosen : str
        The choice that it made most often.
    failure : str
        The first error, if there was one.
    """

    contender: Contender
    mean: float
    deviation: float
    fit_seconds: float
    predict_seconds: float
    folds: int
    chosen: str
    failure: str


@dataclass(frozen=True, repr=False, eq=False)
class ModelComparison:
    """Scores of several models on the same folds.

    Parameters
    ----------
    task : {"classification", "regression"}
    folds : int
    contenders : tuple of Contender
    scores : tuple of FoldScore
        Those that are done.
    """

    task: str
    folds: int
    contenders: tuple[Contender, ...]
    scores: tuple[FoldScore, ...]

    @property
    def measure(self) -> str:
        """Name of the score."""
        return _MEASURES[self.task]

    @property
    def complete(self) -> bool:
        """Whether every contender was fitted on every fold."""
        return len(self.scores) >= self.folds * len(self.contenders)

    def summaries(self) -> list[Summary]:
        """A summary of each contender with a finished fold, the best score first, those that failed last."""
        found = [
            _summary(one, [score for score in self.scores if score.contender == one.name]) for one in self.contenders
        ]
        began = [one for one in found if one.folds or one.failure]
        return sorted(began, key=lambda one: (math.isnan(one.mean), -one.mean))

    def table(self) -> Table:
        """The summaries as text; the best score and the shortest fit are highlighted."""
        found = self.summaries()
        rows = tuple(self._cells(one) for one in found)
        caption = (
            f"{self.measure.capitalize()} over {self.folds} folds, mean ± standard deviation; seconds per fold, median"
        )
        header = ("model", self.measure, "fit, s", "predict, s", "chosen")
        return Table(caption, header, rows, frozenset(_best(found)))

    def page(self, heading: str, facts: Sequence[str] = (), command: str = "") -> str:
        """The comparison as a self-contained HTML page."""
        table = self.table()
        notes = tuple((one.label, one.note) for one in self.contenders)
        failures = tuple((one.contender.label, one.failure) for one in self.summaries() if one.failure)
        unfinished = "" if self.complete else f"<p><b>{escape(self.progress())}</b></p>"
        body = (
            "".join(f"<p>{escape(text)}</p>" for text in facts)
            + unfinished
            + table_html(table)
            + figures_html((self._drawing(),) if any(one.folds for one in self.summaries()) else ())
            + (table_html(Table("Models that failed", ("model", "error"), failures), prose=True) if failures else "")
            + table_html(Table("Models", ("model", "data and settings"), notes), prose=True)
            + (f"<pre>{escape(command)}</pre>" if command else "")
        )
        return document(f"krein: {heading}", heading, body)

    def write_page(self, path: Path, heading: str, facts: Sequence[str] = (), command: str = "") -> None:
        """Write `page` to a file, whole or not at all."""
        write_whole(path, self.page(heading, facts, command))

    def progress(self) -> str:
        """How much is done, in words."""
        return f"{len(self.scores)} of {self.folds * len(self.contenders)} fits are done."

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        table = self.table()
        return card(table.caption, table=card_table(table.header, table.rows, best=table.best))

    def _cells(self, one: Summary) -> tuple[str, ...]:
        if not one.folds:
            return (one.contender.label, "failed", "", "", one.failure)
        share = "" if one.folds == self.folds else f" ({one.folds} of {self.folds} folds)"
        spread = f" ± {one.deviation:.4f}" if one.folds > 1 else ""
        times = (_seconds(one.fit_seconds), _seconds(one.predict_seconds))
        return (one.contender.label, f"{one.mean:.4f}{spread}{share}", *times, one.chosen)

    def _drawing(self) -> str:
        """The score against the time of a fit."""
        by_name = {one.contender.name: one for one in self.summaries() if one.folds}
        ours = [one.name for one in self.contenders if one.ours]
        lines = []
        for place, contender in enumerate(self.contenders):
            one = by_name.get(contender.name)
            if one is not None:
                color = _OURS[ours.index(contender.name) % len(_OURS)] if contender.ours else "ink"
                marker = _MARKERS[place % len(_MARKERS)]
                lines.append(
                    Line(contender.label, (one.fit_seconds,), (one.mean,), color=color, marker=marker, dash="")
                )
        title = "Up and to the left is better"
        panel = Panel(title, "seconds per fit", f"{self.measure} on held-out rows", tuple(lines), xlog=True)
        return inline_svg(
            draw_svg(panel), "scores", f"{self.measure} against the time of a fit; the table has the numbers"
        )


def _summary(contender: Contender, scores: Sequence[FoldScore]) -> Summary:
    good = [score for score in scores if not score.failure]
    failure = next((score.failure for score in scores if score.failure), "")
    if not good:
        nan = float("nan")
        return Summary(contender, nan, nan, nan, nan, 0, "", failure)
    values = [score.score for score in good]
    return Summary(
        contender,
        statistics.fmean(values),
        statistics.stdev(values) if len(values) > 1 else 0.0,
        statistics.median(score.fit_seconds for score in good),
        statistics.median(score.predict_seconds for score in good),
        len(good),
        Counter(score.chosen for score in good).most_common(1)[0][0],
        failure,
    )


def _best(found: Sequence[Summary]) -> set[tuple[int, int]]:
    """Row and column of the best score and of the shortest fit."""
    rows = [i for i, one in enumerate(found) if one.folds]
    if not rows:
        return set()
    score = max(found[i].mean for i in rows)
    quickest = min(found[i].fit_seconds for i in rows)
    return {(i, 1) for i in rows if found[i].mean == score} | {(i, 2) for i in rows if found[i].fit_seconds == quickest}


def _seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}" if value < 1 else f"{value:.1f}"
