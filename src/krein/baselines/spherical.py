"""Spherical random features: the best positive approximation of a kernel, then random Fourier features."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from scipy import optimize, special

from krein._core.checks import check_shape, frozen_array, one_of, positive_integer, positive_real, real
from krein._core.directions import independent_directions
from krein._core.rows import check_magnitude, dense_block, row_blocks, row_norms
from krein.baselines.base import EDITIONS, BaselineMap
from krein.baselines.fourier import FourierColumns, nonnegative_weights, systematic_choice
from krein.kernels import Gaussian, Kernel
from krein.measures.harmonics import omega

__all__ = ["PositiveMixture", "SphericalRandomFeatures", "fit_clipped_gaussians", "fit_positive_mixture"]

_POINTS = 256  # of the distance grid
_ATOMS = 384  # of the grid of radii
_NEGLIGIBLE = 1e-12  # of the largest mass: what is smaller is rounding
_RANGE = 1e-2, 60.0  # smallest and largest radius, in units of √d / R
_GAUSSIANS = 10  # of the published measure, as many as its authors and the authors of the paper took
_STARTS = (
    (0.1, 2.0),
    (0.02, 6.0),
    (0.3, 20.0),
)  # smallest and largest scale of the Gaussians to start from, in units of 1 / R
_STEPS = 300  # of the search for the published measure
_LEAST_RADIUS = 1e-100  # rows that are closer are one point to every kernel
_BLOCK_ENTRIES = 2**20  # of rows made dense at once


@dataclass(frozen=True, eq=False)
class PositiveMixture:
    """A positive measure on radii.

    Parameters
    ----------
    dim : int
    scales, masses : ndarray of shape (n_atoms,)
        Radii, and the mass at each.
    error : float
        Root mean square difference from the kernel over the distances [0, R].
    """

    dim: int
    scales: np.ndarray
    masses: np.ndarray
    error: float

    def __post_init__(self) -> None:
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
        return np.asarray(
            omega(self.dim, np.multiply.outer(np.asarray(z, dtype=np.float64), self.scales)) @ self.masses
        )

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw frequencies: radii by systematic sampling, directions independent."""
        radii = self.scales[systematic_choice(self.masses, count, rng), None]
        return np.asarray(radii * independent_directions(count, self.dim, rng))


@lru_cache(maxsize=256)
def fit_positive_mixture(kernel: Kernel, dim: int, radius: float, constant: float = 0.0) -> PositiveMixture:
    r"""The positive radial measure nearest to a kernel plus a constant; fitted once per argument, then remembered.

    :math:`\min_{\rho \ge 0} \int_0^R (k(z) + c - \int \Omega_d(rz)\,\rho(dr))^2 dz` is convex once the radii are fixed on a fine
    grid: non-negative least squares finds its global optimum, which has few atoms, without starts or step sizes.

    Examples
    --------
    >>> from krein.kernels import SphericalPolynomial
    >>> fit_positive_mixture(SphericalPolynomial(a=2, p=7), 16, 2.0).error < 0.002
    True
    """
    z, weights = _distances(radius)
    low, high = (bound * np.sqrt(dim) / radius for bound in _RANGE)
    scales = np.concatenate([[0.0], np.geomspace(low, high, _ATOMS)])
    atoms, values = omega(dim, np.multiply.outer(z, scales)), kernel.radial(z) + constant
    masses, residual = nonnegative_weights(atoms * weights[:, None], values * weights)
    kept = masses > _NEGLIGIBLE * max(float(masses.max()), np.finfo(np.float64).tiny)
    return PositiveMixture(dim, scales[kept], masses[kept], residual)


