"""What is tried, and the rounds of a choice: all candidates on few rows, a short list on more, the last few on most of all.

Where a model will have many fewer features than rows, the rounds compare features, not exact problems: a rough kernel that
is best with all its eigenvalues is worse than a smooth one with the first few. With 1,024 landmarks on 14,000 rows of letter, ridge
with the kernel that exact problems choose (Matérn 3/2) has 92.4 % of the test rows right, with the one that features choose
(Cauchy) 93.8 %.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from krein._core.rows import row_norms
from krein.kernels import NTK, ArcCosine, Cauchy, DeltaGaussian, Gaussian, Kernel, Laplacian, Matern
from krein.kernels.gram import radial_gram
from krein.learning.leave_one_out import (
    PathErrors,
    path_errors,
    path_errors_at,
    path_errors_near,
    path_errors_of_sections,
)
from krein.learning.limits import MARGINS
from krein.learning.path import Regularizer
from krein.learning.tuning.placement import Placement
from krein.learning.tuning.trials import Trial
from krein.rows.equal import MergedRows

__all__ = [
    *(
        "PORTFOLIO",
        "Candidate",
        "Contestant",
        "Grams",
        "Stage",
        "at_more_rows",
        "candidates",
        "feature_stages",
        "finalists",
    ),
    *("ranked", "short_list", "stages"),
]

_PAIRED = 500  # rows whose distances give the median
_FACTORS = (2.0, 1.0, 0.5, 0.25, 0.125)  # of the median distance: from smooth to rough
_WIDER = 10.0  # the wide Gaussian of a Delta-Gaussian, as in its default

# families at unit length scale, the plainest first: of near-equals the first is taken
PORTFOLIO: tuple[Kernel, ...] = (
    Gaussian(1.0),
    Cauchy(1.0),
    Matern(1.0, nu=1.5),
    Laplacian(1.0),
    ArcCosine(1),
    NTK(),
    ArcCosine(0),
    DeltaGaussian(1.0, _WIDER),
)


_FIRST_ROWS = 240  # all candidates: thirty eigenproblems of this size take a tenth of a second
_SECOND_ROWS = 1000  # a short list: one Cholesky factor of this size takes a hundredth of a second
_SHORT_LIST, _FINAL_LIST = 6, 3  # candidates of the second and of the last round
_OF_A_FAMILY = 2  # of the short list: more rows may prefer another family, or another scale of this one
_FEATURES_OF_A_FAMILY = 3  # the same where features are compared, which may want another scale than exact problems
_IN_REACH = 1.05  # of the best error: finalists, each of another family, that more rows may bring to the top
_STEPS, _LAST_STEPS = 4, 1  # factorizations for each of them, the last being the dearest
_FEATURE_LIST = 12  # candidates of the last round where features are compared, some tens of milliseconds each
_FEATURE_FIRST_ROWS = 1024  # of the first round there
_ROWS_PER_LANDMARK = 8
_OF_ALL = 0.69  # rows of the last round: three factors of so many cost as much as the one of all rows that follows
_LITTLE_MORE = 1.3  # a last round on hardly more rows would tell nothing new
_FEWER_PER_ROW = 1.5  # λ falls about with this power of the number of rows


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kernel on placed rows.

    Parameters
    ----------
    kernel : Kernel
    placement : Placement
    family : str
        What the kernel is called apart from its scale.
    factor : float or None
        Its length scale over the median distance; None on the sphere.
    """

    kernel: Kernel
    placement: Placement
    family: str
    factor: float | None

    def gram(self, X: Any) -> np.ndarray:
        """Kernel matrix of raw rows, float64."""
        return self.kernel.gram(self.placement(X).astype(np.float64, copy=False))


def candidates(kernels: Iterable[Kernel], placement: Placement, X: Any) -> list[Candidate]:
    """Every kernel at every scale."""
    placed = placement(X[:_PAIRED]).astype(np.float64, copy=False)
    distance = _median_distance(placed)
    length = float(np.median(row_norms(placed))) or 1.0
    found = []
    for kernel in kernels:
        name = type(kernel).__name__
        if kernel.domain == "sphere":
            found += [Candidate(kernel, placement.lifted(lift), f"{kernel!r}", None) for lift in (length, 1.0)]
        elif kernel.length_scale is None:
            found.append(Candidate(kernel, placement, f"{kernel!r}", None))
        else:
            unit = kernel.scaled(distance / kernel.length_scale)
            found += [Candidate(unit.scaled(factor), placement, name, factor) for factor in _FACTORS]
    return found


def _median_distance(X: Any) -> float:
    """The median distance of distinct rows among the first few hundred."""
    some = X[:_PAIRED]
    distances = radial_gram(lambda z: z, some, None)[np.triu_indices(some.shape[0], 1)]
    distances = distances[distances > 0.0]
    return float(np.median(distances)) if distances.size and math.isfinite(distances.max()) else 1.0


@dataclass(frozen=True)
class Stage:
    """One round.

    Parameters
    ----------
    number : int
        From 0.
    n_rows : int
    contestants : int or None
        How many take part, None for all.
    steps : int
        Factorizations for each.
    landmarks : int or None, default=None
        Of the features that are compared; None for exact problems.
    """

    number: int
    n_rows: int
    contestants: int | None
    steps: int
    landmarks: int | None = None

    @property
    def screens(self) -> bool:
        """Whether the round only makes a short list."""
        return self.number == 0

    def size(self, n_candidates: int) -> int:
        """How many take part."""
        return n_candidates if self.contestants is None else min(self.contestants, n_candidates)


