"""Nyström approximation of similarities that need not be positive definite."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, final

import numpy as np
from scipy import linalg

from krein._core.checks import positive_integer
from krein._core.rows import row_blocks
from krein._core.threads import n_threads, share
from krein.estimators.maps.base import SignedFeatureMap, check_n_components
from krein.kernels import DeltaGaussian, Kernel
from krein.similarities.landmarks import select_landmarks
from krein.similarities.similarity import KernelSimilarity, Similarity, as_similarity

__all__ = ["KreinNystroem", "compress_features", "signed_root", "sorted_eigh"]

_COARSE_CUTS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
_FINE_CUTS = (1e-8, 1e-10, 1e-12)  # below the rounding of similarities in float32
_HELD_OUT = 256
_COMPRESSION_ROWS = 4  # per landmark
_PAIRS = 2**18  # similarities per block, 2 MiB of them


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
    n_components : int, default=100
        Number of output columns.
    landmarks : {"leverage", "uniform", "kmeans"} or array, default="leverage"
        Rule by which landmarks are chosen among the training rows: by approximate Kreĭn ridge leverage scores [2]_, all
        rows alike, or centres of clusters. Or the landmarks themselves: rows, or indices if the kernel is precomputed.
    oversampling : int, default=1
        Take ``oversampling * n_components`` landmarks and keep the best ``n_components`` directions: nearly the error of
        the many landmarks with the few columns. The price per row is that of the many landmarks.
    tol : float or "auto", default="auto"
        Eigenvalues of the landmark block smaller in size than ``tol`` times the largest are dropped. Without it the
        approximation of an indefinite matrix may have any size at all [1]_. ``"auto"`` takes the value between 0.1 and
        1e-12 (1e-6 in float32) with the least error on a sample of training rows.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        Signs of the eigenvalues.
    landmarks_ : array of shape (n_landmarks, n_features), or (n_landmarks,) indices for a precomputed kernel
    eigenvalues_ : ndarray of shape (rank,)
        Eigenvalues of the landmark block that are kept, the largest in size first.
    tol_ : float
        The relative truncation used.
    rank_ : int
        Number of columns that are not zero. It is less than ``n_components`` where there are fewer training rows or
        the landmark block has lower rank; the remaining columns are zero, so the width is as asked.
    kernel_ : Kernel, callable or "precomputed"
    n_features_in_ : int

    Notes
    -----
    ``sklearn.kernel_approximation.Nystroem`` takes singular values instead of eigenvalues and loses the signs: on an
    indefinite kernel its features approximate :math:`|K|`, not K. On a positive definite kernel both agree. Cost:
    :math:`O(n S d + n S D)` for S landmarks, and :math:`O(S^3)` once.

    References
    ----------
    .. [1] Y. Nakatsukasa and T. Park. "Randomized low-rank approximation for symmetric indefinite matrices". SIAM J. Matrix
       Anal. Appl., 2023.
    .. [2] D. Oglic and T. Gärtner. "Scalable learning in reproducing kernel Kreĭn spaces". ICML, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.estimators.maps.nystroem import KreinNystroem
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

    def __init__(
        self,
        *,
        kernel: Kernel | Callable[[Any, Any], Any] | str | None = None,
        n_components: int = 100,
        landmarks: Any = "leverage",
        oversampling: int = 1,
        tol: str | float = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel  # type: ignore[assignment]
        self.n_components = n_components
        self.landmarks = landmarks
        self.oversampling = oversampling
        self.tol = tol
        self.random_state = random_state

    def default_kernel(self) -> Kernel:
        return DeltaGaussian()

    def _resolve_kernel(self) -> Kernel:
        kernel = self.default_kernel() if self.kernel is None else self.kernel
        self._similarity = as_similarity(kernel)
        return kernel

    def _place(self, X: Any) -> Any:
        return self._similarity.place(X)

    def _fit(self, X: Any, kernel: Kernel, rng: np.random.Generator) -> None:
        width = check_n_components(self.n_components)
        factor = positive_integer(self.oversampling, "oversampling")
        cuts = _check_tol(self.tol, X.dtype)
        similarity = self._similarity
        similarity.check_training(X)
        if width > X.shape[0] and isinstance(self.landmarks, str):
            warnings.warn(
                f"n_components={width} is more than the {X.shape[0]} training rows; the last columns will be zero",
                UserWarning,
                stacklevel=3,
            )
        landmark_rng, sample_rng = rng.spawn(2)
        landmarks = select_landmarks(similarity, X, factor * width, self.landmarks, landmark_rng)
        spectrum = sorted_eigh(similarity.square(landmarks, _rows_of(similarity, X, landmarks)))
        sample = _sample(X, _HELD_OUT, sample_rng)
        self.tol_ = cuts[0] if len(cuts) == 1 else _best_cut(similarity, X, sample, landmarks, spectrum, cuts)
        root, signature, values = signed_root(*spectrum, self.tol_)
        if values.size > width:
            rows = _sample(X, _COMPRESSION_ROWS * root.shape[0], sample_rng)
            features = _blocks(similarity, X[rows], landmarks, root)
            turn, signature = compress_features(features, signature, width)
            root = root @ turn
        self.eigenvalues_ = values[:width]
        self.landmarks_ = landmarks
        self.rank_ = root.shape[1]
        self._root = np.zeros((root.shape[0], width), dtype=X.dtype)
        self._root[:, : self.rank_] = root
        self.signature_ = np.ones(width)
        self.signature_[: self.rank_] = signature

    def _check_loaded(self) -> None:
        self._similarity = as_similarity(self.kernel_)

    def _map(self, X: Any) -> np.ndarray:
        return _blocks(self._similarity, X, self.landmarks_, self._root)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def sorted_eigh(square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and eigenvectors of a symmetric matrix, the largest in size first."""
    values, vectors = linalg.eigh(square)
    order = np.argsort(-np.abs(values), kind="stable")
    return values[order], vectors[:, order]


