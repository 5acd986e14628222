"""The interface of a kernel, its function, its matrices and its operators; and a function of the user's as a kernel."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any, Literal, final, get_args

import numpy as np

from krein._core.checks import FrozenParams, one_of, positive_real, real, truth_value
from krein._core.rows import as_rows, unit_rows
from krein.kernels.decomposition import Split, as_it_is, fit_polynomial, of_polynomial, of_radials, signed_sum_of
from krein.kernels.gram import radial_gram
from krein.kernels.laws import RadiusLaw
from krein.show.cards import card, curve, sketch, visible_reach

__all__ = ["SMOOTH_JUMP", "UNKNOWN", "Domain", "Facts", "Kernel", "Radial", "in_range"]

Domain = Literal["euclidean", "sphere"]

_STEP = float(np.cbrt(np.finfo(np.float64).eps))  # relative: the two errors of a central difference are of one size
_LEAST_STEP = 1e-150  # of a difference quotient very near 0
_STEPS = 120  # points of the curve
_GROWING = 4.0  # length scales of a kernel that grows without end


class Kernel(FrozenParams, ABC):
    r"""A radial kernel :math:`k(x, y) = k(\|x - y\|)`, positive definite or not.

    A new kernel is a frozen dataclass with a `radial` function; everything else has a default. Kernels are
    values: hashable, comparable, and combined by ``+``, ``-`` and ``*`` with each other and with numbers of any sign.
    """

    __array_ufunc__ = None  # numpy scalars leave multiplication to the kernel, arrays are refused

    @property
    def domain(self) -> Domain:
        """``"euclidean"`` or ``"sphere"`` (unit vectors, distances up to 2)."""
        return "euclidean"

    @abstractmethod
    def radial(self, z: Any) -> np.ndarray:
        """k(z), elementwise.

        Parameters
        ----------
        z : array-like
            Distances, at least 0.

        Returns
        -------
        ndarray of the shape of z, float64
            Infinite, or 0, where a value leaves the floating range.
        """

    def radial_slope(self, z: Any) -> np.ndarray:
        r"""k'(z)/z, elementwise: the gradient of :math:`k(\|x - y\|)` in x is this times :math:`x - y`.

        Here by central differences, to about nine digits where k is smooth; kernels with a formula have it in closed form.

        Parameters
        ----------
        z : array-like
            Distances, at least 0.

        Returns
        -------
        ndarray of the shape of z, float64
            0 where there is no finite limit, for example at z = 0 for a kernel with a kink there; :math:`x - y` is 0 as well,
            so the pair contributes nothing.
        """
        z = np.asarray(z, dtype=np.float64)
        last = 2.0 if self.domain == "sphere" else np.inf
        step = np.maximum(_STEP * z, _LEAST_STEP)
        low, high = np.maximum(z - step, 0.0), np.minimum(z + step, last)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            slope = (self.radial(high) - self.radial(low)) / (high - low) / z
        return np.where((z > 0.0) & np.isfinite(slope), slope, 0.0)

    @property
    def facts(self) -> Facts:
        """What is known analytically about the radial function."""
        return UNKNOWN

    @property
    def scales_rows(self) -> bool:
        """Whether the kernel itself scales rows to unit length."""
        return False

    @property
    def known_everywhere(self) -> bool:
        """Whether `radial` may be asked for any distance of the domain; a user's function may know those of the data only."""
        return True

    @property
    def length_scale(self) -> float | None:
        """The shortest distance over which the kernel changes much, in the units of the data; None if it has no such scale.

        It grows with the kernel: ``k.scaled(s).length_scale == s * k.length_scale`` up to rounding. Kernels on the sphere
        have no length scale, as a chord has none, nor do functions of your own and kernels without a parameter.
        """
        return None

    def radius_law(self, dim: int) -> RadiusLaw | None:
        """The law of ‖ω‖ if the kernel is the transform of a known probability measure on ℝ^dim.

        Parameters
        ----------
        dim : int

        Returns
        -------
        RadiusLaw or None
        """
        return None

    def fourier_density(self, r: np.ndarray, dim: int) -> np.ndarray | None:
        """Closed form of the radial Fourier transform ρ(r) of the extension by zero, where there is one.

        Parameters
        ----------
        r : ndarray
            Radii, at least 0.
        dim : int

        Returns
        -------
        ndarray of the shape of r, or None
        """
        return None

    def terms(self) -> tuple[tuple[float, Kernel], ...]:
        """The kernel as a signed sum of kernels that are not sums.

        Returns
        -------
        tuple of (coefficient, kernel)
        """
        return ((1.0, self),)

    def split(self, dim: int) -> Split | None:
        """The kernel on rows of `dim` columns as a difference of two positive definite kernels, if one is known.

        Parameters
        ----------
        dim : int

        Returns
        -------
        Split or None
        """
        terms = self.terms()
        if terms != ((1.0, self),):
            found = [(c, kernel.split(dim)) for c, kernel in terms if c != 0.0]
            known = [(c, split) for c, split in found if split is not None]
            if len(known) < len(found):
                return None
            return signed_sum_of(known) if known else of_polynomial((0.0,))
        if self.radius_law(dim) is not None:
            return as_it_is(self, "k is the transform of a probability measure")
        if self.domain == "sphere" and self.facts.positive_on_spheres:
            return as_it_is(self, "k itself on unit vectors: its coefficients in x·y are not negative")
        return None

    def split_into(self, positive: Any, negative: Any, rule: str, reason: str) -> Split:
        """A difference of two functions of the distance that are known to be positive definite.

        Parameters
        ----------
        positive, negative : callable
            Functions of z.
        rule, reason : str
            Why they are positive definite.

        Returns
        -------
        Split
        """
        return of_radials(positive, negative, rule, reason, 2.0 if self.domain == "sphere" else math.inf)

    def scaled(self, factor: float) -> Kernel:
        """The kernel :math:`k(z/s)`, with a length scale s times that of this kernel.

        Parameters
        ----------
        factor : float
            :math:`s > 0`.

        Returns
        -------
        Kernel
            Of the same family if possible, with a `length_scale` s times as large.

        Examples
        --------
        >>> from krein.kernels import DeltaGaussian, ThinPlate
        >>> DeltaGaussian(1.0, 10.0).scaled(3.0)
        DeltaGaussian(a=3.0, b=30.0)
        >>> ThinPlate().scaled(3.0)
        Scaled(kernel=ThinPlate(), scale=3.0)
        """
        factor = positive_real(factor, "factor")
        if self.domain == "sphere":
            raise ValueError(
                f"{self!r} is defined on the unit sphere, where a chord has no scale, and cannot be scaled; change its own "
                "parameters, or use a kernel on all of space"
            )
        return self if factor == 1.0 else self._scaled(factor)

    def _scaled(self, factor: float) -> Kernel:
        from krein.kernels.algebra import Scaled  # here: it is a kernel itself

        return Scaled(self, factor)

    def place(self, X: Any, name: str = "X") -> Any:
        """Rows of X as points of the kernel's domain: checked, and scaled to unit length on the sphere.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        name : str, default="X"
            Name of X in error messages.

        Returns
        -------
        array or CSR matrix of shape (n_samples, n_features), float32 or float64
        """
        X = as_rows(X, name)
        if self.domain == "sphere":
            X = unit_rows(X, normalize=self.scales_rows, name=name)
        return X

    def __call__(self, X: Any, Y: Any | None = None) -> np.ndarray:
        """Exact Gram matrix."""
        same = Y is None or Y is X
        X = self.place(X)
        if not same:
            Y = self.place(Y, "Y")
            if X.shape[1] != Y.shape[1]:
                raise ValueError(
                    f"X and Y must have the same number of columns, got {X.shape[1]} and {Y.shape[1]}; "
                    "both must come from the same preprocessing"
                )
        return in_range(self, self.gram(X, None if same else Y), "X", "X" if same else "Y")

    def gram(self, X: Any, Y: Any | None = None) -> np.ndarray:
        """Exact Gram matrix of rows that `place` returned; they are neither checked nor scaled again.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples_X, n_features)
            As `place` returns it.
        Y : array or CSR matrix of shape (n_samples_Y, n_features), default=None
            If None, the result is exactly symmetric with k(0) on the diagonal.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples_Y)
            float32 if both inputs are float32, else float64.
        """
        limit = 2.0 if self.domain == "sphere" else math.inf
        return radial_gram(self.radial, X, Y, max_distance=limit)

    def _factors(self) -> tuple[Kernel, ...]:
        """The kernel as a product of kernels that are not products."""
        return (self,)

    def _joined(self, other: Kernel) -> Kernel | None:
        """The product with a kernel of the same family where that is one of the family again, else None."""
        return None

    def __add__(self, other: Any) -> Kernel:
        if not isinstance(other, Kernel):
            return NotImplemented
        from krein.kernels.algebra import signed_sum  # here: sums are kernels themselves

        return signed_sum(self.terms() + other.terms())

    def __sub__(self, other: Any) -> Kernel:
        return self + -other if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from krein.kernels.algebra import product, signed_sum

        if isinstance(other, Kernel):
            return product(self, other)
        if not isinstance(other, Real) or isinstance(other, bool):
            return NotImplemented
        factor = real(other, "factor")
        return signed_sum(tuple((factor * c, k) for c, k in self.terms()))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Kernel:
        if not isinstance(divisor, Real) or isinstance(divisor, bool):
            return NotImplemented
        return self * (1.0 / real(divisor, "divisor"))

    def __neg__(self) -> Kernel:
        return self * -1.0

    def _repr_html_(self) -> str:
        drawing, facts = "", []
        if self.known_everywhere:
            z = np.linspace(0.0, _reach(self), _STEPS)
            values = self.radial(z)
            drawing = sketch([curve(z, values)], f"k(z) for distances z up to {z[-1]:.3g}", "distance z")
            facts.append(("k(0)", f"{float(values[0]):.4g}"))
        rows = "unit vectors, distances up to 2" if self.domain == "sphere" else "any rows of numbers"
        facts.append(("rows", rows + (", scaled by the kernel" if self.scales_rows else "")))
        if self.length_scale is not None:
            facts.append(("length scale", f"{self.length_scale:.4g}"))
        return card(repr(self), [*facts, ("positive definite?", "see krein.diagnose(kernel, dim)")], drawing=drawing)

    def __repr__(self) -> str:
        ordered = sorted(fields(self), key=lambda one: bool(one.kw_only))  # type: ignore[arg-type]  # a dataclass
        held = [(one, getattr(self, one.name)) for one in ordered]
        shown = [f"{one.name}={value!r}" for one, value in held if not (one.kw_only and value == one.default)]
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True)
class Facts:
    r"""Analytic facts about a radial function :math:`k(z)`.

    Parameters
    ----------
    bounded : bool, default=True
        ``False`` where :math:`|k(z)| \to \infty` as :math:`z \to \infty`, which the transform of a finite measure
        does not do.
    edge_exponent : float or None, default=None
        For a function on the sphere: the :math:`\alpha` in :math:`k(z) \sim c\,(2 - z)^\alpha` as
        :math:`z \to 2`. It decides whether the extension by zero has finite mass: :math:`\alpha > (d-1)/2`
        (Bochner--Riesz). A jump has :math:`\alpha = 0`; ``None`` means unknown.
    edge_smoothness : float or None, default=None
        Exponent of the first non-smooth term of :math:`k` at :math:`z = 2` seen from inside; ``math.inf``
        where :math:`k` is analytic there. It limits every extension, whichever is chosen.
    positive_on_spheres : bool or None, default=None
        ``True`` where all Maclaurin coefficients in :math:`u = x \cdot x'` are non-negative, so that the
        kernel is positive definite on the sphere of every dimension (Schoenberg 1942).
    """

    bounded: bool = True
    edge_exponent: float | None = None
    edge_smoothness: float | None = None
    positive_on_spheres: bool | None = None


