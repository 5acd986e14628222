"""Two infinite Gaussian mixtures over frequencies, one for each sign of an indefinite kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import linalg, special
from sklearn.exceptions import ConvergenceWarning

from krein._core.checks import check_shape, frozen_array, one_of, positive_integer, positive_real
from krein._core.rows import check_magnitude, dense_block
from krein.baselines.base import EDITIONS, BaselineMap
from krein.baselines.fourier import FourierColumns, nonnegative_weights, systematic_choice
from krein.kernels import DeltaGaussian, Kernel

__all__ = ["DoubleGaussianMixture", "FrequencyMixture", "split_by_eigenvalues"]

_ROUNDING = 1e-6  # of the trace norm: a part that is smaller is what the eigenvalues of a definite matrix leave
_POINTS = 384  # single frequencies and
_GAUSSIANS = 64  # isotropic Gaussian clouds of frequencies that compete for the weight of the matrix
_PAIRS = 4096  # entries of the matrix they are fitted to
_DRAWS = 2048  # frequencies, drawn by weight, that the mixture is fitted to
_ONE_POINT = 1e-100  # rows that are closer are one point to every kernel
_RADII = 0.05, 20.0  # of the candidates, in units of one per median distance and coordinate

# The constants of the public code: rows drawn, Gaussians, steps, standard deviation of the noise of the matrix, multiple of
# the least eigenvalue that is added to make the matrix positive, and variance added to every frequency
_ROWS, _COMPONENTS, _STEPS, _NOISE, _SHIFT, _JITTER = 5, 5, 50, 0.01, 20.0, 1e-4


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
    edition : {"modern", "published"}, default="modern"
        ``"modern"`` is what [1]_ describes, see the notes. ``"published"`` is what the public code of its authors computes, see
        there too; ``n_subset`` and ``n_mixture`` then have no effect.
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

    The public code draws five rows. If their matrix has an eigenvalue :math:`\lambda < 0`, the parts are
    :math:`K + 20 |\lambda| I` and :math:`20 |\lambda| I`, else K alone. Its variational steps treat D standard normal
    frequencies as observed and end in one Gaussian for all frequencies of a part; outer products of row differences come
    out as numbers there, since rows are row vectors. A frequency is a draw for the positive part less a draw for the
    negative part, with one cosine with a random phase, and the signature is +1. So on five rows whose matrix has no
    negative eigenvalue the features are those of a Gaussian kernel, whatever the kernel.

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
        edition: str = "modern",
        n_subset: int = 300,
        n_mixture: int = 10,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.edition = edition
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
        if one_of(self.edition, "edition", EDITIONS) == "published":
            self.positive_ = self.negative_ = None
            frequencies = _published_frequencies(X, kernel, width, rng)
            columns = FourierColumns(frequencies, rng.uniform(0.0, 2.0 * np.pi, width), 1.0)
            self._parts = columns, FourierColumns.drawn(None, 0, X.shape[1], rng)
            self.signature_ = np.ones(width)
            return
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
        positive, negative = (
            FourierColumns.drawn(mixture, part_width, X.shape[1], part_rng)
            for mixture, part_width, part_rng in zip(mixtures, widths, part_rngs, strict=True)
        )
        self._parts = positive, negative
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


def _published_frequencies(X: Any, kernel: Kernel, width: int, rng: np.random.Generator) -> np.ndarray:
    """Frequencies as the public code of the authors draws them; see the notes of the class."""
    picked = rng.choice(X.shape[0], size=min(_ROWS, X.shape[0]), replace=False)
    rows = dense_block(X[picked], slice(None))
    gram = np.asarray(kernel(rows), dtype=np.float64)
    shift = -_SHIFT * min(float(linalg.eigvalsh(gram)[0]), 0.0)
    eye = np.eye(rows.shape[0])
    observed = rng.standard_normal((width, X.shape[1]))
    squares = np.square(rows[:, None] - rows).sum(axis=2)
    frequencies = np.zeros_like(observed)
    for sign, part in ((1.0, gram + shift * eye), (-1.0, shift * eye)):
        if sign > 0 or shift:
            stiffness = float(((1.0 - part) * squares).sum()) / (2.0 * _NOISE**2)
            mean, covariance = _variational_gaussian(observed, stiffness)
            values, vectors = linalg.eigh((covariance + covariance.T) / 2 + _JITTER * np.eye(mean.size))
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            frequencies += sign * (mean + rng.standard_normal(observed.shape) @ root.T)
    return frequencies


def _variational_gaussian(observed: np.ndarray, stiffness: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the frequencies after the variational steps, the same for every frequency."""
    count, dim = observed.shape
    spread = np.atleast_2d(np.cov(observed.T, bias=count == 1)) + 1e-12 * np.eye(dim)
    precision, center = linalg.pinvh(spread), observed.mean(axis=0)
    scatter = (observed - center).T @ (observed - center)
    shares = np.full(_COMPONENTS, 1.0 / _COMPONENTS)
    for _ in range(_STEPS):
        masses = count * shares
        degrees = dim + masses
        scales = [linalg.pinvh(dim * spread + share * scatter) for share in shares]
        after = np.append(np.cumsum(masses[::-1])[-2::-1], 0.0)
        a, b = special.digamma(masses + 1.0), special.digamma(after + 1.0)
        total = special.digamma(masses + after + 2.0)
        rest = np.append(0.0, np.cumsum((b - total)[:-1]))
        first = np.append((a - total)[:-1], 0.0)
        logs = np.array([np.linalg.slogdet(scale)[1] for scale in scales])
        chances = special.digamma((degrees[:, None] + 1 - np.arange(1, dim + 1)) / 2).sum(axis=1)
        new = special.softmax(first + rest + (chances + dim * np.log(2.0) + logs + dim) / 2)
        done = np.linalg.norm(new - shares) * np.sqrt(count) < 1e-5
        shares = new
        if done:
            break
    expected = [degree * scale for degree, scale in zip(degrees, scales, strict=True)]
    centers = [
        linalg.pinvh(precision + mass * one) @ (mass * one @ center) for mass, one in zip(masses, expected, strict=True)
    ]
    covariance = linalg.pinvh(sum(share * one for share, one in zip(shares, expected, strict=True)) + stiffness)
    pulled = sum(share * one @ mean for share, one, mean in zip(shares, expected, centers, strict=True))
    return np.asarray(covariance @ pulled), np.asarray(covariance)