def signed_root(values: np.ndarray, vectors: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""The map :math:`V|\Lambda|^{-1/2}` of a symmetric matrix, its signs and eigenvalues.

    Parameters
    ----------
    values, vectors : ndarray
        As `sorted_eigh` gives them.
    tol : float
        Keep the eigenvalues larger in size than this fraction of the largest.

    Returns
    -------
    root : ndarray of shape (n_landmarks, rank)
    signature, eigenvalues : ndarray of shape (rank,)

    Examples
    --------
    >>> import numpy as np
    >>> root, signature, values = signed_root(*sorted_eigh(np.array([[0.0, 2.0], [2.0, 0.0]])), 1e-8)
    >>> sorted(values.round(12).tolist())
    [-2.0, 2.0]
    """
    rank = _rank(values, tol)
    kept = values[:rank]
    return vectors[:, :rank] / np.sqrt(np.abs(kept)), np.where(kept < 0, -1.0, 1.0), kept


def _rank(values: np.ndarray, tol: float) -> int:
    return int(np.count_nonzero(np.abs(values) > tol * np.abs(values).max(initial=0.0)))


def compress_features(features: np.ndarray, signature: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    r"""The combinations of signed features that best approximate their own kernel on a sample, in fewer columns.

    With :math:`\Phi = QR` the kernel is :math:`Q\,(R J R^T)\,Q^T`; its eigenvectors of largest absolute eigenvalue are the best
    approximation of that rank.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
    signature : ndarray of shape (n_features,)
    width : int

    Returns
    -------
    turn : ndarray of shape (n_features, rank)
        New features are ``features @ turn``.
    signature : ndarray of shape (rank,)
    """
    _, sizes, rows = linalg.svd(features, full_matrices=False)
    kept = sizes > 1e-7 * sizes.max(initial=0.0)
    sizes, rows = sizes[kept], rows[kept]
    scaled = sizes[:, None] * rows
    values, vectors = linalg.eigh((scaled * signature) @ scaled.T)
    order = np.argsort(-np.abs(values), kind="stable")[:width]
    turn = (rows.T / sizes) @ (vectors[:, order] * np.sqrt(np.abs(values[order])))
    return turn, np.where(values[order] < 0, -1.0, 1.0)


def _blocks(similarity: Similarity, X: Any, landmarks: Any, root: np.ndarray) -> np.ndarray:
    """``k(X, landmarks) @ root``, block by block, in the type of X; products are taken in the type of ``root``."""
    out = np.empty((X.shape[0], root.shape[1]), dtype=X.dtype)

    def fill(rows: slice) -> None:
        block = np.asarray(similarity.block(X[rows], landmarks), dtype=root.dtype)
        np.matmul(block, root, out=out[rows], casting="same_kind")

    # A kernel of ours is evaluated by several threads, each of which multiplies its block while that is in its cache; a
    # function of the user's may not bear it, and gets blocks large enough for BLAS to have threads of its own.
    ours = isinstance(similarity, KernelSimilarity)
    pairs = _PAIRS if ours else 8 * _PAIRS
    share(fill, row_blocks(X.shape[0], max(64, pairs // root.shape[0])), threads=n_threads() if ours else 1)
    return out


def _rows_of(similarity: Similarity, X: Any, landmarks: Any) -> Any:
    """Landmarks as placed rows, so that their block with each other can be taken."""
    return landmarks if similarity.has_vectors else X[landmarks]


def _sample(X: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    return np.sort(rng.choice(X.shape[0], size=min(count, X.shape[0]), replace=False))


def _best_cut(
    similarity: Similarity,
    X: Any,
    sample: np.ndarray,
    landmarks: Any,
    spectrum: tuple[np.ndarray, np.ndarray],
    cuts: tuple[float, ...],
) -> float:
    """The truncation with the least error on some training rows."""
    exact = similarity.square(similarity.landmarks(X, sample), X[sample])
    root, signature, values = signed_root(*spectrum, 0.0)
    features = np.asarray(similarity.block(X[sample], landmarks), dtype=np.float64) @ root
    errors = []
    for cut in cuts:
        kept = features[:, : _rank(values, cut)]
        errors.append(float(np.linalg.norm((kept * signature[: kept.shape[1]]) @ kept.T - exact)))
    # The coarsest cut that is nearly as good as the best: smaller features, more stable in rounding.
    good = np.flatnonzero(np.array(errors) <= 1.02 * min(errors) + 1e-12 * np.linalg.norm(exact))
    return cuts[int(good[0])]


def _check_tol(tol: Any, dtype: Any) -> tuple[float, ...]:
    if isinstance(tol, str):
        if tol != "auto":
            raise ValueError(f"tol must be 'auto' or a number between 0 and 1, got {tol!r}")
        return _COARSE_CUTS if dtype == np.float32 else _COARSE_CUTS + _FINE_CUTS
    if not isinstance(tol, Real) or isinstance(tol, bool) or not 0.0 <= float(tol) < 1.0:
        raise ValueError(f"tol must be 'auto' or a number from 0 to below 1, got {tol!r}")
    return (float(tol),)
