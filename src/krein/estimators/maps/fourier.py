"""Signed random Fourier features as a scikit-learn transformer."""

from __future__ import annotations

import math
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted, validate_data

from krein._core.rows import UNIT_TOLERANCE, check_magnitude, row_blocks, row_norms, unit_rows
from krein._core.threads import quiet_blas
from krein.estimators.maps.base import SignedFeatureMap, check_n_components
from krein.features import FeatureMap, calibrate, head_basis, judged, project, relative_error
from krein.features.plain import plain_map
from krein.features.region import Region, diameter, region_of
from krein.kernels import DeltaGaussian, Kernel
from krein.measures import Outlook, SignedMeasure, frequencies_for_width, signed_measure
from krein.measures.build import METHODS
from krein.measures.refit import measure_to_refit
from krein.sampling import ALLOCATIONS, Sampler, as_sampler

__all__ = ["SignedFourierFeatures", "WEIGHTS"]

WEIGHTS = ("calibrated", "unbiased", "projected")

# Rows whose pairs fit the weights, choose the ridge, and estimate the error.
_FIT_ROWS, _CHECK_ROWS, _JUDGE_ROWS = 2000, 256, 512
_PROJECTION_ROWS = 8192  # instead of the first, for projections
_PAIRS, _DISTANCES = 4000, 200
_WORTH_BLAS_THREADS = 256  # columns
_BLOCK_BYTES = 1 << 23  # of input rows per block in transform


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A measure, the unbiased map drawn from it, and whether its head is all of the kernel, so that no weight needs refitting."""

    measure: SignedMeasure
    feature_map: FeatureMap
    exact: bool


class SignedFourierFeatures(SignedFeatureMap):
    r"""Random features with a signature for any radial kernel, positive definite or not.

    .. math:: k(x, x') \approx \sum_c \sigma_c\,\phi_c(x)\,\phi_c(x'), \qquad \sigma_c = \pm1

    The kernel becomes a signed measure on the distances the data have (:func:`krein.signed_measure`): a polynomial head that is
    reproduced exactly, and a tail of least mass that is sampled. With ``weights="unbiased"`` this is Algorithm 1 of the
    paper made to work; the default refits the signed weights on pairs of training rows, which is far more accurate.

    Parameters
    ----------
    kernel : Kernel, default=None
        From :mod:`krein.kernels`; None is ``DeltaGaussian()``.
    n_components : int, default=512
        Number of output columns: the head's, then a cosine and a sine for each frequency.
    sampler : str or Sampler, default="orthogonal"
        ``"monte_carlo"``, ``"rejection"``, ``"importance"``, ``"orthogonal"``, ``"hadamard"``, ``"quasi_monte_carlo"``,
        ``"leverage"``, or an instance from :mod:`krein.sampling` with other parameters.
    weights : {"calibrated", "unbiased", "projected"}, default="calibrated"
        ``"calibrated"``: signed weights fitted by least squares on pairs of training rows, never worse than the unbiased ones on
        pairs held out. ``"unbiased"``: the weights of the measure, independent of the data. ``"projected"``: the best signed
        combinations of ``oversampling * n_components`` columns on a sample of training rows; the most accurate per output
        column, at a higher price per row.
    head_degree : {-1, 0, 1, 2} or "auto", default="auto"
        Degree in :math:`z^2` of the exact head. ``"auto"`` is the largest that leaves room for waves, or with unbiased weights
        the one with the least predicted error at this width.
    radius : float or "auto", default="auto"
        Largest distance to provide for: 2 on the sphere, √2 there if no training entry is negative, else the
        diameter of the training rows.
    tol : float or "auto", default="auto"
        Tolerance of the measure. ``"auto"`` with unbiased weights minimises the predicted error at this width; weights that are
        refitted need no more than some waves beside the head, from a measure that does not depend on the data.
    method : {"auto", "closed_form", "fourier", "least_mass"}, default="auto"
        How the measure is found. ``"auto"`` is least mass, or where the sampler needs a density the closed form or, on the
        sphere, the truncated Fourier transform (at the interval of the rejection sampler, 10 otherwise, as in the paper).
    truncate : float, default=None
        Where ``method="fourier"`` cuts the measure.
    normalize : bool or "auto", default="auto"
        Bring rows to unit length first. ``"auto"`` does so for kernels on the sphere that say so.
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are shared between the positive and the negative part.
    oversampling : int, default=4
        Columns drawn per column kept by ``weights="projected"``.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        ±1 for each output column. ``(Z * signature_) @ Z.T`` approximates k; ``Z @ Z.T`` the sum of its two parts.
    error_estimate_ : float
        Relative Frobenius error of the kernel matrix: on training rows held out from every choice, or predicted from the
        measure with ``weights="unbiased"``.
    measure_ : SignedMeasure
    feature_map_ : FeatureMap
    region_ : Region
        Where the rows were found to live; rows outside cause a warning in `transform`.
    kernel_ : Kernel
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    `fit` looks at no more than about ten thousand rows, drawn at random (it reads all rows once, to check that they are finite).
    `transform` costs O(n d n_components), needs the output and at most 64 MiB, and may be called from several threads.

    References
    ----------
    .. [1] F. Liu, X. Huang, Y. Chen and J. A. K. Suykens. "Fast learning in reproducing kernel Kreĭn spaces via signed
       measures". AISTATS, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.random.default_rng(0).normal(size=(300, 5))
    >>> f = krein.SignedFourierFeatures(kernel=krein.kernels.DeltaGaussian(1.0, 3.0), n_components=128, random_state=0)
    >>> Z = f.fit_transform(X)
    >>> Z.shape, sorted(set(f.signature_))
    ((300, 128), [np.float64(-1.0), np.float64(1.0)])
    >>> K = f.kernel_(X)
    >>> bool(np.linalg.norm(f.approximate(X) - K) < 0.1 * np.linalg.norm(K))
    True
    """

    def __init__(
        self,
        *,
        kernel: Kernel | None = None,
        n_components: int = 512,
        sampler: str | Sampler = "orthogonal",
        weights: str = "calibrated",
        head_degree: int | str = "auto",
        radius: float | str = "auto",
        tol: float | str = "auto",
        method: str = "auto",
        truncate: float | None = None,
        normalize: bool | str = "auto",
        allocation: str = "mass",
        oversampling: int = 4,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.sampler = sampler
        self.weights = weights
        self.head_degree = head_degree
        self.radius = radius
        self.tol = tol
        self.method = method
        self.truncate = truncate
        self.normalize = normalize
        self.allocation = allocation
        self.oversampling = oversampling
        self.random_state = random_state

    def default_kernel(self) -> Kernel:
        return DeltaGaussian()

    def _rows_to_fit(self, X: Any, rng: np.random.Generator) -> Any:
        """A random sample of rows as one dense block, in the order of the data."""
        self._check_parameters()
        width = check_n_components(self.n_components)
        fitting = _FIT_ROWS
        if self.weights == "projected":
            fitting = int(np.clip(8 * self._columns_drawn(width), _PROJECTION_ROWS // 2, _PROJECTION_ROWS))
        most = fitting + _CHECK_ROWS + _JUDGE_ROWS
        n = X.shape[0]
        chosen = np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
        rows = X[chosen]
        rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
        sphere, scales = self._domain()
        if sphere:  # an error names the row of X, not of the sample
            norms = row_norms(rows)
            wrong = chosen[norms == 0.0 if scales else np.abs(norms - 1.0) > UNIT_TOLERANCE]
            for row in wrong[:1]:
                unit_rows(X[row : row + 1], normalize=scales, name=_name_of(X), first=int(row))
        return rows

    def _place(self, X: Any) -> Any:
        sphere, scales = self._domain()
        return unit_rows(X, normalize=scales) if sphere else X

    def _fit(self, X: np.ndarray, kernel: Kernel, rng: np.random.Generator) -> None:
        rows = X[rng.permutation(X.shape[0])].astype(np.float64)
        if self.weights == "projected":
            rows = _extremes_last(rows)
        radius = None if isinstance(self.radius, str) else self.radius
        sphere, scales = self._domain()
        with np.errstate(over="ignore", invalid="ignore"):
            region = region_of(rows, sphere=sphere, normalize=scales, radius=radius)
        if not (math.isfinite(region.radius) and math.isfinite(region.scale)):
            raise ValueError(
                "the rows of X are too far apart for squared distances to be finite; scale the columns first"
            )
        farthest = 0.0 if radius is None else diameter(rows)
        if radius is not None and farthest > radius * (1 + 1e-9):
            warnings.warn(
                f"training rows are up to {farthest:.4g} apart, farther than radius={radius:.4g}: the features are less accurate "
                "there; use a larger radius, or radius='auto'",
                UserWarning,
                stacklevel=4,
            )
        sampler = as_sampler(self.sampler)
        width = int(self.n_components)
        draw_rng, wide_rng = rng.spawn(2)
        self.region_ = region
        with quiet_blas() if width < _WORTH_BLAS_THREADS and self.weights != "projected" else nullcontext():
            narrow = self._draw(rows, width, region, sampler, kernel, draw_rng)
            self.measure_ = narrow.measure
            self.feature_map_ = narrow.feature_map
            if self._refits(rows):
                self._fit_weights(rows, kernel, narrow, sampler, wide_rng)
            else:
                self.error_estimate_ = self._predicted_error(rows, narrow, sampler, kernel, draw_rng)
        self.signature_ = self.feature_map_.signature
        if sampler.needs_density or self.method in ("closed_form", "fourier"):
            self.measure_ = self.measure_.tabulated()  # densities hold functions, which no file should

    def _fit_weights(
        self, rows: np.ndarray, kernel: Kernel, narrow: _Drawn, sampler: Sampler, rng: np.random.Generator
    ) -> None:
        """Calibrate, and with ``weights="projected"`` also project; keep what does best on rows held out."""
        fit_rows, check_rows, last_rows = _split_rows(rows, _FIT_ROWS)
        if not narrow.exact:
            self.feature_map_ = calibrate(narrow.feature_map, fit_rows, check_rows, kernel).feature_map
        if self.weights == "projected":
            error = relative_error(self.feature_map_, check_rows, judged(check_rows, kernel))
            columns = self._columns_drawn(int(self.n_components), rows.shape[0])
            wide = self._draw(rows, columns, self.region_, sampler, kernel, rng)
            fit_rows, _, _ = _split_rows(rows, _PROJECTION_ROWS)
            projected = project(wide.feature_map, int(self.n_components), fit_rows, check_rows, kernel)
            if projected.error < error:
                self.feature_map_, self.measure_ = projected.feature_map, wide.measure
        self.error_estimate_ = relative_error(self.feature_map_, last_rows, judged(last_rows, kernel))

    def _columns_drawn(self, width: int, n_rows: int | None = None) -> int:
        """Columns before a projection: oversampled, but no more than a quarter of the rows that can fit it."""
        drawn = width * max(int(self.oversampling), 1)
        if n_rows is not None:
            drawn = max(min(drawn, n_rows // 4), width)
        return drawn

    def _draw(
        self, rows: np.ndarray, width: int, region: Region, sampler: Sampler, kernel: Kernel, rng: np.random.Generator
    ) -> _Drawn:
        """A measure for this width, and a map of that many columns with unbiased weights."""
        measure, exact = self._measure(kernel, rows, width, region, sampler, rng)
        count, free = frequencies_for_width(measure, width), width - measure.head_columns()
        frequencies = sampler.sample(measure, count, rng, allocation=self.allocation, rows=rows)
        basis = head_basis(measure.head, rows.shape[1], sphere=region.sphere, center=region.center, scale=region.scale)
        feature_map = FeatureMap(basis, frequencies, basis.weights, frequencies.weights, padding=free % 2)
        return _Drawn(measure, feature_map, exact)

    def _refits(self, rows: np.ndarray) -> bool:
        """Whether weights will be refitted; with too few rows to hold any out, the unbiased weights stand."""
        return self.weights != "unbiased" and len(_split_rows(rows, _FIT_ROWS)[1]) > 0

    def _predicted_error(
        self, rows: np.ndarray, drawn: _Drawn, sampler: Sampler, kernel: Kernel, rng: np.random.Generator
    ) -> float:
        """Relative error that theory predicts for the unbiased weights."""
        radius = self.region_.radius
        distances = _sample_distances(rows, radius, rng)
        outlook = Outlook.of(kernel.radial, radius, distances, orthogonal=sampler.orthogonal)
        size = float(np.mean(outlook.exact**2)) or 1.0
        return float(np.sqrt(outlook.error(drawn.measure, len(drawn.feature_map.frequencies)) / size))

    def _measure(
        self,
        kernel: Kernel,
        rows: np.ndarray,
        width: int,
        region: Region,
        sampler: Sampler,
        rng: np.random.Generator,
    ) -> tuple[SignedMeasure, bool]:
        """The measure, and whether its head is all of the kernel."""
        dim, refits = rows.shape[1], self._refits(rows)
        method, truncate = self.method, self.truncate
        closed = all(part.radius_law(dim) is not None for _, part in kernel.terms())
        if sampler.needs_density and method == "auto":
            method = "closed_form" if closed else "fourier"
        if method == "fourier" and truncate is None and sampler.needs_density:
            truncate = getattr(sampler, "interval", 10.0)
        if method in ("closed_form", "fourier"):
            radius = None if closed or kernel.domain == "sphere" else region.radius
            given = signed_measure(
                kernel, dim, radius, method, self.head_degree, self.tol, truncate=truncate, sphere=region.sphere
            )
            return given, False
        if truncate is not None:
            raise ValueError(
                f"truncate cuts the Fourier transform and goes with method='fourier' only, got method={self.method!r}; use "
                "method='fourier', or leave truncate out"
            )
        if refits and isinstance(self.tol, str) and self.tol == "auto":
            radius = region.radius if region.sphere or not isinstance(self.radius, str) else _rounded_up(region.radius)
            found = measure_to_refit(kernel, dim, radius, width, self.head_degree, sphere=region.sphere)
            if found is not None:
                return found.measure, found.exact
        measure = signed_measure(
            kernel,
            dim,
            region.radius,
            "least_mass",
            self.head_degree,
            self.tol,
            n_components=width,
            sphere=region.sphere,
            distances=_sample_distances(rows, region.radius, rng),
            orthogonal=sampler.orthogonal,
        )
        return measure, False

    def _features(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "signature_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if sp.issparse(X) and not X.has_canonical_format:  # entries given twice are added up, on a copy
            X = X.copy()
            X.sum_duplicates()
        out = np.empty((X.shape[0], self.feature_map_.n_outputs), dtype=X.dtype)
        outside = None if sp.issparse(X) else plain_map(self.feature_map_, self.region_, X, out)
        if outside is None:
            outside = self._write_blocks(X, out)
        if outside:
            warnings.warn(self._outside_message(outside, X.shape[0]), UserWarning, stacklevel=3)
        return out

    def _write_blocks(self, X: Any, out: np.ndarray) -> int:
        """The features step by step, block by block, so that normalised rows are never held whole; how many rows lie outside."""
        row_bytes = (X.nnz // X.shape[0] + 1) * 16 if sp.issparse(X) else X.shape[1] * X.dtype.itemsize
        outside = 0
        for rows in row_blocks(X.shape[0], max(1, _BLOCK_BYTES // row_bytes)):
            block = self.region_.place(X[rows], name=_name_of(X), first=rows.start)
            far = self.region_.outside(block)
            if far or not self.region_.sphere:
                check_magnitude(
                    block, power=2 * max(self.feature_map_.basis.degree, 1), name=_name_of(X), first=rows.start
                )
            outside += far
            self.feature_map_.write(block, out[rows])
        return outside

    def _outside_message(self, outside: int, total: int) -> str:
        region = self.region_
        if region.found:
            where = "do not have unit length, as all training rows had; use normalize=True"
            if region.non_negative:
                where = "do not have unit length or have a negative entry, as no training row had; use normalize=True and radius=2"
        elif region.non_negative:
            where = (
                "have a negative entry, and the training rows had none, so distances beyond sqrt(2) were not provided for; "
                "use radius=2"
            )
        else:
            where = f"lie farther from the training rows' centre than {region.reach:.4g}; use a larger radius"
        return f"{outside} of {total} rows {where}, or fit on rows like these: the features are less accurate there"

    def _map(self, X: Any) -> np.ndarray:
        out = np.empty((X.shape[0], self.feature_map_.n_outputs), dtype=X.dtype)
        self.feature_map_.write(X, out)
        return out

    def _domain(self) -> tuple[bool, bool]:
        """Whether rows are unit vectors, and whether they are made so here."""
        if self.normalize is True or self.normalize is np.True_:
            return True, True
        on_sphere = self.kernel_.domain == "sphere"
        if self.normalize == "auto":
            return on_sphere, on_sphere and self.kernel_.scales_rows
        if self.normalize is False or self.normalize is np.False_:
            return on_sphere, False
        raise ValueError(f"normalize must be True, False or 'auto', got {self.normalize!r}")

    def _check_parameters(self) -> None:
        if self.weights not in WEIGHTS:
            raise ValueError(f"weights must be one of {', '.join(WEIGHTS)}, got {self.weights!r}")
        if not isinstance(self.oversampling, Integral) or self.oversampling < 1:
            raise ValueError(f"oversampling must be an integer of at least 1, got {self.oversampling!r}")
        as_sampler(self.sampler)
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")
        if self.allocation not in ALLOCATIONS:
            raise ValueError(f"allocation must be one of {', '.join(ALLOCATIONS)}, got {self.allocation!r}")
        if not (isinstance(self.radius, str) and self.radius == "auto"):
            number = isinstance(self.radius, Real) and not isinstance(self.radius, bool)
            if not number or not 0.0 < float(self.radius) < math.inf:
                raise ValueError(f"radius must be a positive finite number or 'auto', got {self.radius!r}")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns: which part, which kind, which sign.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self, "signature_")
        return np.asarray(self.feature_map_.names(), dtype=object)


def _name_of(X: Any) -> str:
    return "the sparse matrix X" if sp.issparse(X) else "X"


def _split_rows(rows: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to fit, to choose and to judge by; none to choose by where there are too few."""
    sixth = rows.shape[0] // 6
    check, judge = (min(_CHECK_ROWS, sixth), min(_JUDGE_ROWS, sixth)) if sixth >= 4 else (0, 0)
    return rows[check + judge :][:most], rows[:check], rows[check : check + judge]


