r"""Kernels on the unit sphere, written in the chord :math:`z = \|x - y\| \in [0, 2]`, :math:`u = x \cdot y = 1 - z^2/2`.

Angles are taken from the chord, :math:`\theta = 2\,\mathrm{atan2}(z, \sqrt{4 - z^2})`, which keeps full accuracy at both
ends; :math:`\arccos(u)` loses half the digits there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, final

import numpy as np
from scipy import special

from krein._core.checks import integer, param, positive_real, real, truth_value
from krein.kernels.decomposition import Split
from krein.kernels.kernel import SMOOTH_JUMP, Facts, Kernel

__all__ = ["ArcCosine", "GeodesicGaussian", "NTK", "Sigmoid", "SphericalPolynomial"]

_ROUNDING = 1e-9  # a distance this far above 2 is rounding of a distance of 2
_SERIES_BELOW = 0.3  # radians; there the series is exact to the last bit and sin t − t cos t is not
_HIGHEST_DEGREE = 10_000  # of a spherical polynomial: there it has fallen to 1/e at a distance of 0.02
_DIGITS, _MOST_POWERS = 40.0, 2000  # a Taylor series up to terms of e^-40, if that takes no more of them
_MOST_CURVED = 15.0  # the parts of a geodesic Gaussian are e^(2c) times as large as it: with more, floats lose it
_MOST_LAYERS = 1000  # each is a pass over all pairs of rows


@dataclass(frozen=True, repr=False)
class _SphereKernel(Kernel):
    domain = "sphere"

    _: KW_ONLY
    normalize: bool = param(True, truth_value)

    @property
    def scales_rows(self) -> bool:
        return self.normalize


def _chord(z: Any) -> np.ndarray:
    z = np.asarray(z, dtype=np.float64)
    if np.any(z > 2.0 + _ROUNDING):
        raise ValueError(
            f"distances on the unit sphere are at most 2, got {float(np.max(z)):.6g}; bring the rows to unit length"
        )
    return np.asarray(np.minimum(z, 2.0))


def _angles(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """θ and π − θ, each to full relative accuracy."""
    other = np.sqrt((2.0 - z) * (2.0 + z))
    return 2 * np.arctan2(z, other), 2 * np.arctan2(other, z)


def _over_sine(z: np.ndarray) -> np.ndarray:
    """1 / sin θ, 0 at the poles."""
    sine = 0.5 * z * np.sqrt((2.0 - z) * (2.0 + z))
    return np.asarray(np.divide(1.0, sine, out=np.zeros_like(sine), where=sine > 0.0))


def _arc_cosine_1(theta: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """κ₁ from θ and π − θ."""
    # Near the antipode sin θ + (π−θ)cos θ cancels to (π−θ)³/3, the same difference as near the pole.
    kappa = np.where(theta < 2.0, np.sin(theta) + rest * np.cos(theta), _sine_minus_angle_cosine(rest))
    return np.asarray(kappa / np.pi)


def _sine_minus_angle_cosine(t: np.ndarray) -> np.ndarray:
    """sin t − t cos t = t³/3 − t⁵/30 + t⁷/840 − …, by its series where the difference cancels."""
    square = t * t
    series = t * square * (1 / 3 - square * (1 / 30 - square * (1 / 840 - square * (1 / 45360 - square / 3991680))))
    return np.asarray(np.where(t < _SERIES_BELOW, series, np.sin(t) - t * np.cos(t)))


def _next_chord(z: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Chord z' between hidden-layer activations at chord z: 1 − z'²/2 = κ₁(1 − z²/2), without cancellation at 0."""
    gap = z * z / 2 - _sine_minus_angle_cosine(theta) / np.pi  # 1 − κ₁
    return np.asarray(np.sqrt(2 * np.maximum(gap, 0.0)))


