r"""Exact learners on the whole kernel matrix: references for the feature maps, and models for up to a few thousand rows."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from krein._core.checks import one_of, positive_real, truth_value
from krein._core.rows import rows_times
from krein._core.threads import quiet_blas
from krein.estimators.learners.careful import tells_stages
from krein.estimators.learners.flipped_machine import FlippedMachine, bounded, chosen_cost
from krein.estimators.learners.input_checks import check_labels, check_numbers, check_weight
from krein.estimators.learners.kernel_matrix import KernelMatrixMixin
from krein.estimators.mixins import FrozenParamsMixin
from krein.files.models import SavableMixin
from krein.learning.exact_ridge import fit_exact_ridge
from krein.learning.strengths import check_lam
from krein.rows.equal import find_copies
from krein.rows.targets import class_factors

__all__ = ["ExactKreinRidge", "ExactKreinSVC"]


@final
class ExactKreinRidge(KernelMatrixMixin, SavableMixin, RegressorMixin, FrozenParamsMixin):
    r"""Kreĭn ridge regression on the exact kernel matrix, in the dual.

    .. math:: f(x) = k(x)^\top (K + n\lambda I)^{-1} (y - b) + b \qquad (\text{"krein"})

    Parameters
    ----------
    kernel : Kernel, callable, Similarity, DistanceKernel, str or None, default=None
        A kernel of `krein.kernels`; a function of two objects of any kind or of two sequences of objects, alone or in a
        `Similarity`; a `DistanceKernel`, or the name of a distance for one; or ``"precomputed"``, for similarities of rows to the
        training rows. It must be symmetric and may have any signs. None: scaling, kernel and length scale are chosen from the
        data, as in `KreinRidge`.
    regularizer : {"hilbert", "two", "krein"}, default="hilbert"
        ``"hilbert"`` regularizes with :math:`|K|`, ``"two"`` with its positive and negative parts separately, ``"krein"`` with
        K itself.
    lam : "auto", float or sequence, default="auto"
        As in `KreinRidge`. Several values are compared by leave-one-out for ``"krein"``, and by five-fold cross-validation for
        the others, because :math:`|K|` of all rows depends on the row that is left out.
    fit_intercept : bool, default=True
    verbose : bool, default=False
        Whether `fit` shows how far it is.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Coefficients of the columns of the kernel matrix.
    intercept_ : float or ndarray
    lam_ : float or pair
    choice_ : Choice or None
        What was chosen for ``kernel=None``: the placement of rows, the kernel, and the table of those that were tried.
    similarity_ : Similarity
        The kernel in the form in which rows are compared.
    X_fit_ : array or CSR matrix of shape (n_samples, n_features), Objects, or None for ``"precomputed"``
        Training rows, of unit length if the kernel is defined on a sphere; or objects.
    n_evaluations_ : int
        Number of similarities that `fit` computed: (i, j) is used for (j, i), and no pair is computed twice; but a function is
        tested for symmetry on up to 32 objects, which are compared in both orders, at most a tenth more evaluations.

    Notes
    -----
    :math:`O(n^3)` time, :math:`O(n^2)` memory. `KreinRidge` on features that give K exactly gives the same predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import ExactKreinRidge
    >>> K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])   # eigenvalues 3, 1 and -1
    >>> model = ExactKreinRidge("precomputed", lam=1e-6).fit(K, [1.0, -1.0, 0.5])
    >>> model.predict(K).round(3)
    array([ 1. , -1. ,  0.5])
    """

    def __init__(
        self,
        kernel: Any = None,
        *,
        regularizer: str = "hilbert",
        lam: Any = "auto",
        fit_intercept: bool = True,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.regularizer = regularizer
        self.lam = lam
        self.fit_intercept = fit_intercept
        self.verbose = verbose

    @tells_stages
    @quiet_blas()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit on all rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or (n_samples, n_samples) for ``"precomputed"``; any sequence of
            objects if the kernel is a callable
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative, not all zero. A whole-number weight is a number of copies of the row.

        Returns
        -------
        self
        """
        X, y = self._checked_pair(X, y, multi_output=True)
        candidates = check_lam(self.lam, self.regularizer, "loo")
        intercept = truth_value(self.fit_intercept, "fit_intercept")
        weight = check_weight(sample_weight, len(y))
        copies = find_copies(len(y), self._comparable(X), weight)
        targets = check_numbers(y).reshape(len(y), -1)
        trained, choice = self._train(X, targets, weight)
        found = fit_exact_ridge(
            copies.matrix(trained.matrix),
            copies.means(targets),
            weight=copies.weight,
            regularizer=self.regularizer,  # type: ignore[arg-type]  # check_lam has seen that it is one
            candidates=candidates,
            intercept=intercept,
        )
        self._keep(trained, choice)
        self.lam_ = found.lam if self.regularizer == "two" else found.lam[0]
        dual = copies.spread(found.dual)
        self.dual_coef_ = dual[:, 0] if y.ndim == 1 else dual
        self.intercept_ = float(found.offset[0]) if y.ndim == 1 else found.offset
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predicted targets.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or (n_samples, n_samples_fit) for ``"precomputed"``, or objects

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self, "dual_coef_")
        return np.asarray(rows_times(self._similarities(X), self.dual_coef_) + self.intercept_)

    def _check_loaded(self) -> None:
        if hasattr(self, "dual_coef_"):
            self._check_rows(self.dual_coef_.shape[0])
            if np.shape(self.intercept_) != self.dual_coef_.shape[1:]:
                raise ValueError("intercept_ and dual_coef_ do not have the same number of targets")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@final
