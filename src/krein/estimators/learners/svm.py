"""Support vector classification on features with a signature."""

from __future__ import annotations

import warnings
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from krein._core.checks import one_of, positive_integer, positive_real
from krein._core.threads import quiet_blas
from krein.distributed.dask_rows import is_dask
from krein.estimators.learners.input_checks import check_labels, check_lengths, check_rows
from krein.estimators.learners.linear import LinearClassifierMixin
from krein.estimators.learners.rollback import unchanged_on_error
from krein.estimators.maps.fitting import (
    check_features,
    copy_input_tags,
    fit_features,
    look_for,
    training_features,
)
from krein.files.models import SavableMixin
from krein.learning.cost_choice import C_GRID, best_cost, class_signs, fold_hits
from krein.learning.first_pass import Examples
from krein.learning.squared_hinge import squared_hinge
from krein.learning.stream import all_features
from krein.learning.targets import LabelTargets, winning_columns
from krein.learning.tuning.choice import FEATURE_CHOICE_ROWS

__all__ = ["KreinSVC"]

_FOLDS = 5  # the paper's
_SOLVERS = ("newton", "liblinear-primal", "liblinear-dual")


@final
class KreinSVC(LinearClassifierMixin, SavableMixin, BaseEstimator):
    r"""Linear support vector machine on features with a signature, as in the paper: squared hinge loss, one against rest.

    .. math:: \min_{w, b}\ \tfrac12 (\|w\|^2 + b^2) + C \sum_i \max(0,\, 1 - y_i (z_i^\top w + b))^2

    Parameters
    ----------
    features : transformer with a ``signature_``, default=None
        As in `KreinRidge`.
    C : float or "auto", default=1.0
        ``"auto"``: the best of 0.01, 0.1, 1, 10, 100 by accuracy in stratified five-fold cross-validation; the smallest of
        those whose accuracy is the best but for a thousandth.
    solver : {"newton", "liblinear-primal", "liblinear-dual"}, default="newton"
        All three solve the same problem. See Notes.
    tol : float, default=1e-4
        Stopping tolerance, in the sense of LibLinear's primal solver.
    max_iter : int, default=1000
    random_state : int, RandomState or None, default=None
        For the default feature map, for the folds, and for the dual solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_classes, n_components), or (1, n_components) for two classes
    intercept_ : ndarray of shape (n_classes,) or (1,)
    C_ : float
    cv_scores_ : ndarray of shape (5,) or None
        Accuracy for each C of the grid.
    features_ : the fitted feature map
    n_iter_ : int

    Notes
    -----
    The regularizer is the norm of the Hilbert majorant :math:`k_+ + k_-`; for the Kreĭn problem itself see
    `ExactKreinSVC`.

    The features of all rows are held in memory, in the dtype of X. LibLinear would hold them a second time at 16 bytes
    an entry.

    Which solver: coordinate descent on the dual is quick for small C and does not converge for large C, where these features
    want to be; LibLinear's primal Newton converges everywhere; ``"newton"`` is the same method on all classes and folds at
    once with dense matrix products, and factorizes where conjugate gradients stall. Seconds of one processor on *letter*
    (4,000 rows, 26 classes, NTK, 512 columns; ``benchmarks/learners.py svm``):

    ================  ====  ====  ====  ====  ====
    C                 0.01  0.1   1     10    100
    ================  ====  ====  ====  ====  ====
    newton            0.1   0.2   0.4   0.8   0.9
    liblinear-primal  2.0   1.9   1.9   2.8   2.9
    liblinear-dual    0.7   0.6   1.2   4.5   5.2
    ================  ====  ====  ====  ====  ====

    The dual stopped at its limit of 1,000 passes for C = 100. The default is ``"newton"``: quickest over the grid, with
    nothing to fail. It shares blocks of rows among threads in a fixed way: their number changes no digit of the result.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinSVC
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> bool(KreinSVC(C=10.0, random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        features: Any = None,
        *,
        C: Any = 1.0,
        solver: str = "newton",
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.features = features
        self.C = C
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @unchanged_on_error
    @quiet_blas()
    def fit(self, X: Any, y: Any) -> Self:
        """Fit on all rows.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        C = self._check_parameters()
        if is_dask(X):
            raise TypeError(
                "KreinSVC needs all rows on one machine; use KreinRidgeClassifier on Dask collections, or X.compute()"
            )
        X, y = check_rows(self, X, first=True), check_labels(y)
        check_lengths(X, y)
        LabelTargets(y).check_complete()
        self.classes_, codes = np.unique(y, return_inverse=True)
        X, seen, checked = look_for(self.features, X, None, Examples(y, LabelTargets(), FEATURE_CHOICE_ROWS))
        self.features_ = fit_features(self.features, seen, self.random_state)
        Z = all_features(training_features(self.features_, seen), X, checked=checked)
        self.cv_scores_ = None
        if C is None:
            hits = self._cross_validate(Z, codes)
            self.cv_scores_ = hits / codes.size
            C = best_cost(hits, codes.size)
        self.C_ = C
        self.coef_, self.intercept_, self.n_iter_ = self._solve(Z, codes, C)
        return self

    def _check_parameters(self) -> float | None:
        """C as a number, or None if it is to be chosen."""
        check_features(self.features)
        one_of(self.solver, "solver", _SOLVERS)
        positive_real(self.tol, "tol")
        positive_integer(self.max_iter, "max_iter")
        if isinstance(self.C, str):
            one_of(self.C, "C", ("auto",), otherwise=" or a positive number")
            return None
        return positive_real(self.C, "C")

    def _solve(self, Z: np.ndarray, codes: np.ndarray, C: float) -> tuple[np.ndarray, np.ndarray, int]:
        if self.solver != "newton":
            machine = LinearSVC(
                C=C,
                dual=self.solver == "liblinear-dual",
                tol=self.tol,
                max_iter=self.max_iter,
                random_state=self.random_state,
            )
            machine.fit(Z, codes)
            return machine.coef_.astype(np.float64), machine.intercept_.astype(np.float64), int(machine.n_iter_)
        signs = class_signs(codes, self.classes_.size)
        found = squared_hinge(Z, signs, np.full(signs.shape, C), tol=self.tol, max_iter=self.max_iter)
        if not found.converged:
            warnings.warn(
                f"the solver stopped after max_iter={self.max_iter} steps short of tol={self.tol}; use more steps, a "
                "larger tol or a smaller C",
                ConvergenceWarning,
                stacklevel=3,
            )
        weights = found.weights.astype(np.float64)
        return np.ascontiguousarray(weights[:-1].T), weights[-1].copy(), found.n_iter

    def _cross_validate(self, Z: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Rows that each C of the grid classifies rightly when their fifth is held out."""
        counts = np.bincount(codes)
        if counts.min() < _FOLDS:
            raise ValueError(
                f"C='auto' needs at least {_FOLDS} rows of every class, and the class {self.classes_[counts.argmin()]!r} "
                f"has {counts.min()}; give C as a number"
            )
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=self.random_state).split(Z[:, :1], codes)
        held = [test for _, test in folds]
        if self.solver == "newton":
            return fold_hits(Z, codes, held, self.classes_.size, tol=self.tol, max_iter=self.max_iter)
        hits = np.zeros(len(C_GRID), dtype=np.int64)
        for test in held:
            train = np.setdiff1d(np.arange(codes.size), test)
            for i, C in enumerate(C_GRID):
                coef, intercept, _ = self._solve(Z[train], codes[train], C)
                hits[i] += np.count_nonzero(winning_columns(Z[test] @ coef.T + intercept) == codes[test])
        return hits

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self.features)
        return tags
