r"""From distances to inner products: :math:`B = -\tfrac12 H D^2 H`, for training and for new objects."""

from __future__ import annotations

import numpy as np

from krein._core.rows import row_blocks

__all__ = ["centered_inner_products", "centered_rows", "square_means"]

_STRIPE = 256


def square_means(distances: np.ndarray) -> np.ndarray:
    """The mean squared distance of every object from all."""
    means = np.empty(distances.shape[0])
    for rows in row_blocks(distances.shape[0], _STRIPE):
        means[rows] = _squares(distances[rows]).mean(axis=1)
    return means


def _squares(distances: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        squares: np.ndarray = np.square(distances, dtype=np.float64)
    if np.isinf(squares).any():
        raise ValueError(
            f"a distance in X is {np.abs(distances).max():.3g}, whose square no float can hold; divide all distances by one number"
        )
    return squares


def centered_rows(distances: np.ndarray, means: np.ndarray) -> np.ndarray:
    r"""Inner products of objects with training objects, both centered at the training objects' mean.

    .. math:: b(x)_j = -\tfrac12 \bigl(d^2(x, x_j) - \bar d^2_j - \overline{d^2(x, \cdot)} + \bar d^2\bigr)
    """
    squares = _squares(distances)
    squares -= squares.mean(axis=1, keepdims=True) + (means - means.mean())
    squares *= -0.5
    return squares


def centered_inner_products(distances: np.ndarray) -> np.ndarray:
    r"""The matrix :math:`-\tfrac12 H D^2 H` of classical scaling, indefinite unless the distances are Euclidean.

    Examples
    --------
    >>> import numpy as np
    >>> centered_inner_products(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    products = centered_rows(distances, square_means(distances))
    return np.asarray(0.5 * (products + products.T))
