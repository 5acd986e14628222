"""The predicted error of a random feature map, before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.checks import one_of, positive_integer, positive_real, real_array
from krein.measures.harmonics import omega
from krein.measures.radial_parts import Atoms, RadialPart
from krein.measures.signed import SignedMeasure, check_measure

__all__ = [
    "ALLOCATIONS",
    "allocate",
    "Outlook",
    "check_width",
    "components_for_error",
    "frequencies_for_width",
    "orthogonal_variance",
    "predicted_error",
    "uniform_error_bound",
]

ALLOCATIONS = ("mass", "neyman", "equal")
# Of a frequency: shares of two parts that are equal but for rounding get the same numbers on every processor
_TIE = 1e-6
_ROUNDING = 5e-10  # of the logarithm of a probability
_MOST_SLACK = 10.0  # times the tolerance elsewhere: bias that large still counts a hundredfold in the square
_BINS, _SMOOTHING = 40, 1.5  # of the histogram of distances, and the width of its smoothing in bins


def allocate(measure: SignedMeasure, n_frequencies: int, rule: str = "mass") -> tuple[int, int]:
    r"""Numbers :math:`s_+, s_-` of frequencies for the positive and the negative part.

    Parameters
    ----------
    measure : SignedMeasure
    n_frequencies : int
    rule : {"mass", "neyman", "equal"}, default="mass"
        ``"mass"``: in proportion to mass. ``"neyman"``: in proportion to mass times the standard deviation of
        :math:`\cos(\omega\cdot\Delta)`, averaged over distances up to the radius of the measure (Neyman 1934, least variance for
        independent draws). ``"equal"``: half each, as in the paper.

    Returns
    -------
    tuple of int
        Each part with mass gets at least one frequency; the odd one of two equal halves goes to the positive part.
    """
    one_of(rule, "allocation", ALLOCATIONS)
    up, down = measure.positive.mass, measure.negative.mass
    if down == 0.0:
        return n_frequencies, 0
    if up == 0.0:
        return 0, n_frequencies
    if n_frequencies < 2:
        raise ValueError(
            f"a measure with two signs needs at least two frequencies, one for each, got {n_frequencies}; use more components"
        )
    if rule == "equal":
        share = 0.5
    elif rule == "neyman":
        a, b = (part.mass * _spread(part, measure) for part in (measure.positive, measure.negative))
        share = a / (a + b) if a + b > 0 else up / (up + down)
    else:
        share = up / (up + down)
    first = min(max(math.floor(share * n_frequencies + 0.5 + _TIE), 1), n_frequencies - 1)
    return first, n_frequencies - first


def _spread(part: RadialPart, measure: SignedMeasure) -> float:
    radius = measure.radius
    if math.isinf(radius):
        radius = 2 * math.sqrt(measure.dim) / max(float(part.ppf(np.array(0.5))), 1e-150)
    z = np.linspace(0.0, radius, 33)
    mean = part.evaluate(z, measure.dim) / part.mass
    second = (1 + part.evaluate(2 * z, measure.dim) / part.mass) / 2
    return math.sqrt(float(np.mean(np.maximum(second - mean**2, 0.0))))


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


def predicted_error(measure: SignedMeasure, z: Any, n_components: int, allocation: str = "mass") -> np.ndarray:
    r"""Variance of the unbiased estimate at distances z, for independent frequencies.

    .. math:: \sum_\pm \frac{M_\pm}{s_\pm} \Big[\int \frac{1 + \Omega_d(2rz)}{2}\,\rho_\pm(dr) - \frac{\tau_\pm(z)^2}{M_\pm}\Big]

    with :math:`M_\pm` the masses of the two parts, :math:`\tau_\pm(z) = \int\Omega_d(rz)\,\rho_\pm(dr)` their kernels, and
    :math:`s_\pm` their numbers of frequencies, which are fixed before anything is drawn. The mean squared error is this variance
    plus the square of the bias.

    Parameters
    ----------
    measure : SignedMeasure
    z : array of distances
    n_components : int
        Output columns, head included.
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How the frequencies that fit besides the head are divided between the parts; see :func:`krein.sampling.allocate`.

    Returns
    -------
    ndarray of the shape of z

    Examples
    --------
    >>> import krein
    >>> m = krein.signed_measure(krein.kernels.DeltaGaussian(1.0, 2.0), dim=16)
    >>> (krein.predicted_error(m, [0.0, 0.5, 1.0, 2.0], n_components=128) ** 0.5).round(3)
    array([0.   , 0.027, 0.08 , 0.137])
    """
    frequencies = frequencies_for_width(check_measure(measure), n_components)
    return _variance(measure, check_distances(z, "z"), frequencies, allocation)


def check_distances(z: Any, name: str) -> np.ndarray:
    """Distances as an array of float64, or an error."""
    distances = real_array(z, name).astype(np.float64, copy=False)
    if not distances.size or not (np.isfinite(distances) & (distances >= 0.0)).all():
        raise ValueError(f"{name} must be distances, finite numbers of zero or more and at least one, got {z!r}")
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
    allocation : {"mass", "neyman", "equal"}
        How frequencies will be divided between the two parts.
    """

    distances: np.ndarray
    exact: np.ndarray
    orthogonal: bool = False
    uniform: bool = True
    allocation: str = "mass"

    @classmethod
    def of(
        cls,
        function: Callable[[np.ndarray], np.ndarray],
        radius: float,
        distances: Any = None,
        *,
        orthogonal: bool = False,
        allocation: str = "mass",
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
        allocation : {"mass", "neyman", "equal"}, default="mass"

        Returns
        -------
        Outlook
        """
        sample = np.linspace(0.0, radius, 101) if distances is None else check_distances(distances, "distances").ravel()
        z = np.minimum(sample, radius)
        return cls(z, function(z), orthogonal, distances is None, allocation)

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
            Infinite where one frequency would have to stand for both signs.
        """
        if n_frequencies < 2 and measure.positive.mass > 0.0 and measure.negative.mass > 0.0:
            return math.inf
        bias = measure.evaluate(self.distances) - self.exact
        atoms = isinstance(measure.positive, Atoms) and isinstance(measure.negative, Atoms)
        variance = orthogonal_variance if self.orthogonal and atoms else _variance
        return float(np.mean(variance(measure, self.distances, n_frequencies, self.allocation) + bias**2))


def orthogonal_variance(measure: SignedMeasure, z: Any, n_frequencies: int, allocation: str = "mass") -> np.ndarray:
    r"""Variance of the estimate from a measure of atoms with stratified radii and directions orthogonal in blocks of d.

    Two orthogonal directions make :math:`r\theta \pm r'\theta'` a vector of length :math:`\sqrt{r^2 + r'^2}` in a uniform
    direction, so their cosines have covariance :math:`\Omega_d(z\sqrt{r^2 + r'^2}) - \Omega_d(rz)\,\Omega_d(r'z)`, and with b
    the size of a block

    .. math:: \sum_j \frac{M_\pm}{s_\pm} |w_j| \Big[\frac{1 + \Omega_d(2r_jz)}{2} - \Omega_d(r_jz)^2\Big]
              + \frac{b-1}{s} \sum_{j,l} w_jw_l \big[\Omega_d(z\sqrt{r_j^2 + r_l^2}) - \Omega_d(r_jz)\,\Omega_d(r_lz)\big]

    where :math:`M_\pm/s_\pm` is that of the part of :math:`w_j`. Stratification removes the variance of the radii up to rounding of
    their counts, which is ignored here, and so is which radii meet in a block: they count as drawn at random.

    Parameters
    ----------
    measure : SignedMeasure
        A measure of atoms.
    z : array of distances
    n_frequencies : int
        s.
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How they are divided between the parts.

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
    per_mass = np.repeat(_mass_each(measure, s, allocation), [up.radii.size, down.radii.size])
    alone = ((1 + double) / 2 - single**2) @ (np.abs(weights) * per_mass)
    first, second = np.triu_indices(radii.size)  # each pair once
    pairs = np.where(first == second, 1.0, 2.0) * weights[first] * weights[second]
    together = omega(measure.dim, np.multiply.outer(z, np.hypot(radii[first], radii[second]))) @ pairs
    return np.asarray(np.maximum(alone + (block - 1) / s * (together - (single @ weights) ** 2), 0.0))


def _mass_each(measure: SignedMeasure, n_frequencies: int, allocation: str) -> list[float]:
    """M±/s±, the size of a frequency's weight in each part; 0 for a part without mass."""
    counts = allocate(measure, n_frequencies, allocation)
    return [part.mass / n if n else 0.0 for part, n in zip((measure.positive, measure.negative), counts, strict=True)]


def _variance(measure: SignedMeasure, z: Any, n_frequencies: int, allocation: str) -> np.ndarray:
    z = np.asarray(z, dtype=np.float64)
    total = np.zeros_like(z)
    parts = [part for part in (measure.positive, measure.negative) if part.mass > 0.0]
    each = [size for size in _mass_each(measure, max(n_frequencies, 1), allocation) if size] if parts else []
    for part, size in zip(parts, each, strict=True):
        second = (part.mass + part.evaluate(2 * z, measure.dim)) / 2
        total = total + size * np.maximum(second - part.evaluate(z, measure.dim) ** 2 / part.mass, 0.0)
    return np.asarray(total)


def uniform_error_bound(measure: SignedMeasure, radius: float, n_components: int, epsilon: float) -> float:
    r"""Upper bound on the probability that the error exceeds epsilon anywhere on a set of diameter `radius`.

    .. math:: P\Big[\sup_{\|\Delta\|\le R} |k - \tilde k| \ge \epsilon\Big] \le
              \beta_d \Big(\frac{2M\sigma R}{\epsilon}\Big)^{\frac{2d}{d+2}} \exp\Big(-\frac{\epsilon^2}{4(d+2)}
              \Big/ \sum_\pm \frac{M_\pm^2}{s_\pm}\Big), \qquad
              \beta_d = \Big[\big(\tfrac d2\big)^{\frac{-d}{d+2}} + \big(\tfrac d2\big)^{\frac{2}{d+2}}\Big]
              2^{\frac{6d+2}{d+2}} \le 66

    with :math:`M\sigma^2 = \int r^2 |\rho|(dr)`: Proposition 1 of the paper with its constants right, and a bias counting against
    ε. It holds for features with *unbiased* weights and *independent* frequencies, divided between the parts by mass, that is
    ``weights="unbiased"`` and the sampler ``"monte_carlo"``. It says nothing of the defaults, calibrated weights and orthogonal
    directions, which are better as a rule, without a theorem.

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

    Notes
    -----
    The argument is that of Sutherland and Schneider (2015, Proposition 1) for the signed sum as a whole: cover the ball of
    differences by balls, bound the error at their centers by Hoeffding's inequality, where each term of a part spans
    :math:`\pm M_\pm/s_\pm`, and the rest by the Lipschitz constant L of the error. As
    :math:`L \le \sup\|\nabla\tilde k\| + \sup\|\nabla k\| \le \sum_j |a_j| \|\omega_j\| + M\sigma`, we have
    :math:`E L^2 \le (2M\sigma)^2`. (The source has :math:`\sigma` in place of :math:`2\sigma`, by exchanging a derivative at a
    random point with its expectation, which is not justified.)
    """
    radius, margin = _check(measure, radius, epsilon)
    frequencies = frequencies_for_width(measure, n_components)
    if margin <= 0.0:
        return 1.0
    if measure.mass == 0.0:
        return 0.0
    return math.exp(min(_log_bound(measure, radius, margin, frequencies), 0.0))


def components_for_error(measure: SignedMeasure, radius: float, epsilon: float, delta: float = 0.05) -> int:
    """Number of output columns for which the error is below epsilon everywhere with probability at least 1 − delta.

    By :func:`uniform_error_bound`, so for unbiased weights and independent frequencies, as there.

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
    count = max(2 if measure.positive.mass > 0.0 and measure.negative.mass > 0.0 else 1, math.ceil(frequencies))
    while _log_bound(measure, radius, margin, count) > math.log(delta) + _ROUNDING:  # where proportions are rounded
        count += 1
    return measure.head_columns() + 2 * count


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


def _log_bound(measure: SignedMeasure, radius: float, epsilon: float, frequencies: int) -> float:
    each = _mass_each(measure, frequencies, "mass")
    spread = sum(size * part.mass for size, part in zip(each, (measure.positive, measure.negative), strict=True))
    return _log_prefactor(measure, radius, epsilon) - epsilon / spread * epsilon / (4 * (measure.dim + 2))


def _log_prefactor(measure: SignedMeasure, radius: float, epsilon: float) -> float:
    d = measure.dim
    beta = ((d / 2) ** (-d / (d + 2)) + (d / 2) ** (2 / (d + 2))) * 2 ** ((6 * d + 2) / (d + 2))
    sigma = math.sqrt(measure.second_moment / measure.mass)
    return math.log(beta) + 2 * d / (d + 2) * math.log(max(2 * measure.mass * sigma * radius / epsilon, 1e-300))
