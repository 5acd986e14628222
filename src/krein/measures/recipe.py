"""How a measure is to be found: method, head, tolerance and cut, kept together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from krein._core.checks import FrozenParams, integer, one_of, positive_real
from krein.measures.build import METHODS

__all__ = ["MeasureRecipe", "as_measure_recipe"]


@final
@dataclass(frozen=True)
class MeasureRecipe(FrozenParams):
    r"""How a feature map finds its signed measure.

    Parameters
    ----------
    method : {"auto", "closed_form", "fourier", "least_mass"}, default="auto"
        How the measure is found; see :func:`krein.signed_measure`. ``"auto"`` is least mass; if the sampler needs a density, it
        is the closed form or, without one, the truncated Fourier transform.
    head_degree : {-1, 0, 1, 2} or "auto", default="auto"
        Degree in :math:`z^2` of the exact head, −1 for none. ``"auto"`` is the largest degree that leaves columns for waves or
        needs no waves; with unbiased weights it is the degree of least predicted error at the width.
    tol : float or "auto", default="auto"
        Tolerance of the measure. ``"auto"`` with unbiased weights minimizes the predicted error at the width; weights that
        are refitted need only some waves besides the head, from a measure that does not depend on the data.
    truncate : float, default=None
        Radius at which ``method="fourier"`` cuts the measure. None cuts it only for samplers that need a density: at the
        interval of the rejection sampler, otherwise at 10, as in the paper.

    Examples
    --------
    >>> import krein
    >>> krein.MeasureRecipe(head_degree=1, tol=1e-2)
    MeasureRecipe(method='auto', head_degree=1, tol=0.01, truncate=None)
    >>> krein.SignedFourierFeatures().set_params(measure__head_degree=1).measure.head_degree
    1
    """

    method: str = "auto"
    head_degree: int | str = "auto"
    tol: float | str = "auto"
    truncate: float | None = None

    def __post_init__(self) -> None:
        one_of(self.method, "method", METHODS)
        if isinstance(self.head_degree, str):
            one_of(self.head_degree, "head_degree", ("auto",), otherwise=", -1 (no head), 0, 1 or 2")
        else:
            integer(self.head_degree, "head_degree", least=-1, most=2)
        if isinstance(self.tol, str):
            one_of(self.tol, "tol", ("auto",), otherwise=" or a positive number")
        else:
            positive_real(self.tol, "tol")
        if self.truncate is not None:
            positive_real(self.truncate, "truncate")
            if self.method != "fourier":
                raise ValueError(
                    f"truncate cuts the Fourier transform and goes with method='fourier' only, got method={self.method!r}; "
                    "use method='fourier', or leave truncate out"
                )


def as_measure_recipe(measure: Any) -> MeasureRecipe:
    """The recipe itself, or the default one for ``"auto"``."""
    if isinstance(measure, MeasureRecipe):
        return measure
    one_of(measure, "measure", ("auto",), otherwise=" or a krein.MeasureRecipe")
    return MeasureRecipe()
