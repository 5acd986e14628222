"""What tests share: tolerances derived from probability, and references computed another way."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mpmath as mp
import numpy as np

__all__ = [
    "bernstein_tolerance",
    "empirical_bernstein_tolerance",
    "frozen",
    "hoeffding_tolerance",
    "omega_reference",
    "unit_vectors",
]


def hoeffding_tolerance(
    masses: Sequence[float], counts: Sequence[int], *, n_checks: int, false_fail: float = 1e-6
) -> float:
    """Bound holding for n_checks averages of ±m·cos, jointly, except with probability false_fail."""
    spread = sum(m * m / n for m, n in zip(masses, counts, strict=True))
    return math.sqrt(2.0 * spread * math.log(2 * n_checks / false_fail))


def bernstein_tolerance(variance: float, bound: float, count: int, *, n_checks: int, false_fail: float = 1e-6) -> float:
    """Bound on the error of a mean of `count` draws of the given variance that stay within `bound` of their mean."""
    log = math.log(2 * n_checks / false_fail)
    return math.sqrt(2 * variance * log / count) + 2 * bound * log / (3 * count)


def empirical_bernstein_tolerance(
    draws: np.ndarray, bound: float, *, n_checks: int, false_fail: float = 1e-6
) -> np.ndarray:
    """Bound on the error of the means over the first axis of independent draws in [−bound, bound], their variance not known.

    Maurer and Pontil, "Empirical Bernstein bounds and sample variance penalization", COLT 2009, Theorem 4, both sides.
    """
    n, log = draws.shape[0], math.log(4 * n_checks / false_fail)
    return np.sqrt(2 * draws.var(axis=0, ddof=1) * log / n) + 7 * 2 * bound * log / (3 * (n - 1))


def frozen(array: np.ndarray) -> np.ndarray:
    """The same array, read-only, as shared arrays should be."""
    array.setflags(write=False)
    return array


def unit_vectors(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """Uniform on the sphere."""
    X = rng.standard_normal((n, dim))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def omega_reference(dim: int, t: float) -> float:
    """Ω_d(t) from its power series with as many digits as cancel, or from Hankel's expansion where t is large."""
    nu = mp.mpf(dim) / 2 - 1
    bound = (mp.loggamma(nu + 1) + nu * mp.log(2 / mp.mpf(t))) / mp.log(10) if t > 1 else 0  # |J| ≤ 1
    if bound < -30:
        return 0.0
    if t <= 1000 or nu > 2 * t**0.5:
        with mp.workdps(int(0.45 * t) + 40):
            x, term, total, k = -(mp.mpf(t) ** 2) / 4, mp.mpf(1), mp.mpf(1), 0
            while abs(term) > mp.mpf(10) ** -25 or k < t / 2:
                k += 1
                term *= x / (k * (k + nu))
                total += term
            return float(total)
    with mp.workdps(60 + int(0.45 * float(nu) ** 2 / t)):
        big, k, term = mp.mpf(t), 0, mp.mpf(1)
        even, odd = mp.mpf(0), mp.mpf(0)
        while abs(term) > mp.mpf(10) ** -40:
            sign = (-1) ** (k // 2)
            even, odd = (even + sign * term, odd) if k % 2 == 0 else (even, odd + sign * term)
            k += 1
            term *= (4 * nu * nu - (2 * k - 1) ** 2) / (8 * k * big)
        phase = big - nu * mp.pi / 2 - mp.pi / 4
        wave = mp.sqrt(2 / (mp.pi * big)) * (mp.cos(phase) * even - mp.sin(phase) * odd)
        return float(mp.gamma(nu + 1) * (2 / big) ** nu * wave)
