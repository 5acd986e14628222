"""Nyström approximation of similarities that need not be positive definite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, final

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length

from krein._core.threads import quiet_blas
from krein.estimators.maps.base import SignedFeatureMap, as_generator
from krein.estimators.maps.objects import ObjectMap, check_objects, object_tags
from krein.kernels import Kernel
from krein.learning.distance_choice import chosen_kernel
from krein.nystroem import FittedNystroem, NystroemFit, NystroemRecipe, fit_nystroem
from krein.nystroem.candidate_columns import KernelChoice
from krein.rows.targets import target_columns
from krein.similarities import (
    BlockSource,
    Objects,
    PrecomputedSimilarity,
    Similarity,
    as_similarity,
    distance_of,
    is_called,
    is_precomputed,
    kernel_of,
)

__all__ = ["KreinNystroem"]


@final
class KreinNystroem(ObjectMap, SignedFeatureMap):
    r"""Nyström features that keep the signs of the eigenvalues.

    .. math:: K(L, L) = V \Lambda V^T, \qquad \phi(x) = k(x, L)\,V |\Lambda|^{-1/2}, \qquad \sigma = \operatorname{sign} \Lambda

    up to a rotation of the columns of one sign, so that
    :math:`\Phi\,\mathrm{diag}(\sigma)\,\Phi^T = K(X, L)\,K(L, L)^{+} K(L, X)`, also where k is not positive definite.
    It takes any symmetric similarity of any objects: dynamic time warping, edit distances, alignment scores, graph and quantum
    kernels.

    Parameters
    ----------
    kernel : Kernel, callable, Similarity, DistanceKernel, str or None, default=None
        A kernel of :mod:`krein.kernels`; a function of two objects that returns their similarity, or of two sequences of
        objects that returns the matrix of similarities, alone or in a `Similarity`, which says how it is called, shared and
        kept; a `DistanceKernel`, or the name of a distance for one; or ``"precomputed"``: `fit` takes the square matrix of
        similarities between training objects, `transform` the rectangular one of new objects (rows) to training objects
        (columns). ``None`` is ``DeltaGaussian()``. With a function or a distance X may be any sequence: a list of strings, arrays
        of different lengths or graphs, an array of any dimension, a DataFrame.
    n_components : int, default=512
        Number of output columns. Columns beyond the rank are zero, for example if there are fewer training rows (see ``rank_``).
    landmarks : {"auto", "pivoted", "kmeans", "uniform"} or landmarks, default="auto"
        The rule by which landmarks are chosen. ``"pivoted"``: one after the other, where those before explain least [2]_ [3]_,
        among a sample of all rows or objects if there are more than 2,000.
        ``"kmeans"``: centers of clusters of rows. ``"uniform"``: at random, with equal probabilities. ``"auto"``: ``"kmeans"``
        for a kernel of :mod:`krein.kernels` on dense rows, else ``"pivoted"``. Or the landmarks themselves: rows or objects, or
        their indices among the training objects if the kernel is a callable or precomputed. If landmarks are given, a precomputed
        X may consist of their columns only; ``landmarks`` then holds their indices among the rows or, for cross-validation, where
        the rows change, the matrix of their similarities to each other.
    oversampling : int, default=1
        Take ``oversampling * n_components`` landmarks and keep the best ``n_components`` directions: nearly the error of
        the many landmarks with the few columns. The cost per row is that of the many landmarks.
    eigenvalue_tol : float or "auto", default="auto"
        Eigenvalues of the landmark block below ``eigenvalue_tol`` times the largest, in absolute value, are dropped. Without
        this the approximation of an indefinite matrix may be arbitrarily large [1]_. ``"auto"`` keeps all eigenvalues of a
        kernel of :mod:`krein.kernels` if they are positive and far above rounding; otherwise it takes the value between 0.1 and
        1e-12 (1e-6 in float32) with the least error on a sample of training rows.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        Signs of the eigenvalues, the more frequent one first. The columns of one sign are rotated among themselves so that
        ``map_.root`` has zeros above a diagonal, which `transform` skips.
    landmarks_ : array of shape (n_landmarks, n_features), or objects, or (n_landmarks,) indices for a precomputed kernel
    n_evaluations_ : int
        Number of similarities that `fit` or `fit_transform` computed: for a callable and m landmarks among n objects at most
        ``(m + 1) * n``, or twice as many if both orders are averaged; `fit_transform` needs no further evaluations for the
        features of the training objects.
    eigenvalues_ : ndarray of shape (rank,)
        Eigenvalues of the landmark block that are kept, the largest absolute value first.
    eigenvalue_tol_ : float
        The relative truncation used.
    rank_ : int
        Number of columns that are not zero. It is less than ``n_components`` if there are fewer training rows or the landmark
        block has lower rank; the remaining columns are zero, so that the width is ``n_components``.
    kernel_ : Kernel, callable or "precomputed"
    map_ : FittedNystroem
        The fitted map, as a function of rows.
    n_features_in_ : int
        Only for rows of numbers and tables.

    Notes
    -----
    ``sklearn.kernel_approximation.Nystroem`` takes singular values instead of eigenvalues and loses the signs: on an
    indefinite kernel its features approximate :math:`|K|`, not K. On a positive definite kernel both agree. Cost:
    :math:`O(n S d + n S D)` for S landmarks, with half of the product if S = D, and :math:`O(S^3)` once. The result does not
    depend on the number of threads, nor the truncation on rounding: eigenvalues of equal size are kept or dropped together.

    References
    ----------
    .. [1] Y. Nakatsukasa and T. Park. "Randomized low-rank approximation for symmetric indefinite matrices". SIAM J. Matrix
       Anal. Appl., 2023.
    .. [2] Y. Chen, E. Epperly, J. Tropp and R. Webber. "Randomly pivoted Cholesky". Comm. Pure Appl. Math., 2025.
    .. [3] E. Epperly, J. Tropp and R. Webber. "Embrace rejection: kernel matrix approximation by accelerated randomly pivoted
       Cholesky". arXiv:2410.03969, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinNystroem
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> k = DeltaGaussian(1.0, 10.0)
    >>> f = KreinNystroem(kernel=k, n_components=150, random_state=0).fit(X)
    >>> bool(np.linalg.norm(f.approximate(X) - k(X)) < 0.02 * np.linalg.norm(k(X)))
    True

    The same with the matrix of similarities alone:

    >>> g = KreinNystroem(kernel="precomputed", n_components=150, random_state=0).fit(k(X))
    >>> g.transform(k(X[:7], X)).shape
    (7, 150)

    Any objects, with a function of two of them:

    >>> def common(a, b):
    ...     return len(set(a) & set(b)) / 3.0
    >>> words = ["ant", "bee", "cat", "dog", "eel", "fly", "gnu", "hen"]
    >>> h = KreinNystroem(common, n_components=3, random_state=0)
    >>> h.fit_transform(words).shape, h.n_evaluations_ <= 4 * 8
    ((8, 3), True)
    """

    map_: FittedNystroem

    def __init__(
        self,
        kernel: Kernel | Similarity | Callable[[Any, Any], Any] | str | None = None,
        n_components: int = 512,
        *,
        landmarks: Any = "auto",
        oversampling: int = 1,
        eigenvalue_tol: str | float = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.landmarks = landmarks
        self.oversampling = oversampling
        self.eigenvalue_tol = eigenvalue_tol
        self.random_state = random_state

    @quiet_blas()
    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Choose landmarks and return the features of X; a callable is evaluated no more often than by `fit` alone.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or any sequence of objects, as in `fit`
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            For a `DistanceKernel` whose power or scale is ``"auto"``; otherwise ignored.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components), float32 if X is float32, else float64
        """
        X = self._checked(X, first=True)
        found = self._fit(X, y, as_generator(self.random_state))
        self.map_, self.signature_ = found.map, found.map.signature
        self._n_features_out = int(self.signature_.shape[0])
        return found.features(X)

    def _fit_map(self, X: Any, y: Any, rng: np.random.Generator) -> FittedNystroem:
        return self._fit(X, y, rng).map

    def _fit(self, X: Any, y: Any, rng: np.random.Generator) -> NystroemFit:
        recipe = NystroemRecipe(self.n_components, self.landmarks, self.oversampling, self.eigenvalue_tol)
        similarity, choose = as_similarity(self.kernel), None
        if self._needs_targets and y is not None:
            similarity, choose = self._choice(similarity, X, y)
        found = fit_nystroem(similarity, X, recipe, rng, choose)
        self.kernel_ = kernel_of(found.map.similarity)
        self.n_evaluations_ = found.n_evaluations
        return found

    def _choice(self, similarity: BlockSource, X: Any, y: Any) -> tuple[BlockSource, KernelChoice | None]:
        """The similarity to begin with, and what chooses the one to end with; chosen already where X holds the distances."""
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        check_consistent_length(X, y)
        targets = target_columns(y)
        if isinstance(similarity, Similarity) and similarity.distance is not None:
            kernel = similarity.distance
            return replace(similarity, function=kernel.before_choice()), partial(chosen_kernel, kernel, targets)
        assert isinstance(similarity, PrecomputedSimilarity)
        assert similarity.kernel is not None
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"power and scale 'auto' need the distances between all training objects, got shape {X.shape}; set numbers"
            )
        rows = np.arange(X.shape[0])
        return replace(similarity, kernel=chosen_kernel(similarity.kernel, targets, X, X, rows)), None

    @property
    def _needs_targets(self) -> bool:
        kernel = distance_of(self.kernel)
        return kernel is not None and kernel.needs_targets

    def _checked(self, X: Any, *, first: bool) -> Any:
        return (
            check_objects(self, X, self.kernel, first=first)
            if self._takes_objects
            else super()._checked(X, first=first)
        )

    @property
    def _takes_objects(self) -> bool:
        return is_called(self.kernel)

    @property
    def landmarks_(self) -> Any:
        """Landmark rows or objects, or their indices for a precomputed similarity."""
        landmarks = self.map_.landmarks
        return landmarks.data if isinstance(landmarks, Objects) else landmarks

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Eigenvalues of the landmark block that are kept, the largest absolute value first."""
        return self.map_.eigenvalues

    @property
    def eigenvalue_tol_(self) -> float:
        """The relative truncation used."""
        return self.map_.eigenvalue_tol

    @property
    def rank_(self) -> int:
        """Number of columns that are not zero for all rows."""
        return self.map_.rank

    def _has_columns(self) -> bool:
        fitted = vars(self).get("map_")
        return not (isinstance(fitted, FittedNystroem) and isinstance(fitted.landmarks, Objects))

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "map_" not in vars(self):  # saved before it was fitted
            return
        if self.kernel_ != kernel_of(self.map_.similarity):
            raise ValueError("the fitted map has another kernel than kernel_")
        landmarks, columns = self.map_.landmarks, vars(self).get("n_features_in_")
        if isinstance(landmarks, Objects) or columns is None:
            return
        if (landmarks.shape[1] != columns) if landmarks.ndim == 2 else (landmarks.max() >= columns):
            raise ValueError(f"the landmarks do not fit rows of {columns} columns")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # a block of similarities to landmarks has rows like any others: folds take rows, and leave its columns
        square = not isinstance(self.landmarks, np.ndarray) or self.landmarks.ndim != 2
        tags.input_tags.pairwise = is_precomputed(self.kernel) and square
        object_tags(tags, self.kernel)
        return tags