def stages(n_rows: int) -> list[Stage]:
    """The rounds for so many rows."""
    last = int(_OF_ALL * n_rows)
    middle = n_rows if n_rows <= _LITTLE_MORE * _SECOND_ROWS else _SECOND_ROWS
    found = [
        Stage(0, min(n_rows, _FIRST_ROWS), None, 1),
        Stage(1, middle, _SHORT_LIST, _STEPS),
    ]
    return [*found, Stage(2, last, _FINAL_LIST, _LAST_STEPS)] if last > middle else found


def feature_stages(n_rows: int, width: int) -> list[Stage]:
    """The rounds for a model of so many features."""
    found: list[Stage] = []
    for most, count in ((_FEATURE_FIRST_ROWS, None), (n_rows, _FEATURE_LIST)):
        rows = min(most, n_rows)
        if not found or rows > found[-1].n_rows:
            found.append(Stage(len(found), rows, count, 1, max(1, min(width, rows // _ROWS_PER_LANDMARK))))
    return found


class Grams:
    """Kernel matrices of some rows, which share the rows as placed and, where they are few, their distances.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Raw.
    landmarks : int or None, default=None
        Only the columns of so many first rows; None for all.
    """

    def __init__(self, X: Any, landmarks: int | None = None) -> None:
        self._X = X
        self._landmarks = landmarks
        self._distances: dict[Placement, np.ndarray] = {}

    def of(self, candidate: Candidate) -> np.ndarray:
        """Kernel matrix of a candidate."""
        if not self.small:
            return candidate.gram(self._X)
        self.prepare([candidate])
        return candidate.kernel.radial(self._distances[candidate.placement])

    @property
    def small(self) -> bool:
        """Whether distances are kept, and candidates are scored in parallel."""
        return self._landmarks is not None or bool(self._X.shape[0] <= _LITTLE_MORE * _SECOND_ROWS)

    def prepare(self, tried: Iterable[Candidate]) -> None:
        """Compute the distances that some candidates need, so that they can be scored by several threads."""
        for candidate in tried:
            if candidate.placement not in self._distances:
                limit = 2.0 if candidate.kernel.domain == "sphere" else np.inf
                placed = candidate.placement(self._X).astype(np.float64, copy=False)
                others = None if self._landmarks is None else placed[: self._landmarks]
                self._distances[candidate.placement] = radial_gram(lambda z: z, placed, others, max_distance=limit)


@dataclass(frozen=True, eq=False)
class Contestant:
    """A candidate with its place in the portfolio and what is known of it."""

    place: int
    candidate: Candidate
    errors_found: PathErrors | None = None

    @property
    def known(self) -> PathErrors:
        """What the last round found."""
        assert self.errors_found is not None
        return self.errors_found

    def scored(
        self,
        grams: Grams,
        rows: MergedRows,
        stage: Stage,
        lams: np.ndarray | None,
        regularizer: Regularizer,
        intercept: bool,
    ) -> Contestant:
        """The same after another round."""
        gram, before = grams.of(self.candidate), self.errors_found
        if stage.landmarks is not None:
            found = path_errors_of_sections(gram, rows, lams, regularizer=regularizer, intercept=intercept)
        elif before is None or before.indefinite:
            found = path_errors(gram, rows, lams, regularizer=regularizer, intercept=intercept, screen=stage.screens)
        elif lams is not None:
            found = path_errors_at(gram, rows, _nearest(lams, before.lam, stage.steps), intercept=intercept)
        else:
            start = at_more_rows(before.lam, before.n_rows, len(rows))
            found = path_errors_near(gram, rows, start, intercept=intercept, steps=stage.steps)
        return Contestant(self.place, self.candidate, found)

    def trial(self) -> Trial:
        """The row of the table."""
        found, one = self.known, self.candidate
        return Trial(one.kernel, one.family, one.factor, found.n_rows, found.lam, found.error, found.criterion)


def short_list(ranked: list[Contestant], stage: Stage) -> list[Contestant]:
    """Who goes on from the first round, at most two or three of a family."""
    most = _OF_A_FAMILY if stage.landmarks is None else _FEATURES_OF_A_FAMILY
    counts: Counter[str] = Counter()
    found = []
    for one in ranked:
        counts[one.candidate.family] += 1
        if counts[one.candidate.family] <= most:
            found.append(one)
    return found


def finalists(ranked: list[Contestant]) -> list[Contestant]:
    """Who goes on from the second round to all rows: the best of each family that is within reach of the best.

    Spectra of more rows than those of the second round are too dear, so indefinite kernels go on only where nothing else
    does.
    """
    left = [one for one in ranked if not one.known.indefinite] or ranked
    best: dict[str, Contestant] = {}
    for one in left:
        best.setdefault(one.candidate.family, one)
    return [one for one in best.values() if one.known.error <= _IN_REACH * left[0].known.error] or left[:1]


def at_more_rows(lam: float, few: int, many: int) -> float:
    """The λ for many rows where some fewer have this one."""
    return float(lam * (few / many) ** _FEWER_PER_ROW)


def _nearest(lams: np.ndarray, lam: float, count: int) -> np.ndarray:
    """The values nearest to one of them, on a logarithmic scale, ascending."""
    order = np.argsort(np.abs(np.log(lams / lam)), kind="stable")[:count]
    return np.sort(lams[order])


def ranked(scored: list[Contestant]) -> list[Contestant]:
    """Best first; of those that are nearly as good as the best, the plainest."""
    # six digits: the last ones differ between processors
    order = sorted(scored, key=lambda one: (float(f"{one.known.error:.5e}"), one.place))
    bound = order[0].known.error * (1.0 + MARGINS.equal)
    first = min((one for one in order if one.known.error <= bound), key=lambda one: one.place, default=order[0])
    return [first, *(one for one in order if one is not first)]
