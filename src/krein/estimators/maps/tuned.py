"""A feature map whose scaling, kernel and length scale are chosen from the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length

from krein._core.checks import one_of
from krein.estimators.learners.input_checks import check_labels, check_numbers
from krein.estimators.maps.base import SignedFeatureMap, check_features, check_signature, row_map, signed_product
from krein.features import RowMap
from krein.kernels import Kernel
from krein.learning.chosen_features import PlacedMap, Tuning, fit_chosen
from krein.learning.tuning.choice import FEATURE_CHOICE_ROWS, Choice
from krein.learning.tuning.placement import Placement
from krein.learning.tuning.rounds import PORTFOLIO
from krein.learning.tuning.trials import Trials
from krein.rows.source import MatrixRows
from krein.rows.targets import LabelTargets, NumberTargets, Targets

__all__ = ["TunedFeatures"]

_MANY_LABELS = 100  # with more distinct numbers a target is a quantity, not a class
_CHECKED = 500  # rows whose kernel matrix gives the error estimate


@final
class TunedFeatures(SignedFeatureMap):
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
    map_ : PlacedMap
        The fitted map as a function of rows: ``map_.placement``, and ``map_.map`` of placed rows.
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

    map_: PlacedMap

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

    def _fit_map(self, X: Any, y: Any, rng: np.random.Generator) -> PlacedMap:
        tuning = self.tuning()
        targets, rows = None, None
        if y is not None and tuning.kernels is not None:
            check_consistent_length(X, y)
            y, targets = _as_targets(y)
        look = MatrixRows(X, y).look(targets, summarize=True)
        if targets is not None:
            rows = look.merged(targets, FEATURE_CHOICE_ROWS)
            rows = rows.equalized() if isinstance(targets, NumberTargets) else rows
        self.choice_ = tuning.choose(look, rows)
        found = self.fit_chosen(self.choice_, look.distinct, tuning.width(look), rng)
        self.n_components_ = int(found.signature.size)
        self.error_estimate_ = self._error(found.map, look.distinct[:_CHECKED])
        return found

    def tuning(self) -> Tuning:
        """What is chosen from, as a value; an error names a parameter that is not what it should be.

        Returns
        -------
        Tuning
        """
        check_features(self.features)
        return Tuning(self._tried(), self.n_components, self.scaling, self.metric, self._given_kernel())

    def fit_chosen(self, choice: Choice, sample: Any, width: int, rng: np.random.Generator) -> PlacedMap:
        """The map of a choice, fitted to rows that were checked; nothing is learned by the estimator.

        Parameters
        ----------
        choice : Choice
        sample : array or sparse matrix of shape (n_sampled, n_features)
        width : int
            Columns, where neither `n_components` nor `features` says how many.
        rng : numpy.random.Generator
            For the default map; one that was given has its own.

        Returns
        -------
        PlacedMap
        """
        if self.features is None:
            return fit_chosen(choice, sample, width, rng)
        given = clone(self.features)
        if self.kernels is not None:
            given.set_params(kernel=choice.kernel)
        if not isinstance(self.n_components, str):
            given.set_params(n_components=width)
        with config_context(assume_finite=True):
            given.fit(choice.placement(sample))
        check_signature(given)
        return PlacedMap(choice.placement, row_map(given))

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

    def _tried(self) -> tuple[Kernel, ...] | None:
        if self.kernels is None:
            return None
        if isinstance(self.kernels, str):
            one_of(self.kernels, "kernels", ("portfolio",), otherwise=", a kernel or several of them")
            return PORTFOLIO
        kernels = (self.kernels,) if isinstance(self.kernels, Kernel) else self.kernels
        if not isinstance(kernels, (tuple, list)) or not all(isinstance(kernel, Kernel) for kernel in kernels):
            raise TypeError(
                f"kernels must be 'portfolio', a kernel of krein.kernels or a list of them, got {self.kernels!r}"
            )
        return tuple(kernels)

    def _given_kernel(self) -> Kernel | None:
        kernel = None if self.features is None else self.features.get_params(deep=False).get("kernel")
        return kernel if isinstance(kernel, Kernel) else None

    def _error(self, fitted: RowMap, rows: Any) -> float:
        if self.kernels is None and self._given_kernel() is None:
            return float("nan")  # a map that has no kernel of this library
        placed = self.choice_.placement(rows)
        Z, exact = fitted(placed), self.choice_.kernel(placed)
        return float(np.linalg.norm(signed_product(Z, fitted.signature, Z) - exact) / np.linalg.norm(exact))

    def _check_loaded(self) -> None:
        older = self.__dict__.pop("features_", None)  # files of 0.1 and 0.2 hold the fitted map as an estimator
        if older is not None:
            self.map_ = PlacedMap(self.choice_.placement, row_map(older))
        super()._check_loaded()
        if "map_" not in vars(self):
            return
        if self.map_.n_features not in (None, self.n_features_in_):
            raise ValueError(
                f"the map takes rows of {self.map_.n_features} columns, but the model {self.n_features_in_}"
            )


def _as_targets(y: Any) -> tuple[np.ndarray, Targets]:
    """Targets as labels or as numbers, and what they are."""
    kind = type_of_target(y, input_name="y")
    if kind in ("binary", "multiclass"):
        labels = check_labels(y)
        if labels.dtype.kind not in "iuf" or np.unique(labels).size <= _MANY_LABELS:
            return labels, LabelTargets()
    return check_numbers(y), NumberTargets()
