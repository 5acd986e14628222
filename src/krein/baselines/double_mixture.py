"""Two infinite Gaussian mixtures over frequencies, one for each sign of an indefinite kernel."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy import linalg

from krein._core.checks import check_shape, positive_integer
from krein._core.rows import check_magnitude, dense_block
from krein.baselines.base import BaselineMap
from krein.baselines.fourier import FourierColumns
from krein.baselines.frequency_mixture import fit_frequency_mixture
from krein.kernels import DeltaGaussian, Kernel

__all__ = ["DoubleGaussianMixture", "split_by_eigenvalues"]

_ROUNDING = 1e-6  # of the trace norm: a part that is smaller is what the eigenvalues of a definite matrix leave


@final
class DoubleGaussianMixture(BaselineMap):
    r"""Random Fourier features from two Gaussian mixtures over frequencies (DIGMM).

    .. math:: K(S, S) = K_+ - K_-, \qquad K_\pm \approx m_\pm \sum_c \pi^\pm_c E_{\omega \sim N(\mu^\pm_c, \Sigma^\pm_c)}
              \cos(\omega \cdot (x - y))

    Parameters
    ----------
    kernel : Kernel, default=None
        Any kernel. ``None`` is ``DeltaGaussian()``.
    n_components : int, default=512
        Number of output columns.
    n_subset : int, default=300
        Number of training rows S whose kernel matrix is split; all of them if there are fewer.
    n_mixture : int, default=10
        Truncation of the Dirichlet process: the largest number of Gaussians for each sign.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        +1 for features of the positive, −1 for those of the negative part.
    positive_, negative_ : FrequencyMixture or None
        Mass, weights, means and variances of the two mixtures; None for a part that is (nearly) zero.
    kernel_ : Kernel
    n_features_in_ : int

    Notes
    -----
    Biased: the mixtures fit a matrix on a subset, whose two parts are not functions of x − y in general. Details that [1]_
    leaves open are chosen as follows. (1) The parts of the matrix are those of its eigenvalues of either sign. (2) Frequencies
    are unobserved, so each part is first expressed by candidates (64 isotropic Gaussian clouds and 384 single frequencies, of
    log-uniform scales) with non-negative least squares on pairs of the subset; (3) the variational Dirichlet process mixture
    (:class:`sklearn.mixture.BayesianGaussianMixture`, diagonal covariances) is fitted to 2048 frequencies drawn by these
    weights; (4) its mass :math:`m_\pm` is then refitted by least squares to the same pairs. (5) Columns are divided between
    the parts in proportion to their masses, a cosine and a sine for each frequency. (6) A part with less than one part in
    :math:`10^{6}` of the trace norm is rounding, and dropped. Cost: :math:`O(n d D)` and a fit that does not depend on n.

    References
    ----------
    .. [1] F. Liu, X. Huang, L. Shi, J. Yang and J. A. K. Suykens. "A double-variational Bayesian framework in random
       Fourier features for indefinite kernels". IEEE Trans. Neural Netw. Learn. Syst., 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.baselines import DoubleGaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> f = DoubleGaussianMixture(n_components=64, random_state=0).fit(X)
    >>> sorted(set(f.signature_.tolist()))
    [-1.0, 1.0]
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 512,
        *,
        n_subset: int = 300,
        n_mixture: int = 10,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.n_subset = n_subset
        self.n_mixture = n_mixture
        self.random_state = random_state

    def default_kernel(self) -> Kernel:
        return DeltaGaussian()

    def _fit(self, X: Any, kernel: Kernel, rng: np.random.Generator) -> None:
        width = positive_integer(self.n_components, "n_components")
        n_subset = positive_integer(self.n_subset, "n_subset")
        n_mixture = positive_integer(self.n_mixture, "n_mixture")
        check_magnitude(X)
        subset_rng, *part_rngs = rng.spawn(3)
        picked = np.sort(subset_rng.choice(X.shape[0], size=min(n_subset, X.shape[0]), replace=False))
        rows = dense_block(X[picked], slice(None))
        grams = split_by_eigenvalues(np.asarray(kernel(rows), dtype=np.float64))
        mixtures = [
            None if gram is None else fit_frequency_mixture(rows, gram, n_mixture, part_rng)
            for gram, part_rng in zip(grams, part_rngs, strict=True)
        ]
        self.positive_, self.negative_ = mixtures
        masses = [0.0 if mixture is None else mixture.mass for mixture in mixtures]
        widths = _share(width, masses)
        self._parts = tuple(
            FourierColumns.drawn(mixture, part_width, X.shape[1], part_rng)
            for mixture, part_width, part_rng in zip(mixtures, widths, part_rngs, strict=True)
        )
        self.signature_ = np.repeat([1.0, -1.0], widths)

    def _map(self, X: Any) -> np.ndarray:
        out = np.empty((X.shape[0], self.signature_.size), dtype=X.dtype)
        positive, negative = self._parts
        positive.fill(X, out[:, : positive.width])
        negative.fill(X, out[:, positive.width :])
        return out

    def _check_loaded(self) -> None:
        for part in self._parts:
            check_shape(part.frequencies, "frequencies", (None, self.n_features_in_))
        check_shape(self.signature_, "signature_", (sum(part.width for part in self._parts),))


def split_by_eigenvalues(gram: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Positive and negative part of a symmetric matrix; None for a part that is mere rounding.

    Examples
    --------
    >>> import numpy as np
    >>> positive, negative = split_by_eigenvalues(np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> (positive - negative).round(12) + 0.0
    array([[0., 2.],
           [2., 0.]])
    """
    values, vectors = linalg.eigh(gram)
    floor = _ROUNDING * float(np.abs(values).sum())
    parts = []
    for sign in (1.0, -1.0):
        part = np.maximum(sign * values, 0.0)
        parts.append((vectors * part) @ vectors.T if part.sum() > floor else None)
    return parts[0], parts[1]


def _share(width: int, masses: list[float]) -> list[int]:
    """Columns for each part in proportion to its mass, at least one for each that has any where there are two."""
    if not all(masses) or width == 1:
        return [0, width] if masses[1] > masses[0] else [width, 0]
    first = round(width * masses[0] / sum(masses))
    first = min(max(first, 1), width - 1)
    return [first, width - first]
