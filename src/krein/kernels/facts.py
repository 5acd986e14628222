"""What is known about a radial function without computing: declared by a kernel, never guessed."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["SMOOTH_JUMP", "UNKNOWN", "Facts"]


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
