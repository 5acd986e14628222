"""Support vector classification on features with a signature."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from krein._core.rows import row_blocks
from krein._core.threads import quiet_blas
from krein.distributed.dask_rows import head_row, is_dask, map_rows
from krein.estimators.learners.streaming import (
    LinearMap,
    block_length,
    feature_sample,
    fit_features,
    float_block,
    transform_block,
)
from krein.estimators.learners.targets import Labels
from krein.files.models import SavableMixin
from krein.learning.squared_hinge import squared_hinge

__all__ = ["KreinSVC"]

C_GRID = (0.01, 0.1, 1.0, 10.0, 100.0)  # the paper's
_FOLDS = 5
_SOLVERS = ("newton", "liblinear-primal", "liblinear-dual")


@final
class KreinSVC(SavableMixin, ClassifierMixin, BaseEstimator):
    r"""Linear support vector machine on features with a signature, as in the paper: squared hinge loss, one against rest.

    .. math:: \min_{w, b}\ \tfrac12 (\|w\|^2 + b^2) + C \sum_i \max(0,\, 1 - y_i (z_i^\top w + b))^2

    Parameters
    ----------
    features : transformer with a ``signature_``, default=None
        As in `KreinRidge`.
    C : float or "cv", default=1.0
        ``"cv"``: the best of 0.01, 0.1, 1, 10, 100 by accuracy in stratified five-fold cross-validation.
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
    The regulariser is the norm of the Hilbert majorant :math:`k_+ + k_-`; for the Kreĭn problem itself see
    `ExactKreinSVC`.

    The features of all rows are held in memory, in the dtype of X. LibLinear would hold them a second time at 16 bytes
    an entry.

    Which solver: coordinate descent on the dual is quick for small C and does not converge for large C, where these features
    want to be; LibLinear's primal Newton converges everywhere; ``"newton"`` is the same method on all classes and folds at
    once with dense matrix products, and factorises where conjugate gradients stall. Seconds of one processor on *letter*
    (4,000 rows, 26 classes, NTK, 512 columns; ``benchmarks/learners.py svm``):

    ================  ====  ====  ====  ====  ====
    C                 0.01  0.1   1     10    100
    ================  ====  ====  ====  ====  ====
    newton            0.8   1.6   3.4   3.0   2.0
    liblinear-primal  4.0   3.7   4.2   5.3   6.3
    liblinear-dual    1.2   1.3   2.6   9.6   10.3
    ================  ====  ====  ====  ====  ====

    The dual stopped at its limit of 1,000 passes for C = 100. The default is ``"newton"``: quickest over the grid, with
    nothing to fail.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.estimators.learners.svm import KreinSVC
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
        self._check_parameters()
        if is_dask(X):
            raise TypeError(
                "KreinSVC needs all rows on one machine; use KreinRidgeClassifier on Dask collections, or X.compute()"
            )
        X = validate_data(self, X, accept_sparse="csr", ensure_all_finite=False, dtype="numeric")
        labels = Labels()
        y = labels.check(y, 0)
        if y.shape[0] != X.shape[0]:
            raise ValueError(f"X and y have inconsistent lengths: {X.shape[0]} rows and {y.shape[0]} labels")
        self.classes_, codes = np.unique(y, return_inverse=True)
        labels.code(y)
        labels.check_complete()
        self.features_ = fit_features(self.features, feature_sample(X, None, self.features), self.random_state)
        Z = self._all_features(X)
        self.cv_scores_ = None
        self.C_ = self.C
        if self.C == "cv":
            self.cv_scores_ = self._cross_validate(Z, codes)
            self.C_ = C_GRID[int(np.argmax(self.cv_scores_))]
        self.coef_, self.intercept_, self.n_iter_ = self._solve(Z, codes, float(self.C_))
        return self

    def decision_function(self, X: Any) -> Any:
        """Signed margins, shape (n_samples, n_classes), or (n_samples,) for two classes; lazy for a Dask collection.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features)
        """
        values = self._values(X)
        return values[:, 0] if self.coef_.shape[0] == 1 else values

    def predict(self, X: Any) -> Any:
        """Predicted labels; a lazy dask.array if X is a Dask collection.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features)
        """
        values = self._values(X)
        if is_dask(values):
            return values.map_blocks(_labels, self.classes_, drop_axis=1, dtype=self.classes_.dtype)
        return _labels(values, self.classes_)

    def _values(self, X: Any) -> Any:
        check_is_fitted(self, "coef_")
        model = LinearMap(self.features_, self.coef_, self.intercept_)
        rows = validate_data(
            self,
            head_row(X) if is_dask(X) else X,
            accept_sparse="csr",
            reset=False,
            ensure_all_finite=False,
            dtype="numeric",
        )
        return map_rows(model, X, width=self.coef_.shape[0]) if is_dask(X) else model(rows)

    def _check_parameters(self) -> None:
        if self.solver not in _SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(map(repr, _SOLVERS))}, got {self.solver!r}")
        if self.C != "cv" and not (isinstance(self.C, Real) and float(self.C) > 0):
            raise ValueError(f"C must be a positive number or 'cv', got {self.C!r}")

    def _all_features(self, X: Any) -> np.ndarray:
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        Z = np.empty((X.shape[0], self.features_.signature_.shape[0]), dtype=dtype)
        for rows in row_blocks(X.shape[0], block_length(Z.shape[1])):
            Z[rows] = transform_block(self.features_, float_block(X[rows], rows.start))
        return Z

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
        signs = _signs(codes, self.classes_.size)
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
        """Accuracy of each C on held-out fifths."""
        if np.bincount(codes).min() < _FOLDS:
            raise ValueError(
                f"C='cv' needs at least {_FOLDS} rows of every class, and the class {self.classes_[np.bincount(codes).argmin()]!r} "
                f"has {np.bincount(codes).min()}; give C as a number"
            )
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=self.random_state).split(Z[:, :1], codes)
        held = [test for _, test in folds]
        if self.solver == "newton":
            return _newton_accuracies(Z, codes, held, self.classes_.size, self.tol, self.max_iter)
        scores = np.zeros(len(C_GRID))
        for test in held:
            train = np.setdiff1d(np.arange(codes.size), test)
            for i, C in enumerate(C_GRID):
                coef, intercept, _ = self._solve(Z[train], codes[train], C)
                scores[i] += np.count_nonzero(_winners(Z[test] @ coef.T + intercept) == codes[test])
        return scores / codes.size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = None if self.features is None else get_tags(self.features).input_tags
        tags.input_tags.sparse = True if inner is None else inner.sparse
        tags.input_tags.pairwise = False if inner is None else inner.pairwise
        return tags


