"""Which method can do which kernel: the last sentence of every refusal."""

from __future__ import annotations

from typing import NoReturn

from krein.baselines.inner_product import InnerPolynomial, Ramp
from krein.kernels import NTK, ArcCosine, Kernel, SphericalPolynomial

__all__ = ["methods_for", "refuse", "single_term"]


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
