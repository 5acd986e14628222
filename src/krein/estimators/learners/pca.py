"""Principal components of an indefinite kernel, through features with a signature."""

from __future__ import annotations

from functools import partial
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from krein._core.checks import positive_integer, truth_value
from krein._core.threads import quiet_blas
from krein.estimators.learners.input_checks import check_rows
from krein.estimators.learners.linear import check_linear, row_values
from krein.estimators.learners.rollback import unchanged_on_error
from krein.estimators.maps.base import check_features, row_map
from krein.estimators.maps.fitting import (
    copy_input_tags,
    fit_features,
    look_for,
    training_features,
    wants_columns,
)
from krein.files.models import SavableMixin
from krein.learning.components import principal_axes
from krein.learning.sums import NormalSums
from krein.rows import look as looks
from krein.rows.dask_rows import DaskRows, is_dask
from krein.rows.feature_blocks import Features, LinearModel, feature_blocks

__all__ = ["KreinPCA"]

_SHIFT_ROWS = 1024  # rows whose mean is the shift of sums that are made on several machines


@final
class KreinPCA(SavableMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Principal components in a Kreĭn space: eigenpairs of the centered indefinite kernel matrix, signs kept.

    .. math:: H Z J Z^\top H = V \Theta V^\top, \qquad t(x)_j = \mathrm{sign}(\theta_j)\,|\theta_j|^{-1/2}\, v_j^\top k_c(x)

    so that on the training rows :math:`T = V |\Theta|^{1/2}` and :math:`T\,\mathrm{sign}(\Theta)\,T^\top` is the best
    approximation of the centered kernel matrix with that many columns. Only a :math:`D \times D` eigenproblem is solved; rows
    are read in blocks.

    Parameters
    ----------
    features : transformer with a ``signature_``, default=None
        None means `TunedFeatures` without targets: ``DeltaGaussian`` at the median distance of standardized rows.
    n_components : int or None, default=None
        Number of components to keep, those of largest :math:`|\theta|`. None keeps all with :math:`|\theta|` above rounding.
    center : bool, default=True
        Whether features are centered, as in kernel principal component analysis.
    random_state : int, RandomState or None, default=None
        For the default feature map.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_kept,)
        :math:`\theta`, sorted by absolute value, largest first; negative ones belong to the negative part of the space.
    signature_ : ndarray of shape (n_kept,)
        Signs of the eigenvalues, so that the result is itself a map with a signature.
    components_ : ndarray of shape (n_kept, width of the feature map)
    mean_ : ndarray of shape (width of the feature map,)
    features_ : the fitted feature map

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinPCA
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> T = KreinPCA(n_components=2, random_state=0).fit_transform(X)
    >>> T.shape
    (200, 2)
    """

    def __init__(
        self, features: Any = None, n_components: int | None = None, *, center: bool = True, random_state: Any = None
    ) -> None:
        self.features = features
        self.n_components = n_components
        self.center = center
        self.random_state = random_state

    @unchanged_on_error
    @quiet_blas()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit in one pass over blocks of rows.

        Parameters
        ----------
        X : array, memory map, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        check_features(self.features)
        if self.n_components is not None:
            positive_integer(self.n_components, "n_components")
        center = truth_value(self.center, "center")
        if is_dask(X):
            rows = DaskRows.of(X)
            check_rows(self, rows.head, first=True)
            seen = rows.first_look(looks.FEATURE_ROWS, summarize=wants_columns(self.features)).seen
        else:
            X = check_rows(self, X, first=True)
            X, seen, checked = look_for(self.features, X)
        self.features_ = fit_features(self.features, seen, self.random_state)
        features = training_features(self.features_, seen)
        if is_dask(X):
            # workers must subtract the same: the mean of some sampled rows, whose features are made here for it
            shift = features(seen.sample[:_SHIFT_ROWS]).mean(axis=0, dtype=np.float64)
            sums = rows.reduce(NormalSums(shift if center else np.zeros_like(shift)), partial(_add_block, features))
        else:
            sums = NormalSums(None if center else np.zeros(features.signature.shape[0]))
            for block in feature_blocks(features, X, checked=checked):
                sums.add(block.Z)
        scatter = sums.centered(intercept=center)
        found = principal_axes(scatter.gram, features.signature, self.n_components)
        if not found.values.size:
            raise ValueError(
                f"all rows have the same features (n_samples={sums.rows}), so there are no principal components; pass "
                "rows that differ"
            )
        self.eigenvalues_ = found.values
        self.signature_ = np.sign(found.values)
        self.mean_ = scatter.mean
        self.components_ = found.components
        self._n_features_out = found.values.size
        return self

    def transform(self, X: Any) -> Any:
        """Components of the rows of X.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_kept), float32 if X is float32, else float64; a lazy dask.array for a Dask
        collection
        """
        check_is_fitted(self, "components_")
        offset = -self.components_ @ self.mean_
        model = LinearModel(row_map(self.features_), self.components_, offset)
        return row_values(self, X, model, keep_single=True)

    def _check_loaded(self) -> None:
        if "components_" not in vars(self):
            return
        check_linear(self.features_, self.components_, np.zeros(self.components_.shape[0]), name="components_")
        if self.mean_.shape != self.components_.shape[1:]:
            raise ValueError(f"mean_ has shape {self.mean_.shape}, expected {self.components_.shape[1:]}")
        if not self.eigenvalues_.shape == self.signature_.shape == self.components_.shape[:1]:
            raise ValueError(
                f"eigenvalues_ and signature_ have shapes {self.eigenvalues_.shape} and {self.signature_.shape}, expected "
                f"{self.components_.shape[:1]}: one entry for each row of components_"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self.features)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _add_block(features: Features, sums: NormalSums, start: int, X: Any, y: Any, weight: np.ndarray | None) -> None:
    """Add a block of rows to the sums, where it is stored."""
    for block in feature_blocks(features, X, weight, start=start):
        sums.add(block.Z, weight=block.weight)
