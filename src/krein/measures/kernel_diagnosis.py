"""What kind of kernel this is: has it a finite measure, is it a difference of positive definite kernels, is it one itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, final

import numpy as np

from krein._core.rows import dense_block
from krein.kernels import Kernel
from krein.kernels.decomposition import Split
from krein.measures.build import check_kernel
from krein.measures.closed_form import Term, closed_terms, jordan_of_laws
from krein.measures.fourier_transform import critical_exponent, edge_exponent, zero_extension
from krein.measures.harmonics import check_dim, lower_dimension_with_negative_degree, negative_degrees, sphere_weights
from krein.measures.radial_parts import Density
from krein.measures.smoothness import FIT_MARGIN, Shape, radial_shape, singularity_exponent
from krein.show.cards import card, sketch, stems, text_card
from krein.show.style import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Diagnosis", "PositivePart", "diagnose"]

_LOOKED = 16.0  # distances up to which a function without a limit is looked at for kinks
_ARCHES = {True: 600, False: 100}  # sign changes of a density that has a closed form, and of one that is integrated
_MOST_QUADRATURE = 20  # dimension up to which the quadrature of a transform keeps digits to compare


@final
@dataclass(frozen=True, eq=False)
class PositivePart:
    """One of the two positive definite kernels that a kernel is the difference of; see :meth:`Diagnosis.decomposition`.

    Calling it with one or two blocks of rows, arrays of shape (n, dim) and (m, dim), gives its matrix, of shape (n, m).

    Parameters
    ----------
    name : str
    kernel : Kernel
        That is decomposed.
    split : Split
    index : int
        0 for the positive part, 1 for the negative one.
    """

    name: str
    kernel: Kernel
    split: Split
    index: int

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        left, right = (
            np.asarray(dense_block(self.kernel.place(rows, name), slice(None)), dtype=np.float64)
            for rows, name in ((X, "X"), (X if Y is None else Y, "Y"))
        )
        gram = np.asarray(self.split.grams(left, right)[self.index])
        return 0.5 * (gram + gram.T) if Y is None else gram

    def __repr__(self) -> str:
        return f"<{self.name} of {self.kernel!r}: {self.split.rule}>"


@final
@dataclass(frozen=True)
class Diagnosis:
    r"""Three answers for one kernel in one dimension, kept apart.

    *Is its measure finite?* Then waves alone give the kernel, and, if it is continuous, it is a difference of *bounded* positive
    definite kernels; one holds if and only if the other does. *Is it a difference of positive definite kernels at all?* Many
    unbounded kernels are, without a finite measure. *Is it positive definite itself?*

    Parameters
    ----------
    kernel : str
    dim : int
    finite : bool or None
        Whether the kernel, on the sphere extended by zero beyond z = 2, is the transform of a finite signed measure on
        :math:`\mathbb{R}^d`. None if it could not be decided.
    rule : {"closed form", "critical exponent", "boundedness", "continuity", "smoothness", "undecided"}
        What decided about `finite`.
    reason : str
    advice : str
        Which method and radius to use.
    decomposes : bool or None
        Whether the kernel is a difference of two positive definite kernels: on rows of the data, that is on unit vectors for
        kernels on the sphere. True, or None for "not known"; never False, as nothing here proves that there is none.
    decomposition_rule, decomposition_reason : str
        Which decomposition it is.
    positive_on_sphere : bool
        Whether it is positive definite on the unit sphere :math:`S^{d-1}`, that is, no Gegenbauer coefficient is negative.
    mass, positive_mass, negative_mass : float or None
        Masses of the Jordan parts, if finite and computed; ``mass`` is ``inf`` if infinite.
    any_extension : bool or None
        For kernels on the sphere: whether some continuation beyond z = 2 has a finite measure, so that one gives the kernel on all
        of :math:`z \le 2`.
    on_range : bool or None
        Whether some finite measure gives the kernel on :math:`z \le R`, for every R (below 2 on the sphere).
    positive_definite : bool or None
        Whether the kernel is positive definite on :math:`\mathbb{R}^d`.
    conditional : tuple (sign, order) or None
        The kernel times the sign is conditionally positive definite of this order on :math:`\mathbb{R}^d`; order 0 is positive
        definite. None if it is not known to be.
    negative_degree : int or None
        The first degree with a negative coefficient. None if there is none, or if the coefficient is too small to be detected in
        dimension d and was found on a sphere of lower dimension.
    tail_exponent : float or None
        β in :math:`|\rho(r)| \sim r^{-\beta}`; the mass is finite iff β > 1.
    numerical : bool
        Whether the exponent was fitted rather than known.
    sphere_weights : tuple of float, default=()
        Share of each degree of spherical harmonics in k(0) on the unit sphere, from degree 0; a negative share means that the
        kernel is not positive definite there.
    of : Kernel, default=None
        The kernel itself.
    """

    kernel: str
    dim: int
    finite: bool | None
    rule: str
    reason: str
    advice: str
    decomposes: bool | None
    decomposition_rule: str
    decomposition_reason: str
    positive_on_sphere: bool
    mass: float | None = None
    positive_mass: float | None = None
    negative_mass: float | None = None
    any_extension: bool | None = None
    on_range: bool | None = True
    positive_definite: bool | None = None
    conditional: tuple[int, int] | None = None
    negative_degree: int | None = None
    tail_exponent: float | None = None
    numerical: bool = False
    sphere_weights: tuple[float, ...] = ()
    of: Kernel | None = field(default=None, repr=False, compare=False)

    def decomposition(self) -> tuple[PositivePart, PositivePart]:
        r"""The two positive definite kernels :math:`k_+` and :math:`k_-` with :math:`k = k_+ - k_-`.

        They are not functions of the distance in general. They grow with the length of rows that a polynomial or a conditionally
        definite kernel is taken of: center the rows if they lie far from the origin.

        Returns
        -------
        tuple of two PositivePart
            Callables on two blocks of rows.

        Examples
        --------
        >>> import numpy as np
        >>> import krein
        >>> from krein.kernels import Multiquadric
        >>> X = np.random.default_rng(0).normal(size=(50, 3))
        >>> plus, minus = krein.diagnose(Multiquadric(1.0), dim=3).decomposition()
        >>> bool(np.allclose(plus(X) - minus(X), Multiquadric(1.0)(X)))
        True
        >>> [bool(np.linalg.eigvalsh(part(X))[0] > -1e-9) for part in (plus, minus)]
        [True, True]
        """
        if not self.decomposes or self.of is None:
            raise ValueError(f"no decomposition of {self.kernel} into positive definite kernels is known")
        split = self.of.split(self.dim) or _jordan_split(self.of, self.dim, self.finite)
        return PositivePart("positive part", self.of, split, 0), PositivePart("negative part", self.of, split, 1)

    def answers(self) -> list[tuple[str, str]]:
        """The three answers with their reasons, as the printed form, a notebook and the command line show them.

        Returns
        -------
        list of (str, str)
        """
        answer = {True: "yes", False: "no", None: "undecided"}
        decided = f"{answer[self.finite]}, by {self.rule}" + (" (decided numerically)" if self.numerical else "")
        sphere = self.any_extension is not None
        extended = ", extended by zero" if sphere else ""
        rows = [(f"finite measure on R^{self.dim}{extended}", decided)]
        if not self.finite:
            rows += [("on z <= 2, by some extension", answer[self.any_extension])] if sphere else []
            rows += [("on z <= R" + (" < 2" if sphere else ""), answer[self.on_range])]
        known = f"yes, {self.decomposition_rule}" if self.decomposes else "not known"
        surface = answer[self.positive_on_sphere]
        if self.negative_degree is not None:
            surface += f" (coefficient of degree {self.negative_degree} is negative)"
        elif not self.positive_on_sphere:
            surface += " (this shows on spheres of lower dimension)"
        rows += [
            ("why", self.reason),
            ("positive decomposition", known),
            ("how", self.decomposition_reason),
            (f"positive definite on R^{self.dim}{extended}", answer[self.positive_definite]),
        ]
        if self.conditional is not None and self.conditional[1]:
            sign, order = self.conditional
            rows.append(("conditionally", f"{'k' if sign > 0 else '-k'} is, of order {order}"))
        return [*rows, ("positive definite on the sphere", surface)]

    def facts(self) -> list[tuple[str, str]]:
        """Names and values, as the printed form and a notebook show them.

        Returns
        -------
        list of (str, str)
        """
        mass = "not computed" if self.mass is None else f"{self.mass:.4g}".replace("inf", "infinite")
        if self.positive_mass is not None:
            mass += f" (positive {self.positive_mass:.4g}, negative {self.negative_mass:.4g})"
        rows = [*self.answers(), ("mass of its measure", mass)]
        if self.tail_exponent is not None:
            rows.append(
                ("tail of the measure", f"r^{-self.tail_exponent:.3g}; a finite mass needs an exponent below -1")
            )
        return [*rows, ("use", self.advice)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, which has no infinity: an infinite mass is None, and ``finite`` is False.

        Returns
        -------
        dict
        """
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "of"}
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in plain.items()
        }

    def __str__(self) -> str:
        return text_card(f"{self.kernel} in dimension {self.dim}", self.facts())

    def _repr_html_(self) -> str:
        weights = np.asarray(self.sphere_weights)
        up, down = np.flatnonzero(weights > 0.0), np.flatnonzero(weights < 0.0)
        marks = (stems(up, weights[up], "positive"), stems(down, weights[down], "negative"))
        drawing = sketch(marks, "share of each degree in k(0), with its sign", "degree on the sphere")
        return card(f"{self.kernel} in dimension {self.dim}", self.facts(), drawing=drawing)

    def plot(self, ax: Any = None, *, style: Style = "auto") -> Axes:
        """Draw the share of each degree of spherical harmonics in k(0) on the unit sphere; a negative share means indefinite.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None for a new figure.
        style : {"auto", "light", "dark"}, default="auto"

        Returns
        -------
        matplotlib.axes.Axes
        """
        from krein.measures.drawing import draw_degrees

        return draw_degrees(self.sphere_weights, f"{self.kernel} on the unit sphere of R^{self.dim}", ax, style)


