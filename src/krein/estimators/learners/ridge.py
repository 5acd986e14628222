r"""Ridge regression and classification in Kreĭn spaces: exactly, by a tree of exact leaves, or on features with a signature."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self, cast, final

import numpy as np
from sklearn.base import RegressorMixin

from krein._core.checks import one_of, positive_integer, real, truth_value
from krein._core.threads import quiet_blas
from krein.estimators.learners.careful import unchanged_on_error
from krein.estimators.learners.input_checks import check_labels, check_numbers
from krein.estimators.learners.row_learner import ProbabilityMixin, RowLearner
from krein.estimators.maps.fitting import map_source, more_rows
from krein.learning.chosen_features import MapSource
from krein.learning.leaves.local import LocalModel
from krein.learning.link import fit_link
from krein.learning.model import Model
from krein.learning.path import Regularizer
from krein.learning.ridge import SOLVERS, RidgeFit, learn_more, learn_ridge
from krein.learning.ridge_choice import RidgeOptions
from krein.learning.strengths import check_lam
from krein.rows.sample import stack_rows
from krein.rows.source import Block, MatrixRows, RowSource
from krein.rows.targets import LabelTargets, NumberTargets, Targets

__all__ = ["KreinRidge", "KreinRidgeClassifier"]


class _Ridge(RowLearner):
    """What regression and classification share."""

    solver: str
    regularizer: str
    lam: Any
    selection: str
    fit_intercept: bool
    loo_rows: int
    validation_fraction: float

    _fitted: RidgeFit  # with sums that more rows can be added to

    @abstractmethod
    def _new_targets(self, classes: Any = None) -> Targets:
        """Targets of which nothing is known but the classes promised by the caller, or None."""

    @abstractmethod
    def _outputs(self, model: Model, targets: Targets) -> tuple[Model, Any]:
        """The model of the learner's outputs, from that of the target columns, and ``intercept_``."""

    def _learn(self, rows: RowSource, source: MapSource, classes: Any = None) -> None:
        self._keep(learn_ridge(rows, self._new_targets(classes), source, self._options(), solver=self.solver))

    def _keep(self, found: RidgeFit) -> None:
        two = self.regularizer == "two"
        self._fitted = found
        self.solver_, self.choice_, self.n_rows_ = found.solver, found.choice, found.n_rows
        self.lam_ = found.lam if two else found.lam[0]
        self.lams_ = found.lams if two else found.lams[:, 0]
        self.scores_ = found.scores
        self.model_, self.intercept_ = self._outputs(found.model, found.targets)

    @unchanged_on_error
    @quiet_blas()
    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        if "model_" not in vars(self):
            self._learn(*self._rows(X, y, sample_weight, more=True), classes)
            return self
        if self.solver_ == "local":
            raise ValueError(
                "a model with solver='local' cannot be continued by partial_fit; use solver='features' from the start"
            )
        if "_fitted" not in vars(self):
            raise ValueError(
                "this model was loaded from a file, and files hold no sums over rows; fit a new model to continue with"
            )
        known, features = self._fitted, self._given_map()
        block = self._block(X, y, sample_weight, features, start=self.n_rows_, first=False)
        if known.rows is not None:  # those learned from are few, and still there
            both = MatrixRows(*_joined(known.rows, block), more=True)
            self._learn(both, map_source(features, self.random_state), classes)
            return self
        mapped, row_features = more_rows(features, self.features_, block[0])
        rows = MatrixRows(mapped, *block[1:], start=self.n_rows_, more=True)
        self._keep(learn_more(known, rows, row_features, self._options()))
        return self

    def _options(self) -> RidgeOptions:
        one_of(self.solver, "solver", SOLVERS)
        fraction = real(self.validation_fraction, "validation_fraction")
        if not 0.0 < fraction < 1.0:
            raise ValueError(f"validation_fraction must be between 0 and 1, got {fraction}; use for example 0.1")
        return RidgeOptions(
            regularizer=cast(Regularizer, self.regularizer),
            candidates=check_lam(self.lam, self.regularizer, self.selection),
            selection=self.selection,
            intercept=truth_value(self.fit_intercept, "fit_intercept"),
            loo_rows=positive_integer(self.loo_rows, "loo_rows"),
            validation_fraction=fraction,
        )

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean squared derivative of a first model along each column; the sum is 1. For ``solver="local"`` only."""
        model = vars(self).get("model_")
        if not isinstance(model, LocalModel):
            raise AttributeError(f"feature_importances_ need solver='local'; this {type(self).__name__} has none")
        return np.asarray(model.local.metric.importances)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "model_" in vars(self):
            self.solver_ = self.solver_ or "features"  # files from before there was a choice

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.sparse and self.solver != "local"
        tags.target_tags.required = True
        return tags


def _joined(first: Block, second: Block) -> Block:
    """The rows of two blocks; weights of 1 where only one has any."""
    weights = [np.ones(X.shape[0]) if weight is None else weight for X, _, weight in (first, second)]
    weight = None if first[2] is None and second[2] is None else np.concatenate(weights)
    return stack_rows([first[0], second[0]]), np.concatenate([first[1], second[1]]), weight


@final
class KreinRidge(RegressorMixin, _Ridge):
    r"""Ridge regression in a reproducing kernel Kreĭn space, through features with a signature.

    .. math:: \min_{w, b} \sum_i (y_i - z_i^\top w - b)^2 + n\lambda\, w^\top R\, w,
              \qquad R = I,\ \ \mathrm{diag}(1, \lambda_-/\lambda_+)\ \text{or}\ J

    where :math:`z` are the features of a row, :math:`k(x, x') \approx z^\top J z'` and :math:`J = \mathrm{diag}(\pm 1)`.

    Parameters
    ----------
    kernel : Kernel, str, callable, Similarity, DistanceKernel, feature map or None, default=None
        What rows or objects are compared by. None: columns are standardized, and a kernel and its length scale are chosen from
        the data, as in `TunedFeatures`. A kernel of `krein.kernels` or its name ("ntk", "gaussian"): columns are standardized,
        and its length scale is chosen, if it has one. A function of two objects of any kind, a `DistanceKernel` or the name of a
        distance ("levenshtein", "msm"), or ``"precomputed"`` for a matrix of similarities: taken as it is, through
        `KreinNystroem` with up to 1,024 objects as landmarks, and of more a number that grows with the square root of theirs. A
        feature map is taken as `features` is.
    features : transformer with a ``signature_``, default=None
        In place of `kernel`: `SignedFourierFeatures`, `KreinNystroem`, `TunedFeatures` or any other map of this library. The map
        is fitted on at most 50,000 distinct rows.
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
    loo_rows : int, default=4096
        Number of rows whose leave-one-out residuals are computed; all rows if there are fewer.
    validation_fraction : float, default=0.1
        Share of the rows held out by ``selection="validation"``.
    random_state : int, RandomState or None, default=None
        For the default feature map. A map that is passed in has its own.
    verbose : bool, default=False
        Whether a fit shows how far it is: bars on a terminal and in a notebook, lines elsewhere.

    Attributes
    ----------
    solver_ : {"exact", "local", "features"}
        The solver that was used.
    choice_ : Choice or None
        The choice made from the data: ``choice_.kernel``, ``choice_.placement`` (the scaling of rows), and ``choice_.trials``,
        the table of the kernels that were tried. None if `features` were given.
    model_ : LinearModel, KernelModel or LocalModel
        The fitted model as a function of rows. For ``"features"``: ``model_.features``, ``model_.coef``. For ``"exact"``:
        ``model_.rows``, ``model_.dual``. For ``"local"``: ``model_.trend``, the global model, and ``model_.local``, what the
        leaves add to it: ``local.leaves``, ``local.metric``, and ``local.part``, the fraction of the global model (0, 1/2 or 1,
        chosen by leave-one-out) that the leaves add to.
    feature_importances_ : ndarray of shape (n_features,)
        For ``"local"``: how much a first model changes along each standardized column; the sum is 1.
    coef_ : ndarray of shape (n_components,) or (n_targets, n_components)
        Of the (global) model on features; ``"exact"`` has none.
    intercept_ : float or ndarray of shape (n_targets,)
    features_ : RowMap
        The fitted feature map as a function of rows; ``"exact"`` has none.
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
        kernel: Any = None,
        *,
        features: Any = None,
        solver: str = "auto",
        regularizer: str = "hilbert",
        lam: Any = "auto",
        selection: str = "loo",
        fit_intercept: bool = True,
        loo_rows: int = 4096,
        validation_fraction: float = 0.1,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.features = features
        self.solver = solver
        self.regularizer = regularizer
        self.lam = lam
        self.selection = selection
        self.fit_intercept = fit_intercept
        self.loo_rows = loo_rows
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

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
        values = self._values(X)
        return values[:, 0] if np.ndim(self.intercept_) == 0 else values

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the features, shape (n_components,) or (n_targets, n_components)."""
        coef = self._linear("coef_").coef
        return coef[0] if np.ndim(self.intercept_) == 0 else coef

    @property
    def _check_targets(self) -> Callable[[Any, int], np.ndarray]:
        return check_numbers

    def _new_targets(self, classes: Any = None) -> Targets:
        return NumberTargets()

    def _outputs(self, model: Model, targets: Targets) -> tuple[Model, Any]:
        assert isinstance(targets, NumberTargets)
        return model, float(model.constant[0]) if targets.vector else model.constant

    def _n_outputs(self) -> int:
        return 1 if np.ndim(self.intercept_) == 0 else int(np.shape(self.intercept_)[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@final
class KreinRidgeClassifier(ProbabilityMixin, _Ridge):
    r"""Classification by ridge regression of ±1 targets, one per class, on features with a signature.

    .. math:: \hat y(x) = \arg\max_c\ z(x)^\top w_c + b_c

    Parameters are those of `KreinRidge`. Probabilities are one increasing function of the decision values of all classes,
    divided by their sum, which is most likely for training rows each of which the model has not seen (`krein.learning.link`);
    so the most likely class is the one that is predicted. Kernel and λ are chosen by squared errors of the targets: the error
    rate is coarse, and with few rows its choices were worse on new rows.

    Parameters
    ----------
    kernel : Kernel, str, callable, Similarity, DistanceKernel, feature map or None, default=None
    features : transformer with a ``signature_``, default=None
    solver : {"auto", "exact", "local", "features"}, default="auto"
    regularizer : {"hilbert", "two", "krein"}, default="hilbert"
    lam : "auto", float or sequence, default="auto"
    selection : {"loo", "validation", "gcv"}, default="loo"
    fit_intercept : bool, default=True
    class_weight : mapping of labels to float, "balanced" or None, default=None
        Factors of the weights of the rows of each class. ``"balanced"`` gives every class the same total weight.
    loo_rows : int, default=4096
    validation_fraction : float, default=0.1
    random_state : int, RandomState or None, default=None
    verbose : bool, default=False
        Whether a fit shows how far it is: bars on a terminal and in a notebook, lines elsewhere.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_classes, n_components), or (1, n_components) for two classes
    intercept_ : ndarray of shape (n_classes,) or (1,)
    link_ : Link
        From decision values to probabilities, learned from leave-one-out values.
    solver_, choice_, model_, feature_importances_, features_, lam_, lams_, scores_, n_rows_
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
        kernel: Any = None,
        *,
        features: Any = None,
        solver: str = "auto",
        regularizer: str = "hilbert",
        lam: Any = "auto",
        selection: str = "loo",
        fit_intercept: bool = True,
        class_weight: Any = None,
        loo_rows: int = 4096,
        validation_fraction: float = 0.1,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
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
        self.verbose = verbose

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
        return self._partial_fit(X, y, sample_weight, classes)

    @property
    def _check_targets(self) -> Callable[[Any, int], np.ndarray]:
        return check_labels

    def _new_targets(self, classes: Any = None) -> Targets:
        return LabelTargets(None if classes is None else check_labels(classes), self.class_weight)

    def _keep(self, found: RidgeFit) -> None:
        super()._keep(found)
        self.link_ = None
        if found.left_out is not None:
            weights, order = _signs(found.targets)
            self.link_ = fit_link(found.left_out.outputs(weights, -1.0, order))

    def _outputs(self, model: Model, targets: Targets) -> tuple[Model, Any]:
        assert isinstance(targets, LabelTargets)
        self.classes_ = targets.sorted_classes()[0]
        outputs = model.combined(_signs(targets)[0], -1.0)
        return outputs, outputs.constant

    @property
    def _log_chances(self) -> Callable[[np.ndarray], np.ndarray]:
        if self.link_ is None:
            raise AttributeError(
                "there are no probabilities: the model was saved by a version that did not learn them, or its λ is below rounding; "
                "fit it again, with a larger lam"
            )
        return self.link_


def _signs(targets: Targets) -> tuple[np.ndarray, np.ndarray]:
    """From indicators to ±1, one column for two classes: twice the slope, less one; and the columns of the sorted classes."""
    assert isinstance(targets, LabelTargets)
    order = targets.sorted_classes()[1]
    return 2.0 * np.eye(order.size)[:, order[1:] if order.size == 2 else order], order
