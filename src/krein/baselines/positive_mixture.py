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

from krein._core.checks import frozen_array, one_of, positive_integer, real
from krein._core.directions import independent_directions
from krein.baselines.fourier import systematic_choice
from krein.kernels import Kernel
from krein.measures.omega import omega

__all__ = ["FAMILIES", "Family", "PositiveMixture", "fit_positive_mixture", "nonnegative_weights"]

Family = Literal["radial", "gaussian"]
FAMILIES: tuple[Family, ...] = ("radial", "gaussian")

_POINTS = 256  # of the distance grid
_ATOMS = 384  # of the grid of radii
_NEGLIGIBLE = 1e-12  # of the largest mass: what is smaller is rounding
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

    def __post_init__(self) -> None:
        one_of(self.family, "family", FAMILIES)
        positive_integer(self.dim, "dim")
        real(self.error, "error")
        for name in ("scales", "masses"):
            object.__setattr__(self, name, frozen_array(getattr(self, name), name, (None,)))
        if self.scales.shape != self.masses.shape or self.masses.min(initial=0.0) < 0.0:
            raise ValueError("scales and masses must go together, and masses must not be negative")

    @property
    def mass(self) -> float:
        """Total mass."""
        return float(self.masses.sum())

    def evaluate(self, z: np.ndarray) -> np.ndarray:
        """The kernel that this measure gives."""
        return np.asarray(_atoms(np.asarray(z, dtype=np.float64), self.scales, self.dim, self.family) @ self.masses)

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw frequencies: atoms by systematic sampling, directions independent."""
        scales = self.scales[systematic_choice(self.masses, count, rng), None]
        if self.family == "radial":
            return np.asarray(scales * independent_directions(count, self.dim, rng))
        return np.asarray(scales * rng.standard_normal((count, self.dim)))


@lru_cache(maxsize=256)
def fit_positive_mixture(kernel: Kernel, dim: int, radius: float, family: Family) -> PositiveMixture:
    """The best positive measure for a kernel on a range of distances; fitted once per argument, then remembered.

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
    masses, residual = nonnegative_weights(atoms * weights[:, None], values * weights)
    kept = masses > _NEGLIGIBLE * max(float(masses.max()), np.finfo(np.float64).tiny)
    return PositiveMixture(family, dim, scales[kept], masses[kept], residual)


def nonnegative_weights(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """Non-negative least squares."""
    try:
        masses, residual = optimize.nnls(A, b, maxiter=50 * A.shape[1])
    except RuntimeError:  # solutions of nearly dependent columns may go in circles; this is slower and does not
        masses = np.maximum(optimize.lsq_linear(A, b, bounds=(0.0, np.inf), method="bvls").x, 0.0)
        residual = np.linalg.norm(A @ masses - b)
    return np.asarray(masses), float(residual)


def _atoms(z: np.ndarray, scales: np.ndarray, dim: int, family: Family) -> np.ndarray:
    arguments = np.multiply.outer(z, scales)
    return omega(dim, arguments) if family == "radial" else np.exp(-0.5 * arguments**2)
