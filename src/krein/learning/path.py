"""The ridge solution for every λ from one factorization: in features for three regularizers, and in the dual."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import LinAlgWarning

from krein._core.errors import SingularSystemError
from krein.learning.components import signed_components
from krein.learning.limits import MARGINS
from krein.learning.solve import symmetric_eigen

__all__ = ["DualProblem", "Regularizer", "RidgePath", "check_clearance", "clearance", "dual_problem", "ridge_path"]

Regularizer = Literal["hilbert", "two", "krein"]

_STEPS = 3  # refinement steps; each gains the digits the factorization has, which is five at λ = 1e-11


@dataclass(frozen=True, eq=False)
class RidgePath:
    r"""A factorization that inverts :math:`G + \mu R` for every :math:`\mu` at the price of two matrix products.

    .. math:: (G + \mu R)^{-1} c = L\, \mathrm{diag}\Big(\frac{1}{v + \mu}\Big) B^\top c,
              \qquad z^\top (G + \mu R)^{-1} z = \sum_j \frac{g_j}{v_j + \mu} (z^\top B)_j^2

    the second for z in the span of the rows that G was made of.

    Parameters
    ----------
    gram : ndarray of shape (n_components, n_components)
        G itself, kept for refinement.
    penalty : ndarray of shape (n_components,)
        The diagonal of R: 1, or the ratio of two regularizers, or the signature.
    values : ndarray of shape (rank,)
        :math:`v`: eigenvalues of the pencil (for Kreĭn those of the indefinite kernel matrix, of both signs).
    basis, lift : ndarray of shape (n_components, rank)
        :math:`B` and :math:`L`.
    gain : ndarray of shape (rank,)
        :math:`g`.
    energy : ndarray of shape (rank,)
        The diagonal of :math:`B^\top G B`.
    """

    gram: np.ndarray
    penalty: np.ndarray
    values: np.ndarray
    basis: np.ndarray
    lift: np.ndarray
    gain: np.ndarray
    energy: np.ndarray

    def coefficients(self, cross: np.ndarray, mu: float) -> np.ndarray:
        """(G + μR)⁻¹ cross, refined."""
        shrink = (1.0 / (self.values + mu))[:, None]
        solution: np.ndarray = self.lift @ (shrink * (self.basis.T @ cross))
        size = math.inf
        for _ in range(_STEPS):
            residual = cross - self.gram @ solution - mu * self.penalty[:, None] * solution
            step = self.lift @ (shrink * (self.basis.T @ residual))
            if not float(np.linalg.norm(step)) < 0.5 * size:  # rounding is all that is left
                break
            size = float(np.linalg.norm(step))
            solution = solution + step
        return solution

    def degrees_of_freedom(self, mu: np.ndarray) -> np.ndarray:
        """Trace of the hat matrix for each μ, without the intercept."""
        freedom: np.ndarray = (self.gain * self.energy / (self.values + np.atleast_1d(mu)[:, None])).sum(axis=1)
        return freedom

    def clearance(self, mu: float) -> float:
        """How far μ keeps from the nearest singular system, see `clearance`."""
        return clearance(self.values, mu)

    def clear_of_singularity(self, mu: float, wanted: float = 0.1) -> float:
        """The μ nearest to the given one, on a logarithmic scale, whose clearance is large enough."""
        for step in range(1, 4000):
            for candidate in (mu * math.exp(0.02 * step), mu * math.exp(-0.02 * step)):
                if self.clearance(candidate) >= wanted:
                    return candidate
        return mu + 2.0 * float(np.abs(self.values).max(initial=0.0))  # beyond every eigenvalue the system is definite


def clearance(values: np.ndarray, mu: float) -> float:
    """How far μ keeps from the nearest singular system, min |v + μ| / μ; at least 1 if no eigenvalue is negative."""
    return float(np.abs(values + mu).min(initial=math.inf) / mu)


def check_clearance(values: np.ndarray, mu: float, where: str, way_out: str) -> None:
    """Refuse, or warn of, a Kreĭn system that is singular or nearly so."""
    found = clearance(values, mu)
    text = f"singular {where}: an eigenvalue of the kernel matrix equals -n*lam to a relative {found:.1e}; {way_out}"
    if found < MARGINS.singular:
        raise SingularSystemError(f"the Kreĭn system is {text}")
    if found < MARGINS.nearly_singular:
        warnings.warn(f"the Kreĭn system is nearly {text}", LinAlgWarning, stacklevel=2)


def ridge_path(gram: np.ndarray, signature: np.ndarray, regularizer: Regularizer, ratio: float = 1.0) -> RidgePath:
    r"""Factorize for all :math:`\mu`.

    Notes
    -----
    ``"hilbert"``: one eigendecomposition of G. ``"two"``: one of :math:`R^{-1/2} G R^{-1/2}`, so one per ratio.
    ``"krein"``: :math:`G + \mu J` is indefinite, but as G is not, the pencil (G, J) still has real eigenvalues, those of
    :math:`Z J Z^\top`; two eigendecompositions of size :math:`D` give them (`signed_components`), for all :math:`\mu`.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import ridge_path
    >>> Z = np.random.default_rng(0).normal(size=(9, 4))
    >>> J = np.array([1.0, 1.0, -1.0, 1.0])
    >>> path = ridge_path(Z.T @ Z, J, "krein")
    >>> w = path.coefficients(Z.T @ np.ones((9, 1)), mu=0.5)
    >>> dual = J[:, None] * Z.T @ np.linalg.solve((Z * J) @ Z.T + 0.5 * np.eye(9), np.ones((9, 1)))
    >>> bool(np.allclose(w, dual))
    True
    """
    if regularizer == "krein":
        signed = signed_components(gram, signature)
        ones = np.ones_like(signed.values)
        return RidgePath(
            gram,
            signature.astype(np.float64),
            signed.values,
            signed.basis,
            signed.lift,
            gain=signed.values,
            energy=ones,
        )
    penalty = np.where(signature > 0, 1.0, ratio if regularizer == "two" else 1.0)
    scale = 1.0 / np.sqrt(penalty)
    values, vectors = symmetric_eigen(gram * np.multiply.outer(scale, scale))
    values = np.maximum(values, 0.0)  # G has none below zero but by rounding, and 1/(v + μ) must not see those
    basis = vectors * scale[:, None]
    return RidgePath(gram, penalty, values, basis, basis, gain=np.ones_like(values), energy=values)


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
