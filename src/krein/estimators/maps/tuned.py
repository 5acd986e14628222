"""A feature map whose scaling, kernel and length scale are chosen from the data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length

from krein._core.checks import one_of, positive_integer
from krein._core.threads import quiet_blas
from krein.estimators.learners.input_checks import check_labels, check_numbers
from krein.estimators.maps.base import SignedTransformer, signed_product
from krein.estimators.maps.fitting import DataChosenMap, check_features, check_signature
from krein.estimators.maps.fourier import SignedFourierFeatures
from krein.estimators.maps.nystroem import KreinNystroem
from krein.estimators.numbers import checked_rows
from krein.export import Expression, translate
from krein.kernels import Kernel
from krein.learning.metric.rechoose import in_learned_metric
from krein.learning.path import Regularizer
from krein.learning.tuning.choice import (
    FEATURE_CHOICE_ROWS,
    Choice,
    choose,
    feature_round,
    fixed_choice,
    unsupervised_choice,
)
from krein.learning.tuning.limits import default_width
from krein.learning.tuning.placement import SCALINGS, Placement
from krein.learning.tuning.portfolio import PORTFOLIO
from krein.learning.tuning.trials import Trials
from krein.rows.look import Examples, FirstPass, comparable, look_at_matrix
from krein.rows.targets import LabelTargets, NumberTargets, Targets

__all__ = ["TunedFeatures"]

_MANY_LABELS = 100  # with more distinct numbers a target is a quantity, not a class
_CHECKED = 500  # rows whose kernel matrix gives the error estimate


@final
class TunedFeatures(DataChosenMap, SignedTransformer):
    r"""Features of a kernel that is chosen, with its length scale, by leave-one-out on scaled columns.

    Parameters
    ----------
    kernels : "portfolio", Kernel, sequence of Kernel or None, default="portfolio"
        The kernels to try. ``"portfolio"``: Gaussian, Cauchy, Matérn 3/2, Laplacian and Delta-Gaussian, each at five length
        scales from 1/8 to 2 times the median distance of scaled rows; and arc-cosine of order 0 and 1 and NTK, on rows with a
        constant column appended and then scaled to unit length. Or your own kernels. None: no choice, the kernel is that of
        `features`.
    n_components : int or "auto", default="auto"
        Number of output columns. ``"auto"`` grows with the square root of the number of rows, from 1,024 to 4,096, but is at
        most the number of rows.
    scaling : {"standard", "minmax", "none"}, default="standard"
        ``"standard"``: columns to mean zero and variance one. ``"minmax"``: columns to [0, 1] by the smallest and largest value
        of the fitted rows, with other rows clipped. ``"none"``: columns unchanged. A constant column becomes 0. Columns of sparse
        rows are not scaled. Inside a learner the scaling is that of all its training rows, by their weights, although the map is
        fitted on a sample of them.
    metric : {"none", "learned"}, default="none"
        ``"learned"``: columns, or directions, are weighted by the average outer product of the gradients of a first model,
        if that is better on held-out rows; then the kernel is chosen again. It needs dense rows and targets, and ``scaling``
        other than ``"minmax"``.
    features : feature map, default=None
        The map for the chosen kernel; its parameters ``kernel`` and ``n_components`` are set by the choice. None takes
        `KreinNystroem`, whose features of as many landmarks as columns learn better than as many random ones; with as many columns
        as rows they are exact. Sparse rows take `SignedFourierFeatures`.
    random_state : int, RandomState or None, default=None
        For the default feature map.

    Attributes
    ----------
    scores_ : Trials
        The table of the kernels that were tried, best first: kernel, scale, rows, λ, and the squared error of left-out rows
        relative to that of a constant. Empty if none was tried.
    choice_ : Choice
        Placement (scaling) of rows, kernel, and the best λ of a ridge model.
    kernel_ : Kernel
    features_ : the fitted feature map, of placed rows
    n_components_ : int
    signature_ : ndarray of shape (n_components,)
    error_estimate_ : float
        Relative error of the kernel matrix of some training rows.
    feature_importances_ : ndarray of shape (n_features,)
        With a learned metric: how much a first model changes along each scaled column; the sum is 1.

    Notes
    -----
    Ridge regression on one sample of 300 rows gives, from one eigendecomposition per kernel, the exact leave-one-out error for a
    whole path of λ. The best kernels are tried again on more rows, because with more rows smaller scales and rougher kernels are
    better. An indefinite kernel is scored by five held-out folds, because :math:`|K|` of all rows depends on the row that is left
    out. Errors that differ by less than a thousandth count as equal, and the smoother kernel is chosen.

    Targets are classes if they are text, or at most 100 distinct whole numbers. Without targets the kernel is ``DeltaGaussian``
    at the median distance.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import TunedFeatures
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 1))
    >>> features = TunedFeatures(n_components=50, random_state=0).fit(X, np.sin(20 * X[:, 0]))
    >>> features.kernel_.length_scale < 0.5
    True
    >>> features.transform(X).shape
    (200, 50)
    """

    def __init__(
        self,
        kernels: str | Kernel | Sequence[Kernel] | None = "portfolio",
        n_components: int | str = "auto",
        *,
        scaling: str = "standard",
        metric: str = "none",
        features: Any = None,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.n_components = n_components
        self.scaling = scaling
        self.metric = metric
        self.features = features
        self.random_state = random_state

    @quiet_blas()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose a kernel, and fit its features.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Labels or numbers. None: the default kernel at the median distance.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = checked_rows(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        examples = None
        if y is not None and self.chooses:
            check_consistent_length(X, y)
            y, targets = _as_targets(y)
            examples = Examples(y, targets, FEATURE_CHOICE_ROWS)
        seen = look_at_matrix(X, None, summarize=True, examples=examples)[1]
        return self._fit_chosen(seen, self.choose(seen if examples is None else comparable(seen, examples.targets)))

    @property
    def chooses(self) -> bool:
        """Whether there is a kernel to choose."""
        return self.kernels is not None

    def choose(
        self,
        seen: FirstPass,
        *,
        lams: np.ndarray | None = None,
        regularizer: Regularizer = "hilbert",
        intercept: bool = True,
        exact_rows: int | None = None,
        width: int | None = None,
    ) -> Choice:
        """Choose placement, kernel and λ from a first pass over a table.

        Parameters
        ----------
        seen : FirstPass
        lams : ndarray of shape (n_lams,), default=None
            Values of λ to choose from.
        regularizer : {"hilbert", "two", "krein"}, default="hilbert"
        intercept : bool, default=True
        exact_rows : int or None, default=None
            Most rows of an exact problem that is to be solved; None where features will be fitted.
        width : int or None, default=None
            Of those features; None for `n_components`.

        Returns
        -------
        Choice
        """
        self._check_parameters()
        if not self.chooses:
            return fixed_choice(self._given_kernel(), seen.sample, columns=seen.columns, scaling=self.scaling)
        if seen.merged is None:
            return unsupervised_choice(self._tried(), seen.sample, columns=seen.columns, scaling=self.scaling)
        if exact_rows is None:
            wanted = _width(seen, self.n_components) if width is None else width
            most_rows, width = feature_round(_n_rows(seen), wanted)
        else:
            most_rows, width = exact_rows, None
        choose_from = partial(
            choose,
            kernels=self._tried(),
            lams=lams,
            regularizer=regularizer,
            intercept=intercept,
            most_rows=most_rows,
            width=width,
        )
        found = choose_from(seen.merged, columns=seen.columns, scaling=self.scaling)
        if self.metric == "none":
            return found
        return in_learned_metric(found, seen.merged, partial(choose_from, scaling="none"))

    def fit_choice(self, seen: FirstPass, choice: Choice) -> Self:
        """Fit the features of a kernel that was chosen.

        Parameters
        ----------
        seen : FirstPass
        choice : Choice

        Returns
        -------
        self
        """
        self._check_parameters()
        checked_rows(self, seen.sample, accept_sparse="csr", dtype=[np.float64, np.float32])
        return self._fit_chosen(seen, choice)

    def _fit_chosen(self, seen: FirstPass, choice: Choice) -> Self:
        """The same from rows that were checked, whose columns are remembered with their names."""
        placed = choice.placement(seen.sample)
        self.choice_ = choice
        with config_context(assume_finite=True):
            width = _width(seen, self.n_components)
            self.features_ = self._map(choice.kernel, width, placed).fit(placed)
        if self.features is None and isinstance(self.features_, SignedFourierFeatures):
            self.features_.map_ = self.features_.map_.everywhere()  # nobody gave a radius, and nobody can
        check_signature(self.features_)
        self.signature_ = self.features_.signature_
        self._n_features_out = self.n_components_ = int(self.signature_.shape[0])
        self.error_estimate_ = self._error(placed[:_CHECKED])
        return self

    @property
    def scores_(self) -> Trials:
        """The table of the kernels that were tried."""
        return self.choice_.trials

    @property
    def kernel_(self) -> Kernel:
        """The kernel of placed rows."""
        return self.choice_.kernel

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean squared derivative of a first model along each scaled column; the sum is 1."""
        if self.choice_.metric is None:
            raise AttributeError("feature_importances_ need metric='learned' and targets")
        return np.asarray(self.choice_.metric.importances)

    @property
    def placement_(self) -> Placement:
        """The map from given rows to the scaled rows that the kernel takes."""
        return self.choice_.placement

    def _check_parameters(self) -> None:
        check_features(self.features)
        one_of(self.scaling, "scaling", SCALINGS)
        one_of(self.metric, "metric", ("none", "learned"))
        if self.metric == "learned" and self.scaling == "minmax":
            raise ValueError(
                "metric='learned' rotates columns, and scaling='minmax' clips them; use scaling='standard'"
            )
        if isinstance(self.n_components, str):
            one_of(self.n_components, "n_components", ("auto",), otherwise=" or a positive integer")
        else:
            positive_integer(self.n_components, "n_components")
        self._tried()

    def _tried(self) -> tuple[Kernel, ...]:
        if isinstance(self.kernels, str):
            one_of(self.kernels, "kernels", ("portfolio",), otherwise=", a kernel or several of them")
            return PORTFOLIO
        kernels = (self.kernels,) if isinstance(self.kernels, Kernel) else () if self.kernels is None else self.kernels
        if not isinstance(kernels, (tuple, list)) or not all(isinstance(kernel, Kernel) for kernel in kernels):
            raise TypeError(
                f"kernels must be 'portfolio', a kernel of krein.kernels or a list of them, got {self.kernels!r}"
            )
        return tuple(kernels)

    def _given_kernel(self) -> Kernel | None:
        kernel = None if self.features is None else self.features.get_params(deep=False).get("kernel")
        return kernel if isinstance(kernel, Kernel) else None

    def _map(self, kernel: Kernel, width: int, placed: Any) -> Any:
        if self.features is None:
            if width >= placed.shape[0]:  # every row is a landmark: exact
                return KreinNystroem(kernel, width, landmarks="uniform", random_state=self.random_state)
            if sp.issparse(placed):
                return SignedFourierFeatures(kernel, width, random_state=self.random_state)
            return KreinNystroem(kernel, width, random_state=self.random_state)
        found = clone(self.features)
        if self.chooses:
            found.set_params(kernel=kernel)
        if not isinstance(self.n_components, str):
            found.set_params(n_components=width)
        return found

    def _error(self, placed: Any) -> float:
        with config_context(assume_finite=True):
            Z = np.asarray(self.features_.transform(placed))
        if not self.chooses and self._given_kernel() is None:
            return float("nan")  # a map that has no kernel of this library
        exact = self.choice_.kernel(placed)
        return float(np.linalg.norm(signed_product(Z, self.signature_, Z) - exact) / np.linalg.norm(exact))

    def _learn(self, X: Any, rng: np.random.Generator) -> None:
        raise NotImplementedError  # `fit` does it

    def _features(self, X: Any) -> np.ndarray:
        with config_context(assume_finite=True, transform_output="default"):
            return np.asarray(self.features_.transform(self.choice_.placement(X)))

    def _formula(self, rows: Expression) -> Expression:
        formula: Expression = self.features_._formula(translate(self.choice_.placement, rows))
        return formula

    def _inner_columns(self) -> int | None:
        return self.choice_.placement.n_outputs(self.n_features_in_)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "signature_" not in vars(self):
            return
        if not np.array_equal(self.signature_, self.features_.signature_):
            raise ValueError("signature_ is not that of the fitted map")
        if self.choice_.placement.n_features not in (None, self.n_features_in_):
            raise ValueError(
                f"the placement takes rows of {self.choice_.placement.n_features} columns, but the map {self.n_features_in_}"
            )


def _width(seen: FirstPass, n_components: int | str) -> int:
    if not isinstance(n_components, str):
        return positive_integer(n_components, "n_components")
    return default_width(_n_rows(seen))


def _n_rows(seen: FirstPass) -> int:
    """Distinct rows of a whole table, else all that there are."""
    return int(seen.sample.shape[0]) if seen.complete else seen.n_rows


def _as_targets(y: Any) -> tuple[np.ndarray, Targets]:
    """Targets as labels or as numbers, and what they are."""
    kind = type_of_target(y, input_name="y")
    if kind in ("binary", "multiclass"):
        labels = check_labels(y)
        if labels.dtype.kind not in "iuf" or np.unique(labels).size <= _MANY_LABELS:
            return labels, LabelTargets()
    return check_numbers(y), NumberTargets()
