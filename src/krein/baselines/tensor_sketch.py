"""Tensor sketch: count sketches of the rows, multiplied in Fourier space."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

import numpy as np
import scipy.fft
import scipy.sparse as sp

from krein._core.checks import check_shape, one_of, positive_integer
from krein._core.rows import check_magnitude
from krein.baselines.base import EDITIONS, BaselineMap, map_rows
from krein.baselines.inner_product import InnerPolynomial
from krein.baselines.kernel_forms import homogeneous_weights, polynomial_form
from krein.baselines.products import project
from krein.kernels import Kernel

__all__ = ["TensorSketch", "draw_count_sketch"]

_SMALL_DIM = 192  # up to here one matrix product is faster than scattering and transforming every row


def draw_count_sketch(dim: int, width: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A place in ``range(width)`` and a sign for each coordinate.

    Places are drawn without replacement as long as there are any: no two coordinates collide where ``dim <= width``.

    Examples
    --------
    >>> import numpy as np
    >>> places, signs = draw_count_sketch(3, 5, np.random.default_rng(0))
    >>> len(set(places.tolist())), np.abs(signs)
    (3, array([1., 1., 1.]))
    """
    places = np.concatenate([rng.permutation(width) for _ in range(-(-dim // width))])[:dim]
    return places, 1.0 - 2.0 * rng.integers(2, size=dim)


@final
class TensorSketch(BaselineMap):
    r"""Count sketches convolved with each other, for the spherical polynomial kernel.

    .. math:: \phi(x) = \mathcal F^{-1}\Bigl(\prod_{j=1}^{p} \mathcal F S_j\,(\sqrt{c_1}\,x, \sqrt{c_0})\Bigr), \qquad
              k(x, y) = (c_0 + c_1\, x \cdot y)^p

    Parameters
    ----------
    kernel : SphericalPolynomial, InnerPolynomial or a multiple of one, default=None
        ``None`` is ``InnerPolynomial()``: on unit vectors ``SphericalPolynomial()``, and rows keep their length.
    n_components : int, default=512
        Number of output columns. Transforms are fastest where it is a product of small primes.
    edition : {"modern", "published"}, default="modern"
        ``"published"`` [1]_: places are drawn independently. ``"modern"``: without replacement, so that coordinates collide in a
        product only, never within one sketch (a quarter less error in practice). The mean is the same.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        All +1, or all −1 for a negative multiple of the kernel.
    kernel_ : Kernel
    n_features_in_ : int

    Notes
    -----
    Unbiased. For few columns the Fourier transform of the sketch is applied as a matrix,
    :math:`\mathcal F(S x) = (\mathcal F S) x`, which needs neither scattering nor p transforms per row. Cost:
    :math:`O(n p d D)` up to some 200 columns, :math:`O(n p (d + D \log D))` beyond.

    References
    ----------
    .. [1] N. Pham and R. Pagh. "Fast and scalable polynomial kernels via explicit feature maps". KDD, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.baselines import TensorSketch
    >>> X = np.random.default_rng(0).normal(size=(20, 5)).astype(np.float32)
    >>> Z = TensorSketch(n_components=64, random_state=0).fit_transform(X)
    >>> Z.shape, Z.dtype
    ((20, 64), dtype('float32'))
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
        dim = X.shape[1] + 1
        scale = abs(form.factor) ** (0.5 / form.degree)
        self._sketches = []
        for _ in range(form.degree):
            places, signs = draw_count_sketch(dim, width, rng)
            if not modern:
                places = rng.integers(width, size=dim)
            weights = scale * homogeneous_weights(signs, form)
            self._sketches.append(sp.csr_array((weights, places, np.arange(dim + 1)), shape=(dim, width)))
        self.signature_ = np.full(width, math.copysign(1.0, form.factor))

    def _map(self, X: Any) -> np.ndarray:
        check_magnitude(X, power=2 * len(self._sketches))
        width, spectra = self.signature_.size, self._spectra(X)

        def fill(rows: Any, out: np.ndarray) -> None:
            product = spectra[0](rows)
            for spectrum in spectra[1:]:
                product *= spectrum(rows)
            out[:] = scipy.fft.irfft(product, n=width, axis=1, overwrite_x=True)

        return map_rows(X, width, fill, scratch=3.0)

    def _check_loaded(self) -> None:
        for sketch in self._sketches:
            check_shape(sketch, "a sketch", (self.n_features_in_ + 1, self.signature_.size))

    def _spectra(self, X: Any) -> list[Callable[[Any], np.ndarray]]:
        """One function per factor: the Fourier transforms of the sketched rows."""
        if X.shape[1] <= _SMALL_DIM:
            return [_SpectrumByProduct(sketch, X.dtype) for sketch in self._sketches]
        return [_SpectrumByTransform(sketch, X.dtype) for sketch in self._sketches]


class _SpectrumByProduct:
    """The transformed sketch as a real matrix with real and imaginary parts interleaved."""

    def __init__(self, sketch: sp.csr_array, dtype: Any) -> None:
        spectrum = scipy.fft.rfft(sketch.toarray(), axis=1)
        self._weights = np.ascontiguousarray(spectrum).view(np.float64).astype(dtype)
        self._complex = np.result_type(dtype, np.complex64)

    def __call__(self, rows: Any) -> np.ndarray:
        out = np.empty((rows.shape[0], self._weights.shape[1]), dtype=self._weights.dtype)
        return project(rows, self._weights, out).view(self._complex)


class _SpectrumByTransform:
    """The sketch as a sparse matrix, and a transform of every row."""

    def __init__(self, sketch: sp.csr_array, dtype: Any) -> None:
        self._sketch = sketch[:-1].astype(dtype)
        self._constant = sketch[[-1]].toarray().astype(dtype)

    def __call__(self, rows: Any) -> np.ndarray:
        sketched = rows @ self._sketch
        sketched = sketched.toarray() if sp.issparse(sketched) else np.asarray(sketched)
        sketched += self._constant
        return np.asarray(scipy.fft.rfft(sketched, axis=1, overwrite_x=True))
