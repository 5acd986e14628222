"""The choice of a kernel, its scale and λ: all of a portfolio on few rows, the best of them on more and more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from krein._core.threads import quiet_blas, share
from krein.kernels import DeltaGaussian, Kernel
from krein.learning.metric import LearnedMetric, learn_metric
from krein.learning.path import Regularizer
from krein.learning.tuning.placement import Placement, scaled_columns
from krein.learning.tuning.rounds import (
    PORTFOLIO,
    Contestant,
    Grams,
    at_more_rows,
    candidates,
    feature_stages,
    finalists,
    ranked,
    short_list,
    stages,
)
from krein.learning.tuning.trials import NOTHING_TRIED, Trial, Trials
from krein.rows.columns import ColumnSummary
from krein.rows.equal import MergedRows
from krein.show.progress import report

__all__ = [
    *("FEATURE_CHOICE_ROWS", "Choice", "choose", "feature_round", "fixed_choice", "in_learned_metric"),
    "unsupervised_choice",
]

FEATURE_CHOICE_ROWS = 4096  # rows that a choice of features, and of a metric for them, may look at
_FEATURE_ROWS = 2048  # of them in the last round: on twice as many the first of twelve was still the first
_FEATURE_EXACT_ROWS = 2500  # of them in the last round where exact problems are compared, which features do not become
_MANY_ROWS = 4  # for each feature: features are compared; with fewer rows they are nearly the exact problem
_TOGETHER = 8  # candidates that threads share before the next word to whoever watches


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """A kernel on placed rows, with its λ.

    Parameters
    ----------
    placement : Placement
    kernel : Kernel
    lam : float or None, default=None
        λ per unit of weight: the system is :math:`K + n \\lambda I`. None where there were no targets.
    lams, errors : ndarray of shape (n_lams,), default=None
        Candidates for λ of that kernel in the last round, and the error for each, relative to that of a constant.
    trials : Trials
        The kernels that were tried.
    indefinite : bool, default=False
        Whether the kernel matrix has negative eigenvalues.
    metric : LearnedMetric or None, default=None
        The learned metric, which is part of the placement.
    """

    placement: Placement
    kernel: Kernel
    lam: float | None = None
    lams: np.ndarray | None = None
    errors: np.ndarray | None = None
    trials: Trials = NOTHING_TRIED
    indefinite: bool = False
    metric: LearnedMetric | None = None

    def __repr__(self) -> str:
        strength = "" if self.lam is None else f", λ = {self.lam:.1e}"
        metric = "" if self.metric is None else ", on columns weighted by a learned metric"
        table = f"\n{self.trials!r}" if len(self.trials) else ""
        return f"{self.kernel!r}{strength}{metric}{table}"

    def _repr_html_(self) -> str:
        facts = [] if self.lam is None else [("λ", f"{self.lam:.1e}")]
        if self.metric is not None:
            facts.append(("columns", "weighted by a learned metric"))
        return self.trials.card(repr(self.kernel), facts)


@quiet_blas()
def choose(
    rows: MergedRows,
    *,
    columns: ColumnSummary | None = None,
    scaling: str = "standard",
    kernels: Iterable[Kernel] = PORTFOLIO,
    lams: np.ndarray | None = None,
    regularizer: Regularizer = "hilbert",
    intercept: bool = True,
    most_rows: int = 4000,
    width: int | None = None,
) -> Choice:
    """Choose scaling, kernel, length scale and λ by the squared error of left-out rows."""
    rows = rows.sketched()
    tried = candidates(kernels, _placement(scaling, columns, rows.X, rows.weight), rows.X)
    if not tried:
        raise ValueError("kernels is empty: there is nothing to choose from; give at least one kernel")
    trials: list[Trial] = []
    left = [Contestant(place, candidate) for place, candidate in enumerate(tried)]
    n_rows = min(len(rows), most_rows)
    rounds = stages(n_rows) if width is None else feature_stages(n_rows, width)
    total = sum(stage.size(len(tried)) for stage in rounds)
    for stage in rounds:
        some = rows.head(stage.n_rows)
        grams = Grams(some.X, stage.landmarks)
        scored: list[Contestant] = []
        left = left[: stage.size(len(tried))]
        total = len(trials) + len(left) if stage is rounds[-1] else total
        score = partial(
            Contestant.scored,
            grams=grams,
            rows=some,
            stage=stage,
            lams=lams,
            regularizer=regularizer,
            intercept=intercept,
        )
        if grams.small:
            grams.prepare(one.candidate for one in left)
        for start in range(0, len(left), _TOGETHER):
            for one in _side_by_side(score, left[start : start + _TOGETHER]):
                scored.append(one)
                report("kernels", len(trials) + len(scored), total)
        left = ranked(scored)
        trials[:0] = [one.trial() for one in left]
        if stage is not rounds[-1]:
            left = short_list(left, rounds[1]) if stage.screens else finalists(left) if width is None else left
    best = left[0]
    found = best.known
    trials[0] = replace(trials[0], chosen=True)
    placement, kernel = best.candidate.placement, best.candidate.kernel
    lam = found.lam
    if lams is None and width is None and not found.indefinite:
        lam = at_more_rows(lam, found.n_rows, max(found.n_rows, len(rows)))
    return Choice(placement, kernel, lam, found.lams, found.errors, Trials(tuple(trials)), found.indefinite)


def feature_round(n_rows: int, width: int) -> tuple[int, int | None]:
    """What `choose` is to compare where a map will be fitted."""
    return (_FEATURE_ROWS, width) if _MANY_ROWS * width <= n_rows else (_FEATURE_EXACT_ROWS, None)


def _side_by_side(score: Callable[[Contestant], Contestant], batch: list[Contestant]) -> list[Contestant]:
    found: dict[int, Contestant] = {}

    def work(number: int) -> None:
        found[number] = score(batch[number])

    share(work, range(len(batch)))
    return [found[number] for number in range(len(batch))]


def in_learned_metric(choice: Choice, rows: MergedRows, choose_again: Callable[[MergedRows], Choice]) -> Choice:
    """The same choice, or one in a metric that proved better on rows that had no part in it.

    Leave-one-out errors in a learned metric are too small, as the metric has seen the rows that are left out; they only decide
    between kernels, scales and λ there.
    """
    if not isinstance(rows.X, np.ndarray):
        raise ValueError("metric='learned' needs dense rows; use metric='none' for sparse ones")
    flat = choice.placement.lifted(None)
    metric = learn_metric(replace(rows, X=flat(rows.X)))
    if metric.directions is None:
        return replace(choice, metric=metric)
    turned = flat.followed_by(metric.directions)
    found = choose_again(replace(rows, X=turned(rows.X)))
    return replace(found, placement=turned.lifted(found.placement.lift), metric=metric)


def unsupervised_choice(
    kernels: Iterable[Kernel], X: Any, *, columns: ColumnSummary | None = None, scaling: str = "standard"
) -> Choice:
    """Without targets: the default kernel at the median distance, or the first of the given kernels."""
    kernels = tuple(kernels)
    kernel = DeltaGaussian() if DeltaGaussian() in kernels else kernels[0]
    tried = candidates([kernel], _placement(scaling, columns, X), X)
    plain = next((one for one in tried if one.factor in (None, 1.0)), tried[0])
    return Choice(plain.placement, plain.kernel)


def fixed_choice(
    kernel: Kernel | None, X: Any, *, columns: ColumnSummary | None = None, scaling: str = "standard"
) -> Choice:
    """A kernel as it is, on scaled columns."""
    return Choice(_placement(scaling, columns, X), DeltaGaussian() if kernel is None else kernel)


def _placement(scaling: str, columns: ColumnSummary | None, X: Any, weight: np.ndarray | None = None) -> Placement:
    if columns is None and isinstance(X, np.ndarray):
        columns = ColumnSummary.of(X, weight)
    return scaled_columns(scaling, columns)
