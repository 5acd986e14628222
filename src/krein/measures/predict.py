"""The predicted error of a random feature map, before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.checks import positive_integer, positive_real
from krein.measures.omega import omega
from krein.measures.parts import Atoms
from krein.measures.signed import SignedMeasure, check_measure

__all__ = [
    "Outlook",
    "check_width",
    "components_for_error",
    "frequencies_for_width",
    "orthogonal_variance",
    "predicted_error",
    "uniform_error_bound",
]

_MOST_SLACK = 10.0  # times the tolerance elsewhere: bias that large still counts a hundredfold in the square
_BINS, _SMOOTHING = 40, 1.5  # of the histogram of distances, and the width of its smoothing in bins


def frequencies_for_width(measure: SignedMeasure, n_components: int) -> int:
    """Number of frequencies that fit in ``n_components`` columns besides the head; each takes a cosine and a sine.

    Parameters
    ----------
    measure : SignedMeasure
    n_components : int
        Output columns, head included.

    Returns
    -------
    int
    """
    free = check_width(n_components) - measure.head_columns()
    if free < 0 or (free < 2 and measure.mass > 0):
        least = measure.head_columns() + (2 if measure.mass > 0 else 0)
        raise ValueError(
            f"n_components must be at least {least}: {measure.head_columns()} columns for the head and two for a "
            f"frequency, got {n_components}; use {least} or more, or a smaller head_degree"
        )
    return free // 2


def check_width(n_components: Any) -> int:
    """The number of output columns as an int, or an error that names the rule."""
    return positive_integer(n_components, "n_components", why=", the number of output columns")


def predicted_error(measure: SignedMeasure, z: Any, n_components: int) -> np.ndarray:
    r"""Variance of the unbiased estimate at distances z, for independent frequencies.

    .. math:: \frac{1}{s}\Big[M \int \frac{1 + \Omega_d(2rz)}{2}\,|\rho|(dr) - \tau(z)^2\Big]

    with s the number of frequencies that fit in ``n_components`` columns besides the head, M the mass, and τ the value of the
    radial parts at z. The mean squared error is this variance plus the square of the bias.

    Parameters
    ----------
    measure : SignedMeasure
    z : array of distances
    n_components : int
        Output columns, head included.

    Returns
    -------
    ndarray of the shape of z
    """
    frequencies = frequencies_for_width(check_measure(measure), n_components)
    return _variance(measure, check_distances(z), frequencies)


def check_distances(z: Any) -> np.ndarray:
    """Distances as an array of float64, or an error."""
    distances = np.asarray(z)
    if distances.dtype.kind not in "fiu":
        raise TypeError(f"z must be distances, numbers of zero or more, got {z!r}")
    distances = distances.astype(np.float64)
    if not (np.isfinite(distances) & (distances >= 0.0)).all():
        raise ValueError(f"z must be distances, finite numbers of zero or more, got {z!r}")
    return distances


@final
@dataclass(frozen=True, eq=False)
class Outlook:
    """What the error of a feature map is predicted for: distances, the kernel there, and how directions will be drawn.

    Parameters
    ----------
    distances, exact : ndarray of shape (m,)
        Distances z and k(z).
    orthogonal : bool
        Whether radii will be stratified and directions orthogonal in blocks, which has less variance.
    uniform : bool
        Whether the distances are a mere grid, not a sample of the data's.
    """

    distances: np.ndarray
    exact: np.ndarray
    orthogonal: bool = False
    uniform: bool = True

    def __post_init__(self) -> None:
        z, exact = np.asarray(self.distances, dtype=np.float64), np.asarray(self.exact, dtype=np.float64)
        if z.ndim != 1 or z.shape != exact.shape:
            raise ValueError(f"distances and exact must be vectors of one length, got {z.shape} and {exact.shape}")
        object.__setattr__(self, "distances", _checked(z))
        object.__setattr__(self, "exact", exact)

    @classmethod
    def of(
        cls,
        function: Callable[[np.ndarray], np.ndarray],
        radius: float,
        distances: Any = None,
        *,
        orthogonal: bool = False,
    ) -> Outlook:
        """An outlook on the given distances, or on a uniform grid of [0, radius].

        Parameters
        ----------
        function : callable
            k(z).
        radius : float
        distances : array, default=None
            A sample of the data's distances; larger ones than the radius count as the radius.
        orthogonal : bool, default=False

        Returns
        -------
        Outlook
        """
        if distances is None:
            z = np.linspace(0.0, radius, 101)
        else:
            z = _checked(np.asarray(distances, dtype=np.float64).ravel())
            z = np.minimum(z, radius)
        return cls(z, function(z), orthogonal, distances is None)

    def slack(self, z: np.ndarray) -> np.ndarray:
        r"""How much larger than elsewhere a tolerance may be at z: :math:`(p(z)/\max p)^{-1/2}`, between 1 and 10.

        p is the smoothed density of the data's distances. Bias at rare distances adds little to the mean squared error, and a
        larger tolerance there lets the measure have much less mass. The factor is 1 if no distances were given.

        Parameters
        ----------
        z : ndarray
            Distances.

        Returns
        -------
        ndarray of the shape of z
        """
        if self.uniform:
            return np.ones_like(z)
        top = float(max(self.distances.max(), np.max(z))) or 1.0
        edges = np.linspace(0.0, top, _BINS + 1)
        count, _ = np.histogram(self.distances[self.distances > 0], edges)
        kernel = np.exp(-0.5 * (np.arange(-4, 5) / _SMOOTHING) ** 2)
        density = np.convolve(count, kernel / kernel.sum(), mode="same")
        at = np.interp(z, (edges[:-1] + edges[1:]) / 2, density / max(density.max(), 1e-300))
        return np.asarray(np.clip(np.maximum(at, 1e-12) ** -0.5, 1.0, _MOST_SLACK))

    @property
    def size(self) -> float:
        """Largest |k| at these distances; 1 for the zero kernel."""
        return float(np.max(np.abs(self.exact))) or 1.0

    @property
    def square(self) -> float:
        """Mean of k² at these distances; 1 for the zero kernel."""
        return float(np.mean(self.exact**2)) or 1.0

    def error(self, measure: SignedMeasure, n_frequencies: int) -> float:
        """Predicted mean squared error: variance plus the squared distance of the measure from the kernel.

        Parameters
        ----------
        measure : SignedMeasure
        n_frequencies : int

        Returns
        -------
        float
        """
        bias = measure.evaluate(self.distances) - self.exact
        atoms = isinstance(measure.positive, Atoms) and isinstance(measure.negative, Atoms)
        variance = orthogonal_variance if self.orthogonal and atoms else _variance
        return float(np.mean(variance(measure, self.distances, n_frequencies) + bias**2))


def _checked(z: np.ndarray) -> np.ndarray:
    """Distances, or an error that says what they must be."""
    if not z.size or not np.isfinite(z).all() or z.min() < 0.0:
        raise ValueError(
            "distances must be some finite numbers ≥ 0, a sample of the distances between rows of the data; use None "
            "for a uniform grid"
        )
    return z


def orthogonal_variance(measure: SignedMeasure, z: Any, n_frequencies: int) -> np.ndarray:
    r"""Variance of the estimate from a measure of atoms with stratified radii and directions orthogonal in blocks of d.

    Two orthogonal directions make :math:`r\theta \pm r'\theta'` a vector of length :math:`\sqrt{r^2 + r'^2}` in a uniform
    direction, so their cosines have covariance :math:`\Omega_d(z\sqrt{r^2 + r'^2}) - \Omega_d(rz)\,\Omega_d(r'z)`, and with b
    the size of a block

    .. math:: \frac{M}{s}\sum_j |w_j| \Big[\frac{1 + \Omega_d(2r_jz)}{2} - \Omega_d(r_jz)^2\Big]
              + \frac{b-1}{s} \sum_{j,l} w_jw_l \big[\Omega_d(z\sqrt{r_j^2 + r_l^2}) - \Omega_d(r_jz)\,\Omega_d(r_lz)\big]

    Stratification removes the variance of the radii up to rounding of their counts, which is ignored here.

    Parameters
    ----------
    measure : SignedMeasure
        A measure of atoms.
    z : array of distances
    n_frequencies : int
        s.

    Returns
    -------
    ndarray of the shape of z
    """
    z = np.asarray(z, dtype=np.float64)
    if measure.mass == 0.0:
        return np.zeros_like(z)
    up, down = measure.positive, measure.negative
    if not (isinstance(up, Atoms) and isinstance(down, Atoms)):
        raise TypeError("the variance of orthogonal blocks is known for measures of atoms only, as least mass gives")
    radii, weights = np.concatenate([up.radii, down.radii]), np.concatenate([up.weights, -down.weights])
    s, block = max(n_frequencies, 1), min(measure.dim, max(n_frequencies, 1))
    single = omega(measure.dim, np.multiply.outer(z, radii))
    double = omega(measure.dim, np.multiply.outer(2 * z, radii))
    alone = measure.mass / s * (((1 + double) / 2 - single**2) @ np.abs(weights))
    first, second = np.triu_indices(radii.size)  # each pair once
    pairs = np.where(first == second, 1.0, 2.0) * weights[first] * weights[second]
    together = omega(measure.dim, np.multiply.outer(z, np.hypot(radii[first], radii[second]))) @ pairs
    return np.asarray(np.maximum(alone + (block - 1) / s * (together - (single @ weights) ** 2), 0.0))


def _variance(measure: SignedMeasure, z: Any, n_frequencies: int) -> np.ndarray:
    z = np.asarray(z, dtype=np.float64)
    if measure.mass == 0.0:
        return np.zeros_like(z)
    second = measure.mass * (measure.mass + measure.majorant(2 * z)) / 2
    return np.asarray(np.maximum(second - measure.tail(z) ** 2, 0.0) / max(n_frequencies, 1))


def uniform_error_bound(measure: SignedMeasure, radius: float, n_components: int, epsilon: float) -> float:
    """Upper bound on the probability that the error exceeds epsilon anywhere on a set of diameter `radius`.

    Parameters
    ----------
    measure : SignedMeasure
        Needs a finite second moment.
    radius : float
        Largest distance between two points of the data.
    n_components : int
        Output columns, head included.
    epsilon : float
        Error in the units of the kernel.

    Returns
    -------
    float in [0, 1]
    """
    radius, margin = _check(measure, radius, epsilon)
    frequencies = frequencies_for_width(measure, n_components)
    if margin <= 0.0:
        return 1.0
    if measure.mass == 0.0:
        return 0.0
    ratio = margin / measure.mass
    exponent = frequencies * ratio * ratio / (4 * (measure.dim + 2))  # ratio**2 would raise where a product is infinite
    return min(1.0, math.exp(min(_log_prefactor(measure, radius, margin) - exponent, 0.0)))


def components_for_error(measure: SignedMeasure, radius: float, epsilon: float, delta: float = 0.05) -> int:
    """Number of output columns for which the error is below epsilon everywhere with probability at least 1 − delta.

    Parameters
    ----------
    measure, radius, epsilon
        As in `uniform_error_bound`; epsilon must exceed the measure's bias.
    delta : float, default=0.05
        Probability of failure, in (0, 1).

    Returns
    -------
    int
    """
    radius, margin = _check(measure, radius, epsilon)
    delta = positive_real(delta, "delta")
    if delta >= 1.0:
        raise ValueError(f"delta must be a probability strictly between 0 and 1, got {delta!r}")
    if margin <= 0.0:
        raise ValueError(
            f"epsilon={epsilon:.3g} is not above the measure's bias {measure.bias:.3g}, so no number of components reaches "
            "it; build the measure with a smaller tol"
        )
    if measure.mass == 0.0:
        return max(1, measure.head_columns())
    needed = max(0.0, _log_prefactor(measure, radius, margin) - math.log(delta))
    ratio = measure.mass / margin
    frequencies = needed * 4 * (measure.dim + 2) * ratio * ratio
    if not math.isfinite(frequencies):
        raise ValueError(f"epsilon={epsilon!r} needs more components than a float can count; use a larger epsilon")
    return measure.head_columns() + 2 * max(1, math.ceil(frequencies))


def _check(measure: SignedMeasure, radius: Any, epsilon: Any) -> tuple[float, float]:
    check_measure(measure)
    radius, epsilon = positive_real(radius, "radius"), positive_real(epsilon, "epsilon")
    if radius > measure.radius * (1 + 1e-12):  # rounding of a radius computed twice
        raise ValueError(
            f"radius={radius:.4g} is beyond the distances this measure is made for, up to {measure.radius:.4g}; build the "
            "measure with a larger radius"
        )
    if not math.isfinite(measure.second_moment):
        raise ValueError(
            "the bound needs a finite second moment of the frequencies, which kernels with a kink at 0 (Laplacian, Matérn with "
            "nu ≤ 1) do not have; use method='least_mass', whose radii are bounded"
        )
    return radius, epsilon - measure.bias


def _log_prefactor(measure: SignedMeasure, radius: float, epsilon: float) -> float:
    d = measure.dim
    beta = ((d / 2) ** (-d / (d + 2)) + (d / 2) ** (2 / (d + 2))) * 2 ** ((6 * d + 2) / (d + 2))
    sigma = math.sqrt(measure.second_moment / measure.mass)
    return math.log(beta) + 2 * d / (d + 2) * math.log(max(measure.mass * sigma * radius / epsilon, 1e-300))
