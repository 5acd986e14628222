"""Random hidden units: step and ReLU features for the arc-cosine kernels and the NTK."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from krein._core.checks import check_shape, integer, positive_integer
from krein._core.directions import orthogonal_directions
from krein._core.rows import check_magnitude, dense_block
from krein.baselines.base import BaselineMap, map_rows
from krein.baselines.inner_product import Ramp
from krein.baselines.kernel_forms import refuse, single_term
from krein.kernels import NTK, ArcCosine, Kernel

__all__ = ["ArcCosineFeatures"]

_PAIRED_ROWS = 256  # training rows whose pairs weigh the variances of steps and ramps against each other


@final
class ArcCosineFeatures(BaselineMap):
    r"""Random hidden units, for arc-cosine kernels and the neural tangent kernel of one layer.

    .. math:: \kappa_0 = 2\,E[\theta(w\cdot x)\,\theta(w\cdot y)], \quad
              \kappa_1 = 2\,E[(w\cdot x)_+ (w\cdot y)_+], \quad
              \mathrm{NTK} = (x \cdot y)\,\kappa_0 + \kappa_1

    with :math:`w \sim N(0, I)`: steps, ReLUs, and both, the steps multiplied by the row, :math:`x \otimes \theta(w \cdot x)`.

    Parameters
    ----------
    kernel : ArcCosine, NTK of depth 1, Ramp, or a multiple of one, default=None
        ``None`` is ``Ramp()``: on unit vectors ``ArcCosine(1)``, and rows keep their length.
    n_components : int, default=512
        Number D of output columns.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        All +1, or all −1 for a negative multiple of the kernel.
    n_steps_, n_ramps_ : int
        Numbers of step (or sign) and ReLU (or absolute value) units. For the NTK a step unit takes d columns and a ramp one;
        they are chosen for the least variance on pairs of training rows, and ramps take the columns that are left over.
    kernel_ : Kernel
    n_features_in_ : int

    Notes
    -----
    Unbiased. Two things lower the variance of the features of [1]_. Steps and ReLUs are split into even and odd part,
    :math:`\theta(t) = (1 + \operatorname{sign} t)/2` and :math:`t_+ = (t + |t|)/2`, which are uncorrelated, so that

    .. math:: \kappa_0 = \tfrac12 + \tfrac12 E[\operatorname{sign}\,\operatorname{sign}], \qquad
              \kappa_1 = \tfrac12 x\cdot y + \tfrac12 E[|w\cdot x||w\cdot y|]

    and the known parts become exact columns where there are enough: 1 for :math:`\kappa_0`, d for :math:`\kappa_1` and the NTK.
    And directions are drawn in Haar orthogonal blocks and of length :math:`\sqrt d`, which both kernels allow, being homogeneous
    in w. Cost: :math:`O(n d D)`, or :math:`O(n D)` for the step columns of the NTK.

    References
    ----------
    .. [1] Y. Cho and L. Saul. "Kernel methods for deep learning". NeurIPS, 2009.
    .. [2] A. Jacot, F. Gabriel and C. Hongler. "Neural tangent kernel". NeurIPS, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.baselines import ArcCosineFeatures
    >>> from krein.kernels import NTK
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> f = ArcCosineFeatures(kernel=NTK(), n_components=101, random_state=0).fit(X)
    >>> f.transform(X).shape, 5 + 5 * f.n_steps_ + f.n_ramps_
    ((20, 101), 101)
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 512,
        *,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def default_kernel(self) -> Kernel:
        return Ramp()

    def _fit(self, X: Any, kernel: Kernel, rng: np.random.Generator) -> None:
        width = positive_integer(self.n_components, "n_components")
        factor, unit = _unit_kind(kernel, type(self).__name__)
        check_magnitude(X)
        dim, has_ramps = X.shape[1], unit != "step"
        self._tangent = unit == "tangent"
        head = dim if has_ramps else 1
        # The split pays only where the exact part leaves columns for the rest.
        self._split = width >= (2 * dim + 1 if self._tangent else head + 1)
        left = width - head if self._split else width
        sample_rng, step_rng, ramp_rng = rng.spawn(3)
        if self._tangent:
            if left < dim + 1:
                why = f" for the NTK on {dim} columns, one step unit and one ramp"
                integer(width, "n_components", least=dim + 1, why=why)
            steps = _step_units(X, left, self._split, sample_rng)
            ramps = left - dim * steps
        else:
            steps, ramps = (0, left) if has_ramps else (left, 0)
        self._steps = math.sqrt(dim) * orthogonal_directions(steps, dim, step_rng).T
        self._ramps = math.sqrt(dim) * orthogonal_directions(ramps, dim, ramp_rng).T
        self._head = head if self._split else 0
        self._scale = math.sqrt(abs(factor))
        self.n_steps_, self.n_ramps_ = steps, ramps
        self.signature_ = np.full(width, math.copysign(1.0, factor))

    def _map(self, X: Any) -> np.ndarray:
        check_magnitude(X)
        dtype, dim = X.dtype, X.shape[1]
        steps, ramps = self._steps.astype(dtype), self._ramps.astype(dtype)
        head, split, units = self._head, self._split, self.n_steps_
        half = 0.5 if split else 2.0
        step_size = dtype.type(self._scale * math.sqrt(half / max(units, 1)))
        ramp_size = dtype.type(self._scale * math.sqrt(half / max(self.n_ramps_, 1)))
        # x·y/2 for each of κ₁ and u κ₀, 1/2 for κ₀
        head_size = dtype.type(self._scale * math.sqrt(1.0 if self._tangent else 0.5))
        constant = head == 1 and not self.n_ramps_

        def fill(rows: Any, out: np.ndarray) -> None:
            if head:
                out[:, :head] = head_size if constant else head_size * dense_block(rows, slice(None), dtype)
            start = head
            if units:
                active = _steps_of(rows @ steps, split) * step_size
                if self._tangent:
                    dense = dense_block(rows, slice(None), dtype)
                    block = out[:, start : start + units * dim].reshape(out.shape[0], units, dim)
                    np.multiply(active[:, :, None], dense[:, None, :], out=block)
                else:
                    out[:, start : start + units] = active
                start += units * (dim if self._tangent else 1)
            if self.n_ramps_:
                projected = np.asarray(rows @ ramps)
                ramped = np.abs(projected, out=projected) if split else np.maximum(projected, 0, out=projected)
                np.multiply(ramped, ramp_size, out=out[:, start:])

        return map_rows(X, self.signature_.size, fill)

    def _check_loaded(self) -> None:
        dim = self.n_features_in_
        check_shape(self._steps, "the weights of the steps", (dim, self.n_steps_))
        check_shape(self._ramps, "the weights of the ramps", (dim, self.n_ramps_))
        width = self._head + self.n_steps_ * (dim if self._tangent else 1) + self.n_ramps_
        check_shape(self.signature_, "signature_", (width,))