@final
@dataclass(frozen=True, repr=False)
class SphericalPolynomial(_SphereKernel):
    r"""Polynomial kernel on unit vectors.

    .. math:: k(z) = \left(1 - \frac{z^2}{a^2}\right)^p = \left(1 - \frac{2}{a^2} + \frac{2}{a^2} u\right)^p

    Parameters
    ----------
    a : float, default=2.0
        At least 2.
    p : int, default=2
        Degree, 1 to 10,000.
    normalize : bool, default=True
        Whether rows are scaled to unit length first; if not, they must have unit length.

    Notes
    -----
    Positive definite on the sphere (all coefficients in u are non-negative), but its extension by zero to
    :math:`\mathbb{R}^d` is not, and has finite mass iff :math:`a = 2` and :math:`p > (d-1)/2`.

    Examples
    --------
    >>> from krein.kernels import SphericalPolynomial
    >>> SphericalPolynomial(a=2, p=2).radial([0.0, 1.0, 2.0])
    array([1.    , 0.5625, 0.    ])
    """

    a: float = param(2.0, positive_real)
    p: int = param(2, partial(integer, least=1, most=_HIGHEST_DEGREE))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.a < 2.0:
            raise ValueError(f"a must be at least 2, so that 1 - z²/a² ≥ 0 on the sphere, got {self.a}; use a=2")

    def radial(self, z: Any) -> np.ndarray:
        z = _chord(z)
        return np.asarray(((1.0 - z / self.a) * (1.0 + z / self.a)) ** self.p)

    def radial_slope(self, z: Any) -> np.ndarray:
        z = _chord(z)
        return np.asarray(((1.0 - z / self.a) * (1.0 + z / self.a)) ** (self.p - 1) * (-2.0 * self.p / self.a / self.a))

    @property
    def facts(self) -> Facts:
        exponent = float(self.p) if self.a == 2.0 else 0.0
        return Facts(edge_exponent=exponent, edge_smoothness=math.inf, positive_on_spheres=True)

    def _joined(self, other: Kernel) -> Kernel | None:
        if not isinstance(other, SphericalPolynomial) or (other.a, other.normalize) != (self.a, self.normalize):
            return None
        if self.p + other.p > _HIGHEST_DEGREE:
            return None
        return SphericalPolynomial(self.a, self.p + other.p, normalize=self.normalize)

    def fourier_density(self, r: np.ndarray, dim: int) -> np.ndarray:
        # The paper's Eq. (5) with the Jacobian r^(d-1) and the constant 2^(1-d/2)/Γ(d/2).
        r = np.asarray(r, dtype=np.float64)
        positive = np.maximum(r, 1e-300)
        half, total = dim / 2, np.zeros_like(positive)
        for i in range(self.p + 1):
            inner = (1 - 4 / self.a / self.a) ** (self.p - i)
            if inner == 0.0:
                continue
            log = (1 - half) * math.log(2) - special.gammaln(half) + (dim - 1) * np.log(positive)
            log = (
                log
                + special.gammaln(self.p + 1)
                - special.gammaln(self.p - i + 1)
                + i * (math.log(2) - 2 * math.log(self.a))
            )
            log = log + (half + i) * np.log(2 / positive)
            bessel = special.jv(half + i, 2 * positive)
            with np.errstate(divide="ignore"):  # where the Bessel function underflows, so does the product
                total += inner * np.sign(bessel) * np.exp(log + np.log(np.abs(bessel)))
        return np.asarray(total)


