r"""Exact learners on the whole kernel matrix: references for the feature maps, and for users with a few thousand rows."""

from __future__ import annotations

import warnings
from typing import Any, Self, final

import numpy as np
from scipy import linalg
from scipy.linalg import LinAlgWarning
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from krein.files.models import SavableMixin
from krein.learning import SingularSystemError
from krein.learning.dual import dual_problem, fold_scores
from krein.learning.ridge_choice import best_candidate, check_lam
from krein.learning.solve import NEARLY_SINGULAR, SINGULAR
from krein.similarities.kernel_input import cross_gram, train_gram

__all__ = ["ExactKreinRidge", "ExactKreinSVC"]


@final
class ExactKreinRidge(SavableMixin, RegressorMixin, BaseEstimator):
    r"""Kreĭn ridge regression on the exact kernel matrix, in the dual.

    .. math:: f(x) = k(x)^\top (K + n\lambda I)^{-1} (y - b) + b \qquad (\text{"krein"})

    Parameters
    ----------
    kernel : Kernel, callable, "precomputed" or None, default=None
        A kernel of `krein.kernels`, a function ``(X, Y) -> matrix``, or ``"precomputed"`` similarities of rows with the
        training rows; symmetric, of any signs. None means ``Multiquadric()``.
    regularizer : {"hilbert", "two", "krein"}, default="hilbert"
        ``"hilbert"`` regularises with :math:`|K|`, ``"two"`` with its two parts apart, ``"krein"`` with K itself.
    lam : "auto", float or sequence, default="auto"
        As in `KreinRidge`; several are compared by leave-one-out for ``"krein"`` and by five-fold cross-validation for
        the others, because :math:`|K|` of all rows has seen the row that is left out.
    fit_intercept : bool, default=True

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Coefficients of the kernel's columns.
    intercept_ : float or ndarray
    lam_ : float or pair

    Notes
    -----
    :math:`O(n^3)` time, :math:`O(n^2)` memory. `KreinRidge` on features that give K exactly gives the same predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.estimators.learners.exact import ExactKreinRidge
    >>> K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])   # eigenvalues 3, 1 and -1
    >>> model = ExactKreinRidge("precomputed", lam=1e-6).fit(K, [1.0, -1.0, 0.5])
    >>> model.predict(K).round(3)
    array([ 1. , -1. ,  0.5])
    """

    def __init__(
        self, kernel: Any = None, *, regularizer: str = "hilbert", lam: Any = "auto", fit_intercept: bool = True
    ) -> None:
        self.kernel = kernel
        self.regularizer = regularizer
        self.lam = lam
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on all rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or (n_samples, n_samples) for ``"precomputed"``
        y : array-like of shape (n_samples,) or (n_samples, n_targets)

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        candidates = check_lam(self.lam, self.regularizer, "loo")
        gram = train_gram(self.kernel, X)
        n = gram.shape[0]
        targets = np.asarray(y, dtype=np.float64).reshape(n, -1)
        if candidates is None:
            # the trace of |K|, since that of K may vanish
            scale = float(np.abs(linalg.eigvalsh(gram, check_finite=False)).mean()) or 1.0
            grid = np.geomspace(1e-13, 1e1, 29) * scale
            ratios = (1e-2, 1.0, 1e2) if self.regularizer == "two" else (1.0,)
            candidates = np.concatenate([np.stack([grid, r * grid], axis=1) for r in ratios])
        scores = np.full(len(candidates), np.inf)
        best, best_problem = 0, None
        all_ratios = (candidates[:, 1] / candidates[:, 0]).round(12)
        for ratio in np.unique(all_ratios):
            problem = dual_problem(gram, self.regularizer, float(ratio), center=self.fit_intercept)  # type: ignore[arg-type]
            rows = np.flatnonzero(all_ratios == ratio)
            mu = n * candidates[rows, 0]
            if len(candidates) > 1:
                scores[rows] = (
                    problem.loo_scores(targets, mu)
                    if self.regularizer == "krein"
                    else fold_scores(
                        gram,
                        targets,
                        candidates[rows, 0],
                        self.regularizer,  # type: ignore[arg-type]
                        float(ratio),
                        center=self.fit_intercept,
                    )
                )
                scores[rows[[problem.clearance(m) < NEARLY_SINGULAR for m in mu]]] = np.inf
            best = best_candidate(candidates[:, 0], scores)
            best_problem = problem if best in rows else best_problem
        assert best_problem is not None
        plus, minus = (float(v) for v in candidates[best])
        if self.regularizer == "krein":
            _check_clearance(best_problem.clearance(n * plus), plus)
        dual = best_problem.coefficients(targets, n * plus)
        offset = (targets - gram @ dual).mean(axis=0) if self.fit_intercept else np.zeros(targets.shape[1])
        self.X_fit_ = None if isinstance(self.kernel, str) else X
        self.lam_ = (plus, minus) if self.regularizer == "two" else plus
        self.dual_coef_ = dual[:, 0] if y.ndim == 1 else dual
        self.intercept_ = float(offset[0]) if y.ndim == 1 else offset
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predicted targets.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or (n_samples, n_samples_fit) for ``"precomputed"``
        """
        check_is_fitted(self, "dual_coef_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return cross_gram(self.kernel, X, self.X_fit_) @ self.dual_coef_ + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str)
        tags.target_tags.multi_output = True
        return tags


@final
class ExactKreinSVC(SavableMixin, ClassifierMixin, BaseEstimator):
    r"""Support vector machine in a Kreĭn space, on the exact kernel matrix.

    .. math:: K = U \Lambda U^\top, \qquad \tilde\alpha = \mathrm{SVM}(U |\Lambda| U^\top), \qquad
              \alpha = U\, \mathrm{sign}(\Lambda)\, U^\top \tilde\alpha

    The stabilised problem of Loosli et al. [1]_: the SVM is solved on the flipped matrix, which is positive, and its
    solution is carried back, so that new rows are judged by the given kernel and nothing about them is flipped or clipped.

    Parameters
    ----------
    kernel : Kernel, callable, "precomputed" or None, default=None
        As in `ExactKreinRidge`.
    C : float, default=1.0
        Price of a violated margin.
    tol : float, default=1e-4
        Stopping tolerance of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    carry_ : ndarray of shape (n_samples, n_support)
        From similarities with the training rows to those the machine works with.
    n_negative_ : int
        Number of negative eigenvalues of the kernel matrix.

    Notes
    -----
    More than two classes are handled one against one, as in scikit-learn's `SVC`. :math:`O(n^3)` time.

    References
    ----------
    .. [1] G. Loosli, S. Canu and C. S. Ong. "Learning SVM in Kreĭn spaces". IEEE Transactions on Pattern Analysis and
       Machine Intelligence 38(6), 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.estimators.learners.exact import ExactKreinSVC
    >>> K = np.array([[0.0, 1.0, -1.0], [1.0, 0.0, -1.0], [-1.0, -1.0, 0.0]])   # zero trace: not positive
    >>> ExactKreinSVC("precomputed", C=10.0).fit(K, ["a", "a", "b"]).predict(K)
    array(['a', 'a', 'b'], dtype='<U1')
    """

    def __init__(self, kernel: Any = None, *, C: float = 1.0, tol: float = 1e-4) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on all rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or (n_samples, n_samples) for ``"precomputed"``
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        if not self.C > 0:
            raise ValueError(f"C must be positive, got {self.C!r}")
        if np.unique(y).size < 2:
            raise ValueError(f"y must contain at least 2 classes, got only one class: {np.unique(y).tolist()}")
        gram = train_gram(self.kernel, X)
        values, vectors = linalg.eigh(gram, driver="evd", check_finite=False)
        flipped = (vectors * np.abs(values)) @ vectors.T
        machine = SVC(C=self.C, kernel="precomputed", tol=self.tol, cache_size=500)
        machine.fit(0.5 * (flipped + flipped.T), y)
        carry = (vectors * np.where(values < 0.0, -1.0, 1.0)) @ vectors[machine.support_].T
        self.classes_ = machine.classes_
        self.n_negative_ = int(np.count_nonzero(values < -np.finfo(float).eps * gram.shape[0] * np.abs(values).max()))
        self.carry_ = np.ascontiguousarray(carry)
        self.X_fit_ = None if isinstance(self.kernel, str) else X
        # LibSVM's own form of the solution: pairs of classes in order, support vectors grouped by class
        self.support_ = machine.support_
        self.n_support_ = machine.n_support_
        self.dual_coef_ = machine.dual_coef_
        self.intercept_ = np.atleast_1d(machine.intercept_)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed margins: shape (n_samples,) for two classes, else (n_samples, n_classes), votes with ties broken by margin.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or (n_samples, n_samples_fit) for ``"precomputed"``
        """
        pairs = self._pair_margins(X)
        if self.classes_.size == 2:
            return pairs[:, 0]
        votes = np.zeros((pairs.shape[0], self.classes_.size))
        margins = np.zeros_like(votes)
        for column, (i, j) in enumerate(_pairs(self.classes_.size)):
            first = pairs[:, column] > 0
            votes[:, i] += first
            votes[:, j] += ~first
            margins[:, i] += pairs[:, column]
            margins[:, j] -= pairs[:, column]
        return votes + margins / (3.0 * (np.abs(margins) + 1.0))  # less than half a vote, so it only breaks ties

    def predict(self, X: Any) -> np.ndarray:
        """Predicted labels.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or (n_samples, n_samples_fit) for ``"precomputed"``
        """
        decision = self.decision_function(X)
        chosen = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[chosen]

    def _pair_margins(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "dual_coef_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        similar = cross_gram(self.kernel, X, self.X_fit_) @ self.carry_
        if self.classes_.size == 2:
            return similar @ self.dual_coef_.T + self.intercept_
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        margins = np.empty((X.shape[0], self.intercept_.size))
        for column, (i, j) in enumerate(_pairs(self.classes_.size)):
            a, b = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            # the coefficients of class i against j stand in row j - 1, those of j against i in row i
            margins[:, column] = similar[:, a] @ self.dual_coef_[j - 1, a] + similar[:, b] @ self.dual_coef_[i, b]
        return margins + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str)
        return tags


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def _check_clearance(clearance: float, lam: float) -> None:
    text = (
        f"singular at lam={lam:.6g}: an eigenvalue of the kernel matrix equals -n*lam to a relative {clearance:.1e}; use "
        "another lam or regularizer='hilbert'"
    )
    if clearance < SINGULAR:
        raise SingularSystemError(f"the Kreĭn system is {text}")
    if clearance < NEARLY_SINGULAR:
        warnings.warn(f"the Kreĭn system is nearly {text}", LinAlgWarning, stacklevel=2)
