"""Eigenpairs of the indefinite kernel matrix Z J Zᵀ from the small matrix ZᵀZ alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krein.learning.solve import symmetric_eigen

__all__ = ["PrincipalAxes", "SignedComponents", "leading_components", "principal_axes", "signed_components"]


@dataclass(frozen=True, eq=False)
class SignedComponents:
    r"""The non-zero part of :math:`Z J Z^\top = V \Theta V^\top`, held by maps from features to eigenvectors.

    Parameters
    ----------
    values : ndarray of shape (rank,)
        :math:`\Theta`, of both signs, sorted by absolute value, largest first.
    basis : ndarray of shape (n_components, rank)
        :math:`B` with :math:`Z B = V`.
    lift : ndarray of shape (n_components, rank)
        :math:`J Z^\top V`; on the rows of Z it acts as :math:`B \Theta`, off their span as the kernel does.
    """

    values: np.ndarray
    basis: np.ndarray
    lift: np.ndarray


def signed_components(gram: np.ndarray, signature: np.ndarray) -> SignedComponents:
    r"""Eigenpairs of :math:`Z J Z^\top` given :math:`G = Z^\top Z` and the signature.

    With :math:`G = Q \Sigma^2 Q^\top` the thin SVD is :math:`Z = P \Sigma Q^\top`, so

    .. math:: Z J Z^\top = P M P^\top, \qquad M = \Sigma Q^\top J Q \Sigma = U \Theta U^\top, \qquad V = P U .

    M is symmetric: its eigenvalues are real although :math:`J G` is not symmetric. Directions in which G is zero to
    rounding (:math:`\sigma^2 \le D\,\epsilon\,\sigma_1^2`) are left out: no row has anything there.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import signed_components
    >>> Z = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> signed_components(Z.T @ Z, np.array([1.0, -1.0])).values
    array([-4.,  1.])
    """
    sizes, directions = symmetric_eigen(gram)
    floor = gram.shape[0] * np.finfo(np.float64).eps * sizes[-1]
    kept = sizes > max(floor, 0.0)
    sigma, Q = np.sqrt(sizes[kept]), directions[:, kept]
    M = (Q.T * signature) @ Q * np.multiply.outer(sigma, sigma)
    values, U = symmetric_eigen(0.5 * (M + M.T))
    order = np.argsort(-np.abs(values), kind="stable")
    values, U = values[order], U[:, order]
    basis = (Q / sigma) @ U
    lift = signature[:, None] * ((Q * sigma) @ U)
    return SignedComponents(values, basis, lift)


def leading_components(gram: np.ndarray, signature: np.ndarray, n_components: int | None = None) -> SignedComponents:
    """The eigenpairs of largest absolute value, those at the size of rounding left out."""
    found = signed_components(gram, signature)
    size = np.abs(found.values)
    # what is left of a direction the rows do not span is noise divided by noise
    rank = int(np.count_nonzero(size > size.max(initial=0.0) * np.finfo(np.float64).eps * signature.shape[0]))
    kept = slice(rank if n_components is None else min(rank, int(n_components)))
    return SignedComponents(found.values[kept], found.basis[:, kept], found.lift[:, kept])


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    r"""Directions of features with a signature along which rows spread most.

    Parameters
    ----------
    values : ndarray of shape (n_kept,)
        Eigenvalues of the kernel matrix of the rows, the largest absolute value first.
    components : ndarray of shape (n_kept, n_features)
        Coordinates of a row are ``components @ z``; on the rows they are :math:`V |\Theta|^{1/2}`.
    """

    values: np.ndarray
    components: np.ndarray


def principal_axes(gram: np.ndarray, signature: np.ndarray, n_components: int | None = None) -> PrincipalAxes:
    """Principal axes in a Kreĭn space, each with a sign that does not depend on the solver."""
    found = leading_components(gram, signature, n_components)
    columns = found.lift * np.abs(found.values) ** -0.5
    largest = np.abs(columns).argmax(axis=0) if columns.size else np.empty(0, dtype=int)
    signs = np.where(columns[largest, np.arange(columns.shape[1])] < 0.0, -1.0, 1.0)
    return PrincipalAxes(found.values, np.ascontiguousarray((columns * signs * np.sign(found.values)).T))