UNKNOWN = Facts()  # of a function nobody has looked at
SMOOTH_JUMP = Facts(edge_exponent=0.0, edge_smoothness=math.inf)  # analytic up to z = 2, and not 0 there


def _reach(kernel: Kernel) -> float:
    if kernel.domain == "sphere":
        return 2.0
    return visible_reach(kernel.radial) if kernel.facts.bounded else _GROWING * (kernel.length_scale or 1.0)


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

    known_everywhere = False

    function: Callable[[np.ndarray], Any]
    domain: Domain = "euclidean"
    normalize: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable with an array of distances, got {self.function!r}")
        one_of(self.domain, "domain", get_args(Domain))
        object.__setattr__(self, "normalize", truth_value(self.normalize, "normalize"))

    @property
    def scales_rows(self) -> bool:
        return self.domain == "sphere" and self.normalize

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
        bad = np.ravel(z)[~np.isfinite(values.ravel())]
        if bad.size:
            raise ValueError(
                f"the function given to Radial returned NaN or infinity, first at z = {bad[0]:.6g}; define its limit there "
                "(often z = 0), or restrict the radius"
            )
        return values

    def split(self, dim: int) -> Split | None:
        coefficients = fit_polynomial(self.radial, 2.0 if self.domain == "sphere" else None)
        return None if coefficients is None else of_polynomial(coefficients)

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", repr(self.function))
        extra = "" if self.domain == "euclidean" else f", domain={self.domain!r}"
        return f"Radial({name}{extra}{'' if self.normalize else ', normalize=False'})"


def in_range(kernel: Kernel, values: np.ndarray, rows: str, others: str) -> np.ndarray:
    """Values between rows and others, or an error where one is not finite."""
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"{kernel!r} leaves the range of {values.dtype} between row {row} of {rows} and row {column} of {others}; scale the "
            "data"
        )
    return values