def _unit_kind(kernel: Kernel, method: str) -> tuple[float, str]:
    """Factor, and which units the kernel is made of: ``"step"``, ``"ramp"`` or, for the NTK, ``"tangent"``."""
    term = single_term(kernel)
    if term is not None:
        factor, base = term
        if isinstance(base, Ramp):
            return factor, "ramp"
        if isinstance(base, ArcCosine):
            return factor, "ramp" if base.order else "step"
        if isinstance(base, NTK) and base.depth == 1:
            return factor, "tangent"
    refuse(method, kernel, "a multiple of an ArcCosine kernel or of an NTK of depth 1")


def _steps_of(projected: np.ndarray, split: bool) -> np.ndarray:
    """±1 if split, else 1 and 0."""
    positive = (projected > 0).astype(projected.dtype)
    return 2 * positive - 1 if split else positive


def _step_units(X: Any, width: int, split: bool, rng: np.random.Generator) -> int:
    r"""Number of step units of the NTK: minimizes :math:`V_0/s + V_1/(D - ds)`, variances averaged over pairs of rows."""
    n, dim = X.shape
    picked = np.sort(rng.choice(n, size=min(n, _PAIRED_ROWS), replace=False))
    rows = dense_block(X[picked], slice(None))
    u = np.clip((rows @ rows.T)[np.triu_indices(picked.size, 1 if picked.size > 1 else 0)], -1.0, 1.0)
    step = 1.0 - np.arccos(u) / np.pi
    ramp = (np.sqrt(1.0 - u * u) + u * np.pi * step) / np.pi
    fourth = dim * (1.0 + 2.0 * u * u) / (dim + 2.0)  # E (w·x)²(w·y)² for w of length √d
    if split:
        step_variance, ramp_variance = u * u * step * (1.0 - step), fourth / 4.0 - (ramp - u / 2.0) ** 2
    else:
        step_variance, ramp_variance = u * u * step * (2.0 - step), 4.0 * fourth / 2.0 * step - ramp**2
    v0, v1 = max(float(step_variance.mean()), 1e-12), max(float(ramp_variance.mean()), 1e-12)
    best = width / (dim + math.sqrt(dim * v1 / v0))
    return int(min(max(1, round(best)), (width - 1) // dim))