def _newton_accuracies(
    Z: np.ndarray, codes: np.ndarray, held: Sequence[np.ndarray], n_classes: int, tol: float, max_iter: int
) -> np.ndarray:
    """All folds at once: a held-out row has cost zero, and its value comes with the solution. C grows from warm starts."""
    signs = _signs(codes, n_classes)
    width = signs.shape[1]
    present = np.ones((codes.size, len(held) * width), dtype=Z.dtype)
    for fold, test in enumerate(held):
        present[test, fold * width : (fold + 1) * width] = 0.0
    signs = np.tile(signs, (1, len(held))).astype(Z.dtype)
    scores = np.zeros(len(C_GRID))
    start = None
    for i, C in enumerate(C_GRID):
        found = squared_hinge(Z, signs, C * present, start=start, tol=tol, max_iter=max_iter)
        start = found.weights
        for fold, test in enumerate(held):
            winners = _winners(found.values[test, fold * width : (fold + 1) * width])
            scores[i] += np.count_nonzero(winners == codes[test])
    return scores / codes.size


def _signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """±1 for each class against the rest; for two classes one column, positive for the second."""
    classes = np.arange(1, 2) if n_classes == 2 else np.arange(n_classes)
    return np.where(codes[:, None] == classes, 1.0, -1.0)


def _winners(values: np.ndarray) -> np.ndarray:
    return (values[:, 0] > 0).astype(int) if values.shape[1] == 1 else values.argmax(axis=1)


def _labels(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    return classes[_winners(values)]
