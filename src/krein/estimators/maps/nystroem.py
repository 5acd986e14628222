"""Nyström approximation of similarities that need not be positive definite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from krein.estimators.maps.base import SignedFeatureMap, default_kernel
from krein.kernels import Kernel
from krein.similarities import FittedNystroem, as_similarity, fit_nystroem

__all__ = ["KreinNystroem"]


@final
class KreinNystroem(SignedFeatureMap):
    r"""Nyström features that keep the signs of the eigenvalues.

    .. math:: K(L, L) = V \Lambda V^T, \qquad \phi(x) = k(x, L)\,V |\Lambda|^{-1/2}, \qquad \sigma = \operatorname{sign} \Lambda

    so that :math:`\Phi\,\mathrm{diag}(\sigma)\,\Phi^T = K(X, L)\,K(L, L)^{+} K(L, X)`, also where k is not positive definite.
    This is the way in for any symmetric similarity: dynamic time warping, edit distances, alignment scores, quantum kernels.

    Parameters
    ----------
    kernel : Kernel, callable or "precomputed", default=None
        A kernel of :mod:`krein.kernels`; a function of two matrices of rows that returns the matrix of their similarities;
        or ``"precomputed"``: `fit` takes the square matrix of similarities between training objects, `transform` the
        rectangular one of new objects (rows) to training objects (columns). ``None`` is ``DeltaGaussian()``.
    n_components : int, default=512
        Number of output columns. Columns beyond the rank, as where there are fewer training rows, are zero (see ``rank_``).
    landmarks : {"auto", "leverage", "uniform", "kmeans"} or array, default="leverage"
        Rule by which landmarks are chosen among the training rows: by approximate Kreĭn ridge leverage scores [2]_, all
        rows alike, or centers of clusters. ``"auto"`` takes centers for a kernel of :mod:`krein.kernels` on dense rows and
        leverage otherwise. Or the landmarks themselves: rows, or indices if the kernel is precomputed.
    oversampling : int, default=1
        Take ``oversampling * n_components`` landmarks and keep the best ``n_components`` directions: nearly the error of
        the many landmarks with the few columns. The price per row is that of the many landmarks.
    eigenvalue_tol : float or "auto", default="auto"
        Eigenvalues of the landmark block smaller in size than ``eigenvalue_tol`` times the largest are dropped. Without it
        the approximation of an indefinite matrix may have any size at all [1]_. ``"auto"`` takes the value between 0.1 and
        1e-12 (1e-6 in float32) with the least error on a sample of training rows.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        Signs of the eigenvalues.
    landmarks_ : array of shape (n_landmarks, n_features), or (n_landmarks,) indices for a precomputed kernel
    eigenvalues_ : ndarray of shape (rank,)
        Eigenvalues of the landmark block that are kept, the largest in size first.
    eigenvalue_tol_ : float
        The relative truncation used.
    rank_ : int
        Number of columns that are not zero. It is less than ``n_components`` where there are fewer training rows or
        the landmark block has lower rank; the remaining columns are zero, so the width is as asked.
    kernel_ : Kernel, callable or "precomputed"
    map_ : FittedNystroem
        What `fit` found, as a function of rows.
    n_features_in_ : int

    Notes
    -----
    ``sklearn.kernel_approximation.Nystroem`` takes singular values instead of eigenvalues and loses the signs: on an
    indefinite kernel its features approximate :math:`|K|`, not K. On a positive definite kernel both agree. Cost:
    :math:`O(n S d + n S D)` for S landmarks, and :math:`O(S^3)` once. The result does not depend on the number of threads, nor
    the order of the columns on rounding: eigenvalues of one size are kept or dropped together, positive ones first.

    References
    ----------
    .. [1] Y. Nakatsukasa and T. Park. "Randomized low-rank approximation for symmetric indefinite matrices". SIAM J. Matrix
       Anal. Appl., 2023.
    .. [2] D. Oglic and T. Gärtner. "Scalable learning in reproducing kernel Kreĭn spaces". ICML, 2019.

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
    """

    map_: FittedNystroem

    def __init__(
        self,
        kernel: Kernel | Callable[[Any, Any], Any] | str | None = None,
        n_components: int = 512,
        *,
        landmarks: Any = "leverage",
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

    def _fit_map(self, X: Any, rng: np.random.Generator) -> FittedNystroem:
        fitted = fit_nystroem(
            as_similarity(self.kernel),
            X,
            self.n_components,
            rng,
            landmarks=self.landmarks,
            oversampling=self.oversampling,
            eigenvalue_tol=self.eigenvalue_tol,
        )
        self.kernel_ = default_kernel(self.kernel)
        return fitted

    @property
    def landmarks_(self) -> Any:
        """Landmark rows, or their indices for a precomputed similarity."""
        return self.map_.landmarks

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Eigenvalues of the landmarks' matrix that were kept, largest in size first."""
        return self.map_.eigenvalues

    @property
    def eigenvalue_tol_(self) -> float:
        """The truncation that was taken."""
        return self.map_.eigenvalue_tol

    @property
    def rank_(self) -> int:
        """Number of columns that are not zero for all rows."""
        return self.map_.rank

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "map_" not in vars(self):  # saved before it was fitted
            return
        columns = self.n_features_in_
        if self.map_.similarity != as_similarity(self.kernel_):
            raise ValueError("the fitted map is of another kernel than kernel_")
        landmarks = self.map_.landmarks
        if (landmarks.shape[1] != columns) if landmarks.ndim == 2 else (landmarks.max() >= columns):
            raise ValueError(f"the landmarks do not fit rows of {columns} columns")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags
