r"""Proposition 1 of the paper with corrected constants.

Frequencies are divided between the parts in proportion to mass, so each of the s terms is :math:`\pm M\cos(\omega_j\cdot\Delta)/s`
whichever part it came from, and the argument of Sutherland and Schneider (2015, Proposition 1) applies to the signed sum as a
whole with ε/M in place of ε: cover the ball of differences by balls of radius ϱ, bound the anchors by Hoeffding and the rest by
the expected gradient, and choose the best ϱ,

.. math:: P\Big[\sup_{\|\Delta\|\le R} |k - \tilde k| \ge \epsilon\Big] \le
          \beta_d \Big(\frac{M\sigma R}{\epsilon}\Big)^{\frac{2d}{d+2}} e^{-\frac{s\epsilon^2}{4(d+2)M^2}}, \qquad
          \beta_d = \Big[\big(\tfrac d2\big)^{\frac{-d}{d+2}} + \big(\tfrac d2\big)^{\frac{2}{d+2}}\Big] 2^{\frac{6d+2}{d+2}}

with :math:`\sigma^2 = \int r^2 |\rho|(dr)/M`. (:math:`\beta_d \le 66`, the constant printed; the paper drops M and splits ε in two,
which costs a factor four in the exponent and is not needed.) A bias counts against ε.
"""

from __future__ import annotations

import math
from typing import Any

from krein._core.checks import positive_real
from krein.measures.predict import frequencies_for_width
from krein.measures.signed import SignedMeasure, check_measure

__all__ = ["components_for_error", "uniform_error_bound"]


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
