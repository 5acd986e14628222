"""Principal components of an indefinite kernel, through features with a signature."""

from __future__ import annotations

from functools import partial
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from krein._core.checks import positive_integer, truth_value
from krein._core.threads import quiet_blas
from krein.estimators.learners.careful import tells_stages, unchanged_on_error
from krein.estimators.learners.row_learner import row_values, rows_of, takes_columns
from krein.estimators.maps.base import row_map
from krein.estimators.maps.fitting import copy_input_tags, count_rows, given_map
from krein.features import RowMap
from krein.files.models import SavableMixin
from krein.learning.components import principal_axes
from krein.learning.model import LinearModel
from krein.learning.sums import NormalSums
from krein.rows.blocks import feature_blocks

__all__ = ["KreinPCA"]

_ROUNDED = 32.0  # units in the last place


@final
class KreinPCA(SavableMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Principal components in a Kreĭn space: eigenpairs of the centered indefinite kernel matrix, signs kept.

    .. math:: H Z J Z^\top H = V \Theta V^\top, \qquad t(x)_j = \mathrm{sign}(\theta_j)\,|\theta_j|^{-1/2}\, v_j^\top k_c(x)

    so that on the training rows :math:`T = V |\Theta|^{1/2}` and :math:`T\,\mathrm{sign}(\Theta)\,T^\top` is the best
    approximation of the centered kernel matrix with that many columns. Only a :math:`D \times D` eigenproblem is solved; rows
    are read in blocks.

    Parameters
    ----------
    kernel : Kernel, str, callable, Similarity, DistanceKernel, feature map or None, default=None
        As in `KreinRidge`. None means ``DeltaGaussian`` at the median distance of standardized rows.
    n_components : int or None, default=None
        Number of components to keep, those of largest :math:`|\theta|`. None keeps all with :math:`|\theta|` above rounding.
    features : transformer with a ``signature_``, default=None
        In place of `kernel`.
    center : bool, default=True
        Whether features are centered, as in kernel principal component analysis.
    random_state : int, RandomState or None, default=None
        For the default feature map.
    verbose : bool, default=False
        Whether a fit shows how far it is: bars on a terminal and in a notebook, lines elsewhere.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_kept,)
        :math:`\theta`, sorted by absolute value, largest first; negative ones belong to the negative part of the space.
    signature_ : ndarray of shape (n_kept,)
        Signs of the eigenvalues, so that the result is itself a map with a signature.
    components_ : ndarray of shape (n_kept, width of the feature map)
    mean_ : ndarray of shape (width of the feature map,)
    features_ : RowMap
        The fitted feature map as a function of rows.

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
        self,
        kernel: Any = None,
        n_components: int | None = None,
        *,
        features: Any = None,
        center: bool = True,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.features = features
        self.center = center
        self.random_state = random_state
        self.verbose = verbose

    @unchanged_on_error
    @tells_stages
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
        if self.n_components is not None:
            positive_integer(self.n_components, "n_components")
        center = truth_value(self.center, "center")
        given = given_map(self.kernel, self.features, self.random_state, count_rows(X))
        rows, source = rows_of(self, given, None, X)
        look = rows.look(summarize=source.tuning is not None)
        features = source.fit(look, None, None)
        empty = NormalSums(None if center else np.zeros(features.signature.shape[0]))
        sums = rows.reduce(empty, partial(_add_block, features))
        scatter = sums.centered(intercept=center)
        found = principal_axes(scatter.gram, features.signature, self.n_components)
        # of rows that are all the same, what is left beside the mean is the rounding of their features
        rounding = _ROUNDED * float(np.finfo(np.float32 if look.X.dtype == np.float32 else np.float64).eps)
        spread = float(np.trace(scatter.gram)) / scatter.weight
        if not found.values.size or spread <= rounding**2 * float(scatter.mean @ scatter.mean):
            raise ValueError(
                f"all rows have the same features (n_samples={sums.rows}), so there are no principal components; pass "
                "rows that differ"
            )
        self.features_: RowMap = source.known or features
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
        given = given_map(self.kernel, self.features, self.random_state)
        return row_values(self, X, given, self._model(), keep_single=True)

    def _model(self) -> LinearModel:
        return LinearModel(self.features_, self.components_, -self.components_ @ self.mean_)

    def _has_columns(self) -> bool:
        return takes_columns(vars(self).get("features_"))

    def _check_loaded(self) -> None:
        if "components_" not in vars(self):
            return
        self.features_ = row_map(self.features_)  # files of 0.1 and 0.2 hold an estimator
        width = self.features_.signature.shape[0]
        if self.components_.ndim != 2 or self.components_.shape[1] != width:
            raise ValueError(f"components_ has shape {self.components_.shape}, but the map has {width} columns")
        if self.mean_.shape != self.components_.shape[1:]:
            raise ValueError(f"mean_ has shape {self.mean_.shape}, expected {self.components_.shape[1:]}")
        if not self.eigenvalues_.shape == self.signature_.shape == self.components_.shape[:1]:
            raise ValueError(
                f"eigenvalues_ and signature_ have shapes {self.eigenvalues_.shape} and {self.signature_.shape}, expected "
                f"{self.components_.shape[:1]}: one entry for each row of components_"
            )
        self._model().check(vars(self).get("n_features_in_"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _add_block(features: RowMap, sums: NormalSums, start: int, X: Any, y: Any, weight: np.ndarray | None) -> None:
    for block in feature_blocks(features, X, weight=weight, start=start):
        sums.add(block.Z, weight=block.weight)
