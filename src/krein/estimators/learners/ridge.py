r"""Ridge regression and classification on features with a signature."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, final

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from krein.estimators.learners.class_weights import weigh_chunks, weigh_dask, weigh_rows
from krein.estimators.learners.given_blocks import CheckTargets
from krein.estimators.learners.input_checks import check_labels, check_numbers
from krein.estimators.learners.linear import RowClassifierMixin, row_values
from krein.estimators.learners.ridge_base import RidgeBase
from krein.learning.kernel_model import KernelModel
from krein.learning.leaves.local import LocalPart
from krein.learning.ridge_choice import RidgeSolution
from krein.rows.dask_rows import is_dask
from krein.rows.targets import LabelTargets, NumberTargets, Targets

__all__ = ["KreinRidge", "KreinRidgeClassifier"]


@final
class KreinRidge(RegressorMixin, RidgeBase):
    r"""Ridge regression in a reproducing kernel Kreĭn space, through features with a signature.

    .. math:: \min_{w, b} \sum_i (y_i - z_i^\top w - b)^2 + n\lambda\, w^\top R\, w,
              \qquad R = I,\ \ \mathrm{diag}(1, \lambda_-/\lambda_+)\ \text{or}\ J

    where :math:`z` are the features of a row, :math:`k(x, x') \approx z^\top J z'` and :math:`J = \mathrm{diag}(\pm 1)`.

    Parameters
    ----------
    features : transformer with a ``signature_``, default=None
        `SignedFourierFeatures`, `KreinNystroem` or any other map of this library. None: columns are standardized, and a kernel
        and its length scale are chosen from the data, as in `TunedFeatures`. The map is fitted on at most 50,000 distinct rows.
    solver : {"auto", "exact", "local", "features"}, default="auto"
        ``"exact"``: solve the kernel problem itself, on all rows; the kernel must be chosen from the data, and the fit takes
        :math:`O(n^3)` time and :math:`O(n^2)` memory. ``"local"``: fit a global model on features, and a balanced tree whose
        leaves solve exactly for its residuals, in a metric learned from the data; rows must be dense and are kept in memory.
        ``"features"``: fit in one pass over the features of the rows. ``"auto"``: if the kernel is chosen from the data,
        ``"exact"`` up to 5,000 distinct rows and ``"local"`` above (and for more than 50,000 rows, distinct or not); else
        ``"features"``. Rows passed to ``partial_fit`` are always learned with features.
    regularizer : {"hilbert", "two", "krein"}, default="hilbert"
        ``"hilbert"``: the norm of the majorant :math:`k_+ + k_-`. ``"two"``: one strength for positive and one for
        negative columns. ``"krein"``: the stationary point of the indefinite problem, the same function as
        :math:`(K + n\lambda I)^{-1} y` in the dual; not a minimum.
    lam : "auto", float or sequence, default="auto"
        λ per row: the system is :math:`Z^\top Z + n\lambda R`. Of several values the best is chosen; for
        ``"two"`` give a pair :math:`(\lambda_+, \lambda_-)` or a list of pairs. ``"auto"``: :math:`10^{-13}` to 10 times the
        mean square length of a feature row, two per decade (and λ₋/λ₊ in 0.01, 1, 100 for ``"two"``).
    selection : {"loo", "validation", "gcv"}, default="loo"
        How λ is chosen: by exact leave-one-out residuals on up to `loo_rows` rows; by the squared error on held-out rows,
        followed by a fit on all rows; or by generalized cross-validation.
    fit_intercept : bool, default=True
    loo_rows : int, default=10000
        Number of rows whose leave-one-out residuals are computed; all rows if there are fewer.
    validation_fraction : float, default=0.1
        Share of the rows held out by ``selection="validation"``.
    random_state : int, RandomState or None, default=None
        For the default feature map. A map that is passed in has its own.

    Attributes
    ----------
    solver_ : {"exact", "local", "features"}
        The solver that was used.
    choice_ : Choice or None
        The choice made from the data: ``choice_.kernel``, ``choice_.placement`` (the scaling of rows), and ``choice_.trials``,
        the table of the kernels that were tried. None if `features` were given.
    model_ : KernelModel or None
        The exact model: ``model_.rows``, ``model_.dual``. None for the other solvers.
    local_ : LocalPart or None
        For ``"local"``, the part that the leaves add to the global model: ``local_.leaves``, ``local_.metric``, and
        ``local_.part``, the fraction of the global model (0, 1/2 or 1, chosen by leave-one-out) that the leaves add to.
    feature_importances_ : ndarray of shape (n_features,)
        For ``"local"``: how much a first model changes along each standardized column; the sum is 1.
    coef_ : ndarray of shape (n_components,) or (n_targets, n_components), or None for ``"exact"``
    intercept_ : float or ndarray of shape (n_targets,)
    features_ : the fitted feature map, or None for ``"exact"``
    lam_ : float, or a pair for ``"two"``
    lams_, scores_ : ndarray
        Candidates, and the value of the criterion for each (None if there was only one candidate).
    n_rows_ : int
        Number of training rows.

    Notes
    -----
    Memory: one :math:`D \times D` float64 matrix, a few more while solving, and one block of rows. Time:
    :math:`O(n D^2 + D^3)`. One eigendecomposition serves all λ (one per ratio for ``"two"``, two for ``"krein"``). Sums
    are float64 about a point near the mean, and the solution is refined: on *letter* with 2,048 columns predictions agree
    with those of an SVD of Z to 1e-9 at :math:`\lambda = 10^{-11}` and at :math:`10^{-13}`. Below λ = 1e-15 of the mean
    square length the result is dominated by rounding.

    Scores that differ by less than a thousandth count as equal, and the strongest regularization among them is chosen, so the
    choice does not depend on the processor or the order of the rows. float32 and float64 rows fit the same map (rounding keeps
    the order of the sampled rows) and choose the same λ, unless two scores differ by that thousandth to six digits, or rounding
    makes two sampled rows equal.

    The choice of λ takes the feature map as given. Random features depend little on any single row. A Nyström map with as many
    landmarks as rows depends on every row; choose its λ by cross-validation of the whole model (``GridSearchCV``).

    Whole-number weights are copies of rows, and leave-one-out leaves out one copy; other weights count by their
    ratios, and the whole row is left out.

    ``"local"``: up to 16,384 rows make one leaf; more are split at medians into leaves of about 4,096 rows that overlap a little
    at their borders. Kernel (Laplacian or Matérn 3/2), length scale and λ are chosen for all leaves together by leave-one-out on
    two of them; `lam` applies to the global model only. Each leaf is solved in single precision where that is sufficient, so
    predictions have about five digits. Columns are standardized, or first transformed to normal scores if that is better on
    held-out rows. With ``lam="auto"`` the candidates of the global model begin at :math:`10^{-6}`, so that models from chunks and
    clusters agree with those of ``fit`` to 1e-8. Time is proportional to the number of rows; memory is that of the rows in
    float32, once or twice, and a GiB.

    References
    ----------
    .. [1] D. Oglic and T. Gärtner. "Learning in reproducing kernel Kreĭn spaces". ICML, 2018.
    .. [2] C. S. Ong, X. Mary, S. Canu and A. J. Smola. "Learning with non-positive kernels". ICML, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinRidge
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    >>> y = np.cos(3 * X[:, 0]) + X[:, 1] ** 2
    >>> model = KreinRidge(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    """

    def __init__(
        self,
        features: Any = None,
        *,
        solver: str = "auto",
        regularizer: str = "hilbert",
        lam: Any = "auto",
        selection: str = "loo",
        fit_intercept: bool = True,
        loo_rows: int = 10_000,
        validation_fraction: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.features = features
        self.solver = solver
        self.regularizer = regularizer
        self.lam = lam
        self.selection = selection
        self.fit_intercept = fit_intercept
        self.loo_rows = loo_rows
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows and solve again; the feature map is fitted on the rows of the first call.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight)

    def predict(self, X: Any) -> Any:
        """Predicted targets.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets), float64; a lazy dask.array for a Dask collection
        """
        check_is_fitted(self, "intercept_")
        values = row_values(self, X, self._row_model())
        return values[:, 0] if np.ndim(self.intercept_) == 0 else values

    def _new_targets(self, classes: Any) -> Targets:
        return NumberTargets()

    @property
    def _check_targets(self) -> CheckTargets:
        return check_numbers

    def _store(self, solution: RidgeSolution) -> None:
        assert isinstance(self._targets, NumberTargets)
        vector = self._targets.vector
        coef = np.ascontiguousarray(solution.coefficients.T)
        self.coef_ = coef[0] if vector else coef
        self.intercept_ = float(solution.offset[0]) if vector else solution.offset

    def _store_model(self, model: KernelModel) -> None:
        assert isinstance(self._targets, NumberTargets)
        self.model_ = model
        self.intercept_ = float(model.offset[0]) if self._targets.vector else model.offset

    def _store_local(self, local: LocalPart) -> None:
        self.local_ = local

    def _n_outputs(self) -> int | None:
        return 1 if np.ndim(self.intercept_) == 0 else int(np.shape(self.intercept_)[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@final
class KreinRidgeClassifier(RowClassifierMixin, RidgeBase):
    r"""Classification by ridge regression of ±1 targets, one per class, on features with a signature.

    .. math:: \hat y(x) = \arg\max_c\ z(x)^\top w_c + b_c

    Parameters are those of `KreinRidge`. Kernel and λ are chosen by squared errors of the targets: the error rate is coarse, and
    with few rows its choices were worse on new rows.

    Parameters
    ----------
    features : transformer with a ``signature_``, default=None
    solver : {"auto", "exact", "local", "features"}, default="auto"
    regularizer : {"hilbert", "two", "krein"}, default="hilbert"
    lam : "auto", float or sequence, default="auto"
    selection : {"loo", "validation", "gcv"}, default="loo"
    fit_intercept : bool, default=True
    class_weight : mapping of labels to float, "balanced" or None, default=None
        Factors of the weights of the rows of each class. ``"balanced"`` gives every class the same total weight.
    loo_rows : int, default=10000
    validation_fraction : float, default=0.1
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_classes, n_components), (1, n_components) for two classes, or None for ``"exact"``
    intercept_ : ndarray of shape (n_classes,) or (1,)
    solver_, choice_, model_, local_, feature_importances_, features_, lam_, lams_, scores_, n_rows_
        As in `KreinRidge`.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinRidgeClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.where(np.hypot(*X.T) < 1, "inside", "outside")
    >>> model = KreinRidgeClassifier(random_state=0).fit(X, y)
    >>> model.predict([[0.1, 0.2], [2.0, 1.0]])
    array(['inside', 'outside'], dtype='<U7')
    """

    def __init__(
        self,
        features: Any = None,
        *,
        solver: str = "auto",
        regularizer: str = "hilbert",
        lam: Any = "auto",
        selection: str = "loo",
        fit_intercept: bool = True,
        class_weight: Any = None,
        loo_rows: int = 10_000,
        validation_fraction: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.features = features
        self.solver = solver
        self.regularizer = regularizer
        self.lam = lam
        self.selection = selection
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.loo_rows = loo_rows
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit in one pass over blocks of rows; the features of all rows are never in memory at once.

        Parameters
        ----------
        X : array, memory map, DataFrame, sparse matrix, dask.array or dask.dataframe of shape (n_samples, n_features)
            Dask collections are fitted through the active scheduler; see the user guide on clusters.
        y : array-like of shape (n_samples,), or the Dask equivalent
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative, not all zero. A whole-number weight is a number of copies of the row.

        Returns
        -------
        self
        """
        if self.class_weight is not None:
            if is_dask(X):
                sample_weight = weigh_dask(self.class_weight, X, y, sample_weight)
            else:
                sample_weight = weigh_rows(self.class_weight, y, sample_weight)
        return super().fit(X, y, sample_weight)

    def fit_chunks(self, chunks: Iterable[tuple[Any, ...]]) -> Self:
        """Fit from an iterable of ``(X, y)`` or ``(X, y, sample_weight)``, as `KreinRidge.fit_chunks`.

        ``class_weight="balanced"`` needs a collection that can be iterated again, and one more pass.

        Parameters
        ----------
        chunks : iterable of tuples

        Returns
        -------
        self
        """
        return super().fit_chunks(chunks if self.class_weight is None else weigh_chunks(self.class_weight, chunks))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows and solve again; the feature map is fitted on the rows of the first call.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All classes of this and later calls; used in the first call. Without it classes are added as they appear, and the
            first call needs at least two of them.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        if self.class_weight is not None:
            sample_weight = weigh_rows(self.class_weight, y, sample_weight, all_rows=False)
        return self._partial_fit(X, y, sample_weight, classes)

    def _new_targets(self, classes: Any) -> Targets:
        return LabelTargets(None if classes is None else check_labels(classes), closed=classes is not None)

    @property
    def _check_targets(self) -> CheckTargets:
        return check_labels

    def _store(self, solution: RidgeSolution) -> None:
        assert isinstance(self._targets, LabelTargets)
        self.classes_, columns = self._targets.sorted_classes()
        columns = columns[1:] if self.classes_.size == 2 else columns
        # from indicators to ±1: twice the slope, and the offset to match
        self.coef_ = np.ascontiguousarray(2.0 * solution.coefficients.T[columns])
        self.intercept_ = 2.0 * solution.offset[columns] - 1.0

    def _store_model(self, model: KernelModel) -> None:
        assert isinstance(self._targets, LabelTargets)
        self.classes_, columns = self._targets.sorted_classes()
        columns = columns[1:] if self.classes_.size == 2 else columns
        self.model_ = model.combined(2.0 * np.eye(model.width)[:, columns], -1.0)
        self.intercept_ = self.model_.offset

    def _store_local(self, local: LocalPart) -> None:
        assert isinstance(self._targets, LabelTargets)
        _, columns = self._targets.sorted_classes()
        columns = columns[1:] if self.classes_.size == 2 else columns
        self.local_ = local.combined(2.0 * np.eye(local.width)[:, columns], -1.0)

    def _n_outputs(self) -> int | None:
        return 1 if self.classes_.size == 2 else int(self.classes_.size)