def _extremes_last(rows: np.ndarray) -> np.ndarray:
    """Every other one of the rows farthest from the centre goes to the end, where projections are fitted.

    A projection may be large outside the rows it was fitted to, so these should reach as far as the data; the others of the
    farthest stay where chance put them, to be judged by.
    """
    some = 2 * max(8, len(rows) // 50)
    farthest = np.argsort(-np.linalg.norm(rows - rows.mean(axis=0), axis=1), kind="stable")[:some:2]
    return np.concatenate([np.delete(rows, farthest, axis=0), rows[farthest]])


def _rounded_up(radius: float) -> float:
    """The next of sixteen radii per octave, so that samples of the same data ask for the same measure."""
    return float(2.0 ** (math.ceil(16 * math.log2(radius)) / 16))


def _sample_distances(rows: np.ndarray, radius: float, rng: np.random.Generator) -> np.ndarray:
    """Zero, and quantiles of the distances of random pairs of rows."""
    if rows.shape[0] < 2:
        return np.linspace(0.0, radius, 101)
    i = rng.integers(0, rows.shape[0], _PAIRS)
    j = (i + rng.integers(1, rows.shape[0], _PAIRS)) % rows.shape[0]
    distances = np.linalg.norm(rows[i] - rows[j], axis=1)
    return np.concatenate([[0.0], np.quantile(distances, (np.arange(_DISTANCES) + 0.5) / _DISTANCES)])
