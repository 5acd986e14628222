r"""The spectrum of a matrix of similarities in a few numbers, exact for a few objects and by Lanczos for many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from krein.matrices.lanczos import block_lanczos
from krein.matrices.matrix_operator import SymmetricOperator
from krein.nystroem.spectrum import signed_spectrum

__all__ = ["MatrixSpectrum", "NoiseBand", "matrix_spectrum", "noise_band"]

EXACT_OBJECTS = 1500  # up to which all eigenvalues are computed
_ENTRY_ROUNDING = 4.0  # times sqrt(n) times the spacing of the entries: twice the band that their rounding would give
_SOLVER_ROUNDING = 20.0  # times the precision of float64 times the largest eigenvalue
_AXES = 2  # eigenvectors of each sign that are kept for a picture
_MEDIAN_OF_BAND = 0.404  # half of a semicircle's positive values lie below this fraction of its radius
_BEYOND = 1.25  # times the radius: values further out are none of the band


@final
@dataclass(frozen=True, eq=False)
class MatrixSpectrum:
    r"""Eigenvalues, or values that stand for several, and what follows from them.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Ascending.
    weights : ndarray of shape (m,)
        How many eigenvalues each stands for.
    exact : bool
        Whether these are all eigenvalues; otherwise the ends are exact and the rest is estimated.
    rounding : float
        Values smaller in absolute value are zero.
    trace, square_sum : float
        Sums of all eigenvalues and of their squares, exact.
    axis_values : ndarray of shape (n_axes,)
        The largest positive, then the most negative eigenvalues.
    axes : ndarray of shape (n_objects, n_axes)
        Their eigenvectors, scaled by the root of the value's size: pseudo-Euclidean coordinates.
    """

    values: np.ndarray
    weights: np.ndarray
    exact: bool
    rounding: float
    trace: float
    square_sum: float
    axis_values: np.ndarray
    axes: np.ndarray

    @property
    def signature(self) -> tuple[float, float, float]:
        """Numbers of positive, zero and negative eigenvalues; estimates unless exact."""
        up = float(self.weights[self.values > self.rounding].sum())
        down = float(self.weights[self.values < -self.rounding].sum())
        return up, float(self.weights.sum()) - up - down, down

    @property
    def negative_sum(self) -> float:
        """Sum of the sizes of negative eigenvalues."""
        negative = self.values < -self.rounding
        return float(np.abs(self.values[negative]) @ self.weights[negative])

    @property
    def negative_fraction(self) -> float:
        r"""Negative eigenfraction :math:`\sum |\lambda_-| / \sum |\lambda|`."""
        total = self.trace + 2.0 * self.negative_sum
        return self.negative_sum / total if total > 0.0 else 0.0

    @property
    def negative_magnitude(self) -> float:
        r"""Negative eigenvalue in units of the largest positive one, :math:`|\lambda_{\min}| / \lambda_{\max}`."""
        least, most = float(self.values[0]), float(self.values[-1])
        if least >= -self.rounding:
            return 0.0
        return -least / most if most > self.rounding else np.inf

    @property
    def effective_rank(self) -> float:
        r""":math:`(\sum |\lambda|)^2 / \sum \lambda^2`: the number of eigenvalues if all are of one size."""
        total = self.trace + 2.0 * self.negative_sum
        return total**2 / self.square_sum if self.square_sum > 0.0 else 0.0


@final
@dataclass(frozen=True)
class NoiseBand:
    r"""The band :math:`\pm 2 \epsilon \sqrt n` that independent noise of standard deviation ε in the entries would fill.

    Parameters
    ----------
    radius : float
    noise : float
        ε, per entry.
    given : bool
        Whether the user said how large the noise is; otherwise it is that of a semicircle with the median of the negative
        eigenvalues found.
    n_beyond : float
        Negative eigenvalues outside of the band.
    """

    radius: float
    noise: float
    given: bool
    n_beyond: float


def matrix_spectrum(
    operator: SymmetricOperator, largest: float, precision: float, rng: np.random.Generator
) -> MatrixSpectrum:
    """The spectrum of a matrix: all of it for a few objects, both ends and the density by Lanczos for many."""
    n = operator.n_objects
    exact = n <= EXACT_OBJECTS
    if exact:
        found = signed_spectrum(operator.dense())
        order = np.argsort(found.values, kind="stable")
        values, vectors, weights = found.values[order], found.vectors[:, order], np.ones(n)
        trace, square_sum = float(values.sum()), float(values @ values)
    else:
        ritz = block_lanczos(operator.apply, n, rng)
        values, vectors, weights = ritz.values, ritz.vectors, ritz.weights
        trace, square_sum = operator.sums()
    size = float(np.abs(values).max(initial=0.0))
    rounding = max(
        _ENTRY_ROUNDING * np.sqrt(n) * precision * largest, _SOLVER_ROUNDING * float(np.finfo(np.float64).eps) * size
    )
    positive = np.flatnonzero(values > rounding)[::-1][:_AXES]
    negative = np.flatnonzero(values < -rounding)[:_AXES]
    picked = np.concatenate([positive, negative])
    axes = vectors[:, picked] * np.sqrt(np.abs(values[picked]))
    return MatrixSpectrum(values, weights, exact, float(rounding), trace, square_sum, values[picked], axes)


def noise_band(spectrum: MatrixSpectrum, n_objects: int, noise: float | None = None) -> NoiseBand | None:
    r"""Where noise in the entries would put negative eigenvalues.

    A symmetric matrix of independent entries of standard deviation ε has eigenvalues within :math:`\pm 2\epsilon\sqrt n`,
    distributed as a semicircle.
    """
    negative = spectrum.values < -spectrum.rounding
    sizes, weights = -spectrum.values[negative], spectrum.weights[negative]
    if noise is None and not sizes.size:
        return None
    if noise is None:
        order = np.argsort(sizes)
        half = np.searchsorted(np.cumsum(weights[order]), 0.5 * weights.sum())
        radius = float(sizes[order][min(half, sizes.size - 1)]) / _MEDIAN_OF_BAND
    else:
        radius = 2.0 * noise * np.sqrt(n_objects)
    beyond = float(weights[sizes > _BEYOND * radius].sum())
    return NoiseBand(radius, radius / (2.0 * np.sqrt(n_objects)), noise is not None, beyond)
