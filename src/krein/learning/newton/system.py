"""Newton systems of many problems on the same rows: conjugate gradients, and factorizations where they stall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from krein.learning.newton.rows import Moments, Point
from krein.learning.solve import symmetric_eigen

__all__ = ["Preconditioner", "newton_steps", "preconditioner"]

_FORCING = 0.2  # how much of the gradient a step may leave; 0.1 and 0.05 take as long, 0.5 longer
# Times the root of the gradient's share of that at zero, where it is less: else rows of a large cost leave the hinge and come back
# for ever. 1 takes twice as many products at the usual tolerance, 10 leaves the rows where they are.
_ROOT = 3.0
# Columns squared per row up to which the eigenvectors of all rows pay: they cost 1e-10 D³ s and save 40 products of 2e-9 n D s.
_SPECTRAL = 500
_PATIENCE = 5  # iterations at the least, before a factorization
_LAST = 4  # times that patience for a softmax with factorized blocks, which is all that can be done
_NOTHING = 1e-12  # share of the largest curvature below which there is none

Solve = Callable[[np.ndarray, np.ndarray], np.ndarray]  # right-hand sides, and which problems they are of


@dataclass(frozen=True, eq=False)
class Preconditioner:
    r"""The Hessian as it were if every row had the mean curvature: :math:`P + G \otimes A`.

    P is the penalty, G the mean of z̃ z̃ᵀ, A the sum of the second derivatives of a problem by its values. At the start all
    rows have the same curvature and one iteration is enough; later it takes what the curvature does to columns that differ in
    size by orders of magnitude, and their correlations, out of the problem.

    Parameters
    ----------
    penalty : ndarray of shape (n_components + 1,)
        Diagonal of P: ones, but for an intercept that is free.
    values : ndarray of shape (n_components + 1,)
    vectors : ndarray of shape (n_components + 1, n_components + 1) or None
        Eigenpairs of G; None takes the diagonal of G instead.
    weight : float
        Of all rows.
    n_rows : int
    """

    penalty: np.ndarray
    values: np.ndarray
    vectors: np.ndarray | None
    weight: float
    n_rows: int

    def at(self, point: Point) -> Solve:
        """Its inverse, for the curvature at a point."""
        spread, turn = np.linalg.eigh(point.summed)
        size = point.problems.loss.size
        stretch = self.penalty[:, None, None] + self.values[:, None, None] * np.maximum(spread, 0.0)
        # a free intercept of a softmax: adding the same to all classes changes nothing
        nothing = stretch <= _NOTHING * stretch.max(axis=(0, 2), keepdims=True)
        shrink = np.where(nothing, 0.0, 1.0 / np.where(nothing, 1.0, stretch)).astype(point.gradient.dtype)
        turn = turn.astype(point.gradient.dtype)

        def solve(right: np.ndarray, problems: np.ndarray) -> np.ndarray:
            inside = right if self.vectors is None else self.vectors.T @ right
            if size == 1:
                inside = inside * shrink[:, problems, 0]
            else:
                turned = np.matmul(inside.reshape(-1, problems.size, size).swapaxes(0, 1), turn[problems])
                turned *= shrink[:, problems].swapaxes(0, 1)
                inside = np.matmul(turned, turn[problems].swapaxes(1, 2)).swapaxes(0, 1).reshape(right.shape)
            return inside if self.vectors is None else np.asarray(self.vectors @ inside)

        return solve


def preconditioner(moments: Moments, *, free_intercept: bool, dtype: np.dtype[np.floating]) -> Preconditioner:
    """From the eigenvectors of all rows where they are worth their price, and else from the diagonal."""
    gram, weight = moments.gram, float(moments.class_weight.sum())
    width = gram.shape[0] - 1
    penalty = np.ones(width + 1)
    if free_intercept:
        penalty[-1] = 0.0
    if width**2 > _SPECTRAL * moments.n_rows:
        return Preconditioner(penalty, np.diagonal(gram).copy(), None, weight, moments.n_rows)
    inner = gram[:-1, :-1] if free_intercept else gram
    found, basis = symmetric_eigen(inner)
    if not free_intercept:
        return Preconditioner(penalty, np.maximum(found, 0.0), basis.astype(dtype), weight, moments.n_rows)
    vectors = np.zeros_like(gram)
    vectors[:-1, :-1] = basis
    vectors[-1, -1] = 1.0
    values = np.append(np.maximum(found, 0.0), gram[-1, -1])
    return Preconditioner(penalty, values, vectors.astype(dtype), weight, moments.n_rows)


def newton_steps(
    point: Point, before: Preconditioner, gradient: np.ndarray, some: np.ndarray, share: np.ndarray
) -> np.ndarray:
    """Solve (P + Hessian of the losses) s = −gradient for some problems of a point, with their share of the gradient at zero."""
    patience = max(_PATIENCE, _price(point, before, some))
    left = np.minimum(_FORCING, _ROOT * np.sqrt(share))
    steps, places = _conjugate_gradients(point, before.penalty, before.at(point), -gradient, some, left, patience)
    if places.size:
        unsolved, columns = some[places], point.problems.columns(places)
        solve = _by_blocks(point, before.penalty, unsolved)
        if point.problems.loss.size == 1:  # its own block is all of its Hessian
            steps[:, columns] = solve(-gradient[:, columns], unsolved)
        else:
            steps[:, columns] = _conjugate_gradients(
                point, before.penalty, solve, -gradient[:, columns], unsolved, left[places], _LAST * patience
            )[0]
    return steps


def _price(point: Point, before: Preconditioner, some: np.ndarray) -> int:
    """What a factorization costs, in iterations of conjugate gradients.

    It looks at the rows that have curvature, counted by weight, and is of their number or that of the columns.
    """
    width, flat = before.penalty.size, point.problems.loss.flat_curvature
    share = 1.0
    if flat is not None:
        share = float((point.summed[some, 0, 0] / (flat * before.weight * point.problems.strength[some])).mean())
    return int(0.5 * share * min(share * before.n_rows, width))


def _by_blocks(point: Point, penalty: np.ndarray, unsolved: np.ndarray) -> Solve:
    """The inverse of the Hessian without what is between different functions of a problem."""
    size = point.problems.loss.size
    inverses = point.solvers(point.problems.columns(unsolved), penalty)

    def solve(right: np.ndarray, problems: np.ndarray) -> np.ndarray:
        where = (np.searchsorted(unsolved, problems)[:, None] * size + np.arange(size)).ravel()
        parts = [inverses[i](right[:, j].astype(np.float64)) for j, i in enumerate(where)]
        return np.stack(parts, axis=1).astype(right.dtype)

    return solve


def _conjugate_gradients(
    point: Point,
    penalty: np.ndarray,
    solve: Solve,
    right: np.ndarray,
    problems: np.ndarray,
    left: np.ndarray,
    patience: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Steps, and the places of the problems whose residual is not this share of the gradient after `patience` iterations."""
    size = point.problems.loss.size
    penalty = penalty[:, None].astype(right.dtype)
    solution, residual = np.zeros_like(right), right.copy()
    active = np.arange(problems.size)  # places in `problems`
    columns = point.problems.columns(active)
    direction = solve(residual, problems)
    rho = _products(residual, direction, size)
    goal = left**2 * rho
    for _ in range(patience):
        d = direction[:, columns]
        product = penalty * d + point.product(d, problems[active])
        alpha = np.repeat(_ratios(rho[active], _products(d, product, size)), size)
        solution[:, columns] += alpha * d
        residual[:, columns] -= alpha * product
        scaled = solve(residual[:, columns], problems[active])
        new = _products(residual[:, columns], scaled, size)
        direction[:, columns] = scaled + np.repeat(_ratios(new, rho[active]), size) * d
        rho[active] = new
        active = active[new > goal[active]]
        columns = point.problems.columns(active)
        if not active.size:
            break
    return solution, active


def _ratios(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Quotients; zero, no step, along directions without curvature (a shift of all intercepts, which changes no chance)."""
    return np.asarray(np.divide(above, below, out=np.zeros_like(above), where=below > 0.0))


def _products(left: np.ndarray, right: np.ndarray, size: int) -> np.ndarray:
    """Inner products, one for each problem."""
    each: np.ndarray = np.einsum("ij,ij->j", left, right)
    return each if size == 1 else each.reshape(-1, size).sum(axis=1)
