"""How the columns of a random Maclaurin map are divided between the degrees of the series."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

__all__ = ["DegreePlan", "plan_degrees", "published_degrees"]

_LARGEST = 1e300  # variance that is told from others
# Of the largest spread: a degree without variance on the sample still needs a column, it may have some elsewhere
_LEAST_SPREAD = 1e-2


@dataclass(frozen=True, eq=False)
class DegreePlan:
    """Random columns with their degrees and amplitudes, after d exact linear columns if any.

    Parameters
    ----------
    exact_degree : {-1, 0, 1}
        The largest degree that is represented exactly; -1 if none is.
    linear_amplitude : float
        Of the exact linear columns.
    degrees, amplitudes : ndarray of shape (n_random,)
        Degrees do not increase.
    variance : float
        Predicted, in the mean over pairs of rows.
    """

    exact_degree: int
    linear_amplitude: float
    degrees: np.ndarray
    amplitudes: np.ndarray
    variance: float


def published_degrees(
    coefficients: np.ndarray, variances: np.ndarray, width: int, rng: np.random.Generator
) -> DegreePlan:
    """Every column draws its degree n with probability 2^(-n-1), also those that the series does not have (Kar and Karnick)."""
    n = np.arange(coefficients.size)
    probabilities = 0.5 ** (n + 1.0)
    drawn = np.searchsorted(np.cumsum(probabilities), rng.random(width), side="right")
    weights = np.append(np.abs(coefficients) / probabilities, 0.0) / width  # the last one: degrees beyond the series
    moment = float(np.sum(coefficients**2 * (variances + 1.0) / probabilities))
    degrees = np.where(weights[drawn] > 0.0, drawn, 0)
    order = np.argsort(-degrees, kind="stable")
    return DegreePlan(-1, 0.0, degrees[order], np.sqrt(weights[drawn][order]), moment / width)


def plan_degrees(
    coefficients: np.ndarray, variances: np.ndarray, width: int, dim: int, rng: np.random.Generator
) -> DegreePlan:
    """The split of least variance, with as many exact degrees as lower it."""
    # those of very long rows overflow before the features themselves do; the terms of high degree get all columns then
    variances = np.where(variances < _LARGEST, variances, _LARGEST)
    constant, linear = bool(coefficients[0]), coefficients.size > 1 and bool(coefficients[1])
    least = constant + (dim if linear else 0) + bool(coefficients[2:].any())
    options = [option for option, needed in ((-1, 1), (0, constant + 1), (1, least)) if width >= needed]
    return min(
        (_plan(coefficients, variances, width, dim, one, rng) for one in options), key=lambda plan: plan.variance
    )


def _plan(
    coefficients: np.ndarray, variances: np.ndarray, width: int, dim: int, exact: int, rng: np.random.Generator
) -> DegreePlan:
    n = np.arange(coefficients.size)
    linear = exact == 1 and coefficients.size > 1 and coefficients[1] != 0.0
    constant = exact >= 0 and coefficients[0] != 0.0
    left = width - (dim if linear else 0) - constant
    terms = n[(coefficients != 0.0) & (n > exact)]
    degrees = [np.zeros(int(constant), dtype=int)]
    weights = [np.full(int(constant), abs(coefficients[0]))]
    variance = 0.0
    if terms.size:
        size, spread = np.abs(coefficients[terms]), np.sqrt(variances[terms])
        share = size * np.maximum(spread, _LEAST_SPREAD * spread.max()) if spread.any() else size
        drawn, weight, variance = _apportioned(terms, size, variances[terms], share, left, rng)
        degrees.append(drawn)
        weights.append(weight)
    else:  # all terms are exact: the columns that are left stay empty
        degrees.append(np.zeros(left, dtype=int))
        weights.append(np.zeros(left))
    all_degrees, all_weights = np.concatenate(degrees), np.concatenate(weights)
    order = np.argsort(-all_degrees, kind="stable")
    amplitude = math.sqrt(abs(coefficients[1])) if linear else 0.0
    return DegreePlan(
        1 if linear else min(exact, 0), amplitude, all_degrees[order], np.sqrt(all_weights[order]), variance
    )


def _sampled(
    terms: np.ndarray, size: np.ndarray, variances: np.ndarray, share: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    """Every column draws its degree; the second moment of one draw is that of a mixture (bounded at u = 1)."""
    probabilities = share / share.sum()
    which = rng.choice(terms.size, size=count, p=probabilities)
    weight = size / (count * probabilities)
    moment = float(np.sum(size**2 * (variances + 1.0) / probabilities))
    return terms[which], weight[which], (moment - float(size.sum()) ** 2 if terms.size > 1 else moment) / count


def _apportioned(
    terms: np.ndarray, size: np.ndarray, variances: np.ndarray, share: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    """Whole numbers of columns for terms worth one or more; the others share a pool and are drawn from it."""
    quota = share / share.sum() * count
    pool = quota < 1.0
    if np.count_nonzero(pool) <= 1 or not quota[pool].sum():
        pool[:] = False
    pooled = min(max(1, round(quota[pool].sum())), count - np.count_nonzero(~pool)) if pool.any() else 0
    counts = _round_to_sum(quota[~pool], count - pooled)
    if (pool.any() and pooled < 1) or (counts.size and counts.min() < 1):  # fewer columns than terms: draw all of them
        return _sampled(terms, size, variances, share, count, rng)
    degrees, weights = np.repeat(terms[~pool], counts), np.repeat(size[~pool] / counts, counts)
    variance = float(np.sum(size[~pool] ** 2 * variances[~pool] / counts))
    if pooled:
        drawn, weight, extra = _sampled(terms[pool], size[pool], variances[pool], share[pool], pooled, rng)
        degrees, weights, variance = np.append(degrees, drawn), np.append(weights, weight), variance + extra
    return degrees, weights, variance


def _round_to_sum(quota: np.ndarray, total: int) -> np.ndarray:
    """Whole numbers near the quotas, at least 1 each where possible, that add up to the total."""
    counts = np.maximum(np.floor(quota), 1.0).astype(int)
    while counts.sum() > total and counts.size:
        counts[np.argmax(counts - quota)] -= 1
    while counts.sum() < total and counts.size:
        counts[np.argmax(quota / counts)] += 1
    return np.asarray(counts)