@final
@dataclass(frozen=True, repr=False)
class ArcCosine(_SphereKernel):
    r"""Arc-cosine kernel of Cho and Saul on unit vectors, normalized to :math:`k(0) = 1`.

    .. math:: \kappa_0 = 1 - \theta/\pi, \qquad \kappa_1 = [\sin\theta + (\pi - \theta)\cos\theta]/\pi

    Parameters
    ----------
    order : {0, 1}, default=0
    normalize : bool, default=True
        Whether rows are scaled to unit length first; if not, they must have unit length.

    Notes
    -----
    The paper's Appendix E.2 prints only the second term of
    :math:`\kappa_1(z) = [(1 - z^2/2)\arccos(z^2/2 - 1) + (z/2)\sqrt{4 - z^2}]/\pi`; this is the whole kernel.
    """

    order: int = param(0, partial(integer, least=0, most=1))

    def radial(self, z: Any) -> np.ndarray:
        theta, rest = _angles(_chord(z))
        return rest / np.pi if self.order == 0 else _arc_cosine_1(theta, rest)

    def radial_slope(self, z: Any) -> np.ndarray:
        # u = 1 − z²/2, so that k'(z)/z = −dk/du; dκ₁/du = κ₀.
        z = _chord(z)
        return -_over_sine(z) / np.pi if self.order == 0 else -_angles(z)[1] / np.pi

    @property
    def facts(self) -> Facts:
        # π − θ ~ √(2(2−z))·… at the antipode; κ₀ is linear in it and κ₁ cubic.
        exponent = 0.5 + self.order
        return Facts(edge_exponent=exponent, edge_smoothness=exponent, positive_on_spheres=True)


@final
@dataclass(frozen=True, repr=False)
class NTK(_SphereKernel):
    r"""Neural tangent kernel of a ReLU network on unit vectors.

    .. math:: \Theta^{l} = \Theta^{l-1}\,\kappa_0(\Sigma^{l-1}) + \Sigma^{l}, \qquad \Sigma^{l} = \kappa_1(\Sigma^{l-1}),
              \qquad \Theta^{0} = \Sigma^{0} = u

    Parameters
    ----------
    depth : int, default=1
        Number of hidden layers, at most 1,000;
        1 is the paper's two-layer network, :math:`u\kappa_0 + \kappa_1`, with :math:`k(0) = 2`.
    normalize : bool, default=True
        Whether rows are scaled to unit length first; if not, they must have unit length.
    """

    depth: int = param(1, partial(integer, least=1, most=_MOST_LAYERS))

    def radial(self, z: Any) -> np.ndarray:
        chord = _chord(z)
        tangent = 1.0 - chord * chord / 2
        theta, rest = _angles(chord)
        tangent = tangent * (rest / np.pi) + _arc_cosine_1(theta, rest)
        for _ in range(1, self.depth):
            chord = _next_chord(chord, theta)
            theta, rest = _angles(chord)
            tangent = tangent * (rest / np.pi) + _arc_cosine_1(theta, rest)
        return np.asarray(tangent)

    def radial_slope(self, z: Any) -> np.ndarray:
        # The recursion differentiated in u = 1 − z²/2: Σ' = κ₀ Σ', Θ' = κ₀ Θ' + (Θ κ₀' + κ₀) Σ', κ₀' = 1/(π sin θ).
        chord = _chord(z)
        tangent, tangent_slope, slope = 1.0 - chord * chord / 2, np.ones_like(chord), np.ones_like(chord)
        for _ in range(self.depth):
            theta, rest = _angles(chord)
            share = rest / np.pi
            tangent_slope = share * tangent_slope + (tangent * (_over_sine(chord) / np.pi) + share) * slope
            tangent = tangent * share + _arc_cosine_1(theta, rest)
            slope = share * slope
            chord = _next_chord(chord, theta)
        inside = (_chord(z) > 0.0) & (_chord(z) < 2.0)
        return np.where(inside, -tangent_slope, 0.0)

    @property
    def facts(self) -> Facts:
        # One layer ends at 0 like √(2−z); deeper ones end at a positive value, a jump once extended by zero.
        return Facts(edge_exponent=0.5 if self.depth == 1 else 0.0, edge_smoothness=0.5, positive_on_spheres=True)