def _share(width: int, masses: list[float]) -> list[int]:
    """Columns for each part in proportion to its mass, at least one for each that has any where there are two."""
    if not all(masses) or width == 1:
        return [0, width] if masses[1] > masses[0] else [width, 0]
    first = round(width * masses[0] / sum(masses))
    first = min(max(first, 1), width - 1)
    return [first, width - first]


@dataclass(frozen=True, eq=False)
class FrequencyMixture:
    """Gaussian components over frequencies, with diagonal covariances, and the total mass."""

    mass: float
    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    def __post_init__(self) -> None:
        positive_real(self.mass, "mass")
        object.__setattr__(self, "weights", frozen_array(self.weights, "weights", (None,)))
        object.__setattr__(self, "means", frozen_array(self.means, "means", (self.weights.size, None)))
        object.__setattr__(self, "variances", frozen_array(self.variances, "variances", self.means.shape))
        if not self.weights.size or self.weights.min() < 0.0 or self.variances.min(initial=0.0) < 0.0:
            raise ValueError("a mixture has at least one component, and no negative weight or variance")

    def evaluate(self, offsets: np.ndarray) -> np.ndarray:
        """The kernel that this mixture gives."""
        return self.mass * _kernel(offsets, self.weights, self.means, self.variances)

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw frequencies: components by systematic sampling, Gaussian within."""
        which = systematic_choice(self.weights, count, rng)
        noise = rng.standard_normal((count, self.means.shape[1]))
        return np.asarray(self.means[which] + np.sqrt(self.variances[which]) * noise)


def fit_frequency_mixture(
    X: np.ndarray, gram: np.ndarray, n_mixture: int, rng: np.random.Generator
) -> FrequencyMixture | None:
    """Fit a mixture to a positive semi-definite matrix over some rows; None if there is nothing to fit."""
    from sklearn.mixture import BayesianGaussianMixture  # late: it takes longer to import than everything else here

    n, dim = X.shape
    i, j = (index.ravel() for index in np.indices((n, n)))
    if i.size > _PAIRS:
        # The diagonal carries the mass: keep all of it, and as many other pairs as there is room for.
        others = rng.choice(i.size, size=_PAIRS, replace=False)
        i, j = np.append(i[others], np.arange(n)), np.append(j[others], np.arange(n))
    offsets, values = X[i] - X[j], gram[i, j]
    lengths = np.linalg.norm(offsets, axis=1)
    apart = lengths > _ONE_POINT
    typical = float(np.median(lengths[apart])) if apart.any() else 1.0
    low, high = (bound / typical for bound in _RADII)  # per coordinate
    scales = np.geomspace(low, high, _GAUSSIANS)
    directions = rng.standard_normal((_POINTS, dim))
    points = directions * np.exp(rng.uniform(np.log(low), np.log(high), size=(_POINTS, 1)))
    points[0] = 0.0
    atoms = np.hstack([np.exp(-0.5 * np.multiply.outer(lengths**2, scales**2)), np.cos(offsets @ points.T)])
    weights, _ = nonnegative_weights(atoms, values)
    if not weights.any():
        return None
    which = rng.choice(weights.size, size=_DRAWS, p=weights / weights.sum())
    clouds = scales[np.minimum(which, _GAUSSIANS - 1), None] * rng.standard_normal((_DRAWS, dim))
    drawn = np.where((which < _GAUSSIANS)[:, None], clouds, points[np.maximum(which - _GAUSSIANS, 0)])
    # cos is even, so each frequency stands for its negative too; one half keeps the components apart.
    drawn *= np.where(drawn @ directions[0] < 0, -1.0, 1.0)[:, None]
    mixture = BayesianGaussianMixture(
        n_components=n_mixture,
        covariance_type="diag",
        weight_concentration_prior_type="dirichlet_process",
        reg_covar=1e-6 * max(float(np.mean(drawn**2)), 1e-12),
        random_state=int(rng.integers(2**31)),
        max_iter=200,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an unfinished bound changes components by very little
        mixture.fit(drawn)
    shape = _kernel(offsets, mixture.weights_, mixture.means_, mixture.covariances_)
    mass = float(shape @ values) / max(float(shape @ shape), 1e-300)
    if mass <= 0.0:
        return None
    return FrequencyMixture(mass, mixture.weights_, mixture.means_, mixture.covariances_)


def _kernel(offsets: np.ndarray, weights: np.ndarray, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    return np.asarray((np.exp(-0.5 * offsets**2 @ variances.T) * np.cos(offsets @ means.T)) @ weights)