def diagnose(kernel: Kernel, dim: int) -> Diagnosis:
    """Find out what kind of kernel this is on ℝ^dim.

    Examples
    --------
    >>> import krein
    >>> from krein.kernels import Radial, SphericalPolynomial
    >>> krein.diagnose(SphericalPolynomial(a=2, p=2), dim=16).finite
    False
    >>> krein.diagnose(SphericalPolynomial(a=2, p=2), dim=4).finite
    True
    >>> d = krein.diagnose(Radial(lambda z: z**2), dim=3)
    >>> d.finite, d.decomposes, d.decomposition_rule
    (False, True, 'polynomial in z²')
    """
    dim = check_dim(dim)
    check_kernel(kernel)
    terms = closed_terms(kernel, dim)
    if terms is not None:
        found = _closed(dim, terms)
    else:
        found = _on_sphere(kernel, dim) if kernel.domain == "sphere" else _on_space(kernel, dim)
    found |= _decomposed(kernel, dim, found)
    found |= _definite(kernel, dim, found)
    if not math.isfinite(found.get("tail_exponent", math.inf)):
        found["tail_exponent"] = None
    return Diagnosis(kernel=repr(kernel), dim=dim, of=kernel, **found)


def _closed(dim: int, terms: list[Term]) -> dict[str, Any]:
    measure = jordan_of_laws(dim, terms)
    canceled = sum(abs(c) for c, _, _ in terms) - measure.mass
    kind = f"a signed sum of {len(terms)} classical spectra" if len(terms) > 1 else "a classical spectrum"
    less = f", {canceled:.3g} less than the difference as written" if canceled > 1e-9 else ""
    return {
        "finite": True,
        "rule": "closed form",
        "reason": f"it has {kind}; the Jordan parts have mass {measure.mass:.4g}{less}",
        "advice": "method='closed_form' for all distances; method='least_mass' with the data's radius for less variance",
        "mass": measure.mass,
        "positive_mass": measure.positive.mass,
        "negative_mass": measure.negative.mass,
        "positive_definite": measure.negative.mass == 0.0,
    }


