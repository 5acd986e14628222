"""The question of Theorem 1: whether a kernel has a positive decomposition on ℝ^d, by which rule, and what to do if not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from krein.measures.closed_form import Term, jordan_of_laws
from krein.measures.density import Density
from krein.measures.fourier import critical_exponent, edge_exponent, fourier_measure, fourier_transform, tail_mass
from krein.measures.gegenbauer import lower_dimension_with_negative_degree, negative_degrees, sphere_weights
from krein.measures.omega import check_dim
from krein.measures.radial_kernel import RadialKernel, check_kernel, closed_terms
from krein.measures.smoothness import FIT_MARGIN, Shape, radial_shape, singularity_exponent
from krein.show.cards import card, sketch, stems
from krein.show.style import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Diagnosis", "diagnose"]


@final
@dataclass(frozen=True)
class Diagnosis:
    r"""The answer for one kernel in one dimension.

    Parameters
    ----------
    kernel : str
    dim : int
    finite : bool or None
        Whether the kernel (extended by zero beyond its domain) is the transform of a finite signed measure on
        :math:`\mathbb{R}^d`, that is, has a positive decomposition there. None if it could not be decided.
    rule : {"closed form", "critical exponent", "boundedness", "continuity", "smoothness", "undecided"}
    reason : str
    mass, positive_mass, negative_mass : float or None
        Masses of the Jordan parts, if finite and computed; ``mass`` is ``inf`` if infinite.
    positive_definite : bool or None
        Whether the kernel is positive definite on :math:`\mathbb{R}^d`.
    positive_on_sphere : bool
        Whether it is positive definite on the unit sphere :math:`S^{d-1}`, that is, no Gegenbauer coefficient is negative.
    negative_degree : int or None
        The first degree with a negative coefficient. None if there is none, or if the coefficient is too small to be detected in
        dimension d and was found on a sphere of lower dimension.
    any_extension : bool or None
        For kernels on the sphere: whether some other continuation beyond z = 2 can have a finite measure.
    tail_exponent : float or None
        β in :math:`|\rho(r)| \sim r^{-\beta}`; the mass is finite iff β > 1.
    numerical : bool
        Whether the exponent was fitted rather than known.
    advice : str
        Which method and radius to use.
    sphere_weights : tuple of float, default=()
        Share of each degree of spherical harmonics in k(0) on the unit sphere, from degree 0; a negative share means that the
        kernel is not positive definite there.
    """

    kernel: str
    dim: int
    finite: bool | None
    rule: str
    reason: str
    mass: float | None
    positive_mass: float | None
    negative_mass: float | None
    positive_definite: bool | None
    positive_on_sphere: bool
    negative_degree: int | None
    any_extension: bool | None
    tail_exponent: float | None
    numerical: bool
    advice: str
    sphere_weights: tuple[float, ...] = ()

    def facts(self) -> list[tuple[str, str]]:
        """Names and values, as the printed form and a notebook show them.

        Returns
        -------
        list of (str, str)
        """
        answer = {True: "yes", False: "no", None: "undecided"}
        mass = "not computed" if self.mass is None else f"{self.mass:.4g}"
        if self.positive_mass is not None:
            mass += f" (positive {self.positive_mass:.4g}, negative {self.negative_mass:.4g})"
        sphere = answer[self.positive_on_sphere]
        if self.negative_degree is not None:
            sphere += f" (coefficient of degree {self.negative_degree} is negative)"
        elif not self.positive_on_sphere:
            sphere += " (this shows on spheres of lower dimension)"
        decided = f"{answer[self.finite]}, by {self.rule}" + (" (decided numerically)" if self.numerical else "")
        rows = [
            (f"positive decomposition on R^{self.dim}", decided),
            ("why", self.reason),
            ("mass of its measure", mass),
            (f"positive definite on R^{self.dim}", answer[self.positive_definite]),
            ("positive definite on the sphere", sphere),
        ]
        if self.tail_exponent is not None:
            rows.append(
                ("tail of the measure", f"r^{-self.tail_exponent:.3g}; a finite mass needs an exponent below -1")
            )
        return [*rows, ("use", self.advice)]

    def __str__(self) -> str:
        facts = self.facts()
        width = max(len(name) for name, _ in facts)
        lines = [f"  {name:<{width}}  {value}" for name, value in facts]
        return "\n".join([f"{self.kernel} in dimension {self.dim}", *lines])

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


def diagnose(kernel: RadialKernel, dim: int) -> Diagnosis:
    """Find out whether a kernel has a positive decomposition on ℝ^dim, and what follows from the answer.

    Examples
    --------
    >>> import krein
    >>> from krein.kernels import SphericalPolynomial
    >>> krein.diagnose(SphericalPolynomial(a=2, p=2), dim=16).finite
    False
    >>> krein.diagnose(SphericalPolynomial(a=2, p=2), dim=4).finite
    True
    """
    dim = check_dim(dim)
    check_kernel(kernel)
    terms = closed_terms(kernel, dim)
    if terms is not None:
        return _closed(kernel, dim, terms)
    if kernel.domain == "sphere":
        return _on_sphere(kernel, dim)
    return _on_space(kernel, dim)


def _closed(kernel: RadialKernel, dim: int, terms: list[Term]) -> Diagnosis:
    measure = jordan_of_laws(dim, terms)
    negative = measure.negative.mass
    canceled = sum(abs(c) for c, _, _ in terms) - measure.mass
    kind = f"a signed sum of {len(terms)} classical spectra" if len(terms) > 1 else "a classical spectrum"
    reason = f"it has {kind}; the Jordan parts have mass {measure.mass:.4g}"
    if canceled > 1e-9:
        reason += f", {canceled:.3g} less than the difference as written"
    return _report(
        kernel,
        dim,
        finite=True,
        rule="closed form",
        reason=reason,
        masses=(measure.positive.mass, negative),
        positive_definite=negative == 0.0,
        advice="method='closed_form' for all distances; method='least_mass' with the data's radius for less variance",
    )


def _on_sphere(kernel: RadialKernel, dim: int) -> Diagnosis:
    exponent, critical = edge_exponent(kernel, 2.0), critical_exponent(dim)
    numerical = kernel.facts.edge_exponent is None
    margin = FIT_MARGIN if numerical else 0.0
    finite = bool(exponent > critical + margin)
    inner = kernel.facts.edge_smoothness
    if inner is None:
        inner = singularity_exponent(kernel.radial, 2.0, ends=False)
        inner = max(0.0, min(inner, exponent) if 0.02 < exponent % 1.0 < 0.98 else inner)
    # A finite measure is ⌊(d−1)/2⌋ times continuously differentiable: an exponent below that excludes every extension.
    any_extension = inner >= math.floor(critical) or finite
    tail = 1 + exponent - critical
    jump = exponent < margin or exponent == 0.0
    edge = "ends with a jump (exponent 0)" if jump else f"ends like (2 - z)^{exponent:.3g}"
    reason = (
        f"extended by zero it {edge} at z = 2, and this exponent is {'above' if finite else 'not above'} the critical "
        f"(d-1)/2 = {critical:g}"
    )
    if not finite:
        reason += (
            "; a smooth continuation beyond 2 has a finite measure"
            if any_extension
            else f"; and no continuation helps: at z = 2 it is not {math.floor(critical)} times differentiable"
        )
    masses, positive = _masses(kernel, dim, tail) if finite else (None, False)
    if math.isinf(inner):
        advice = "method='least_mass', radius up to 2 (sqrt(2) for unit vectors with non-negative entries)"
    else:
        advice = (
            "method='least_mass' with radius below 2 (sqrt(2) for unit vectors with non-negative entries); at radius 2 use "
            "tol='auto', which states the bias near antipodal points"
        )
    return _report(
        kernel,
        dim,
        finite=finite,
        rule="critical exponent",
        reason=reason,
        masses=masses,
        positive_definite=positive,
        advice=advice,
        any_extension=any_extension,
        tail=tail,
        numerical=numerical,
    )


def _on_space(kernel: RadialKernel, dim: int) -> Diagnosis:
    advice = "method='least_mass' with radius the largest distance in the data"
    shape = radial_shape(kernel.radial) if kernel.facts.bounded else Shape(bounded=False)
    if not shape.bounded:
        return _report(
            kernel,
            dim,
            finite=False,
            rule="boundedness",
            reason="it is unbounded, and the transform of a finite measure is bounded by its mass",
            positive_definite=False,
            advice=advice + "; head_degree=1 takes up the growth",
            numerical=kernel.facts.bounded,
        )
    if not shape.continuous_at_zero:
        return _report(
            kernel,
            dim,
            finite=False,
            rule="continuity",
            reason="it jumps at z = 0, and the transform of a finite measure is continuous",
            positive_definite=False,
            advice="a kernel that is continuous at 0; model the jump by the ridge parameter instead",
            numerical=True,
        )
    if shape.limit is None or shape.oscillates:
        return _report(
            kernel,
            dim,
            finite=None,
            rule="undecided",
            reason="it has no limit at large distances or oscillates towards it, so its transform cannot be found numerically",
            positive_definite=None,
            advice=advice,
            numerical=True,
        )
    limit, critical = shape.limit, critical_exponent(dim)
    exponent = singularity_exponent(lambda z: kernel.radial(z) - limit, 1.5 * shape.support, ends=False)
    finite = bool(exponent > critical + FIT_MARGIN)
    if math.isinf(exponent):
        reason = "no kink or jump away from 0 was found, so its transform decays fast"
    else:
        compared = "above" if finite else "not above"
        reason = (
            f"its worst singularity away from 0 is |z - z0|^{exponent:.3g}, and this exponent is {compared} the critical "
            f"(d-1)/2 = {critical:g}"
        )
    masses, positive = None, None if finite else False
    if finite and shape.decays and limit == 0.0 and dim <= 20:  # the quadrature cancels in high dimension
        masses, positive = _masses(kernel, dim, 1 + exponent - critical)
    return _report(
        kernel,
        dim,
        finite=finite,
        rule="smoothness",
        reason=reason,
        masses=masses,
        positive_definite=positive,
        advice=advice,
        tail=None if math.isinf(exponent) else 1 + exponent - critical,
        numerical=True,
    )


def _masses(kernel: RadialKernel, dim: int, tail: float) -> tuple[tuple[float, float] | None, bool | None]:
    """Jordan masses of the zero extension and whether the negative one is 0; None where the quadrature is not good enough.

    What the table leaves out is added: where the tail still changes sign, by its power law and half to each sign; where it does not
    (the tail of a kink at 0), it is what is missing from k(0).
    """
    density, cutoff = fourier_transform(kernel, dim)
    known = kernel.domain == "sphere" and kernel.fourier_density(np.ones(1), dim) is not None
    measure = fourier_measure(kernel.radial, density, dim, cutoff, cutoff, arches=600 if known else 100)
    size = float(np.max(np.abs(kernel.radial(np.linspace(0.0, cutoff, 65)))))
    if measure.mass == 0.0:
        return ((0.0, 0.0), True) if size == 0.0 else (None, None)
    missing = float(kernel.radial(0.0)) - float(measure.evaluate(0.0))
    if abs(missing) > 0.02 * size:
        return None, None
    part = measure.positive if measure.positive.mass > 0 else measure.negative
    end = float(part.edges[-1]) if isinstance(part, Density) else 1.0
    last = density(np.linspace(end - 4 * math.pi / cutoff, end, 401))
    if last.min() < 0.0 < last.max() and math.isfinite(tail):
        up = down = tail_mass(density, end, cutoff, tail) / 2
    else:
        up, down = max(missing, 0.0), max(-missing, 0.0)
    masses = (measure.positive.mass + up, measure.negative.mass + down)
    return masses, masses[1] <= 1e-6 * masses[0]


def _report(
    kernel: RadialKernel,
    dim: int,
    *,
    finite: bool | None,
    rule: str,
    reason: str,
    positive_definite: bool | None,
    advice: str,
    masses: tuple[float, float] | None = None,
    any_extension: bool | None = None,
    tail: float | None = None,
    numerical: bool = False,
) -> Diagnosis:
    surely_positive = kernel.facts.positive_on_spheres or positive_definite
    found = None if surely_positive else lower_dimension_with_negative_degree(kernel.radial, dim)
    return Diagnosis(
        kernel=repr(kernel),
        dim=dim,
        finite=finite,
        rule=rule,
        reason=reason,
        mass=math.inf if finite is False else (None if masses is None else masses[0] + masses[1]),
        positive_mass=None if masses is None else masses[0],
        negative_mass=None if masses is None else masses[1],
        positive_definite=positive_definite,
        positive_on_sphere=found is None,
        negative_degree=int(negative_degrees(kernel.radial, dim)[0]) if found == dim else None,
        any_extension=any_extension,
        tail_exponent=tail if tail is None or math.isfinite(tail) else None,
        numerical=numerical,
        advice=advice,
        sphere_weights=tuple(sphere_weights(kernel.radial, dim).tolist()),
    )
