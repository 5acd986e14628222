"""A finite signed measure that represents a radial kernel, with its polynomial head, its mass and a bound on its bias."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, final

import numpy as np

from krein._core.checks import frozen_array, one_of, positive_real, real, truth_value
from krein.measures.harmonics import check_dim
from krein.measures.radial_parts import NO_MASS, Atoms, RadialPart
from krein.show.cards import card, curve, sketch, stems, text_card
from krein.show.style import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Head", "SignedMeasure", "check_measure", "head_columns"]

_MOST_DEGREE = 2  # in z²: degree 3 takes O(d³) columns
_ROUNDING = 4e-16  # of the largest coefficient in units of R: below, a term does not change k
_SKETCHED = 120  # points of a curve in a notebook


def _check_degree(degree: int) -> None:
    if degree > _MOST_DEGREE:
        raise ValueError(
            f"a head has degree {_MOST_DEGREE} in z² at most, got {degree}; products of higher order are too many columns"
        )


@final
@dataclass(frozen=True)
class Head:
    r"""Coefficients :math:`c_0, c_1, …` of the polynomial in :math:`z^2`; no coefficients, no head.

    Parameters
    ----------
    coefficients : tuple of float
    """

    coefficients: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        values = tuple(real(float(c), "coefficients") for c in self.coefficients)
        _check_degree(len(values) - 1)
        object.__setattr__(self, "coefficients", values)

    @classmethod
    def of_unit(cls, coefficients: Iterable[float], radius: float) -> Head:
        """The head of a polynomial in z/R; what is below rounding is left out.

        Parameters
        ----------
        coefficients : iterable of float
            Of (z/R)^{2q}.
        radius : float
            R.

        Returns
        -------
        Head
        """
        values = np.array([float(c) for c in coefficients])
        values[np.abs(values) <= _ROUNDING * np.abs(values).max(initial=0.0)] = 0.0
        return cls(tuple((values / np.float64(radius) ** (2 * np.arange(values.size))).tolist()))

    @property
    def degree(self) -> int:
        """Degree in z²; −1 without a head."""
        return len(self.coefficients) - 1

    def evaluate(self, z: Any) -> np.ndarray:
        """Σ c_q z^{2q}.

        Parameters
        ----------
        z : array of floats

        Returns
        -------
        ndarray of the shape of z
        """
        square = np.asarray(z, dtype=np.float64) ** 2
        total = np.zeros_like(square)
        for coefficient in reversed(self.coefficients):
            total = total * square + coefficient
        return total


def head_columns(degree: int, dim: int, *, sphere: bool) -> int:
    r"""Feature columns of a head.

    On the unit sphere :math:`z^2 = 2 - 2u`, so a polynomial of degree q in :math:`z^2` is one in :math:`u = x\cdot x'`: the
    constant, d linear columns, and d(d+1)/2 for the distinct products. Off the sphere :math:`c_0 + c_1z^2` needs two
    columns of opposite sign for :math:`\{1, \|x\|^2\}` beside the d linear ones, and degree 2 the span of
    :math:`\{1, \|x\|^2, \|x\|^4\}`, of :math:`\{x_i, x_i\|x\|^2\}` and of the products.

    Parameters
    ----------
    degree : {-1, 0, 1, 2}
        Degree in :math:`z^2`; −1 for no head.
    dim : int
    sphere : bool
        Whether rows are unit vectors.

    Returns
    -------
    int
    """
    _check_degree(degree)
    products = dim * (dim + 1) // 2
    counts = (0, 1, dim + 1, 1 + dim + products) if sphere else (0, 1, dim + 2, 3 + 2 * dim + products)
    return counts[degree + 1]


@final
@dataclass(frozen=True, eq=False)
class SignedMeasure:
    r"""A polynomial head plus a signed radial measure.

    .. math:: k(z) \approx \sum_q c_q z^{2q} + \int \Omega_d(rz)\,\rho_+(dr) - \int \Omega_d(rz)\,\rho_-(dr)

    Build one with :func:`krein.signed_measure`, or from two parts: any two, such as two overlapping Gaussians, or by `jordan` and
    `from_atoms` parts that have no radius in common, hence least mass.

    Parameters
    ----------
    dim : int
        Dimension d of the space of the measure.
    positive, negative : RadialPart
    head : Head
    bias : float
        Bound on :math:`|evaluate(z) - k(z)|` for z in [0, radius].
    radius : float
        Largest distance at which the measure represents the kernel; ``inf`` for closed forms.
    sphere : bool
        Whether the data are unit vectors, so that the head needs fewer columns.
    decomposition : {"jordan", "difference"}
    note : str
        Remarks on how the measure was found, such as a truncation; usually empty.
    """

    dim: int
    positive: RadialPart = NO_MASS
    negative: RadialPart = NO_MASS
    head: Head = Head()  # frozen
    bias: float = 0.0
    radius: float = math.inf
    sphere: bool = False
    decomposition: Literal["jordan", "difference"] = "difference"
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", check_dim(self.dim))
        for name in ("positive", "negative"):
            if not isinstance(getattr(self, name), RadialPart):
                raise TypeError(
                    f"{name} must be a RadialPart such as Atoms(radii, weights), got {getattr(self, name)!r}; "
                    "krein.signed_measure builds one from a kernel"
                )
        if not isinstance(self.head, Head):
            raise TypeError(f"head must be a Head such as Head((1.0, -0.5)), got {self.head!r}")
        object.__setattr__(self, "bias", real(self.bias, "bias"))
        if self.bias < 0.0:
            raise ValueError(f"bias must be at least 0, a bound on the error, got {self.bias!r}")
        radius = math.inf if self.radius == math.inf else positive_real(self.radius, "radius")
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "sphere", truth_value(self.sphere, "sphere"))
        one_of(self.decomposition, "decomposition", ("jordan", "difference"))
        up, down = self.positive, self.negative
        both = isinstance(up, Atoms) and isinstance(down, Atoms) and np.intersect1d(up.radii, down.radii).size > 0
        if self.decomposition == "jordan" and both:
            raise ValueError("Jordan parts have no radius in common; use SignedMeasure(dim, positive, negative)")

    @classmethod
    def jordan(cls, dim: int, positive: RadialPart, negative: RadialPart, **kwargs: Any) -> Self:
        """Parts on disjoint sets of radii: the decomposition of least mass.

        Parameters
        ----------
        dim : int
        positive, negative : RadialPart
        **kwargs : dict
            Other parameters of the class.

        Returns
        -------
        SignedMeasure
        """
        return cls(dim, positive, negative, decomposition="jordan", **kwargs)

    @classmethod
    def from_atoms(cls, dim: int, radii: np.ndarray, weights: np.ndarray, **kwargs: Any) -> Self:
        """Jordan parts of finitely many radii with signed weights; zero weights are dropped.

        Parameters
        ----------
        dim : int
        radii, weights : array of shape (n,)
        **kwargs : dict
            Other parameters of the class.

        Returns
        -------
        SignedMeasure
        """
        radii, weights = frozen_array(radii, "radii", (None,)), frozen_array(weights, "weights", (len(radii),))
        radii, inverse = np.unique(radii, return_inverse=True)
        weights = np.bincount(inverse, weights, minlength=radii.size)
        up, down = weights > 0, weights < 0
        return cls.jordan(dim, Atoms(radii[up], weights[up]), Atoms(radii[down], -weights[down]), **kwargs)

    @property
    def mass(self) -> float:
        """Total mass of the radial parts; the head has none, as it is reproduced exactly."""
        return self.positive.mass + self.negative.mass

    @property
    def second_moment(self) -> float:
        """∫ r² |ρ|(dr)."""
        return self.positive.second_moment + self.negative.second_moment

    def tail(self, z: Any) -> np.ndarray:
        """The value of the radial parts at distances z, without the head.

        Parameters
        ----------
        z : array of floats

        Returns
        -------
        ndarray of the shape of z
        """
        return np.asarray(self.positive.evaluate(z, self.dim) - self.negative.evaluate(z, self.dim))

    def majorant(self, z: Any) -> np.ndarray:
        """Positive plus negative part: the kernel that is estimated by features without their signature.

        Parameters
        ----------
        z : array of floats

        Returns
        -------
        ndarray of the shape of z
        """
        return np.asarray(self.positive.evaluate(z, self.dim) + self.negative.evaluate(z, self.dim))

    def evaluate(self, z: Any) -> np.ndarray:
        """The kernel that this measure represents, at distances z.

        Parameters
        ----------
        z : array of floats

        Returns
        -------
        ndarray of the shape of z
        """
        return np.asarray(self.head.evaluate(z) + self.tail(z))

    def tabulated(self) -> SignedMeasure:
        """The same measure with each part replaced by the nodes of its quadrature: plain arrays that can be stored.

        Returns
        -------
        SignedMeasure
        """
        return replace(self, positive=self.positive.atoms(), negative=self.negative.atoms(), decomposition="difference")

    def head_columns(self) -> int:
        """Number of feature columns of the head.

        Returns
        -------
        int
        """
        return head_columns(self.head.degree, self.dim, sphere=self.sphere)

    @property
    def title(self) -> str:
        """The measure, in one line."""
        return f"signed measure on R^{self.dim} ({self.decomposition} parts)"

    def facts(self) -> list[tuple[str, str]]:
        """Names and values, as the printed form and a notebook show them.

        Returns
        -------
        list of (str, str)
        """
        head = " + ".join(f"{c:.4g}·z^{2 * q}" if q else f"{c:.4g}" for q, c in enumerate(self.head.coefficients))
        rows = [
            ("head", head or "none"),
            ("mass", f"{self.mass:.4g}  (positive {self.positive.mass:.4g}, negative {self.negative.mass:.4g})"),
            ("bias", f"at most {self.bias:.3g} for distances up to {self.radius:.4g}"),
        ]
        return rows + ([("note", self.note)] if self.note else [])

    def __str__(self) -> str:
        return text_card(self.title, self.facts())

    def _repr_html_(self) -> str:
        from krein.measures.drawing import radial_profile  # here: a profile is made of a measure

        profile = radial_profile(self, _SKETCHED)
        marks = [(stems if part.atoms else curve)(part.radii, part.heights, part.name) for part in profile.parts]
        drawing = sketch(marks, "the measure on radii", "radius of the frequency", xlog=profile.logarithmic)
        return card(self.title, self.facts(), drawing=drawing)

    def plot(self, ax: Any = None, *, style: Style = "auto") -> Axes:
        """Draw the measure on its radii: positive part upwards, negative part downwards; atoms are stems, densities curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None for a new figure.
        style : {"auto", "light", "dark"}, default="auto"

        Returns
        -------
        matplotlib.axes.Axes
        """
        from krein.measures.drawing import draw_measure  # here: drawings are made of measures

        return draw_measure(self, ax, style)


def check_measure(measure: Any) -> SignedMeasure:
    """The measure, or an error that says how to make one."""
    if not isinstance(measure, SignedMeasure):
        raise TypeError(
            f"measure must be a SignedMeasure, got {measure!r} of type {type(measure).__name__}; krein.signed_measure(kernel, "
            "dim) makes one"
        )
    return measure
