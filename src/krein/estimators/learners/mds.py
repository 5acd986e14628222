"""Multidimensional scaling of distances that need not be Euclidean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_non_negative

from krein._core.checks import one_of, positive_integer
from krein._core.threads import quiet_blas
from krein.estimators.maps.base import as_generator
from krein.estimators.maps.objects import check_objects, object_tags
from krein.estimators.numbers import checked_rows
from krein.files.models import SavableMixin
from krein.learning.embedding import FittedEmbedding, fit_embedding
from krein.similarities import (
    DistanceKernel,
    Objects,
    Similarity,
    as_similarity,
    distance_of,
    is_called,
    is_precomputed,
)

__all__ = ["KreinMDS"]

_EVERYONE = 2000  # objects up to which "auto" takes all as landmarks
_LANDMARKS = 1000  # landmarks of "auto" beyond that


@final
class KreinMDS(SavableMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Classical scaling that keeps the sign of every axis: objects as points of a pseudo-Euclidean space.

    .. math:: -\tfrac12 H D^2 H = V \Theta V^\top, \qquad T = V |\Theta|^{1/2}, \qquad
              d^2(x, x') \approx \sum_j \mathrm{sign}(\theta_j)\,(t_j(x) - t_j(x'))^2

    Distances that are not Euclidean (dynamic time warping, edit distances, any that violate the triangle inequality) have
    negative :math:`\theta`. Scaling that drops these represents other distances, and their real square roots do not exist.

    Parameters
    ----------
    n_components : int, default=2
        Number of axes, those of largest :math:`|\theta|`. Columns beyond the rank are zero.
    metric : "precomputed", str, callable, Similarity or DistanceKernel, default="precomputed"
        ``"precomputed"``: `fit` takes the matrix of distances between training objects, and `transform` that of new objects
        (rows) to training objects (columns). For any sequence of objects: the name of a distance or a function as in
        `DistanceKernel`, alone or in a `Similarity`, which says how it is called, shared and kept; or a `DistanceKernel`, of
        which only the distance is used.
    n_landmarks : int or "auto", default="auto"
        Number of objects, drawn at random, that all objects are compared with. ``"auto"`` takes all of up to 2,000 objects,
        and 1,000 landmarks for more.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of landmarks.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training objects.
    signature_ : ndarray of shape (n_components,)
        ±1: the sign with which an axis enters squared distances.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\theta`, the largest absolute value first; 0 for columns of zeros.
    landmarks_ : array
        Landmark rows, or their indices for precomputed distances.
    map_ : FittedEmbedding
        The fitted embedding, as a function of objects.
    n_features_in_ : int

    See Also
    --------
    krein.KreinPCA : The same for a kernel.
    krein.diagnose : ``diagnose(D, distance=True)`` measures how far the distances are from Euclidean.

    References
    ----------
    .. [1] L. Goldfarb. "A unified approach to pattern recognition". Pattern Recognition, 1984.
    .. [2] E. Pękalska and R. P. W. Duin. *The Dissimilarity Representation for Pattern Recognition*. World Scientific, 2005.
    .. [3] V. de Silva and J. B. Tenenbaum. "Sparse multidimensional scaling using landmark points". Stanford, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinMDS
    >>> D = np.array([[0.0, 1.0, 1.0, 5.0], [1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0], [5.0, 1.0, 1.0, 0.0]])
    >>> model = KreinMDS().fit(D)    # 5 > 1 + 1: no points in any Euclidean space
    >>> model.signature_
    array([ 1., -1.])
    >>> bool(np.allclose(model.transform(D), model.embedding_))
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "precomputed",
        n_landmarks: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the axes.

        Parameters
        ----------
        X : array of shape (n_samples, n_samples) of distances, or any sequence of objects if ``metric`` is a function
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    @quiet_blas()
    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the axes and return the coordinates of the training objects.

        Parameters
        ----------
        X : array of shape (n_samples, n_samples) of distances, or any sequence of objects if ``metric`` is a function
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        width = positive_integer(self.n_components, "n_components")
        metric = as_similarity(_distance(self.metric))
        X = metric.place(self._checked(X, first=True))
        rng = as_generator(self.random_state)
        self.map_, self.embedding_ = fit_embedding(metric, X, width, self._landmark_count(X.shape[0]), rng)
        self._n_features_out = width
        return self.embedding_.astype(X.dtype)

    @quiet_blas()
    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of new objects on the axes of the training objects.

        Parameters
        ----------
        X : array of shape (n_new, n_samples) of distances to the training objects, or objects

        Returns
        -------
        ndarray of shape (n_new, n_components), float32 if X is float32, else float64
        """
        check_is_fitted(self, "map_")
        X = self.map_.metric.place(self._checked(X, first=False))
        return self.map_(X).astype(X.dtype, copy=False)

    def _checked(self, X: Any, *, first: bool) -> Any:
        metric = _distance(self.metric)
        if is_called(metric):
            return check_objects(self, X, metric, first=first)
        X = checked_rows(self, X, dtype=[np.float64, np.float32], reset=first)
        if not first or X.shape[0] == X.shape[1]:  # else these are rows, and the error says so
            check_non_negative(X, "KreinMDS, which takes distances")
        return X

    def _has_columns(self) -> bool:
        fitted = vars(self).get("map_")
        return not (isinstance(fitted, FittedEmbedding) and isinstance(fitted.landmarks, Objects))

    def _landmark_count(self, n: int) -> int:
        if isinstance(self.n_landmarks, str):
            one_of(self.n_landmarks, "n_landmarks", ("auto",), otherwise=" or an integer")
            return n if n <= _EVERYONE else _LANDMARKS
        return positive_integer(self.n_landmarks, "n_landmarks")

    @property
    def signature_(self) -> np.ndarray:
        """The sign with which each axis enters squared distances."""
        return self.map_.signature

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Eigenvalues of the axes."""
        return self.map_.eigenvalues

    @property
    def landmarks_(self) -> Any:
        """Landmark rows, or their indices for precomputed distances."""
        return self.map_.landmarks

    def _check_loaded(self) -> None:
        if "map_" not in vars(self):
            return
        width = self.map_.eigenvalues.size
        if self.embedding_.ndim != 2 or self.embedding_.shape[1] != width or self._n_features_out != width:
            raise ValueError(f"embedding_ has shape {self.embedding_.shape}, but there are {width} axes")
        landmarks = self.map_.landmarks
        matrix = isinstance(landmarks, np.ndarray) and landmarks.ndim == 1
        if matrix and (landmarks.min() < 0 or landmarks.max() >= self.n_features_in_):
            raise ValueError(f"the landmarks do not fit rows of {self.n_features_in_} columns")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        metric = _distance(self.metric)
        matrix = is_precomputed(metric)
        tags.input_tags.pairwise = matrix
        tags.input_tags.positive_only = matrix
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        object_tags(tags, metric)
        return tags


def _distance(metric: Any) -> Any:
    """The parameter as a kernel whose values are distances."""
    kernel = DistanceKernel(metric) if isinstance(metric, str) else distance_of(metric)
    if kernel is not None:
        distance = kernel.as_distance()
        return replace(metric, function=distance) if isinstance(metric, Similarity) else distance
    if not is_called(metric):
        raise ValueError(f"metric must be 'precomputed', a name, a DistanceKernel or a function, got {metric!r}")
    return metric
