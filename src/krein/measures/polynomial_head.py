r"""The polynomial part of a measure: :math:`\sum_q c_q z^{2q}`, a distribution at ω = 0 that costs no randomness."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.checks import real

__all__ = ["Head", "NO_HEAD", "head_columns"]

_MOST_DEGREE = 2  # in z²: degree 3 takes O(d³) columns
_ROUNDING = 4e-16  # of the largest coefficient in units of R: below, a term does not change k


def _check_degree(degree: int) -> None:
    if degree > _MOST_DEGREE:
        raise ValueError(
            f"a head has degree {_MOST_DEGREE} in z² at most, got {degree}; products of higher order are too many columns"
        )


@final
@dataclass(frozen=True)
class Head:
    r"""Coefficients :math:`c_0, c_1, …` of the polynomial in :math:`z^2`; no coefficients, no head.

    Parameters
    ----------
    coefficients : tuple of float
    """

    coefficients: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        values = tuple(real(float(c), "coefficients") for c in self.coefficients)
        _check_degree(len(values) - 1)
        object.__setattr__(self, "coefficients", values)

    @classmethod
    def of_unit(cls, coefficients: Iterable[float], radius: float) -> Head:
        """The head of a polynomial in z/R; what is below rounding is left out.

        Parameters
        ----------
        coefficients : iterable of float
            Of (z/R)^{2q}.
        radius : float
            R.

        Returns
        -------
        Head
        """
        values = np.array([float(c) for c in coefficients])
        values[np.abs(values) <= _ROUNDING * np.abs(values).max(initial=0.0)] = 0.0
        return cls(tuple((values / np.float64(radius) ** (2 * np.arange(values.size))).tolist()))

    @property
    def degree(self) -> int:
        """Degree in z²; −1 without a head."""
        return len(self.coefficients) - 1

    def evaluate(self, z: Any) -> np.ndarray:
        """Σ c_q z^{2q}.

        Parameters
        ----------
        z : array of floats

        Returns
        -------
        ndarray of the shape of z
        """
        square = np.asarray(z, dtype=np.float64) ** 2
        total = np.zeros_like(square)
        for coefficient in reversed(self.coefficients):
            total = total * square + coefficient
        return total


NO_HEAD = Head()


def head_columns(degree: int, dim: int, *, sphere: bool) -> int:
    r"""Feature columns of a head.

    On the unit sphere :math:`z^2 = 2 - 2u`, so a polynomial of degree q in :math:`z^2` is one in :math:`u = x\cdot x'`: the
    constant, d linear columns, and d(d+1)/2 for the distinct products. Off the sphere :math:`c_0 + c_1z^2` needs two
    columns of opposite sign for :math:`\{1, \|x\|^2\}` beside the d linear ones, and degree 2 the span of
    :math:`\{1, \|x\|^2, \|x\|^4\}`, of :math:`\{x_i, x_i\|x\|^2\}` and of the products.

    Parameters
    ----------
    degree : {-1, 0, 1, 2}
        Degree in :math:`z^2`; −1 for no head.
    dim : int
    sphere : bool
        Whether rows are unit vectors.

    Returns
    -------
    int
    """
    _check_degree(degree)
    products = dim * (dim + 1) // 2
    counts = (0, 1, dim + 1, 1 + dim + products) if sphere else (0, 1, dim + 2, 3 + 2 * dim + products)
    return counts[degree + 1]