def _on_sphere(kernel: Kernel, dim: int) -> dict[str, Any]:
    """What the exponents at z = 2 say, of the extension by zero and of any."""
    exponent, critical = edge_exponent(kernel, 2.0), critical_exponent(dim)
    numerical = kernel.facts.edge_exponent is None
    margin = FIT_MARGIN if numerical else 0.0
    finite = bool(exponent > critical + margin)
    inner, inner_margin, on_range = (
        kernel.facts.edge_smoothness,
        0.0,
        True,
    )  # declared: analytic at all z between 0 and 2
    if inner is None:
        inside, inner_margin = singularity_exponent(kernel.radial, 2.0, ends=False), FIT_MARGIN
        inner = max(0.0, min(inside, exponent) if 0.02 < exponent % 1.0 < 0.98 else inside)
        numerical, on_range = True, finite or bool(inside > critical + FIT_MARGIN)
    # k ~ (2 − z)^α from inside, α no integer: its left-sided derivative of order (d − 1)/2 must be bounded, whatever is beyond.
    any_extension = bool(inner > critical + inner_margin) or finite
    jump = exponent < margin or exponent == 0.0
    edge = "ends with a jump (exponent 0)" if jump else f"ends like (2 - z)^{exponent:.3g}"
    above = "above" if finite else "not above"
    reason = f"extended by zero it {edge} at z = 2, and this exponent is {above} the critical (d-1)/2 = {critical:g}"
    if not finite and any_extension:
        reason += "; a smooth continuation beyond 2 has a finite measure"
    elif not finite:
        reason += "; and no continuation helps: seen from below 2 its singularity has the exponent "
        reason += f"{inner:.3g}, not above that either"
    within = "sqrt(2) for unit vectors with non-negative entries"
    advice = f"method='least_mass', radius up to 2 ({within})"
    if math.isfinite(inner):
        advice = f"method='least_mass' with radius below 2 ({within}); at radius 2 use tol='auto', which states the bias near "
        advice += "antipodal points"
    tail = 1 + exponent - critical
    return {
        "finite": finite,
        "rule": "critical exponent",
        "reason": reason,
        "advice": advice,
        "any_extension": any_extension,
        "on_range": on_range,
        "tail_exponent": tail,
        "numerical": numerical,
        **(_masses(kernel, dim, tail) if finite else _INFINITE),
    }


