"""Kreĭn ridge in the dual from the spectrum of the kernel matrix: O(n³), for a few thousand rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krein.learning.path import Regularizer
from krein.learning.solve import symmetric_eigen

__all__ = ["DualProblem", "dual_problem"]


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
