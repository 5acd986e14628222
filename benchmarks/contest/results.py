"""Scores of many sets, what they come to, and the tables of the guide, all made from one file of results."""

from __future__ import annotations

import csv
import io
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from krein.comparison import FoldScore

__all__ = [
    "SetScores",
    "csv_directive",
    "csv_text",
    "chosen_kernels",
    "per_set_table",
    "show_table",
    "summary_table",
    "tally",
]

_EQUAL = 1e-9  # accuracies that differ by less are the same number of right rows


@dataclass(frozen=True)
class SetScores:
    """All that was measured on one set.

    Parameters
    ----------
    name : str
    n_rows, n_columns : int
        Of all folds together.
    scores : tuple of FoldScore
    """

    name: str
    n_rows: int
    n_columns: int
    scores: tuple[FoldScore, ...]

    def of(self, method: str) -> list[FoldScore]:
        """Scores of one method that succeeded."""
        return [score for score in self.scores if score.contender == method and not score.failure]

    def mean(self, method: str) -> float:
        """Mean score of a method over its folds; NaN if there is none."""
        found = [score.score for score in self.of(method)]
        return statistics.fmean(found) if found else float("nan")

    def processor_seconds(self, method: str) -> float:
        """Processor time of all its fits and predictions."""
        return sum(score.processor_seconds for score in self.of(method))

    def joined(self, before: SetScores) -> SetScores:
        """These scores, and of methods that are not among them those of an earlier run."""
        here = {score.contender for score in self.scores}
        rest = tuple(score for score in before.scores if score.contender not in here)
        return replace(self, scores=(*self.scores, *rest))


def tally(sets: Sequence[SetScores], ours: str, other: str) -> tuple[int, int, int]:
    """On how many sets ours is better, as good and worse."""
    gaps = [one.mean(ours) - one.mean(other) for one in sets]
    better, worse = sum(gap > _EQUAL for gap in gaps), sum(gap < -_EQUAL for gap in gaps)
    return better, len(gaps) - better - worse, worse


def chosen_kernels(sets: Iterable[SetScores], method: str) -> tuple[Counter[str], int]:
    """How often each kernel was chosen, and how often one that is not positive definite on the rows."""
    scores = [score for one in sets for score in one.of(method) if score.kernel]
    return Counter(score.kernel for score in scores), sum(score.indefinite for score in scores)


Cells = list[tuple[str, ...]]


def per_set_table(sets: Sequence[SetScores], labels: dict[str, str], *, percent: bool = True) -> Cells:
    """A row for each set, a column for each method; the best of a row has a star."""
    header = ("set", "rows", "columns", *labels.values())
    body = []
    for one in sets:
        means = [one.mean(name) for name in labels]
        best = max(mean for mean in means if mean == mean)
        cells = [_score(mean, percent) + ("*" if mean >= best - _EQUAL else "") for mean in means]
        body.append((one.name, f"{one.n_rows:,}", str(one.n_columns), *cells))
    return [header, *body]


def summary_table(sets: Sequence[SetScores], labels: dict[str, str], ours: str, *, percent: bool = True) -> Cells:
    """A row for each method: mean score, on how many sets ours is better, as good and worse, time of all fits and predictions."""
    first = labels[ours]
    measure = "mean accuracy, %" if percent else "mean R²"
    header = (
        "method",
        measure,
        f"{first} better / equal / worse",
        "processor seconds",
        f"over {labels.get('svc-tuned', 'SVC tuned')}",
    )
    reference = sum(one.processor_seconds("svc-tuned") for one in sets)
    body = []
    for name, label in labels.items():
        mean = statistics.fmean(one.mean(name) for one in sets)
        fights = "" if name == ours else " / ".join(str(count) for count in tally(sets, ours, name))
        seconds = sum(one.processor_seconds(name) for one in sets)
        ratio = f"{seconds / reference:.2g}" if reference and seconds else ""
        body.append(
            (
                label,
                _score(mean, percent, digits=2 if percent else 4),
                fights,
                f"{seconds:.3g}" if seconds else "",
                ratio,
            )
        )
    return [header, *body]


def csv_text(cells: Cells) -> str:
    """The table as comma-separated values."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(cells)
    return text.getvalue()


def csv_directive(file: str) -> str:
    """What shows a file of comma-separated values in a part of a page that lies beside it."""
    return f".. csv-table::\n   :file: {file}\n   :header-rows: 1\n"


def show_table(title: str, cells: Cells) -> None:
    """Print one table."""
    print(f"\n{title}")
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), flush=True)


def _score(value: float, percent: bool, digits: int | None = None) -> str:
    if value != value:
        return "–"
    return (
        f"{100 * value:.{1 if digits is None else digits}f}"
        if percent
        else f"{value:.{3 if digits is None else digits}f}"
    )