def _on_space(kernel: Kernel, dim: int) -> dict[str, Any]:
    """What its shape and its singularities away from 0 say."""
    found: dict[str, Any] = {
        "advice": "method='least_mass' with radius the largest distance in the data",
        "numerical": True,
    }
    critical = critical_exponent(dim)
    shape = radial_shape(kernel.radial) if kernel.facts.bounded else Shape(bounded=False)
    if shape.bounded and not shape.continuous_at_zero:
        found["advice"] = "a kernel that is continuous at 0; model the jump by the ridge parameter instead"
        reason = "it jumps at z = 0, and the transform of a finite measure is continuous"
        return found | {"finite": False, "rule": "continuity", "reason": reason, "on_range": False, "mass": math.inf}
    if not shape.bounded or shape.limit is None or shape.oscillates:
        smooth = kernel.facts.edge_smoothness == math.inf
        found["on_range"] = smooth or bool(
            singularity_exponent(kernel.radial, _LOOKED, ends=False) > critical + FIT_MARGIN
        )
        if shape.bounded:
            reason = "it has no limit at large distances or oscillates towards it, so its transform cannot be found numerically"
            return found | {"finite": None, "rule": "undecided", "reason": reason}
        found["advice"] += "; head_degree=1 takes up the growth"
        found["numerical"] = kernel.facts.bounded
        reason = "it is unbounded, and the transform of a finite measure is bounded by its mass"
        return found | {"finite": False, "rule": "boundedness", "reason": reason, **_INFINITE}
    limit = shape.limit
    exponent = singularity_exponent(lambda z: kernel.radial(z) - limit, 1.5 * shape.support, ends=False)
    finite, tail = bool(exponent > critical + FIT_MARGIN), 1 + exponent - critical
    reason = "no kink or jump away from 0 was found, so its transform decays fast"
    if math.isfinite(exponent):
        above = "above" if finite else "not above"
        reason = (
            f"its worst singularity away from 0 is |z - z0|^{exponent:.3g}, and this exponent is {above} the critical "
        )
        reason += f"(d-1)/2 = {critical:g}"
    found |= {"finite": finite, "rule": "smoothness", "reason": reason, "on_range": finite, "tail_exponent": tail}
    if finite and shape.decays and limit == 0.0 and dim <= _MOST_QUADRATURE:
        return found | _masses(kernel, dim, tail)
    return found if finite else found | _INFINITE


