"""Whether the two parts of a measure should share their directions."""

from __future__ import annotations

import math

import numpy as np

from krein.measures import SignedMeasure, omega

__all__ = ["shared_covariance", "sharing_helps"]

# Of cosines, at most 1: rounding decides the sign of less than this, and sharing gains nothing there
_NO_COVARIANCE = 1e-9


def shared_covariance(measure: SignedMeasure, z: np.ndarray, n_pairs: int = 32) -> np.ndarray:
    r"""Covariance of :math:`\cos(r_+\theta\cdot\Delta)` and :math:`\cos(r_-\theta\cdot\Delta)` for one random direction θ.

    .. math:: \tfrac12[\Omega_d((r_+ + r_-)z) + \Omega_d(|r_+ - r_-|z)] - \Omega_d(r_+z)\,\Omega_d(r_-z)

    averaged over radii paired by quantile, at distances z.
    """
    u = (np.arange(n_pairs) + 0.5) / n_pairs
    up, down = measure.positive.ppf(u), measure.negative.ppf(u)
    at = [omega(measure.dim, np.multiply.outer(z, r)) for r in (up + down, np.abs(up - down), up, down)]
    return np.asarray(np.mean((at[0] + at[1]) / 2 - at[2] * at[3], axis=1))


def sharing_helps(measure: SignedMeasure) -> bool:
    """True where the difference of the parts has less variance with shared directions: their covariance is positive."""
    if not (measure.positive.mass > 0 and measure.negative.mass > 0):
        return False
    typical = float(measure.positive.ppf(np.array(0.5)))
    radius = measure.radius if math.isfinite(measure.radius) else 2 * math.sqrt(measure.dim) / max(typical, 1e-300)
    return float(np.mean(shared_covariance(measure, np.linspace(0.0, radius, 33)))) > _NO_COVARIANCE
