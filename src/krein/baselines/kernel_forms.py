"""Which method can do which kernel, the last sentence of every refusal; and the spherical polynomial as a homogeneous one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from krein.baselines.inner_product import InnerPolynomial, Ramp
from krein.kernels import NTK, ArcCosine, Kernel, SphericalPolynomial

__all__ = ["PolynomialForm", "homogeneous_weights", "methods_for", "polynomial_form", "refuse", "single_term"]


def single_term(kernel: Kernel) -> tuple[float, Kernel] | None:
    """Factor and kernel if this is a multiple of one kernel."""
    terms = kernel.terms()
    return terms[0] if len(terms) == 1 else None


def methods_for(kernel: Kernel) -> list[str]:
    """Names of the feature maps that can do a kernel, the most specialized first.

    Examples
    --------
    >>> from krein.kernels import Sigmoid
    >>> methods_for(Sigmoid())[0]
    'RandomMaclaurin'
    """
    names = []
    term = single_term(kernel)
    if any(isinstance(part, InnerPolynomial | Ramp) for _, part in kernel.terms()):
        if term is not None and isinstance(term[1], Ramp):
            return ["ArcCosineFeatures", "KreinNystroem"]
        sketches = ["TensorSketch", "TensorizedRandomProjection"] if term is not None else []
        return [*sketches, "RandomMaclaurin", "KreinNystroem"]
    if term is not None and isinstance(term[1], SphericalPolynomial):
        names += ["TensorSketch", "TensorizedRandomProjection"]
    if term is not None and (isinstance(term[1], ArcCosine) or (isinstance(term[1], NTK) and term[1].depth == 1)):
        names += ["ArcCosineFeatures"]
    if kernel.domain == "sphere":
        names += ["RandomMaclaurin"]
    return [*names, "DoubleGaussianMixture", "SphericalRandomFeatures", "KreinNystroem", "SignedFourierFeatures"]


def refuse(method: str, kernel: Kernel, needs: str) -> NoReturn:
    """Say what the method needs and which others would do."""
    able = [name for name in methods_for(kernel) if name != method]
    raise ValueError(f"{method} needs {needs}, got {kernel!r}; methods that can do this kernel: {', '.join(able)}")


@dataclass(frozen=True)
class PolynomialForm:
    r"""The kernel :math:`k = f\,(c_0 + c_1\, x \cdot y)^p`.

    Parameters
    ----------
    factor : float
        f, of either sign.
    constant, slope : float
        :math:`c_0, c_1 \ge 0`.
    degree : int
        p.
    """

    factor: float
    constant: float
    slope: float
    degree: int


def polynomial_form(kernel: Kernel, method: str) -> PolynomialForm:
    r"""The form of a (multiple of a) spherical polynomial, :math:`c_0 = 1 - 2/a^2`, :math:`c_1 = 2/a^2`.

    Examples
    --------
    >>> from krein.kernels import SphericalPolynomial
    >>> polynomial_form(-SphericalPolynomial(a=2, p=3), "TensorSketch")
    PolynomialForm(factor=-1.0, constant=0.5, slope=0.5, degree=3)
    """
    term = single_term(kernel)
    if term is not None and isinstance(term[1], InnerPolynomial):
        return PolynomialForm(term[0], term[1].constant, term[1].slope, term[1].degree)
    if term is None or not isinstance(term[1], SphericalPolynomial):
        refuse(method, kernel, "a multiple of a SphericalPolynomial (or InnerPolynomial) kernel")
    slope = 2.0 / term[1].a ** 2
    return PolynomialForm(term[0], 1.0 - slope, slope, term[1].p)


def homogeneous_weights(weights: np.ndarray, form: PolynomialForm) -> np.ndarray:
    r"""Weights of d + 1 coordinates scaled so that :math:`(x, 1)` serves for :math:`(\sqrt{c_1}\,x, \sqrt{c_0})`.

    The rows themselves need not be copied to get the coordinate that makes the polynomial homogeneous.
    """
    scaled: np.ndarray = math.sqrt(form.slope) * weights
    scaled[-1] = math.sqrt(max(form.constant, 0.0)) * weights[-1]
    return scaled
