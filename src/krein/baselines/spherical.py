"""Spherical random features: the best positive approximation of a kernel, then random Fourier features."""

from __future__ import annotations

import time
import warnings
from typing import Any, cast, final

import numpy as np

from krein._core.checks import check_shape, one_of, positive_integer, positive_real
from krein._core.rows import check_magnitude, dense_block, row_blocks, row_norms
from krein.baselines.base import BaselineMap
from krein.baselines.fourier import FourierColumns
from krein.baselines.positive_mixture import FAMILIES, Family, fit_positive_mixture
from krein.kernels import Gaussian, Kernel

__all__ = ["SphericalRandomFeatures", "enclosing_diameter"]

_LEAST_RADIUS = 1e-100  # rows that are closer are one point to every kernel

_BLOCK_ENTRIES = 2**20  # of rows made dense at once


@final
class SphericalRandomFeatures(BaselineMap):
    r"""Random Fourier features of the positive measure nearest to a kernel.

    .. math:: k(z) \approx \int \Omega_d(rz)\,\rho(dr), \quad \rho \ge 0, \qquad
              \phi(x) = \sqrt{\tfrac{2\|\rho\|}{D}}\,[\cos \omega_j \cdot x, \sin \omega_j \cdot x]_{j \le D/2}

    Parameters
    ----------
    kernel : Kernel, default=None
        Any kernel. ``None`` is ``Gaussian()``.
    n_components : int, default=512
        Number D of output columns.
    family : {"radial", "gaussian"}, default="radial"
        Positive measures to choose from. ``"gaussian"``: sums of Gaussians with non-negative weights.
        ``"radial"``: all positive radial measures. [1]_ clips a signed sum of Gaussians at zero, which reaches any positive
        radial density as the sum grows; the optimum over all of them is at least as near to the kernel, and convex.
    radius : float or "auto", default="auto"
        Distances to fit, :math:`[0, R]`. ``"auto"`` is 2 on the sphere, and for kernels on :math:`\mathbb{R}^d` the
        diameter of a ball around the training rows.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        All +1: this method has positive measures only, and a gap to every kernel that is not positive definite.
    mixture_ : PositiveMixture
        The fitted measure: ``masses``, ``scales``, ``error`` (root mean square over [0, R]) and ``evaluate(z)``.
    fit_time_ : float
        Seconds spent on the mixture, without drawing frequencies; near 0 if it was kept from an earlier fit.
    kernel_ : Kernel
    n_features_in_ : int

    Notes
    -----
    The mixture is found by non-negative least squares on a fine grid of radii: a convex problem with one solution, so
    fits are reproducible and do not depend on ``random_state``. The bias is ``mixture_.evaluate(z) - kernel.radial(z)``.
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
        family: str = "radial",
        radius: str | float = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.family = family
        self.radius = radius
        self.random_state = random_state

    def default_kernel(self) -> Kernel:
        return Gaussian()

    def _fit(self, X: Any, kernel: Kernel, rng: np.random.Generator) -> None:
        width = positive_integer(self.n_components, "n_components")
        family = cast(Family, one_of(self.family, "family", FAMILIES))
        check_magnitude(X)
        start = time.perf_counter()
        mixture = fit_positive_mixture(kernel, X.shape[1], self._radius(X, kernel), family)
        self.fit_time_ = time.perf_counter() - start
        if mixture.mass == 0.0:
            warnings.warn(
                f"the positive measure nearest to {kernel!r} is zero, so all features are zero; SphericalRandomFeatures has "
                "no negative part, use SignedFourierFeatures, KreinNystroem or DoubleGaussianMixture",
                UserWarning,
                stacklevel=3,
            )
        self.mixture_ = mixture
        self._columns = FourierColumns.drawn(mixture, width, X.shape[1], rng)
        self.signature_ = np.ones(width)

    def _radius(self, X: Any, kernel: Kernel) -> float:
        if isinstance(self.radius, str):
            one_of(self.radius, "radius", ("auto",), otherwise=" or a positive number")
            return 2.0 if kernel.domain == "sphere" else enclosing_diameter(X)
        return positive_real(self.radius, "radius")

    def _map(self, X: Any) -> np.ndarray:
        out = np.empty((X.shape[0], self.signature_.size), dtype=X.dtype)
        self._columns.fill(X, out)
        return out

    def _check_loaded(self) -> None:
        check_shape(self._columns.frequencies, "frequencies", (None, self.n_features_in_))
        check_shape(self.signature_, "signature_", (self._columns.width,))


def enclosing_diameter(X: Any) -> float:
    """Diameter of a ball around the mean that holds all rows; 1 if they are all one point."""
    center = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    largest = 0.0
    for rows in row_blocks(X.shape[0], max(1, _BLOCK_ENTRIES // X.shape[1])):
        largest = max(largest, float(row_norms(dense_block(X, rows) - center).max()))
    return 2.0 * largest if largest > _LEAST_RADIUS else 1.0
