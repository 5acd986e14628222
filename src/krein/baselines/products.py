r"""Products of random projections: features of monomials of the inner product.

.. math:: \phi(x) = \prod_{j=1}^{n} \omega_j \cdot x, \qquad E[\phi(x)\,\phi(y)] = (x \cdot y)^n

for independent :math:`\omega_j` with :math:`E[\omega\omega^T] = I`. With signs for :math:`\omega` one such feature has
variance :math:`[\|x\|^2\|y\|^2 + 2(x\cdot y)^2 - 2\sum_i x_i^2 y_i^2]^n - (x \cdot y)^{2n}`. Signs are independent,
or rows of a randomly signed Hadamard matrix drawn without replacement, which have the same law and less variance
(Choromanski, Rowland and Weller, NeurIPS 2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from krein._core.directions import hadamard_entries, hadamard_order

__all__ = [
    "complex_products",
    "draw_complex_levels",
    "draw_levels",
    "draw_signs",
    "monomial_variances",
    "project",
    "real_products",
    "weigh_levels",
]


def draw_signs(dim: int, count: int, rng: np.random.Generator, *, hadamard: bool) -> np.ndarray:
    """Random signs whose columns are independent, or orthogonal within blocks.

    Examples
    --------
    >>> import numpy as np
    >>> signs = draw_signs(4, 4, np.random.default_rng(0), hadamard=True)
    >>> bool((signs.T @ signs == 4 * np.eye(4)).all())
    True
    """
    if not hadamard:
        return 1.0 - 2.0 * rng.integers(2, size=(dim, count))
    size = hadamard_order(dim)
    blocks = []
    for start in range(0, count, size):
        rows = rng.permutation(size)[: min(size, count - start)]
        flips = 1.0 - 2.0 * rng.integers(2, size=(dim, 1))
        blocks.append(flips * hadamard_entries(np.arange(dim)[:, None], rows))
    return np.hstack(blocks) if blocks else np.empty((dim, 0))


def draw_levels(
    dim: int, degrees: np.ndarray, rng: np.random.Generator, *, hadamard: bool, dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    """Projections of all features of the given degrees."""
    groups: list[list[np.ndarray]] = [[] for _ in range(int(degrees[0]) if degrees.size else 0)]
    for degree in np.unique(degrees)[::-1]:
        count = int(np.count_nonzero(degrees == degree))
        for level in range(int(degree)):
            groups[level].append(draw_signs(dim, count, rng, hadamard=hadamard))
    return tuple(np.hstack(group).astype(dtype) for group in groups)


def weigh_levels(levels: tuple[np.ndarray, ...], amplitudes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Levels with the amplitude of each feature folded into its first projection."""
    if not levels:
        return levels
    return (levels[0] * amplitudes[: levels[0].shape[1]].astype(levels[0].dtype), *levels[1:])


def real_products(X: Any, levels: tuple[np.ndarray, ...], amplitudes: np.ndarray, out: np.ndarray) -> None:
    """Features of some rows, from weighed levels; those of degree 0 are the amplitude itself."""
    complete = levels[0].shape[1] if levels else 0
    out[:, complete:] = amplitudes[complete:]
    if levels:
        project(X, levels[0], out[:, :complete])
    if len(levels) > 1:
        scratch = np.empty((out.shape[0], levels[1].shape[1]), dtype=out.dtype)
        for signs in levels[1:]:
            count = signs.shape[1]
            out[:, :count] *= project(X, signs, scratch[:, :count])


def project(X: Any, weights: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``X @ weights``, where one more row of weights than X has columns belongs to a constant coordinate of 1."""
    dim = X.shape[1]
    if issparse(X):
        out[:] = X @ weights[:dim]
    else:
        np.matmul(X, weights[:dim], out=out)
    if weights.shape[0] > dim:
        out += weights[dim]
    return out


def draw_complex_levels(
    dim: int, degree: int, count: int, rng: np.random.Generator, *, hadamard: bool, dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    r"""Projections with entries in :math:`\{\pm1, \pm i\}`, for features of one degree."""
    levels = []
    for _ in range(degree):
        signs = draw_signs(dim, count, rng, hadamard=hadamard)
        # One turn per coordinate keeps Hadamard columns orthogonal; independent columns may turn independently.
        turned = rng.integers(2, size=(dim, 1 if hadamard else count)).astype(bool)
        levels.append(np.hstack([np.where(turned, 0.0, signs), np.where(turned, signs, 0.0)]).astype(dtype))
    return tuple(levels)


def complex_products(X: Any, levels: tuple[np.ndarray, ...], amplitude: float, out: np.ndarray) -> None:
    """Real parts of complex products in the first half of ``out``, imaginary parts in the second.

    The real inner product of two rows is the real part of the complex one (Wacker, Ohana and Filippone 2022).
    """
    half = out.shape[1] // 2
    project(X, levels[0], out)
    out *= out.dtype.type(amplitude)
    real, imaginary = out[:, :half], out[:, half:]
    projected, turned, other = np.empty_like(out), np.empty_like(real), np.empty_like(real)
    for parts in levels[1:]:
        project(X, parts, projected)
        a, b = projected[:, :half], projected[:, half:]
        np.multiply(real, b, out=turned)
        np.multiply(imaginary, b, out=other)
        real *= a
        real -= other
        imaginary *= a
        imaginary += turned


def monomial_variances(X: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
    """Variance of one real product feature of degree 0, …, top and the inner products, over all pairs of rows."""
    pairs = np.triu_indices(X.shape[0], 1 if X.shape[0] > 1 else 0)
    squares = X * X
    inner, lengths = (X @ X.T)[pairs], squares.sum(axis=1)
    second = np.outer(lengths, lengths)[pairs] + 2.0 * (inner**2 - (squares @ squares.T)[pairs])
    powers = np.arange(top + 1)[:, None]
    return np.maximum(second**powers - inner ** (2 * powers), 0.0), inner