@lru_cache(maxsize=256)
def fit_clipped_gaussians(kernel: Kernel, dim: int, radius: float, constant: float = 0.0) -> PositiveMixture:
    r"""The published measure: a signed sum of ten Gaussians, clipped at zero, with the least squared error found.

    :math:`\rho(r) = \max(0, \sum_i c_i\, N(r; s_i))`, and the search is over all :math:`c_i` and :math:`s_i`. The problem is not
    convex; the best of a few starts is taken.
    """
    z, weights = _distances(radius)
    low, high = (bound * np.sqrt(dim) / radius for bound in _RANGE)
    radii = np.geomspace(low, high, 2 * _ATOMS)
    steps = np.gradient(radii)
    atoms = omega(dim, np.multiply.outer(z, radii)) * weights[:, None]
    values = (kernel.radial(z) + constant) * weights

    def densities(log_scales: np.ndarray) -> np.ndarray:
        """Of the length of a Gaussian frequency, for each scale; shape (n_radii, n_scales)."""
        t = np.log(radii)[:, None] - log_scales
        return np.asarray(
            np.exp(dim * t - np.exp(2 * t) / 2 - (dim / 2 - 1) * np.log(2) - special.gammaln(dim / 2)) / radii[:, None]
        )

    def residual(x: np.ndarray) -> np.ndarray:
        return np.asarray(atoms @ (steps * np.maximum(densities(x[_GAUSSIANS:]) @ x[:_GAUSSIANS], 0.0)) - values)

    def slope(x: np.ndarray) -> np.ndarray:
        parts = densities(x[_GAUSSIANS:])
        weighed = atoms * (steps * (parts @ x[:_GAUSSIANS] > 0.0))
        by_scale = parts * x[:_GAUSSIANS] * (np.exp(2 * (np.log(radii)[:, None] - x[_GAUSSIANS:])) - dim)
        return np.hstack([weighed @ parts, weighed @ by_scale])

    found = []
    for smallest, largest in _STARTS:
        scales = np.log(np.geomspace(smallest, largest, _GAUSSIANS) / radius)
        start, _ = nonnegative_weights(atoms @ (steps[:, None] * densities(scales)), values)
        start = start if start.any() else np.full(_GAUSSIANS, 1e-3)  # where no sum helps there is still a slope
        found.append(optimize.least_squares(residual, np.append(start, scales), slope, max_nfev=_STEPS))
    best = min(found, key=lambda one: one.cost).x
    masses = steps * np.maximum(densities(best[_GAUSSIANS:]) @ best[:_GAUSSIANS], 0.0)
    return PositiveMixture(dim, radii, masses, float(np.linalg.norm(residual(best))))


