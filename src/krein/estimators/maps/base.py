"""The contract every feature map of this library keeps, exact or random, ours or a rival's."""

from __future__ import annotations

from abc import ABC
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from krein.files.models import SavableMixin
from krein.kernels import Kernel

__all__ = ["SignedFeatureMap", "as_generator", "check_kernel", "check_n_components", "signed_product"]


class SignedFeatureMap(SavableMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Features with a signature: ``(Z * signature_) @ Z.T`` approximates the kernel matrix.

    A map is a scikit-learn transformer with three more things: ``signature_``, an array of ±1 with one entry per
    output column; `approximate`, the signed product; and ``n_components``, always the number of output columns.
    ``Z @ Z.T`` without the signature estimates the kernel of the positive *plus* the negative part.

    A subclass gives `default_kernel`, `_fit` (which must set ``signature_``) and `_map`; all fields live there.
    """

    kernel: Kernel | None
    n_components: int
    random_state: Any
    signature_: np.ndarray

    def default_kernel(self) -> Kernel:
        """The kernel meant by ``kernel=None``."""
        raise NotImplementedError

    def _fit(self, X: Any, kernel: Kernel, rng: np.random.Generator) -> None:
        """Learn from rows that are validated and placed on the kernel's domain; set ``signature_``."""
        raise NotImplementedError

    def _map(self, X: Any) -> np.ndarray:
        """Features of placed rows, shape (n_samples, n_components), dtype of X."""
        raise NotImplementedError

    def _fit_map(self, X: Any, rng: np.random.Generator) -> Any:
        """The fitted map of validated rows; None where the hooks above have done the work."""
        self.kernel_ = self._resolve_kernel()
        self._fit(self._place(self._rows_to_fit(X, rng)), self.kernel_, rng)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the features.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        fitted = self._fit_map(X, as_generator(self.random_state))
        if fitted is not None:
            self.map_, self.signature_ = fitted, fitted.signature
        self._n_features_out = self.signature_.shape[0]
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
        return self._features(X)

    def approximate(self, X: Any, Y: Any = None) -> np.ndarray:
        """The kernel matrix as the features give it, ``(Z(X) * signature_) @ Z(Y).T``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples_X, n_features)
        Y : array or sparse matrix of shape (n_samples_Y, n_features), default=None
            If None, X itself.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples_Y)
        """
        left = self._features(X)
        return signed_product(left, self.signature_, left if Y is None else self._features(Y))

    def _features(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "signature_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self.map_(X) if hasattr(self, "map_") else self._map(self._place(X))

    def _resolve_kernel(self) -> Kernel:
        """The kernel meant by the parameter; overridden only by maps that take other similarities too."""
        return self.default_kernel() if self.kernel is None else check_kernel(self.kernel)

    def _rows_to_fit(self, X: Any, rng: np.random.Generator) -> Any:
        """The rows that `_fit` sees; overridden only by maps that need no more than a sample."""
        return X

    def _place(self, X: Any) -> Any:
        """Rows as points of the domain the features are built for; overridden only by scaling options."""
        return self.kernel_.place(X, "the sparse matrix X" if issparse(X) else "X")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def signed_product(left: np.ndarray, signature: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``(left * signature) @ right.T``."""
    return (left * signature.astype(left.dtype)) @ right.T


def as_generator(random_state: Any) -> np.random.Generator:
    """A Generator from what scikit-learn calls a random state (it does not take a Generator itself)."""
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    return np.random.default_rng(seed)


def check_kernel(kernel: Any) -> Kernel:
    """The kernel, or an error that says how to make one."""
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"kernel must be a kernel of krein.kernels, got {kernel!r} of type {type(kernel).__name__}; wrap a function "
            "of the distance as krein.kernels.Radial(function)"
        )
    return kernel


def check_n_components(n_components: Any, *, least: int = 1, why: str = "") -> int:
    """Number of output columns as an int, or an error that names the smallest possible."""
    if not isinstance(n_components, Integral) or isinstance(n_components, bool):
        raise TypeError(f"n_components must be an integer, got {n_components!r} of type {type(n_components).__name__}")
    if n_components < least:
        raise ValueError(f"n_components must be at least {least}{why}, got {n_components}; use {least} or more")
    return int(n_components)