class ExactKreinSVC(KernelMatrixMixin, SavableMixin, ClassifierMixin, FrozenParamsMixin):
    r"""Support vector machine in a Kreĭn space, on the exact kernel matrix.

    .. math:: K = U \Lambda U^\top, \qquad \tilde\alpha = \mathrm{SVM}(U |\Lambda| U^\top), \qquad
              \alpha = U\, \mathrm{sign}(\Lambda)\, U^\top \tilde\alpha

    The stabilized problem of Loosli et al. [1]_: the SVM is solved on the flipped matrix, which is positive semidefinite, and
    its solution is transformed back, so that new rows are compared by the given kernel, neither flipped nor clipped.

    Parameters
    ----------
    kernel : Kernel, callable, Similarity, DistanceKernel, str or None, default=None
        As in `ExactKreinRidge`.
    C : "auto" or float, default="auto"
        Cost of a violated margin. ``"auto"``: 100, or 1, 10 or 1000 if that gains more than its standard error on held-out objects,
        for a matrix whose eigenvalues have a mean size of 1, and in proportion for others.
    class_weight : mapping of labels to float, "balanced" or None, default=None
        Factors of C for the rows of each class. ``"balanced"`` gives every class the same total weight.
    tol : float, default=1e-4
        Stopping tolerance of the solver.
    verbose : bool, default=False
        Whether `fit` shows how far it is.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    carry_ : ndarray of shape (n_samples, n_support)
        Maps similarities to the training rows to those to the support vectors after the flip.
    n_negative_ : int
        Number of negative eigenvalues of the kernel matrix, beyond rounding.
    C_ : float
        The cost that was used.
    Cs_, cv_scores_ : ndarray or None
        Costs that were compared, and the accuracy of each on held-out objects.
    choice_ : Choice or None
        As in `ExactKreinRidge`.
    similarity_ : Similarity
    X_fit_ : array or CSR matrix of shape (n_samples, n_features), Objects, or None for ``"precomputed"``
        As in `ExactKreinRidge`.
    n_evaluations_ : int
        As in `ExactKreinRidge`.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors among the training rows, grouped by class.
    n_support_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        As in scikit-learn's `SVC`.

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
    >>> from krein import ExactKreinSVC
    >>> K = np.array([[0.0, 1.0, -1.0], [1.0, 0.0, -1.0], [-1.0, -1.0, 0.0]])   # zero trace: not positive
    >>> ExactKreinSVC("precomputed", C=10.0).fit(K, ["a", "a", "b"]).predict(K)
    array(['a', 'a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        kernel: Any = None,
        *,
        C: str | float = "auto",
        class_weight: Any = None,
        tol: float = 1e-4,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
        self.verbose = verbose

    @tells_stages
    @quiet_blas()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit on all rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or (n_samples, n_samples) for ``"precomputed"``; any sequence of
            objects if the kernel is a callable
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative, not all zero. A whole-number weight is a number of copies of the row.

        Returns
        -------
        self
        """
        tol = positive_real(self.tol, "tol")
        if isinstance(self.C, str):
            one_of(self.C, "C", ("auto",), otherwise=" or a positive number")
        given = None if isinstance(self.C, str) else positive_real(self.C, "C")
        X, y = self._checked_pair(X, y)
        y = check_labels(y)
        _, codes = np.unique(y, return_inverse=True)
        weight = check_weight(sample_weight, len(y))
        copies = find_copies(len(y), self._comparable(X), weight, codes)
        classes, labels = np.unique(y[copies.first], return_inverse=True)
        if classes.size < 2:
            raise ValueError(
                f"y must contain at least 2 classes among rows of positive weight, got only one class: {classes.tolist()}"
            )
        factors = class_factors(self.class_weight, classes, np.bincount(labels, copies.weight))
        trained, choice = self._train(X, np.where(y[:, None] == classes, 1.0, -1.0), weight)
        matrix = copies.matrix(trained.matrix)
        problem = y[copies.first], bounded(copies.weight), np.ones(labels.size) if factors is None else factors[labels]
        costs, scores = None, None
        if given is None:
            given, costs, scores = chosen_cost(matrix, *problem, tol)
        found = FlippedMachine.fit(matrix, *problem, given, tol)
        machine = found.machine
        self._keep(trained, choice)
        self.C_, self.Cs_, self.cv_scores_ = given, costs, scores
        self.classes_ = machine.classes_
        self.n_negative_ = found.spectrum.n_negative
        self.carry_ = np.ascontiguousarray(copies.spread(found.carry))
        # LibSVM's own form of the solution: pairs of classes in order, support vectors grouped by class
        self.support_ = copies.first[machine.support_].astype(np.int32)
        self.n_support_ = machine.n_support_
        self.dual_coef_ = machine.dual_coef_
        self.intercept_ = np.atleast_1d(machine.intercept_)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed margins, or votes of pairs of classes with ties broken by margin.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or (n_samples, n_samples_fit) for ``"precomputed"``, or objects

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        pairs = self._pair_margins(X)
        if self.classes_.size == 2:
            return np.asarray(pairs[:, 0])
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
        X : array of shape (n_samples, n_features), or (n_samples, n_samples_fit) for ``"precomputed"``, or objects

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        decision = self.decision_function(X)
        chosen = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def _pair_margins(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "dual_coef_")
        # pairs of classes are fewer than support vectors, so these two are multiplied first
        dual = rows_times(self.carry_, self._pair_coefficients())
        return np.asarray(rows_times(self._similarities(X), dual) + self.intercept_)

    def _pair_coefficients(self) -> np.ndarray:
        """What each support vector counts in each pair of classes, of shape (n_support, n_pairs)."""
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        coefficients = np.zeros((self.dual_coef_.shape[1], self.intercept_.size))
        for column, (i, j) in enumerate(_pairs(self.classes_.size)):
            a, b = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            # the coefficients of class i against j stand in row j - 1, those of j against i in row i
            coefficients[a, column] = self.dual_coef_[j - 1, a]
            coefficients[b, column] = self.dual_coef_[i, b]
        return coefficients

    def _check_loaded(self) -> None:
        if hasattr(self, "dual_coef_"):
            self._check_rows(self.carry_.shape[0])
            classes, supports = self.classes_.size, self.carry_.shape[1]
            if (
                self.carry_.ndim != 2
                or self.dual_coef_.shape != (classes - 1, supports)
                or int(self.n_support_.sum()) != supports
            ):
                raise ValueError("dual_coef_, n_support_ and carry_ are not of the same support vectors")
            if self.n_support_.shape != (classes,) or self.n_support_.dtype.kind != "i" or self.n_support_.min() < 0:
                raise ValueError("n_support_ does not have one count for each of classes_")
            if self.intercept_.shape != (classes * (classes - 1) // 2,):
                raise ValueError("intercept_ does not have one entry for each pair of classes_")


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