def _distances(radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Distances, dense at both ends, where kernels have kinks, and the roots of their weights."""
    angles = (np.arange(_POINTS) + 0.5) * np.pi / _POINTS
    return radius * np.sin(angles / 2) ** 2, np.sqrt(np.sin(angles) / np.sin(angles).sum())


@final
class SphericalRandomFeatures(BaselineMap):
    r"""Random Fourier features of the positive measure nearest to a kernel.

    .. math:: k(z) \approx \int \Omega_d(rz)\,\rho(dr), \quad \rho \ge 0, \qquad
              \phi(x) = \sqrt{2\|\rho\|/D}\,[\cos \omega_j \cdot x, \sin \omega_j \cdot x]_{j \le D/2}

    Parameters
    ----------
    kernel : Kernel, default=None
        Any kernel. ``None`` is ``Gaussian()``.
    n_components : int, default=512
        Number D of output columns.
    edition : {"modern", "published"}, default="modern"
        ``"published"`` [1]_: the measure is a signed sum of ten Gaussians clipped at zero, optimized numerically, and a frequency
        gives one column, a cosine with a random phase. ``"modern"``: the optimum over all positive radial measures, which is at
        least as near to the kernel, and a convex problem; a frequency gives a cosine and a sine.
    constant : float, default=0.0
        The measure is fitted to k + c, and the last column, :math:`\sqrt c` with the signature −1, takes c off again. For a kernel
        with k(0) = 0, such as a difference of two Gaussians, the nearest positive measure is zero; with c = 1 it is not.
    radius : float or "auto", default="auto"
        Distances to fit, :math:`[0, R]`. ``"auto"`` is 2 on the sphere, and for kernels on :math:`\mathbb{R}^d` the
        diameter of a ball around the training rows.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        All +1, but for the column of a constant: this method has positive measures only, and a gap to every kernel that is not
        positive definite up to the constant.
    mixture_ : PositiveMixture
        The fitted measure: ``masses``, ``scales``, ``error`` (root mean square over [0, R]) and ``evaluate(z)``.
    fit_time_ : float
        Seconds spent on the mixture, without drawing frequencies; near 0 if it was kept from an earlier fit.
    kernel_ : Kernel
    n_features_in_ : int

    Notes
    -----
    Both measures do not depend on ``random_state``. The bias is ``mixture_.evaluate(z) - constant - kernel.radial(z)``.
    Cost: :math:`O(n d D)`.

    References
    ----------
    .. [1] J. Pennington, F. X. Yu and S. Kumar. "Spherical random features for polynomial kernels". NeurIPS, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.baselines import SphericalRandomFeatures
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> f = SphericalRandomFeatures(n_components=64, random_state=0).fit(X)
    >>> bool(f.mixture_.masses.min() > 0)
    True
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 512,
        *,
        edition: str = "modern",
        constant: float = 0.0,
        radius: str | float = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.edition = edition
        self.constant = constant
        self.radius = radius
        self.random_state = random_state

    def default_kernel(self) -> Kernel:
        return Gaussian()

    def _fit(self, X: Any, kernel: Kernel, rng: np.random.Generator) -> None:
        width = positive_integer(self.n_components, "n_components")
        published = one_of(self.edition, "edition", EDITIONS) == "published"
        constant = real(self.constant, "constant")
        if constant < 0.0:
            raise ValueError(f"constant must not be negative, got {constant}; use 0 or more")
        check_magnitude(X)
        start = time.perf_counter()
        fit = fit_clipped_gaussians if published else fit_positive_mixture
        mixture = fit(kernel, X.shape[1], self._radius(X, kernel), constant)
        self.fit_time_ = time.perf_counter() - start
        if mixture.mass == 0.0:
            warnings.warn(
                f"the positive measure nearest to {kernel!r} is zero, so all features are zero; SphericalRandomFeatures has "
                "no negative part, use constant=1.0, SignedFourierFeatures, KreinNystroem or DoubleGaussianMixture",
                UserWarning,
                stacklevel=3,
            )
        self.mixture_ = mixture
        last = int(constant > 0.0)
        self._columns = FourierColumns.drawn(mixture, width - last, X.shape[1], rng, phased=published)
        self._offset = constant**0.5
        self.signature_ = np.append(np.ones(width - last), -np.ones(last))

    def _radius(self, X: Any, kernel: Kernel) -> float:
        if isinstance(self.radius, str):
            one_of(self.radius, "radius", ("auto",), otherwise=" or a positive number")
            return 2.0 if kernel.domain == "sphere" else enclosing_diameter(X)
        return positive_real(self.radius, "radius")

    def _map(self, X: Any) -> np.ndarray:
        out = np.full((X.shape[0], self.signature_.size), self._offset, dtype=X.dtype)
        self._columns.fill(X, out[:, : self._columns.width])
        return out

    def _check_loaded(self) -> None:
        check_shape(self._columns.frequencies, "frequencies", (None, self.n_features_in_))
        check_shape(self.signature_, "signature_", (self._columns.width + (self._offset > 0.0),))


def enclosing_diameter(X: Any) -> float:
    """Diameter of a ball around the mean that holds all rows; 1 if they are all one point."""
    center = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    largest = 0.0
    for rows in row_blocks(X.shape[0], max(1, _BLOCK_ENTRIES // X.shape[1])):
        largest = max(largest, float(row_norms(dense_block(X, rows) - center).max()))
    return 2.0 * largest if largest > _LEAST_RADIUS else 1.0
