"""Random Maclaurin features for kernels of the inner product, positive or not."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from krein._core.checks import check_shape, one_of, positive_integer
from krein._core.rows import UNIT_TOLERANCE, check_magnitude, dense_block, row_norms
from krein.baselines.allocation import DegreePlan, plan_degrees, published_degrees
from krein.baselines.base import EDITIONS, BaselineMap, map_rows
from krein.baselines.inner_product import InnerPolynomial
from krein.baselines.kernel_forms import refuse
from krein.baselines.products import draw_levels, monomial_variances, real_products, weigh_levels
from krein.baselines.series import MAX_DEGREE, PowerSeries, candidate_series
from krein.kernels import Kernel

__all__ = ["RandomMaclaurin"]

_SAMPLE = 256  # rows whose pairs weigh bias and variance against each other


@final
class RandomMaclaurin(BaselineMap):
    r"""Products of a random number of random projections, for any kernel of the inner product on the unit sphere.

    .. math:: k(x, y) = \sum_n c_n (x \cdot y)^n, \qquad
              \phi_i(x) = \sqrt{|c_{n_i}| / D_{n_i}}\,\prod_{j=1}^{n_i} \omega_{ij} \cdot x, \qquad
              \sigma_i = \operatorname{sign} c_{n_i}

    Parameters
    ----------
    kernel : Kernel, default=None
        Any kernel on the sphere, a radial kernel on :math:`\mathbb{R}^d` if all rows have unit length, or
        `InnerPolynomial`. ``None`` is ``InnerPolynomial()``: on unit vectors ``SphericalPolynomial()``.
    n_components : int, default=512
        Number D of output columns.
    edition : {"modern", "published"}, default="modern"
        ``"published"`` [1]_: each column draws its degree with probability :math:`2^{-n-1}`, and its signs independently.
        ``"modern"`` [2]_: columns are divided between degrees in proportion to :math:`|c_n|` times the mean standard deviation
        of a feature of that degree on pairs of training rows, the split of least variance; the constant (one column) and the
        linear term (d columns) are exact where that lowers the predicted variance (heuristic "H0/1" of [1]_); signs are rows
        of a randomly signed Hadamard matrix drawn without replacement, which have less variance.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        Signs of the coefficients.
    degrees_ : ndarray of shape (n_components,)
        Degree of each column.
    coefficients_ : ndarray
        Coefficients :math:`c_n` used, from degree 0 on.
    series_error_ : float
        Largest difference on :math:`[-1, 1]` between the kernel and the polynomial that the features estimate.
    kernel_ : Kernel
    n_features_in_ : int

    Notes
    -----
    Unbiased for the polynomial with ``coefficients_``, which is the kernel itself where that is a polynomial. The series
    of the arc-cosine kernels, the NTK and the Gaussian is cut where the squared bias on pairs of training rows begins to fall
    below the variance; for kernels without a known or convergent series the polynomial of least mass within a tolerance
    is taken, the tolerance by the same rule. Degrees beyond 24 are not used. Cost: :math:`O(n d \sum_i n_i)`.

    References
    ----------
    .. [1] P. Kar and H. Karnick. "Random feature maps for dot product kernels". AISTATS, 2012.
    .. [2] J. Wacker, M. Kanagawa and M. Filippone. "Improved random features for dot product kernels". arXiv:2201.08712,
       2022.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.baselines import RandomMaclaurin
    >>> from krein.kernels import Sigmoid
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> f = RandomMaclaurin(kernel=Sigmoid(1.0, -0.5), n_components=200, random_state=0).fit(X)
    >>> sorted(set(f.signature_.tolist()))
    [-1.0, 1.0]
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
        series = candidate_series(kernel)
        if not series:
            refuse(type(self).__name__, kernel, f"a kernel within 10 % of a polynomial of degree {MAX_DEGREE} in x·y")
        _check_rows(X, kernel, max(candidate.degree for candidate in series))
        sample_rng, plan_rng, sign_rng = rng.spawn(3)
        plan, chosen = self._choose(X, kernel, series, width, sample_rng, plan_rng)
        dim = X.shape[1]
        self._linear = plan.linear_amplitude
        levels = draw_levels(dim, plan.degrees, sign_rng, hadamard=modern, dtype=X.dtype)
        self._levels = weigh_levels(levels, plan.amplitudes)
        self._amplitudes = plan.amplitudes
        linear = np.full(dim if plan.exact_degree == 1 else 0, 1)
        self.degrees_ = np.concatenate([linear, plan.degrees])
        self.coefficients_ = chosen.coefficients
        self.series_error_ = chosen.error
        self.signature_ = np.where(chosen.coefficients[self.degrees_] < 0, -1.0, 1.0)

    def _choose(
        self,
        X: Any,
        kernel: Kernel,
        series: tuple[PowerSeries, ...],
        width: int,
        sample_rng: np.random.Generator,
        plan_rng: np.random.Generator,
    ) -> tuple[DegreePlan, PowerSeries]:
        """The series and the split of columns with the least squared bias plus variance on pairs of training rows."""
        picked = np.sort(sample_rng.choice(X.shape[0], size=min(_SAMPLE, X.shape[0]), replace=False))
        rows = dense_block(X[picked], slice(None))
        variances, inner = monomial_variances(rows, max(s.degree for s in series))
        # A single candidate is the kernel itself.
        exact = kernel.radial(np.sqrt(np.clip(2.0 - 2.0 * inner, 0.0, 4.0))) if len(series) > 1 else series[0](inner)
        best: tuple[float, DegreePlan, PowerSeries] | None = None
        for candidate in series:
            bias = float(np.mean((candidate(inner) - exact) ** 2))
            (child,), spread = plan_rng.spawn(1), variances[: candidate.degree + 1].mean(axis=1)
            if self.edition == "published":
                plan = published_degrees(candidate.coefficients, spread, width, child)
            else:
                plan = plan_degrees(candidate.coefficients, spread, width, X.shape[1], child)
            if best is None or bias + plan.variance < best[0]:
                best = bias + plan.variance, plan, candidate
        assert best is not None
        return best[1], best[2]

    def _map(self, X: Any) -> np.ndarray:
        _check_rows(X, self.kernel_, self.coefficients_.size - 1)
        linear = self.signature_.size - self._amplitudes.size
        levels = tuple(level.astype(X.dtype, copy=False) for level in self._levels)
        amplitudes = self._amplitudes.astype(X.dtype)

        def fill(rows: Any, out: np.ndarray) -> None:
            if linear:
                out[:, :linear] = dense_block(rows, slice(None), X.dtype) * X.dtype.type(self._linear)
            real_products(rows, levels, amplitudes, out[:, linear:])

        return map_rows(X, self.signature_.size, fill)

    def _check_loaded(self) -> None:
        dim, linear = self.n_features_in_, self.signature_.size - self._amplitudes.size
        check_shape(self._amplitudes, "amplitudes", (None,))
        check_shape(self.degrees_, "degrees_", self.signature_.shape)
        if linear not in (0, dim) or not 0 <= self.degrees_.min() <= self.degrees_.max() < self.coefficients_.size:
            raise ValueError("signature_, amplitudes, degrees_ and coefficients_ do not fit each other")
        for level, signs in enumerate(self._levels, start=1):
            check_shape(signs, "a level of signs", (dim, int(np.count_nonzero(self.degrees_[linear:] >= level))))


def _check_rows(X: Any, kernel: Kernel, degree: int) -> None:
    """A radial kernel is a function of the inner product on unit vectors only; a polynomial takes rows of any length."""
    if kernel.domain == "sphere":
        return
    if any(isinstance(term, InnerPolynomial) for _, term in kernel.terms()):
        check_magnitude(X, power=2 * max(degree, 1))
        return
    off = np.flatnonzero(np.abs(row_norms(X) - 1.0) > UNIT_TOLERANCE)
    if off.size:
        raise ValueError(
            f"row {off[0]} of X has length {row_norms(X[off[:1]])[0]:.6g}, but {kernel!r} is a function of x·y on unit "
            "vectors only; scale the rows to unit length (sklearn.preprocessing.Normalizer), or use "
            "SphericalRandomFeatures, DoubleGaussianMixture, KreinNystroem or SignedFourierFeatures"
        )
