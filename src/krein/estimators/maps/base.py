"""The contract of every feature map of this library: exact or random, ours or a baseline."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from krein._core.errors import ExportError
from krein._core.rows import rows_times
from krein._core.threads import quiet_blas
from krein.estimators.maps.objects import takes_objects
from krein.estimators.mixins import ExportMixin, FrozenParamsMixin
from krein.estimators.numbers import checked_rows
from krein.export import Expression, translate
from krein.features import RowMap
from krein.files.models import SavableMixin
from krein.kernels import DeltaGaussian

__all__ = [
    "SignedFeatureMap",
    "SignedTransformer",
    "TransformerMap",
    "as_generator",
    "check_features",
    "check_signature",
    "default_kernel",
    "row_map",
    "signed_product",
]


def default_kernel(kernel: Any) -> Any:
    """The given kernel, ``DeltaGaussian()`` for None."""
    return DeltaGaussian() if kernel is None else kernel


class SignedTransformer(
    ExportMixin, SavableMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, FrozenParamsMixin, ABC
):
    """Features with a signature: ``(Z * signature_) @ Z.T`` approximates the kernel matrix.

    A map is a scikit-learn transformer with three more things: ``signature_``, an array of ±1 with one entry per
    output column; `approximate`, the signed product; and ``n_components``, always the number of output columns.
    ``Z @ Z.T`` without the signature estimates the kernel of the positive *plus* the negative part.

    A subclass defines `_learn`, which must set ``signature_``, and `_features`; and `_formula` if the map can be exported.
    """

    n_components: Any
    random_state: Any
    signature_: np.ndarray

    @abstractmethod
    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        """Learn from validated rows, and from targets as they were given; set ``signature_``."""

    @abstractmethod
    def _features(self, X: Any) -> np.ndarray:
        """Features of validated rows, shape (n_samples, n_outputs), dtype of X."""

    @quiet_blas()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the features.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features); a sequence of objects where those are taken
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets, for a map that is chosen by them; otherwise ignored.

        Returns
        -------
        self
        """
        X = self._checked(X, first=True)
        self._learn(X, y, as_generator(self.random_state))
        self._n_features_out = int(self.signature_.shape[0])
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Features of the rows of X.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components), float32 if X is float32, else float64
        """
        return self._features(self._validated(X))

    def approximate(self, X: Any, Y: Any = None) -> np.ndarray:
        """The approximate kernel matrix, ``(Z(X) * signature_) @ Z(Y).T``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples_X, n_features)
        Y : array or sparse matrix of shape (n_samples_Y, n_features), default=None
            If None, X itself.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples_Y)
        """
        left = self._features(self._validated(X))
        right = left if Y is None else self._features(self._validated(Y))
        return signed_product(left, self.signature_, right)

    def _validated(self, X: Any) -> Any:
        check_is_fitted(self, "signature_")
        return self._checked(X, first=False)

    def _checked(self, X: Any, *, first: bool) -> Any:
        """X as `_learn` and `_features` take it; at first its columns are remembered."""
        return checked_rows(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=first)

    def _formula(self, rows: Expression) -> Expression:
        raise ExportError(f"{type(self).__name__} cannot be exported: it has no formula for other runtimes")

    def _n_values(self) -> int:
        return int(self.signature_.shape[0])

    def _check_loaded(self) -> None:
        """Refuse learned attributes that do not fit each other, as a damaged or forged model file may have them."""
        signature = vars(self).get("signature_")
        if signature is None:  # saved before it was fitted
            return
        if not isinstance(signature, np.ndarray) or signature.ndim != 1 or (np.abs(signature) != 1.0).any():
            raise ValueError("signature_ must be a vector of +1 and -1")
        if vars(self).get("_n_features_out") != signature.size:
            raise ValueError(
                f"the map has {vars(self).get('_n_features_out')} output columns and {signature.size} signs"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class SignedFeatureMap(SignedTransformer):
    """A map whose fit is one plain function: a subclass defines `_fit_map`, which calls it.

    Attributes
    ----------
    map_ : RowMap
        The fitted map, as a function of rows.
    signature_ : ndarray of shape (n_components,)
    """

    map_: RowMap
    _stands_for: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"kernel": default_kernel}

    @abstractmethod
    def _fit_map(self, X: Any, y: Any, rng: np.random.Generator) -> RowMap:
        """The map fitted to validated rows; further learned attributes may be set on the way."""

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        self.map_ = self._fit_map(X, y, rng)
        self.signature_ = self.map_.signature

    def _features(self, X: Any) -> np.ndarray:
        return self.map_(X)

    def _formula(self, rows: Expression) -> Expression:
        return translate(self.map_, rows)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "map_" in vars(self) and not np.array_equal(self.map_.signature, self.signature_):
            raise ValueError("signature_ is not that of the map")


@final
@dataclass(frozen=True, eq=False)
class TransformerMap:
    """A fitted transformer that a user gave as a function of rows that are known to be finite."""

    transformer: Any

    def __post_init__(self) -> None:
        check_features(self.transformer)
        check_signature(self.transformer)

    @property
    def signature(self) -> np.ndarray:
        """±1 for each column, shape (n_components,)."""
        return np.asarray(self.transformer.signature_)

    @property
    def n_features(self) -> int | None:
        """Columns of the rows it takes."""
        columns: int | None = vars(self.transformer).get("n_features_in_")
        return columns

    def __call__(self, X: Any) -> np.ndarray:
        """Features of the rows, shape (n_rows, n_components), in a plain array whatever output is configured."""
        with config_context(assume_finite=True):
            return np.asarray(self.transformer.transform(X))


@translate.register
def _(part: TransformerMap, rows: Expression) -> Expression:
    if not isinstance(part.transformer, ExportMixin):
        raise ExportError(
            f"{type(part.transformer).__name__} cannot be exported: it is not a feature map of this library"
        )
    return part.transformer._formula(rows)


def row_map(fitted: Any) -> RowMap:
    """The value within a fitted map: what a learner holds, and what it calls."""
    if isinstance(fitted, RowMap):
        return fitted
    if isinstance(fitted, SignedFeatureMap) and not takes_objects(fitted):  # whose work is shared as the estimator says
        return fitted.map_
    return TransformerMap(fitted)


def check_features(features: Any) -> None:
    """An error that names the parameter if `features` is no estimator."""
    if features is not None and not isinstance(features, BaseEstimator):
        raise TypeError(
            f"features must be a feature map with a signature or None, got {features!r} of type {type(features).__name__}; "
            "use krein.SignedFourierFeatures(), krein.KreinNystroem() or a map of krein.baselines"
        )


def check_signature(fitted: Any) -> None:
    """An error if a fitted map has no signature."""
    try:
        fitted.signature_  # noqa: B018  # for the error alone
    except AttributeError as error:
        raise TypeError(
            f"features must be a map with a signature, but {type(fitted).__name__} has no signature_ after fit; use "
            "krein.SignedFourierFeatures, krein.KreinNystroem or a map of krein.baselines"
        ) from error


def signed_product(left: np.ndarray, signature: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``(left * signature) @ right.T``."""
    return rows_times(left * signature.astype(left.dtype), right.T)


def as_generator(random_state: Any) -> np.random.Generator:
    """A Generator from what scikit-learn calls a random state (it does not take a Generator itself)."""
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    return np.random.default_rng(seed)
