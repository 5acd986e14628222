r"""An infinite Gaussian mixture over frequencies, fitted to a matrix of kernel values.

.. math:: K_{ij} \approx m \sum_c \pi_c\, e^{-\delta^T \Sigma_c \delta / 2} \cos(\mu_c \cdot \delta), \qquad \delta = x_i - x_j
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from krein._core.checks import frozen_array, positive_real
from krein.baselines.fourier import systematic_choice
from krein.baselines.positive_mixture import nonnegative_weights

__all__ = ["FrequencyMixture", "fit_frequency_mixture"]

_POINTS = 384  # single frequencies and
_GAUSSIANS = 64  # isotropic Gaussian clouds of frequencies that compete for the weight of the matrix
_PAIRS = 4096  # entries of the matrix they are fitted to
_DRAWS = 2048  # frequencies, drawn by weight, that the mixture is fitted to
_ONE_POINT = 1e-100  # rows that are closer are one point to every kernel
_RADII = 0.05, 20.0  # of the candidates, in units of one per median distance and coordinate


@dataclass(frozen=True, eq=False)
class FrequencyMixture:
    """Gaussian components over frequencies, with diagonal covariances, and the total mass."""

    mass: float
    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    def __post_init__(self) -> None:
        positive_real(self.mass, "mass")
        object.__setattr__(self, "weights", frozen_array(self.weights, "weights", (None,)))
        object.__setattr__(self, "means", frozen_array(self.means, "means", (self.weights.size, None)))
        object.__setattr__(self, "variances", frozen_array(self.variances, "variances", self.means.shape))
        if not self.weights.size or self.weights.min() < 0.0 or self.variances.min(initial=0.0) < 0.0:
            raise ValueError("a mixture has at least one component, and no negative weight or variance")

    def evaluate(self, offsets: np.ndarray) -> np.ndarray:
        """The kernel that this mixture gives."""
        return self.mass * _kernel(offsets, self.weights, self.means, self.variances)

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw frequencies: components by systematic sampling, Gaussian within."""
        which = systematic_choice(self.weights, count, rng)
        noise = rng.standard_normal((count, self.means.shape[1]))
        return np.asarray(self.means[which] + np.sqrt(self.variances[which]) * noise)


def fit_frequency_mixture(
    X: np.ndarray, gram: np.ndarray, n_mixture: int, rng: np.random.Generator
) -> FrequencyMixture | None:
    """Fit a mixture to a positive semi-definite matrix over some rows; None if there is nothing to fit."""
    from sklearn.mixture import BayesianGaussianMixture  # late: it takes longer to import than everything else here

    n, dim = X.shape
    i, j = (index.ravel() for index in np.indices((n, n)))
    if i.size > _PAIRS:
        # The diagonal carries the mass: keep all of it, and as many other pairs as there is room for.
        others = rng.choice(i.size, size=_PAIRS, replace=False)
        i, j = np.append(i[others], np.arange(n)), np.append(j[others], np.arange(n))
    offsets, values = X[i] - X[j], gram[i, j]
    lengths = np.linalg.norm(offsets, axis=1)
    apart = lengths > _ONE_POINT
    typical = float(np.median(lengths[apart])) if apart.any() else 1.0
    low, high = (bound / typical for bound in _RADII)  # per coordinate
    scales = np.geomspace(low, high, _GAUSSIANS)
    directions = rng.standard_normal((_POINTS, dim))
    points = directions * np.exp(rng.uniform(np.log(low), np.log(high), size=(_POINTS, 1)))
    points[0] = 0.0
    atoms = np.hstack([np.exp(-0.5 * np.multiply.outer(lengths**2, scales**2)), np.cos(offsets @ points.T)])
    weights, _ = nonnegative_weights(atoms, values)
    if not weights.any():
        return None
    which = rng.choice(weights.size, size=_DRAWS, p=weights / weights.sum())
    clouds = scales[np.minimum(which, _GAUSSIANS - 1), None] * rng.standard_normal((_DRAWS, dim))
    drawn = np.where((which < _GAUSSIANS)[:, None], clouds, points[np.maximum(which - _GAUSSIANS, 0)])
    # cos is even, so each frequency stands for its negative too; one half keeps the components apart.
    drawn *= np.where(drawn @ directions[0] < 0, -1.0, 1.0)[:, None]
    mixture = BayesianGaussianMixture(
        n_components=n_mixture,
        covariance_type="diag",
        weight_concentration_prior_type="dirichlet_process",
        reg_covar=1e-6 * max(float(np.mean(drawn**2)), 1e-12),
        random_state=int(rng.integers(2**31)),
        max_iter=200,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an unfinished bound changes components by very little
        mixture.fit(drawn)
    shape = _kernel(offsets, mixture.weights_, mixture.means_, mixture.covariances_)
    mass = float(shape @ values) / max(float(shape @ shape), 1e-300)
    if mass <= 0.0:
        return None
    return FrequencyMixture(mass, mixture.weights_, mixture.means_, mixture.covariances_)


def _kernel(offsets: np.ndarray, weights: np.ndarray, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    return np.asarray((np.exp(-0.5 * offsets**2 @ variances.T) * np.cos(offsets @ means.T)) @ weights)
