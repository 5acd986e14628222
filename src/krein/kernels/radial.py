"""The user's own radial function as a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final, get_args

import numpy as np

from krein._core.checks import one_of, truth_value
from krein.kernels.base import Domain, Kernel
from krein.kernels.decomposition import Split, fit_polynomial, of_polynomial

__all__ = ["Radial"]


@final
@dataclass(frozen=True, repr=False)
class Radial(Kernel):
    r"""Any function of the distance.

    Parameters
    ----------
    function : callable
        Takes an array of distances :math:`z \ge 0` and returns an array of the same shape with :math:`k(z)`.
    domain : {"euclidean", "sphere"}, default="euclidean"
        On the sphere, distances lie in :math:`[0, 2]`.
    normalize : bool, default=True
        On the sphere: whether rows are scaled to unit length first; if not, they must have unit length.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Radial
    >>> k = Radial(lambda z: np.maximum(0.0, 1.0 - z))
    >>> k([[0.0], [0.5], [3.0]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    function: Callable[[np.ndarray], Any]
    on: Domain = field(default="euclidean", kw_only=True)
    normalize: bool = field(default=True, kw_only=True)

    def __init__(
        self, function: Callable[[np.ndarray], Any], domain: Domain = "euclidean", *, normalize: bool = True
    ) -> None:
        if not callable(function):
            raise TypeError(f"function must be callable with an array of distances, got {function!r}")
        one_of(domain, "domain", get_args(Domain))
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "on", domain)
        object.__setattr__(self, "normalize", truth_value(normalize, "normalize"))

    @property
    def domain(self) -> Domain:
        return self.on

    @property
    def known_everywhere(self) -> bool:
        return False

    @property
    def scales_rows(self) -> bool:
        return self.on == "sphere" and self.normalize

    def radial(self, z: Any) -> np.ndarray:
        z = np.asarray(z, dtype=np.float64)
        values = np.asarray(self.function(z.copy()))  # a copy: the function may write into its argument
        if values.shape != z.shape:
            raise ValueError(
                f"the function given to Radial must return one value per distance: shape {z.shape} in, "
                f"{values.shape} out; write it with numpy operations, or wrap it in np.vectorize"
            )
        if np.iscomplexobj(values):
            raise TypeError("the function given to Radial returned complex numbers; a kernel here is real, take .real")
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"the function given to Radial returned {values.dtype} values, not numbers") from error
        bad = ~np.isfinite(values)
        if np.any(bad):
            where = float(np.atleast_1d(z)[np.atleast_1d(bad)][0])
            raise ValueError(
                f"the function given to Radial returned NaN or infinity, first at z = {where:.6g}; define its limit there "
                "(often z = 0), or restrict the radius"
            )
        return values

    def split(self, dim: int) -> Split | None:
        coefficients = fit_polynomial(self.radial, 2.0 if self.on == "sphere" else None)
        return None if coefficients is None else of_polynomial(coefficients)

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", repr(self.function))
        extra = "" if self.on == "euclidean" else f", domain={self.on!r}"
        return f"Radial({name}{extra}{'' if self.normalize else ', normalize=False'})"
