"""Kreĭn ridge in the dual, exactly, from the spectrum of the kernel matrix: O(n³), for a few thousand rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krein.learning.dense import symmetric_eigen
from krein.learning.path import Regularizer
from krein.learning.row_sample import row_keys

__all__ = ["DualProblem", "dual_problem", "fold_scores"]


@dataclass(frozen=True, eq=False)
class DualProblem:
    r"""Ridge in the dual: predictions :math:`k(x)^\top C\, V \mathrm{diag}(v + \mu)^{-1} V^\top y + b`.

    Parameters
    ----------
    carry : ndarray of shape (n_samples, n_samples) or None
        :math:`C`, which turns the given kernel into the one that is regularized; None for the identity.
    values : ndarray of shape (n_kept,)
    vectors : ndarray of shape (n_samples, n_kept)
        Eigenpairs :math:`v, V` of the regularized kernel matrix; with an intercept those of its restriction to vectors of
        mean zero, one fewer.
    """

    carry: np.ndarray | None
    values: np.ndarray
    vectors: np.ndarray

    def coefficients(self, y: np.ndarray, mu: float) -> np.ndarray:
        """Coefficients of the given kernel's columns.

        Parameters
        ----------
        y : ndarray of shape (n_samples, n_targets)
        mu : float

        Returns
        -------
        ndarray of shape (n_samples, n_targets)
        """
        alpha: np.ndarray = self.vectors @ ((self.vectors.T @ y) / (self.values + mu)[:, None])
        return alpha if self.carry is None else self.carry @ alpha

    def loo_scores(self, y: np.ndarray, mu: np.ndarray) -> np.ndarray:
        r"""Mean squared leave-one-out error for each μ; infinity where it cannot be told.

        The residual is :math:`\alpha_i / A_{ii}` with :math:`A = V \mathrm{diag}(v + \mu)^{-1} V^\top`, :math:`\alpha = A y`.

        Parameters
        ----------
        y : ndarray of shape (n_samples, n_targets)
        mu : ndarray of shape (n_mu,)

        Returns
        -------
        ndarray of shape (n_mu,)
        """
        rotated = self.vectors.T @ y
        squares = np.square(self.vectors)
        scores = np.full(mu.size, np.inf)
        for i, m in enumerate(mu):
            shrink = 1.0 / (self.values + m)
            diagonal = squares @ shrink
            # terms of both signs may cancel; with an error of 1e-15 of their sizes, this leaves three digits
            if (np.abs(diagonal) > 1e-12 * (squares @ np.abs(shrink))).all():
                residual = (self.vectors @ (shrink[:, None] * rotated)) / diagonal[:, None]
                scores[i] = float(np.square(residual).sum(axis=1).mean())
        return scores

    def clearance(self, mu: float) -> float:
        """How far μ keeps from a singular system, min |v + μ| / μ.

        Parameters
        ----------
        mu : float

        Returns
        -------
        float
        """
        return float(np.abs(self.values + mu).min(initial=np.inf) / mu)


def dual_problem(gram: np.ndarray, regularizer: Regularizer, ratio: float = 1.0, *, center: bool = True) -> DualProblem:
    r"""Factorize once for all λ.

    With :math:`K = U \Lambda U^\top`: ``"hilbert"`` works on :math:`|K| = U |\Lambda| U^\top`, ``"two"`` on
    :math:`U |\Lambda|\, \mathrm{diag}(1\ \text{or}\ 1/\text{ratio})\, U^\top`, and predictions go back to the given kernel
    by :math:`C = U \mathrm{diag}(1\ \text{or}\ {-1}/\text{ratio})\, U^\top`. ``"krein"`` takes K as it is.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples), symmetric
    regularizer : {"hilbert", "two", "krein"}
    ratio : float, default=1.0
        :math:`\lambda_-/\lambda_+` for ``"two"``.
    center : bool, default=True
        For a model with intercept: coefficients sum to zero, and so must the problem.

    Returns
    -------
    DualProblem
    """
    carry = None
    if regularizer != "krein":
        values, vectors = symmetric_eigen(gram)
        weight = np.where(values >= 0.0, 1.0, -1.0 / (ratio if regularizer == "two" else 1.0))
        carry = (vectors * weight) @ vectors.T
        gram = (vectors * (weight * values)) @ vectors.T
    if center:
        # a reflection that takes the constant vector to the first axis, which is then left out: subtracting means
        # instead would leave an eigenvalue that ought to be zero and is not
        n = gram.shape[0]
        u = np.full(n, 1.0 / np.sqrt(n))
        u[0] -= 1.0
        u /= np.linalg.norm(u) if n > 1 else 1.0
        gram = gram - 2.0 * np.multiply.outer(u, u @ gram)
        gram = (gram - 2.0 * np.multiply.outer(gram @ u, u))[1:, 1:]
    values, vectors = symmetric_eigen(0.5 * (gram + gram.T))
    if regularizer != "krein":
        values = np.maximum(values, 0.0)
    if center:
        vectors = np.concatenate([np.zeros((1, vectors.shape[1])), vectors])
        vectors -= 2.0 * np.multiply.outer(u, u @ vectors)
    return DualProblem(carry, values, vectors)


def fold_scores(
    gram: np.ndarray,
    y: np.ndarray,
    lam: np.ndarray,
    regularizer: Regularizer,
    ratio: float = 1.0,
    *,
    center: bool = True,
    n_folds: int = 5,
) -> np.ndarray:
    """Mean squared error of each λ on held-out folds, the kernel decomposed anew without each fold.

    Leave-one-out in closed form would deceive here: :math:`|K|` of all rows has seen the row that is left out, and where
    the kernel has much negative mass the similarity of a row with itself in :math:`|K|` is nothing a new row has.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
    y : ndarray of shape (n_samples, n_targets)
    lam : ndarray of shape (n_lam,)
    regularizer : {"hilbert", "two", "krein"}
    ratio : float, default=1.0
    center : bool, default=True
        As in `dual_problem`.
    n_folds : int, default=5

    Returns
    -------
    ndarray of shape (n_lam,)
    """
    n = gram.shape[0]
    fold = np.argsort(row_keys(np.arange(n))) % min(n_folds, n)
    total = np.zeros(lam.size)
    for held in range(fold.max() + 1):
        inside, outside = np.flatnonzero(fold != held), np.flatnonzero(fold == held)
        if not inside.size:
            return np.full(lam.size, np.inf)
        K, cross = gram[np.ix_(inside, inside)], gram[np.ix_(outside, inside)]
        problem = dual_problem(K, regularizer, ratio, center=center)
        for i, value in enumerate(lam):
            dual = problem.coefficients(y[inside], inside.size * value)
            offset = (y[inside] - K @ dual).mean(axis=0) if center else 0.0
            total[i] += float(np.square(y[outside] - cross @ dual - offset).sum())
    total /= n
    return total
