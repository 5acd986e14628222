"""Principal components of an indefinite kernel, through features with a signature."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, check_scalar, validate_data

from krein._core.threads import quiet_blas
from krein.distributed.dask_rows import DaskRows, head_row, is_dask, map_rows
from krein.estimators.learners.streaming import (
    FEATURE_ROWS,
    LinearMap,
    distinct_rows,
    enter_rows,
    feature_sample,
    fit_features,
    float_block,
    transform_block,
)
from krein.estimators.learners.targets import Numbers
from krein.files.models import SavableMixin
from krein.learning import signed_components
from krein.learning.ledger import RidgeLedger

__all__ = ["KreinPCA"]


@final
class KreinPCA(SavableMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Principal components in a Kreĭn space: eigenpairs of the centred indefinite kernel matrix, signs kept.

    .. math:: H Z J Z^\top H = V \Theta V^\top, \qquad t(x)_j = \mathrm{sign}(\theta_j)\,|\theta_j|^{-1/2}\, v_j^\top k_c(x)

    so that on the training rows :math:`T = V |\Theta|^{1/2}` and :math:`T\,\mathrm{sign}(\Theta)\,T^\top` is the best
    approximation of the centred kernel matrix with so many columns. From the :math:`D \times D` problem alone; rows are
    streamed.

    Parameters
    ----------
    n_components : int or None, default=None
        Components of largest :math:`|\theta|` to keep. None keeps all with :math:`|\theta|` above rounding.
    features : transformer with a ``signature_``, default=None
        As in `KreinRidge`.
    center : bool, default=True
        Whether features are centred, as in kernel principal component analysis.
    random_state : int, RandomState or None, default=None
        For the default feature map.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_kept,)
        :math:`\theta`, sorted by absolute value, largest first; negative ones belong to the negative part of the space.
    signature_ : ndarray of shape (n_kept,)
        Their signs, so that the result is itself a map with a signature.
    components_ : ndarray of shape (n_kept, width of the feature map)
    mean_ : ndarray of shape (width of the feature map,)
    features_ : the fitted feature map

    Examples
    --------
    >>> import numpy as np
    >>> from krein.estimators.learners.pca import KreinPCA
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> T = KreinPCA(2, random_state=0).fit_transform(X)
    >>> T.shape
    (200, 2)
    """

    def __init__(
        self, n_components: int | None = None, *, features: Any = None, center: bool = True, random_state: Any = None
    ) -> None:
        self.n_components = n_components
        self.features = features
        self.center = center
        self.random_state = random_state

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
            check_scalar(self.n_components, "n_components", Integral, min_val=1)
        if is_dask(X):
            rows = DaskRows.of(X)
            self._check(rows.head, first=True)
            sample = distinct_rows(float_block(rows.sample(FEATURE_ROWS), 0))
            ledger = rows.reduce(self._begin(sample), Numbers(), self.features_, enter_rows)
        else:
            X = self._check(X, first=True)
            ledger = self._begin(feature_sample(X, None, self.features))
            enter_rows(ledger, Numbers(), self.features_, 0, X, np.zeros((X.shape[0], 0)), None)
        sums = ledger.train.centred(intercept=self.center)
        signature = self.features_.signature_
        found = signed_components(sums.gram, signature)
        # beyond rounding: what is left of a direction the rows do not span is noise divided by noise
        size = np.abs(found.values)
        kept = size > size.max(initial=0.0) * np.finfo(np.float64).eps * signature.shape[0]
        rank = int(np.count_nonzero(kept))
        if not rank:
            raise ValueError(
                f"all rows have the same features (n_samples={ledger.rows}), so there are no principal components; pass "
                "rows that differ"
            )
        n_kept = rank if self.n_components is None else min(rank, int(self.n_components))
        values = found.values[:n_kept]
        self.eigenvalues_ = values
        self.signature_ = np.sign(values)
        self.mean_ = sums.mean
        self.components_ = np.ascontiguousarray(_fixed_signs(found.lift[:, :n_kept] * np.abs(values) ** -0.5).T)
        self.components_ *= self.signature_[:, None]
        self._n_features_out = n_kept
        return self

    def transform(self, X: Any) -> Any:
        """Components of the rows of X; a lazy dask.array if X is a Dask collection.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_kept), float32 if X is float32, else float64
        """
        check_is_fitted(self, "components_")
        model = LinearMap(self.features_, self.components_, -self.components_ @ self.mean_)
        if is_dask(X):
            self._check(head_row(X), first=False)
            return map_rows(model, X, width=self.components_.shape[0])
        X = self._check(X, first=False)
        return model(X).astype(X.dtype if X.dtype == np.float32 else np.float64, copy=False)

    def _begin(self, sample: Any) -> RidgeLedger:
        self.features_ = fit_features(self.features, sample, self.random_state)
        shift = np.zeros(self.features_.signature_.shape[0])
        if self.center:
            shift = transform_block(self.features_, sample[:1024]).mean(axis=0, dtype=np.float64)
        return RidgeLedger(shift, np.zeros(0))

    def _check(self, X: Any, *, first: bool) -> Any:
        return validate_data(self, X, accept_sparse="csr", reset=first, ensure_all_finite=False, dtype="numeric")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = None if self.features is None else get_tags(self.features).input_tags
        tags.input_tags.sparse = True if inner is None else inner.sparse
        tags.input_tags.pairwise = False if inner is None else inner.pairwise
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _fixed_signs(columns: np.ndarray) -> np.ndarray:
    """Each column with its largest entry positive: an eigenvector has no sign of its own, and results should."""
    largest = np.abs(columns).argmax(axis=0)
    signs = np.sign(columns[largest, np.arange(columns.shape[1])])
    return columns * np.where(signs == 0.0, 1.0, signs)
