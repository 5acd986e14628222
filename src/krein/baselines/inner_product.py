r"""Two kernels of the inner product on all of :math:`\mathbb{R}^d`, as the authors of the methods define them.

They are not radial, so methods built on distances refuse them; on unit vectors they agree with `SphericalPolynomial` and
`ArcCosine`. They are what ``kernel=None`` means where the spherical kernel would refuse rows without a direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, final

import numpy as np

from krein._core.checks import positive_integer, positive_real, real
from krein._core.rows import row_norms
from krein.kernels.kernel import Domain, Kernel
from krein.kernels.sphere import ArcCosine

__all__ = ["InnerPolynomial", "Ramp"]


class _InnerProductKernel(Kernel):
    @property
    def domain(self) -> Domain:
        return "euclidean"

    def radial(self, z: Any) -> NoReturn:
        raise ValueError(
            f"{self!r} is a function of the inner product on all of space, not of the distance; use SphericalPolynomial or "
            "ArcCosine for unit vectors, or one of TensorSketch, TensorizedRandomProjection, RandomMaclaurin, "
            "ArcCosineFeatures and KreinNystroem"
        )


@final
@dataclass(frozen=True, repr=False)
class InnerPolynomial(_InnerProductKernel):
    r"""Polynomial kernel of rows of any length.

    .. math:: k(x, y) = (c_0 + c_1\, x \cdot y)^p

    Parameters
    ----------
    constant, slope : float, default=0.5
        :math:`c_0 \ge 0` and :math:`c_1 > 0`; with the defaults it is ``SphericalPolynomial(2, p)`` on unit vectors.
    degree : int, default=2

    Examples
    --------
    >>> from krein.baselines import InnerPolynomial
    >>> InnerPolynomial(1.0, 1.0, 2)([[1.0, 2.0]], [[0.0, 1.0]])
    array([[9.]])
    """

    constant: float = 0.5
    slope: float = 0.5
    degree: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "constant", real(self.constant, "constant"))
        object.__setattr__(self, "slope", positive_real(self.slope, "slope"))
        object.__setattr__(self, "degree", positive_integer(self.degree, "degree"))
        if self.constant < 0.0:
            raise ValueError(f"constant must not be negative, got {self.constant}; use 0 or more")

    def gram(self, X: Any, Y: Any | None = None) -> np.ndarray:
        Y = X if Y is None else Y
        return np.asarray((self.constant + self.slope * _inner(X, Y)) ** self.degree)


@final
@dataclass(frozen=True, repr=False)
class Ramp(_InnerProductKernel):
    r"""First-order arc-cosine kernel of rows of any length, the kernel of ReLU units.

    .. math:: k(x, y) = \|x\|\,\|y\|\,[\sin\theta + (\pi - \theta)\cos\theta]/\pi

    Examples
    --------
    >>> from krein.baselines import Ramp
    >>> Ramp()([[2.0, 0.0]], [[3.0, 0.0]]).round(12)
    array([[6.]])
    """

    def gram(self, X: Any, Y: Any | None = None) -> np.ndarray:
        Y = X if Y is None else Y
        sizes = np.multiply.outer(row_norms(X), row_norms(Y))
        cosines = np.divide(_inner(X, Y), sizes, out=np.zeros_like(sizes), where=sizes > 0)
        chords = np.sqrt(np.clip(2.0 - 2.0 * cosines, 0.0, 4.0))
        return np.asarray(sizes * ArcCosine(1).radial(chords), dtype=np.result_type(X.dtype, Y.dtype))


def _inner(X: Any, Y: Any) -> np.ndarray:
    product = X @ Y.T
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray())