_INFINITE: dict[str, Any] = {"mass": math.inf, "positive_definite": False}


def _masses(kernel: Kernel, dim: int, tail: float) -> dict[str, Any]:
    """Jordan masses of the zero extension and whether the negative one is 0; nothing where the quadrature is not good enough.

    What the table leaves out is added: where the tail still changes sign, by its power law and half to each sign; where it does not
    (the tail of a kink at 0), it is what is missing from k(0).
    """
    extension = zero_extension(kernel, dim)
    measure = extension.measure(extension.cutoff, arches=_ARCHES[extension.known])
    up, down, size = measure.positive.mass, measure.negative.mass, extension.size
    missing = float(kernel.radial(0.0)) - float(measure.evaluate(0.0))
    if (measure.mass == 0.0 and size > 0.0) or abs(missing) > 0.02 * size:
        return {}
    part = measure.positive if up > 0.0 else measure.negative
    if isinstance(part, Density):
        end = float(part.edges[-1])
        last = extension.density(np.linspace(end - 4 * math.pi / extension.cutoff, end, 401))
        if last.min() < 0.0 < last.max() and math.isfinite(tail):
            beyond = extension.tail_mass(end, tail) / 2
            up, down = up + beyond, down + beyond
        else:
            up, down = up + max(missing, 0.0), down + max(-missing, 0.0)
    return {"mass": up + down, "positive_mass": up, "negative_mass": down, "positive_definite": down <= 1e-6 * up}


def _jordan_split(kernel: Kernel, dim: int, finite: bool | None) -> Split:
    """The Jordan parts of a measure that was computed: the negative one as it is, the positive one as what makes up the kernel."""
    if not finite or dim > _MOST_QUADRATURE or not _masses(kernel, dim, math.inf):
        raise ValueError(
            f"{kernel!r} has a decomposition, but no formula for it is known here that can be evaluated in dimension {dim}; "
            "krein.signed_measure(kernel, dim, radius) has one up to a stated bias"
        )
    extension = zero_extension(kernel, dim)
    part = extension.measure(extension.cutoff, arches=_ARCHES[extension.known]).negative
    return kernel.split_into(
        lambda z: kernel.radial(z) + part.evaluate(z, dim),
        lambda z: part.evaluate(z, dim),
        "finite measure",
        "the Jordan parts of its measure",
    )


def _decomposed(kernel: Kernel, dim: int, found: dict[str, Any]) -> dict[str, Any]:
    """Which difference of positive definite kernels it is, if one is known."""
    split = kernel.split(dim)
    decomposes: bool | None = True
    if split is not None:
        rule, how = split.rule, split.reason
    elif found["finite"] or found.get("any_extension"):
        extended = "" if found["finite"] else " of some extension beyond z = 2"
        rule, how = "finite measure", f"the Jordan parts of the finite measure{extended}"
    else:
        decomposes, rule = None, "not known"
        how = "none is known" + ("; one into unbounded kernels is not excluded" if found["finite"] is False else "")
    conditional = split.conditional if split is not None and kernel.domain != "sphere" else None
    return {
        "decomposes": decomposes,
        "decomposition_rule": rule,
        "decomposition_reason": how,
        "conditional": conditional,
    }


def _definite(kernel: Kernel, dim: int, found: dict[str, Any]) -> dict[str, Any]:
    """Whether it is positive definite, on space and on the sphere."""
    positive = True if found["conditional"] == (1, 0) else found.get("positive_definite")
    sure = positive or kernel.facts.positive_on_spheres or found["decomposition_rule"] == "positive definite"
    negative = None if sure else lower_dimension_with_negative_degree(kernel.radial, dim)
    return {
        "positive_definite": positive,
        "positive_on_sphere": negative is None,
        "negative_degree": int(negative_degrees(kernel.radial, dim)[0]) if negative == dim else None,
        "sphere_weights": tuple(sphere_weights(kernel.radial, dim).tolist()),
    }
