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
        if len(values) > _MOST_DEGREE + 1:
            raise ValueError(
                f"a head has degree {_MOST_DEGREE} in z² at most, got {len(values) - 1}; products of higher order are too "
                "many columns"
            )
        object.__setattr__(self, "coefficients", values)

    @classmethod
    def of_unit(cls, coefficients: Iterable[float], radius: float) -> Head:
        """The head of a polynomial in z/R; what is below rounding is left out, so that no R is too small.

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
        some = np.flatnonzero(values)
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            powers = np.float64(radius) ** (2 * some)
            values[some] /= powers
        if not (np.isfinite(powers).all() and np.isfinite(values).all()):
            raise ValueError(
                f"a head of degree {values.size - 1} on distances up to {radius:.3g} has coefficients beyond floating point "
                "numbers; scale the data"
            )
        return cls(tuple(values.tolist()))

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

    def columns(self, dim: int, *, sphere: bool) -> int:
        """Number of feature columns that reproduce the head exactly.

        Parameters
        ----------
        dim : int
        sphere : bool
            Whether rows are unit vectors.

        Returns
        -------
        int
        """
        return head_columns(self.degree, dim, sphere=sphere)

    def __add__(self, other: Head) -> Head:
        a, b = self.coefficients, other.coefficients
        size = max(len(a), len(b))
        padded = [x + (0.0,) * (size - len(x)) for x in (a, b)]
        return Head(tuple(x + y for x, y in zip(*padded, strict=True)))

    def scaled(self, factor: float) -> Head:
        """The polynomial times a factor.

        Parameters
        ----------
        factor : float

        Returns
        -------
        Head
        """
        return Head(tuple(factor * c for c in self.coefficients))


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
    if degree > _MOST_DEGREE:
        raise ValueError(
            f"a head has degree {_MOST_DEGREE} in z² at most, got {degree}; products of higher order are too many columns"
        )
    if degree < 0:
        return 0
    if degree == 0:
        return 1
    products = dim * (dim + 1) // 2
    if degree == 1:
        return dim + (1 if sphere else 2)
    return 1 + dim + products if sphere else 3 + 2 * dim + products
