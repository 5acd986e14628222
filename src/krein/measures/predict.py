"""The error of a random feature map, known before anything is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from krein.measures.signed import SignedMeasure

__all__ = ["frequencies_for_width", "mean_squared_error", "predicted_error"]


def frequencies_for_width(measure: SignedMeasure, n_components: int) -> int:
    """Frequencies that fit beside the head in n_components columns; each takes a cosine and a sine."""
    free = n_components - measure.head_columns()
    if free < 0 or (free < 2 and measure.mass > 0):
        least = measure.head_columns() + (2 if measure.mass > 0 else 0)
        raise ValueError(
            f"n_components must be at least {least}: {measure.head_columns()} columns for the head and two for a "
            f"frequency, got {n_components}; use {least} or more, or a smaller head_degree"
        )
    return free // 2


def predicted_error(measure: SignedMeasure, z: Any, n_components: int) -> np.ndarray:
    r"""Variance of the unbiased estimate at distances z, for independent frequencies.

    .. math:: \frac{1}{s}\Big[M \int \frac{1 + \Omega_d(2rz)}{2}\,|\rho|(dr) - \tau(z)^2\Big]

    with s the number of frequencies that fit in ``n_components`` columns beside the head, M the mass, and τ the value of the
    radial parts at z. The mean squared error is this plus the square of the bias.

    Parameters
    ----------
    measure : SignedMeasure
    z : array of distances
    n_components : int
        Output columns, head included.

    Returns
    -------
    ndarray of the shape of z
    """
    return _variance(measure, z, frequencies_for_width(measure, n_components))


def mean_squared_error(measure: SignedMeasure, z: np.ndarray, exact: np.ndarray, n_frequencies: int) -> float:
    """Predicted squared error averaged over z: variance plus the squared distance of the measure from the kernel."""
    bias = measure.evaluate(z) - exact
    return float(np.mean(_variance(measure, z, n_frequencies) + bias**2))


def _variance(measure: SignedMeasure, z: Any, n_frequencies: int) -> np.ndarray:
    z = np.asarray(z, dtype=np.float64)
    if measure.mass == 0.0:
        return np.zeros_like(z)
    second = measure.mass * (measure.mass + measure.majorant(2 * z)) / 2
    return np.maximum(second - measure.tail(z) ** 2, 0.0) / max(n_frequencies, 1)
