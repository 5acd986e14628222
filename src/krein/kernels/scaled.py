"""A kernel of scaled distances, for families that are not closed under scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.checks import positive_real
from krein.kernels.base import Domain, Kernel
from krein.kernels.facts import Facts

__all__ = ["Scaled"]

_FARTHEST = float(np.finfo(np.float64).max)  # z / s may leave the floating range, where a kernel is asked for its limit


@final
@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    r"""A kernel of scaled distances; ``k.scaled(s)`` makes one only where the family has no such member.

    .. math:: k_s(z) = k(z/s)

    Parameters
    ----------
    kernel : Kernel
        On all of space: on the sphere a chord has no scale.
    scale : float
        :math:`s > 0`, not 1.

    Examples
    --------
    >>> from krein.kernels import Gaussian, Radial, Scaled
    >>> float(Radial(lambda z: 1.0 - z).scaled(4.0).radial(2.0))
    0.5
    >>> Gaussian(1.0).scaled(4.0)
    Gaussian(scale=4.0)
    """

    kernel: Kernel
    scale: float

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be a kernel, such as ThinPlate(), got {self.kernel!r}")
        object.__setattr__(self, "scale", positive_real(self.scale, "scale"))
        if self.kernel.domain == "sphere":
            raise ValueError(
                f"kernel must be defined on all of space, because a chord of the sphere has no scale, got {self.kernel!r}"
            )
        if self.scale == 1.0 or self.kernel._scales_itself:
            raise ValueError(
                f"{self.kernel!r} scaled by {self.scale} is a kernel of its own kind; write kernel.scaled(s)"
            )

    @property
    def domain(self) -> Domain:
        return self.kernel.domain

    @property
    def facts(self) -> Facts:
        # On unit vectors k(z/s) is k on a sphere of radius 1/s, which for s ≥ 1 is a small circle of a unit sphere of one more
        # dimension. What k does at z = 2 says nothing of 2/s.
        known = self.kernel.facts
        positive = True if self.scale >= 1.0 and known.positive_on_spheres else None
        return Facts(bounded=known.bounded, positive_on_spheres=positive)

    @property
    def length_scale(self) -> float | None:
        inner = self.kernel.length_scale
        return None if inner is None else inner * self.scale

    def radial(self, z: Any) -> np.ndarray:
        return self.kernel.radial(self._seen(np.asarray(z, dtype=np.float64)))

    def radial_slope(self, z: Any) -> np.ndarray:
        slope = self.kernel.radial_slope(self._seen(np.asarray(z, dtype=np.float64)))
        with np.errstate(over="ignore"):
            return np.asarray(slope / self.scale / self.scale)

    def _seen(self, z: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.minimum(z / self.scale, _FARTHEST)

    def _scaled(self, factor: float) -> Kernel:
        return self.kernel.scaled(self.scale * factor)

    def _from_params(self, own: dict[str, Any]) -> Kernel:
        kernel = own["kernel"]
        return kernel.scaled(own["scale"]) if isinstance(kernel, Kernel) else Scaled(**own)

    @property
    def _scales_itself(self) -> bool:
        return True

    @property
    def known_everywhere(self) -> bool:
        return self.kernel.known_everywhere

    @property
    def _grows(self) -> bool:
        return self.kernel._grows

    def _log_radial(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.kernel._log_radial(self._seen(z))
