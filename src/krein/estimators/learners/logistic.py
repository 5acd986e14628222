"""Logistic regression on features with a signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein.estimators.learners.newton_classifier import NewtonClassifier
from krein.estimators.learners.row_learner import ProbabilityMixin
from krein.learning.newton.fitting import Candidates, Chosen
from krein.learning.newton.held_out import log_chances
from krein.learning.path import Regularizer
from krein.learning.strengths import check_lam, with_ratios

__all__ = ["KreinLogistic"]

_GRID = np.geomspace(1e0, 1e-9, 10)  # λ in units of the mean square length of a feature row
# λ in units of that of ridge regression, the best of which is 1/2 on average, seldom beyond a fifth and fivefold of that
_OF_RIDGE = 0.5 * np.geomspace(25.0, 1.0 / 125.0, 6)


@final
class KreinLogistic(ProbabilityMixin, NewtonClassifier):
    r"""Logistic regression in a reproducing kernel Kreĭn space, through features with a signature, with class probabilities.

    .. math:: \min_{W, b} \sum_i -s_i \log p_{y_i}(x_i) + \tfrac12 n\lambda \sum_c w_c^\top R\, w_c, \qquad
              p_c(x) = \frac{e^{z(x)^\top w_c + b_c}}{\sum_{c'} e^{z(x)^\top w_{c'} + b_{c'}}},
              \qquad R = I\ \text{or}\ \mathrm{diag}(1, \lambda_-/\lambda_+)

    where :math:`s_i` is the weight of a row and :math:`n = \sum_i s_i`. For two classes there is one function,
    :math:`\log(p_1/p_0) = z^\top w + b`. Intercepts have no penalty.

    Parameters
    ----------
    kernel : Kernel, str, callable, Similarity, DistanceKernel, feature map or None, default=None
        As in `KreinRidge`. None: scaling, kernel and length scale are chosen from the data.
    features : transformer with a ``signature_``, default=None
        In place of `kernel`, as in `KreinRidge`.
    solver : {"auto", "exact", "features"}, default="auto"
        ``"exact"``: fit on the exact map of all rows, from the spectrum of their kernel matrix, without random features.
        ``"auto"``: exact if the kernel is chosen from the data and there are at most 2,000 distinct rows, else features.
    regularizer : {"hilbert", "two"}, default="hilbert"
        ``"hilbert"``: the norm of the majorant :math:`k_+ + k_-`. ``"two"``: one strength for positive and one for
        negative columns. There is no ``"krein"``, see Notes.
    lam : "auto", float or sequence, default="auto"
        λ per row. Of several values the best is chosen; for ``"two"`` give a pair :math:`(\lambda_+, \lambda_-)` or a
        list of pairs. ``"auto"``: 12.5, 2.5, 0.5, 0.1, 0.02 and 0.004 times the λ of ridge regression for ±1 whose
        leave-one-out error is least; for ``"two"`` 1 to :math:`10^{-9}` times the mean square length of a feature row, one per
        decade, and λ₋/λ₊ in 0.01, 1, 100. The choice is by the log-loss in five-fold cross-validation, on at most 20,000 rows;
        the path from strong to weak ends when two values in a row were worse than the best.
    class_weight : mapping of labels to float, "balanced" or None, default=None
        Factors of the weights of the rows of each class. ``"balanced"`` gives every class the same total weight; the
        probabilities are then those of data in which all classes are equally frequent.
    tol : float, default=1e-4
        Relative size of the gradient at which to stop.
    max_iter : int, default=1000
        Largest number of Newton steps.
    random_state : int, RandomState or None, default=None
        For the default feature map.
    verbose : bool, default=False
        Whether a fit shows how far it is: bars on a terminal and in a notebook, lines elsewhere.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_classes, n_components), or (1, n_components) for two classes
    intercept_ : ndarray of shape (n_classes,) or (1,)
    lam_ : float, or a pair for ``"two"``
    lams_ : ndarray
        Candidates.
    scores_ : ndarray or None
        Log-loss on held-out rows for each candidate, infinite for those after the end of the path; None if there was only one
        candidate.
    solver_ : {"exact", "features"}
        The solver that was used.
    choice_ : Choice or None
        The choice made from the data, with the table of the kernels that were tried.
    model_ : LinearModel or KernelModel
        The fitted model as a function of rows; ``coef_`` and ``features_`` are read from it, and an exact model has none.
    features_ : RowMap
        The fitted feature map as a function of rows.
    n_iter_ : int

    Notes
    -----
    scikit-learn's ``LogisticRegression(C=1 / (n * lam))`` on the same features has the same coefficients.

    There is no ``"krein"`` regularizer. In ridge regression the quadratic loss balances the indefinite penalty, and the
    stationary point is the solution of a linear system. The logistic loss grows linearly in the coefficients while the negative
    part of :math:`w^\top J w` decreases quadratically, so the objective is unbounded below for any λ: there may be no stationary
    point or several, and none is an extremum that distinguishes it from the others. ``"two"`` gives the negative part its own
    strength.

    The features of all rows are kept in memory up to 2 GiB, as in `KreinSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinLogistic
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = np.where(np.hypot(*X.T) + 0.3 * rng.normal(size=400) < 1, "inside", "outside")
    >>> model = KreinLogistic(random_state=0).fit(X, y)
    >>> chances = model.predict_proba([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    >>> chances.argmax(axis=1)[[0, 2]], bool(chances[0, 0] > chances[1, 0] > chances[2, 0])
    (array([0, 1]), True)
    """

    _kind = "logistic"

    def __init__(
        self,
        kernel: Any = None,
        *,
        features: Any = None,
        solver: str = "auto",
        regularizer: str = "hilbert",
        lam: Any = "auto",
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.features = features
        self.solver = solver
        self.regularizer = regularizer
        self.lam = lam
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _log_chances(self) -> Callable[[np.ndarray], np.ndarray]:
        return log_chances

    def _candidates(self) -> Candidates:
        given = check_lam(self.lam, self.regularizer)
        if self.regularizer == "krein":
            raise ValueError(
                "regularizer must be 'hilbert' or 'two', got 'krein': with the logistic loss the indefinite penalty has no lower "
                "bound, and a stationary point need not exist; use 'two', or KreinRidgeClassifier(regularizer='krein')"
            )
        return _Lams(self.regularizer, given)  # type: ignore[arg-type]  # check_lam has seen that it is one

    def _store_choice(self, chosen: Chosen, candidates: Candidates) -> None:
        assert isinstance(candidates, _Lams)
        lams = candidates.lams(chosen.scale)
        two = self.regularizer == "two"
        self.lams_ = lams if two else lams[:, 0]
        self.lam_ = tuple(lams[chosen.best].tolist()) if two else float(lams[chosen.best, 0])
        self.scores_ = None if chosen.scores is None else chosen.scores.log_loss


@final
@dataclass(frozen=True, eq=False)
class _Lams(Candidates):
    """Pairs of λ₊ and λ₋, or the default grid in units of the features."""

    regularizer: Regularizer
    given: np.ndarray | None

    @property
    def follow_ridge(self) -> bool:
        return self.given is None and self.regularizer == "hilbert"

    def after_ridge(self, total: float, weight: float) -> Candidates:
        return _Lams(self.regularizer, with_ratios(_OF_RIDGE * (total / weight), self.regularizer))

    def lams(self, scale: float) -> np.ndarray:
        if self.given is not None:
            return self.given
        return with_ratios(_GRID * (scale if scale > 0.0 else 1.0), self.regularizer)

    def pairs(self, scale: float, weight: float) -> np.ndarray:
        lams = self.lams(scale)
        return np.stack([1.0 / (weight * lams[:, 0]), lams[:, 1] / lams[:, 0]], axis=1)

    @property
    def single(self) -> bool:
        return self.given is not None and len(self.given) == 1

    @property
    def least(self) -> int:
        return 0
