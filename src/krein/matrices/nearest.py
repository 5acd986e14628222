"""The nearest positive semidefinite matrix with a given diagonal, by Newton's method on its dual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from krein.nystroem.spectrum import SignedSpectrum, signed_spectrum

__all__ = ["NearestMatrix", "nearest_with_diagonal"]

_STEPS = 200  # of Newton; ten are usual
_HALVINGS = 30  # of one step, until the dual falls
_ARMIJO = 1e-4  # share of the predicted fall that a step must give
_INNER_STEPS = 200  # of conjugate gradients for one Newton direction
_INNER_TOL = 1e-2  # of the gradient: how well a Newton direction is solved for
_RIDGE = 1e-10  # of the largest eigenvalue: keeps the Newton system away from singular


@final
@dataclass(frozen=True, eq=False)
class NearestMatrix:
    r"""The solution :math:`(K + \mathrm{diag}(d))_+` in its parts.

    Parameters
    ----------
    added : ndarray of shape (n,)
        :math:`d`, what the constraint adds to each object's similarity with itself before the matrix is clipped.
    spectrum : SignedSpectrum
        Of :math:`K + \mathrm{diag}(d)`.
    gap : float
        Largest difference of a diagonal entry from the one asked for.
    """

    added: np.ndarray
    spectrum: SignedSpectrum
    gap: float


def nearest_with_diagonal(matrix: np.ndarray, diagonal: np.ndarray, tol: float = 1e-12) -> NearestMatrix:
    r"""The positive semidefinite matrix nearest to a symmetric one in Frobenius norm, among those with a given diagonal.

    Higham's problem [1]_. His alternating projections are gradient steps of length 1 on the dual

    .. math:: \min_d\ \tfrac12 \|(K + \mathrm{diag}(d))_+\|_F^2 - b^\top d,

    whose gradient is the diagonal of the clipped matrix less the one asked for; Newton's method [2]_ reaches the same point in
    a few eigendecompositions.

    References
    ----------
    .. [1] N. J. Higham. "Computing the nearest correlation matrix: a problem from finance". IMA J. Numer. Anal., 2002.
    .. [2] H. Qi and D. Sun. "A quadratically convergent Newton method for computing the nearest correlation matrix".
       SIAM J. Matrix Anal. Appl., 2006.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    >>> found = nearest_with_diagonal(K, np.ones(3))
    >>> found.spectrum.clipped().round(4)
    array([[1.    , 0.7607, 0.1573],
           [0.7607, 1.    , 0.7607],
           [0.1573, 0.7607, 1.    ]])
    """
    # A good start, and the answer where K has no others
    added = np.asarray(diagonal - np.diag(matrix), dtype=np.float64)
    value, gradient, spectrum = _dual(matrix, diagonal, added)
    for _ in range(_STEPS):
        if np.abs(gradient).max(initial=0.0) <= tol * diagonal.max(initial=0.0):
            break
        step = _newton_step(spectrum, gradient)
        slope = float(gradient @ step)
        size, moved = 1.0, False
        for _ in range(_HALVINGS):
            trial = _dual(matrix, diagonal, added + size * step)
            # near the solution the fall is below the rounding of the value, and the gradient decides
            if trial[0] <= value + _ARMIJO * size * slope or np.linalg.norm(trial[1]) < 0.5 * np.linalg.norm(gradient):
                moved = True
                break
            size *= 0.5
        if not moved:  # as near as rounding lets it come
            break
        added = added + size * step
        value, gradient, spectrum = trial
    return NearestMatrix(added, spectrum, float(np.abs(gradient).max(initial=0.0)))


def _dual(matrix: np.ndarray, diagonal: np.ndarray, added: np.ndarray) -> tuple[float, np.ndarray, SignedSpectrum]:
    """Value and gradient of the dual, and the spectrum they come from."""
    moved = matrix.astype(np.float64)
    moved[np.diag_indices_from(moved)] += added
    spectrum = signed_spectrum(moved)
    kept = np.maximum(spectrum.values, 0.0)
    gradient = np.square(spectrum.vectors) @ kept - diagonal
    return 0.5 * float(kept @ kept) - float(diagonal @ added), gradient, spectrum


def _newton_step(spectrum: SignedSpectrum, gradient: np.ndarray) -> np.ndarray:
    """Solve the generalized Hessian's system by conjugate gradients, with its diagonal as preconditioner."""
    values, U = spectrum.values, spectrum.vectors
    kept = np.maximum(values, 0.0)
    apart = np.subtract.outer(values, values)
    same = np.abs(apart) <= 1e-14 * np.abs(values).max(initial=0.0)
    slopes = np.where(same, (values > 0.0)[:, None], np.subtract.outer(kept, kept) / np.where(same, 1.0, apart))
    ridge = max(_RIDGE, min(0.1, float(np.linalg.norm(gradient))) * 1e-3)

    def hessian(h: np.ndarray) -> np.ndarray:
        inner = slopes * ((U.T * h) @ U)
        return np.asarray(np.einsum("ij,ij->i", U @ inner, U) + ridge * h)

    squares = np.square(U)
    scale = np.einsum("ij,ij->i", squares @ slopes, squares) + ridge
    shape = (values.size, values.size)
    x, _ = cg(
        LinearOperator(shape, hessian),
        -gradient,
        rtol=_INNER_TOL,
        maxiter=_INNER_STEPS,
        M=LinearOperator(shape, lambda h: h / scale),
    )
    return np.asarray(x)