@final
@dataclass(frozen=True, repr=False)
class Sigmoid(_SphereKernel):
    r"""Hyperbolic tangent of the inner product of unit vectors; indefinite.

    .. math:: k(z) = \tanh(a u + b)

    Parameters
    ----------
    a, b : float, default=1.0 and -0.5
        Slope and offset; ``a`` not zero.
    normalize : bool, default=True
        Whether rows are scaled to unit length first; if not, they must have unit length.
    """

    a: float = param(1.0, real)
    b: float = param(-0.5, real)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.a == 0.0:
            raise ValueError("a must not be 0, because the kernel would be constant; use a=1.0")

    def radial(self, z: Any) -> np.ndarray:
        z = _chord(z)
        with np.errstate(over="ignore"):
            return np.asarray(np.tanh(self.a * (1.0 - z * z / 2) + self.b))

    def radial_slope(self, z: Any) -> np.ndarray:
        value = self.radial(z)
        return np.asarray(-self.a * (1.0 - value) * (1.0 + value))

    def split(self, dim: int) -> Split | None:
        # The nearest pole of tanh(au + b) is at |u| = |iπ/2 − b|/|a|: beyond 1, its Taylor series converges on the sphere.
        pole = math.hypot(math.pi / 2, self.b) / abs(self.a)
        degree = math.ceil(_DIGITS / math.log(pole)) if pole > 1.0 else math.inf
        if degree > _MOST_POWERS:
            return None
        c = np.zeros(int(degree) + 1)  # y' = a(1 − y²)
        c[0] = math.tanh(self.b)
        for n in range(int(degree)):
            c[n + 1] = self.a * ((n == 0) - c[: n + 1] @ c[n::-1]) / (n + 1)

        def part(sign: float) -> Callable[[np.ndarray], np.ndarray]:
            return lambda z: np.polynomial.polynomial.polyval(1.0 - z * z / 2, np.maximum(sign * c, 0.0))

        reason = "the powers of x·y in its Taylor series with positive coefficients minus those with negative ones"
        return self.split_into(part(1.0), part(-1.0), "power series", reason)

    @property
    def facts(self) -> Facts:
        return SMOOTH_JUMP if self.a != self.b else Facts(edge_exponent=1.0, edge_smoothness=math.inf)


@final
@dataclass(frozen=True, repr=False)
class GeodesicGaussian(_SphereKernel):
    r"""Gaussian of the angle between unit vectors; indefinite at some scales.

    .. math:: k = e^{-\theta^2 / 2s^2}

    Parameters
    ----------
    scale : float, default=1.0
        Scale :math:`s > 0`, in radians.
    normalize : bool, default=True
        Whether rows are scaled to unit length first; if not, they must have unit length.

    References
    ----------
    .. [1] A. Feragen, F. Lauze and S. Hauberg. "Geodesic exponential kernels: when curvature and linearity conflict".
       CVPR, 2015.
    """

    facts = Facts(edge_exponent=0.0, edge_smoothness=0.5)

    scale: float = param(1.0, positive_real)

    def radial(self, z: Any) -> np.ndarray:
        theta, _ = _angles(_chord(z))
        with np.errstate(over="ignore"):
            return np.exp(-0.5 * (theta / self.scale) ** 2)

    def radial_slope(self, z: Any) -> np.ndarray:
        chord = _chord(z)
        ratio = np.where(chord > 0.0, _angles(chord)[0] * _over_sine(chord), 1.0)  # θ / sin θ
        return np.asarray(-self.radial(chord) * ratio / self.scale / self.scale)

    def split(self, dim: int) -> Split | None:
        # θ = π(1 − t) with t = κ₀, which is positive definite: k = e^(−c(1−t)²) = e^(−c + 2ct) (cosh ct² − sinh ct²), c = π²/2s².
        c = (math.pi / self.scale) ** 2 / 2
        if c > _MOST_CURVED:
            return None

        def part(even: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
            def radial(z: np.ndarray) -> np.ndarray:
                t = _angles(_chord(z))[1] / np.pi
                return np.asarray(np.exp(c * (2 * t - 1)) * even(c * t * t))

            return radial

        reason = (
            "e^(−c+2ct) cosh(ct²) − e^(−c+2ct) sinh(ct²), where t is the arc-cosine kernel of order 0 and c = π²/2s²"
        )
        return self.split_into(part(np.cosh), part(np.sinh), "power series", reason)
