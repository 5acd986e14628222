r"""The positive radial measure whose kernel is nearest to a given one.

.. math:: \min_{\rho \ge 0} \int_0^R \bigl(k(z) - \int \Omega_d(rz)\,\rho(dr)\bigr)^2 dz

is a convex problem once the radii (or the scales of Gaussians) are fixed on a fine grid: non-negative least squares finds its
global optimum, which has few atoms, without starts or step sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy import optimize

from krein.kernels import Kernel
from krein.measures.omega import omega

__all__ = ["Family", "PositiveMixture", "fit_positive_mixture"]

Family = Literal["radial", "gaussian"]

_POINTS = 256  # of the distance grid
_ATOMS = 384  # of the grid of radii
_RANGE = 1e-2, 60.0  # smallest and largest radius, in units of √d / R


@dataclass(frozen=True, eq=False)
class PositiveMixture:
    """A positive measure on radii: masses and the radii (or the scales of Gaussian frequencies) they sit at.

    Parameters
    ----------
    family : {"radial", "gaussian"}
        ``"radial"``: frequencies of length ``scales[i]``; ``"gaussian"``: frequencies N(0, ``scales[i]``² I).
    dim : int
    scales, masses : ndarray of shape (n_atoms,)
    error : float
        Root mean square difference from the kernel over the distances [0, R].
    """

    family: Family
    dim: int
    scales: np.ndarray
    masses: np.ndarray
    error: float

    @property
    def mass(self) -> float:
        return float(self.masses.sum())

    def evaluate(self, z: np.ndarray) -> np.ndarray:
        """The kernel that this measure gives."""
        return _atoms(np.asarray(z, dtype=np.float64), self.scales, self.dim, self.family) @ self.masses

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Frequencies of shape (count, dim): atoms by systematic sampling, directions independent."""
        places = (rng.permutation(count) + rng.random()) / max(count, 1) * self.mass
        which = np.minimum(np.searchsorted(np.cumsum(self.masses), places, side="right"), self.masses.size - 1)
        directions = rng.standard_normal((count, self.dim))
        if self.family == "radial":
            directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return directions * self.scales[which, None]


@lru_cache(maxsize=256)
def fit_positive_mixture(kernel: Kernel, dim: int, radius: float, family: Family) -> PositiveMixture:
    """The best positive measure for a kernel on distances up to ``radius``; fitted once per argument, then remembered.

    Examples
    --------
    >>> from krein.kernels import SphericalPolynomial
    >>> mixture = fit_positive_mixture(SphericalPolynomial(a=2, p=7), 16, 2.0, "radial")
    >>> mixture.error < 0.002
    True
    """
    angles = (np.arange(_POINTS) + 0.5) * np.pi / _POINTS
    z = radius * np.sin(angles / 2) ** 2  # dense at both ends, where kernels have kinks
    weights = np.sqrt(np.sin(angles) / np.sin(angles).sum())
    low, high = (bound * np.sqrt(dim) / radius for bound in _RANGE)
    scales = np.concatenate([[0.0], np.geomspace(low, high, _ATOMS)])
    if family == "gaussian":
        scales = scales / np.sqrt(dim)
    atoms, values = _atoms(z, scales, dim, family), kernel.radial(z)
    masses, residual = optimize.nnls(atoms * weights[:, None], values * weights, maxiter=50 * scales.size)
    kept = masses > 1e-12 * max(float(masses.max()), 1e-300)
    return PositiveMixture(family, dim, scales[kept], masses[kept], float(residual))


def _atoms(z: np.ndarray, scales: np.ndarray, dim: int, family: Family) -> np.ndarray:
    arguments = np.multiply.outer(z, scales)
    return omega(dim, arguments) if family == "radial" else np.exp(-0.5 * arguments**2)
