"""The choice of a kernel, its scale and λ: all of a portfolio on few rows, the best of them on more and more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from krein._core.threads import quiet_blas
from krein.kernels import DeltaGaussian, Kernel
from krein.learning.columns import ColumnSummary
from krein.learning.path import Regularizer
from krein.learning.tuning.judge import Judgement, judge, judge_near
from krein.learning.tuning.merged_rows import MergedRows
from krein.learning.tuning.placement import Placement, scaled_columns
from krein.learning.tuning.portfolio import PORTFOLIO, Candidate, candidates
from krein.learning.tuning.trials import NOTHING_TRIED, Trial, Trials
from krein.learning.tuning.watching import tell_watcher

__all__ = ["FEATURE_CHOICE_ROWS", "Choice", "choose", "fixed_choice", "unsupervised_choice"]

FEATURE_CHOICE_ROWS = 2500  # rows of the last round where features are to be fitted, which no choice makes exact
_FIRST_ROWS = 300  # all candidates: thirty eigenproblems of this size take a fifth of a second
_EIGEN_ROWS = 1000  # the whole path of λ: above, a Cholesky factor for each of a few λ is cheaper
_SHORT_LIST = 8, 4, 2  # candidates that go on to the next, larger sample
_GROWTH = 2.0  # of the sample from round to round, above _EIGEN_ROWS
_NEAR = (1.0, 0.1, 10.0)  # λ in units of the best one on fewer rows
_EQUAL = 1e-3  # relative: errors that differ by less are equal, and the plainer candidate is taken


@dataclass(frozen=True, eq=False)
class Choice:
    """A kernel on placed rows, with its λ.

    Parameters
    ----------
    placement : Placement
    kernel : Kernel
    lam : float or None, default=None
        λ per unit of weight: the system is :math:`K + n \\lambda I`. None where there were no targets.
    lams, errors : ndarray of shape (n_lams,), default=None
        Candidates for λ of that kernel in the last round, and the error for each, in units of that of a constant.
    trials : Trials
        What was tried.
    indefinite : bool, default=False
        Whether the kernel matrix has negative eigenvalues.
    """

    placement: Placement
    kernel: Kernel
    lam: float | None = None
    lams: np.ndarray | None = None
    errors: np.ndarray | None = None
    trials: Trials = NOTHING_TRIED
    indefinite: bool = False


@dataclass(frozen=True, eq=False)
class _Judged:
    """A candidate with its place in the portfolio and what is known of it."""

    place: int
    candidate: Candidate
    judgement: Judgement


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
) -> Choice:
    """Choose scaling, kernel, length scale and λ by the squared error of rows left out.

    Parameters
    ----------
    rows : MergedRows
        Raw rows with targets: numbers, or indicators of classes.
    columns : ColumnSummary, default=None
        Of the columns of all rows, where `rows` are a sample. None: of `rows`, by their weights; columns of sparse rows
        are left as they are.
    scaling : {"standard", "minmax", "none"}, default="standard"
    kernels : iterable of Kernel
        Families to try, see `krein.learning.tuning.portfolio.candidates`.
    lams : ndarray of shape (n_lams,), default=None
        Candidates for λ; None for a grid.
    regularizer : {"hilbert", "two", "krein"}, default="hilbert"
    intercept : bool, default=True
    most_rows : int, default=4000
        Rows of the last round.

    Returns
    -------
    Choice
    """
    tried = candidates(kernels, _placement(scaling, columns, rows.X, rows.weight), rows.X)
    if not tried:
        raise ValueError("kernels is empty: there is nothing to choose from; give at least one kernel")
    trials: list[Trial] = []
    left: list[tuple[int, Candidate, Judgement | None]] = [
        (place, candidate, None) for place, candidate in enumerate(tried)
    ]
    best: _Judged | None = None
    rounds = _rounds(min(len(rows), most_rows))
    total = len(tried) + sum(min(len(tried), keep) for _, keep in rounds[:-1])
    for size, keep in rounds:
        some = rows.head(size)
        judged = []
        for place, candidate, before in left:
            found = _judge(candidate, some, before, lams, regularizer, intercept)
            judged.append(_Judged(place, candidate, found))
            tell_watcher(len(trials) + len(judged), total, candidate.family)
        order = _ranking(judged)
        trials[:0] = [_trial(judged[i]) for i in order]
        best = judged[order[0]]
        left = [(one.place, one.candidate, one.judgement) for one in (judged[i] for i in order[:keep])]
    assert best is not None
    trials[0] = replace(trials[0], chosen=True)
    found = best.judgement
    placement, kernel = best.candidate.placement, best.candidate.kernel
    return Choice(placement, kernel, found.lam, found.lams, found.errors, Trials(tuple(trials)), found.indefinite)


def unsupervised_choice(
    kernels: Iterable[Kernel], X: Any, *, columns: ColumnSummary | None = None, scaling: str = "standard"
) -> Choice:
    """Without targets: the default kernel at the median distance, or the first of one's own.

    Parameters
    ----------
    kernels : iterable of Kernel
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Raw rows.
    columns : ColumnSummary, default=None
    scaling : {"standard", "minmax", "none"}, default="standard"

    Returns
    -------
    Choice
    """
    kernels = tuple(kernels)
    kernel = DeltaGaussian() if DeltaGaussian() in kernels else kernels[0]
    tried = candidates([kernel], _placement(scaling, columns, X), X)
    plain = next((one for one in tried if one.factor in (None, 1.0)), tried[0])
    return Choice(plain.placement, plain.kernel)


def fixed_choice(
    kernel: Kernel | None, X: Any, *, columns: ColumnSummary | None = None, scaling: str = "standard"
) -> Choice:
    """A kernel as it is, on scaled columns.

    Parameters
    ----------
    kernel : Kernel or None
        None for the default.
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Raw rows.
    columns : ColumnSummary, default=None
    scaling : {"standard", "minmax", "none"}, default="standard"

    Returns
    -------
    Choice
    """
    return Choice(_placement(scaling, columns, X), DeltaGaussian() if kernel is None else kernel)


def _placement(scaling: str, columns: ColumnSummary | None, X: Any, weight: np.ndarray | None = None) -> Placement:
    if columns is None and isinstance(X, np.ndarray):
        columns = ColumnSummary.of(X, weight)
    return scaled_columns(scaling, columns)


def _rounds(n_rows: int) -> list[tuple[int, int]]:
    """Sizes of the samples, and how many candidates go on from each."""
    sizes = [min(n_rows, _FIRST_ROWS)]
    if n_rows > _FIRST_ROWS:
        sizes.append(min(n_rows, _EIGEN_ROWS))
    while sizes[-1] < n_rows:
        # a last step that is hardly larger than the one before would tell nothing new
        step = _GROWTH * sizes[-1]
        sizes.append(n_rows if 1.3 * step >= n_rows else int(step))
    return [(size, _SHORT_LIST[min(i, len(_SHORT_LIST) - 1)]) for i, size in enumerate(sizes)]


def _judge(
    candidate: Candidate,
    rows: MergedRows,
    before: Judgement | None,
    lams: np.ndarray | None,
    regularizer: Regularizer,
    intercept: bool,
) -> Judgement:
    gram = candidate.gram(rows.X)
    if len(rows) <= _EIGEN_ROWS or before is None or before.indefinite:
        return judge(gram, rows, lams, regularizer=regularizer, intercept=intercept)
    near = before.lam * np.array(_NEAR) if lams is None else lams
    return judge_near(gram, rows, np.sort(near), intercept=intercept)


def _ranking(judged: list[_Judged]) -> list[int]:
    """Best first; of those that are nearly as good as the best, the plainest."""
    errors = [one.judgement.error for one in judged]
    # six digits: the last ones differ between processors
    order = sorted(range(len(judged)), key=lambda i: (float(f"{errors[i]:.5e}"), judged[i].place))
    bound = errors[order[0]] * (1.0 + _EQUAL)
    first = min((i for i in order if errors[i] <= bound), key=lambda i: judged[i].place)
    order.remove(first)
    return [first, *order]


def _trial(one: _Judged) -> Trial:
    found, candidate = one.judgement, one.candidate
    criterion = "folds" if found.indefinite else "leave-one-out"
    return Trial(candidate.kernel, candidate.family, candidate.factor, found.n_rows, found.lam, found.error, criterion)
