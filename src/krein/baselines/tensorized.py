"""Tensorized random projection: products of sign projections for polynomial kernels."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from krein._core.checks import check_shape, one_of, positive_integer
from krein._core.rows import check_magnitude
from krein.baselines.base import EDITIONS, BaselineMap, map_rows
from krein.baselines.inner_product import InnerPolynomial
from krein.baselines.kernel_forms import homogeneous_weights, polynomial_form
from krein.baselines.products import complex_products, draw_complex_levels, draw_levels, real_products, weigh_levels
from krein.kernels import Kernel

__all__ = ["TensorizedRandomProjection"]


@final
class TensorizedRandomProjection(BaselineMap):
    r"""Products of p random sign projections, for the spherical polynomial kernel.

    .. math:: \phi_i(x) = D^{-1/2} \prod_{j=1}^{p} \omega_{ij} \cdot (\sqrt{c_1}\,x, \sqrt{c_0}), \qquad
              k(x, y) = (c_0 + c_1\, x \cdot y)^p

    Parameters
    ----------
    kernel : SphericalPolynomial, InnerPolynomial or a multiple of one, default=None
        ``None`` is ``InnerPolynomial()``: on unit vectors ``SphericalPolynomial()``, and rows keep their length.
    n_components : int, default=512
        Number D of output columns.
    edition : {"modern", "published"}, default="modern"
        ``"published"`` [1]_: real products, all signs drawn independently. ``"modern"`` [2]_: :math:`\omega` from
        :math:`\{\pm1, \pm i\}`, and real and imaginary parts returned, so that D/2 complex products give D columns of lower
        variance (an odd column is a real product); signs are rows of a randomly signed Hadamard matrix drawn without
        replacement, for each factor anew: each column has the same law, so the mean is the same, and columns are negatively
        correlated.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        All +1, or all −1 for a negative multiple of the kernel.
    kernel_ : Kernel
    n_features_in_ : int

    Notes
    -----
    Unbiased. With independent real signs the variance is
    :math:`\{[\|\tilde x\|^2\|\tilde y\|^2 + 2(\tilde x\cdot\tilde y)^2 - 2\sum_i \tilde x_i^2 \tilde y_i^2]^p
    - k(x,y)^2\}/D`, where tildes denote rows with the added coordinate. Cost: :math:`O(n p d D)`.

    References
    ----------
    .. [1] M. Meister, T. Sarlos and D. Woodruff. "Tight dimensionality reduction for sketching low degree polynomial
       kernels". NeurIPS, 2019.
    .. [2] J. Wacker, M. Kanagawa and M. Filippone. "Improved random features for dot product kernels". arXiv:2201.08712,
       2022; J. Wacker, R. Ohana and M. Filippone. "Complex-to-real sketches for tensor products with applications to the
       polynomial kernel". arXiv:2202.02031, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.baselines import TensorizedRandomProjection
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> f = TensorizedRandomProjection(n_components=64, random_state=0).fit(X)
    >>> f.transform(X).shape
    (20, 64)
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 512,
        *,
        edition: str = "modern",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.edition = edition
        self.random_state = random_state

    def default_kernel(self) -> Kernel:
        return InnerPolynomial()

    def _fit(self, X: Any, kernel: Kernel, rng: np.random.Generator) -> None:
        width = positive_integer(self.n_components, "n_components")
        modern = one_of(self.edition, "edition", EDITIONS) == "modern"
        form = polynomial_form(kernel, type(self).__name__)
        check_magnitude(X, power=2 * form.degree)
        dim, pairs = X.shape[1] + 1, width // 2 if modern else 0
        plain_rng, complex_rng = rng.spawn(2)
        self._amplitude = math.sqrt(abs(form.factor) / width)  # of one real column; a complex one counts for two
        plain = draw_levels(dim, np.full(width - 2 * pairs, form.degree), plain_rng, hadamard=modern)
        turned = draw_complex_levels(dim, form.degree, pairs, complex_rng, hadamard=modern)
        plain = tuple(homogeneous_weights(level, form).astype(X.dtype) for level in plain)
        self._levels = weigh_levels(plain, np.full(width - 2 * pairs, self._amplitude))
        self._complex_levels = tuple(homogeneous_weights(level, form).astype(X.dtype) for level in turned)
        self.signature_ = np.full(width, math.copysign(1.0, form.factor))

    def _map(self, X: Any) -> np.ndarray:
        check_magnitude(X, power=2 * len(self._complex_levels))
        width = self.signature_.size
        plain = tuple(level.astype(X.dtype, copy=False) for level in self._levels)
        turned = tuple(level.astype(X.dtype, copy=False) for level in self._complex_levels)
        pairs = turned[0].shape[1] // 2
        amplitudes = np.full(width - 2 * pairs, self._amplitude, dtype=X.dtype)

        def fill(rows: Any, out: np.ndarray) -> None:
            if pairs:
                complex_products(rows, turned, math.sqrt(2.0) * self._amplitude, out[:, : 2 * pairs])
            if width > 2 * pairs:
                real_products(rows, plain, amplitudes, out[:, 2 * pairs :])

        return map_rows(X, width, fill)

    def _check_loaded(self) -> None:
        dim = self.n_features_in_ + 1
        plain, turned = (levels[0].shape[1] if levels else 0 for levels in (self._levels, self._complex_levels))
        for level in self._levels:
            check_shape(level, "a level of signs", (dim, plain))
        for level in self._complex_levels:
            check_shape(level, "a level of complex signs", (dim, turned))
        check_shape(self.signature_, "signature_", (plain + turned,))
