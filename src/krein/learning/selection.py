"""How good each λ of a grid is: leave-one-out, generalized cross-validation, held-out rows."""

from __future__ import annotations

import math

import numpy as np

from krein._core.rows import row_blocks, rows_times
from krein._core.threads import share
from krein.learning.path import RidgePath
from krein.learning.sums import CenteredSums

__all__ = ["GRID", "default_grid", "gcv_scores", "held_out_scores", "loo_scores"]

GRID = np.geomspace(1e-13, 1e1, 29)  # λ in units of the size of the problem, two a decade
_TOGETHER = 128  # columns of fitted values formed at once: 10 MB for 10,000 rows
_BLOCK = 512  # rows turned at a time; the edges of blocks are the same for any number of threads
_LEAST_FREEDOM = 1e-6  # 1 − leverage below this has too few digits left to divide by


def default_grid(sums: CenteredSums, least: float = 0.0) -> np.ndarray:
    r"""λ from :math:`10^{-13}` to 10 times the mean square length of a (centered) feature row, two per decade.

    It reaches far down because the columns of a signed map differ much in size: those of the tail of a least-mass
    measure carry what distinguishes near rows, at :math:`10^{-4}` of the length of the head's.
    """
    scale = float(np.trace(sums.gram)) / sums.weight
    return GRID[least <= GRID] * (scale if scale > 0.0 else 1.0)


def loo_scores(
    path: RidgePath,
    sums: CenteredSums,
    mu: np.ndarray,
    Z: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    r"""Mean squared leave-one-out error for each μ, in closed form.

    .. math:: y_i - \hat y_i^{(-i)} = \frac{y_i - \hat y_i}{1 - h_i}, \qquad
              h_i = \frac{1}{W} + (z_i - \bar z)^\top (G + \mu R)^{-1} (z_i - \bar z)

    with μ held fixed when a row is left out. Rows given here may be a sample of those in the sums: their mean is then
    an unbiased estimate of the mean over all rows, at a cost that does not grow with n.
    """
    weight = np.ones(Z.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    left_out = np.minimum(weight, 1.0) if sums.counts else weight
    target = Y - sums.y_mean
    cross = path.basis.T @ sums.cross
    mu = np.atleast_1d(mu)
    shrink = path.gain / (path.values + mu[:, None])
    inside = np.empty((Z.shape[0], path.basis.shape[1]))
    leverage = np.empty((Z.shape[0], mu.size))

    def turn(rows: slice) -> None:  # what lies between stays in the cache
        np.matmul(np.subtract(Z[rows], sums.mean, dtype=np.float64), path.basis, out=inside[rows])
        np.matmul(np.square(inside[rows]), shrink.T, out=leverage[rows])

    share(turn, row_blocks(Z.shape[0], _BLOCK))
    scores = np.empty(mu.size)
    total = float(weight.sum())
    for some in row_blocks(mu.size, max(1, _TOGETHER // max(1, target.shape[1]))):
        # several λ in one product: a matrix with few columns keeps no processor busy
        solutions = shrink[some].T[:, :, None] * cross[:, None, :]
        several = solutions.shape[1:]  # λ and targets
        fitted = rows_times(inside, solutions.reshape(inside.shape[1], math.prod(several)))
        fitted = fitted.reshape(Z.shape[0], *several)
        for i in range(some.start, some.stop):
            free = 1.0 - left_out * (leverage[:, i] + (1.0 / sums.weight if sums.intercept else 0.0))
            # with Kreĭn regularization a leverage may pass 1 and even turn round: only its distance from 1 matters
            if np.abs(free).min() < _LEAST_FREEDOM:
                scores[i] = np.inf
                continue
            residual = (target - fitted[:, i - some.start]) / free[:, None]
            scores[i] = float(weight @ np.square(residual).sum(axis=1)) / total
    return scores


def gcv_scores(path: RidgePath, sums: CenteredSums, mu: np.ndarray) -> np.ndarray:
    r"""Generalized cross-validation :math:`\frac{\mathrm{RSS}/W}{(1 - \mathrm{tr} H / n)^2}` from the sums alone.

    Infinity where the fit has as many degrees of freedom as there are rows.
    """
    mu = np.atleast_1d(mu)
    shrink = path.gain / (path.values + mu[:, None])
    power = np.square(path.basis.T @ sums.cross).sum(axis=1)
    square = sums.square.sum()
    # a difference of nearly equal numbers where the fit is nearly perfect: below this it is rounding
    rss = np.maximum(square - (2.0 * shrink - shrink**2 * path.energy) @ power, 1e-12 * square)
    free = 1.0 - (path.degrees_of_freedom(mu) + float(sums.intercept)) / sums.effective_rows
    scores = np.full(mu.size, np.inf)
    known = free > _LEAST_FREEDOM
    scores[known] = rss[known] / sums.weight / free[known] ** 2
    return scores


def held_out_scores(coefficients: list[np.ndarray], trained: CenteredSums, held: CenteredSums) -> np.ndarray:
    """Mean squared error of each solution on held-out rows, from the sums of those rows alone."""
    scores = []
    for w in coefficients:
        offset = held.y_mean - trained.y_mean - (held.mean - trained.mean) @ w
        spread = held.square - 2.0 * np.einsum("ij,ij->j", w, held.cross) + np.einsum("ij,ij->j", w, held.gram @ w)
        # below zero by rounding only; a NaN, of squares beyond what a float can hold, stays one
        scores.append(max(float((spread / held.weight + offset**2).sum()), 0.0))
    return np.array(scores)
