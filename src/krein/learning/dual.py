"""Kreĭn ridge in the dual, exactly, from the spectrum of the kernel matrix: O(n³), for a few thousand rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krein.learning.dense import symmetric_eigen
from krein.learning.path import Regularizer
from krein.rows.sample import row_keys

__all__ = ["DualProblem", "dual_problem", "fold_scores"]


@dataclass(frozen=True, eq=False)
class DualProblem:
    r"""Ridge in the dual: predictions :math:`k(x)^\top S C\, V \mathrm{diag}(v + \mu)^{-1} V^\top S y + b`.

    Parameters
    ----------
    root : ndarray of shape (n_samples, 1)
        The diagonal of :math:`S`: square roots of the weights of the rows.
    carry : ndarray of shape (n_samples, n_samples) or None
        :math:`C`, which turns the given kernel into the one that is regularized; None for the identity.
    values : ndarray of shape (n_kept,)
    vectors : ndarray of shape (n_samples, n_kept)
        Eigenpairs :math:`v, V` of the regularized kernel matrix; with an intercept those of its restriction to vectors of
        mean zero, one fewer.
    """

    root: np.ndarray
    carry: np.ndarray | None
    values: np.ndarray
    vectors: np.ndarray

    def coefficients(self, y: np.ndarray, mu: float) -> np.ndarray:
        """Coefficients of the given kernel's columns."""
        alpha: np.ndarray = self.vectors @ ((self.vectors.T @ (self.root * y)) / (self.values + mu)[:, None])
        alpha = alpha if self.carry is None else self.carry @ alpha
        return np.asarray(self.root * alpha)

    def loo_scores(
        self, y: np.ndarray, mu: np.ndarray, left_out: np.ndarray | None = None, scatter: np.ndarray | None = None
    ) -> np.ndarray:
        r"""Mean squared leave-one-out error for each μ; infinity where it cannot be computed.

        With :math:`A = V \mathrm{diag}(v + \mu)^{-1} V^\top` and :math:`\beta = A S y` the residual of row i is
        :math:`\mu \beta_i / s_i`, its leverage :math:`1 - \mu A_{ii}`, and its residual after taking away the weight
        :math:`c_i` is :math:`\mu \beta_i / s_i` over :math:`1 - (c_i / s_i^2)(1 - \mu A_{ii})`; for the whole row
        that is :math:`\beta_i / (s_i A_{ii})`.
        """
        weight = np.square(self.root[:, 0])
        share = np.ones(weight.size) if left_out is None else left_out / weight
        scatter = np.zeros(weight.size) if scatter is None else scatter
        rotated = self.vectors.T @ (self.root * y)
        squares = np.square(self.vectors)
        shrinks = 1.0 / (self.values[:, None] + mu)
        diagonals, sizes = squares @ shrinks, squares @ np.abs(shrinks)
        scores = np.full(mu.size, np.inf)
        for i, m in enumerate(mu):
            # terms of both signs may cancel; with an error of 1e-15 of their sizes, this leaves three digits
            if (np.abs(diagonals[:, i]) > 1e-12 * sizes[:, i]).all():
                residual = m * (self.vectors @ (shrinks[:, i, None] * rotated))
                free = (1.0 - share) + share * (m * diagonals[:, i])
                squared = (np.square(residual).sum(axis=1) + scatter) / np.square(free)
                scores[i] = float(squared.sum() / weight.sum())
        return scores

    def clearance(self, mu: float) -> float:
        """How far μ keeps from a singular system, min |v + μ| / μ."""
        return float(np.abs(self.values + mu).min(initial=np.inf) / mu)


def dual_problem(
    gram: np.ndarray,
    regularizer: Regularizer,
    ratio: float = 1.0,
    *,
    center: bool = True,
    weight: np.ndarray | None = None,
) -> DualProblem:
    r"""Factorize once for all λ.

    With :math:`K = U \Lambda U^\top`: ``"hilbert"`` works on :math:`|K| = U |\Lambda| U^\top`, ``"two"`` on
    :math:`U |\Lambda|\, \mathrm{diag}(1\ \text{or}\ 1/\text{ratio})\, U^\top`, and predictions go back to the given kernel
    by :math:`C = U \mathrm{diag}(1\ \text{or}\ {-1}/\text{ratio})\, U^\top`. ``"krein"`` takes K as it is.
    """
    carry = None
    root = np.ones(gram.shape[0]) if weight is None else np.sqrt(weight)
    if weight is not None:
        gram = gram * np.multiply.outer(root, root)
    if regularizer != "krein":
        values, vectors = symmetric_eigen(gram)
        weight = np.where(values >= 0.0, 1.0, -1.0 / (ratio if regularizer == "two" else 1.0))
        carry = (vectors * weight) @ vectors.T
        gram = (vectors * (weight * values)) @ vectors.T
    if center:
        # a reflection that takes the (weighted) constant vector to the first axis, which is then left out: subtracting
        # means instead would leave an eigenvalue that ought to be zero and is not
        u = root / np.linalg.norm(root)
        u[0] = -float(u[1:] @ u[1:]) / (1.0 + u[0])  # the first entry less 1, without cancellation
        u /= max(float(np.linalg.norm(u)), np.finfo(np.float64).tiny)
        gram = gram - 2.0 * np.multiply.outer(u, u @ gram)
        gram = (gram - 2.0 * np.multiply.outer(gram @ u, u))[1:, 1:]
    values, vectors = symmetric_eigen(0.5 * (gram + gram.T))
    if regularizer != "krein":
        values = np.maximum(values, 0.0)
    if center:
        vectors = np.concatenate([np.zeros((1, vectors.shape[1])), vectors])
        vectors -= 2.0 * np.multiply.outer(u, u @ vectors)
    return DualProblem(root[:, None], carry, values, vectors)


def fold_scores(
    gram: np.ndarray,
    y: np.ndarray,
    lam: np.ndarray,
    regularizer: Regularizer,
    ratio: float = 1.0,
    *,
    center: bool = True,
    n_folds: int = 5,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Mean squared error of each λ on held-out folds; the kernel is decomposed again without each fold.

    Leave-one-out in closed form would be optimistic here: :math:`|K|` of all rows depends on the row that is left out, and where
    the kernel has much negative mass the similarity of a row with itself in :math:`|K|` is nothing a new row has.
    """
    n = gram.shape[0]
    weight = np.ones(n) if weight is None else weight
    fold = np.argsort(row_keys(np.arange(n))) % min(n_folds, n)
    total = np.zeros(lam.size)
    for held in range(fold.max() + 1):
        inside, outside = np.flatnonzero(fold != held), np.flatnonzero(fold == held)
        if not inside.size:
            return np.full(lam.size, np.inf)
        K, cross, w = gram[np.ix_(inside, inside)], gram[np.ix_(outside, inside)], weight[inside]
        problem = dual_problem(K, regularizer, ratio, center=center, weight=w)
        for i, value in enumerate(lam):
            dual = problem.coefficients(y[inside], float(w.sum()) * value)
            offset = w @ (y[inside] - K @ dual) / w.sum() if center else 0.0
            total[i] += float(weight[outside] @ np.square(y[outside] - cross @ dual - offset).sum(axis=1))
    total /= weight.sum()
    return total
