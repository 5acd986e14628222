"""Where rows lie: the region of a data set, its diameter, which rows are outside; the rows that a fit looks at, and its task."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.checks import frozen_array
from krein._core.rows import UNIT_TOLERANCE, row_blocks, row_norms, unit_rows
from krein.features.feature_recipe import LAST_ROWS, Domain, FeatureRecipe

__all__ = ["diameter", "LOWEST", "Region", "region_of", "FitTask", "PlacedRows", "name_of", "placed_sample"]

LOWEST = -1e-6  # how far below zero an entry may be that should not be negative
_MARGIN = 1.1  # factor by which the region exceeds the training rows, in space
# How far from 1 lengths may be by chance for rows to count as unit vectors nobody asked for: single precision
_FOUND = 1e-5
_DIAMETER_ROWS = 2000  # rows whose distances are all looked at
_LEAST_HELD_OUT = 4  # rows: with fewer to choose by, nothing is chosen
_PAIRS = 4000  # whose distances are looked at
_QUANTILES = 200  # of those distances that stand for all
# Digits to which lengths are compared, so that rows equally far out keep their order on every processor
_SAME_LENGTH = 9


@final
@dataclass(frozen=True, eq=False)
class Region:
    """The set of rows that features are built for.

    Parameters
    ----------
    sphere : bool
        Rows are unit vectors.
    normalize : bool
        Rows are brought to unit length here.
    found : bool
        The training rows happened to be unit vectors, though neither kernel nor user asked for them: others only warn.
    radius : float
        Largest distance between two rows; ``inf`` where the features are good for any.
    non_negative : bool
        The radius √2 relies on entries that are not negative.
    center : ndarray of shape (dim,)
        Mean of the training rows.
    reach : float
        Largest distance of a row from the center that is inside; ``inf`` where nothing depends on it.
    scale : float
        Mean squared distance from the center.
    """

    sphere: bool
    normalize: bool
    found: bool
    radius: float
    non_negative: bool
    center: np.ndarray
    reach: float
    scale: float

    def __post_init__(self) -> None:
        for name in ("radius", "scale", "reach"):
            value, most = getattr(self, name), sys.float_info.max if name == "scale" else math.inf
            if not isinstance(value, float) or not 0.0 < value <= most:
                raise ValueError(f"{name} must be a positive number, got {value!r}")
        object.__setattr__(self, "center", frozen_array(self.center, "center", (None,)))

    @classmethod
    def everywhere(cls, dim: int) -> Region:
        """The whole space."""
        return cls(False, False, False, math.inf, False, np.zeros(dim), math.inf, 1.0)

    @property
    def dim(self) -> int:
        """Entries of a row."""
        return int(self.center.size)

    def place(self, X: Any, *, name: str = "X", first: int = 0) -> Any:
        """Rows as points of the region, of unit length on the sphere."""
        if not self.sphere or self.found:
            return X
        return unit_rows(X, normalize=self.normalize, name=name, first=first)

    def outside(self, X: Any) -> int:
        """How many placed rows lie where the features were not built for."""
        if self.found:
            off = np.abs(row_norms(X) - 1.0) > UNIT_TOLERANCE
            if off.any():
                return int(np.count_nonzero(off))
        if self.non_negative:
            if X.shape[0] and X.min() >= LOWEST:  # one fast pass, nearly always the last
                return 0
            lowest = X.min(axis=1) if not sp.issparse(X) else X.min(axis=1).toarray().ravel()
            return int(np.count_nonzero(lowest < LOWEST))
        if math.isinf(self.reach):
            return 0
        if sp.issparse(X):
            square = row_norms(X) ** 2 - 2 * (X @ self.center) + self.center @ self.center
            return int(np.count_nonzero(square > self.reach**2))
        return int(np.count_nonzero(row_norms(X - self.center.astype(X.dtype)) > self.reach))


def region_of(rows: np.ndarray, *, sphere: bool, normalize: bool, radius: float | None) -> Region:
    """The region of some dense training rows, already placed."""
    found = not sphere and bool(np.all(np.abs(row_norms(rows) - 1.0) < _FOUND)) and (radius is None or radius <= 2.0)
    if sphere or found:
        positive = bool(rows.min() >= 0.0)
        if radius is None:
            radius = math.sqrt(2.0) if positive and rows.shape[1] > 1 else 2.0
        relies = positive and radius < 2.0 and radius >= math.sqrt(2.0) * (1 - 1e-9)
        return Region(True, normalize, found, float(radius), relies, np.zeros(rows.shape[1]), math.inf, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        center = rows.mean(axis=0, dtype=np.float64)
        distance = row_norms(rows - center)
        scale, farthest = float(np.mean(distance**2)) or 1.0, float(distance.max())
        size = diameter(rows) if radius is None else float(radius)
    if not (math.isfinite(scale) and math.isfinite(size)):
        raise ValueError("the rows of X are too far apart for squared distances to be finite; scale the columns first")
    if radius is not None:
        return Region(False, False, False, size, False, center, max(size, farthest), scale)
    size = _MARGIN * size if size > 0 else 1.0  # a single point: any radius will do
    return Region(False, False, False, size, False, center, _MARGIN * farthest or math.inf, scale)


def diameter(rows: np.ndarray) -> float:
    """Largest distance among up to 2,000 rows, the farthest from the center included."""
    if rows.shape[0] > _DIAMETER_ROWS:
        distance = row_norms(rows - rows.mean(axis=0))
        rows = rows[np.argsort(-distance, kind="stable")[:_DIAMETER_ROWS]]
    points = rows.astype(np.float64) - rows[0]
    squares = np.einsum("ij,ij->i", points, points)
    largest = 0.0
    for part in row_blocks(points.shape[0], 500):  # a few megabytes of distances at a time
        gaps = squares[part, None] + squares - 2 * (points[part] @ points.T)
        largest = max(largest, float(gaps.max()))
    return math.sqrt(largest)


@final
@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Placed rows in random order; below this nothing is checked or scaled again.

    Parameters
    ----------
    rows : ndarray of shape (m, dim), float64
    """

    rows: np.ndarray

    @property
    def dim(self) -> int:
        """Entries of a row."""
        return int(self.rows.shape[1])

    @property
    def holds_out(self) -> bool:
        """Whether there are rows to choose by; without any, unbiased weights stand."""
        return len(self.rows) // 6 >= _LEAST_HELD_OUT

    def split(self, fit: int, check: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows to fit, to choose and to test on; none of the last two if there are too few."""
        sixth = self.rows.shape[0] // 6 if self.holds_out else 0
        check, last = min(check, sixth), min(LAST_ROWS, sixth)
        return self.rows[check + last :][:fit], self.rows[:check], self.rows[check : check + last]

    def distances(self, radius: float, rng: np.random.Generator) -> np.ndarray:
        """Zero, and quantiles of the distances of random pairs of rows."""
        m = self.rows.shape[0]
        if m < 2:
            return np.linspace(0.0, radius, 101)
        i = rng.integers(0, m, _PAIRS)
        j = (i + rng.integers(1, m, _PAIRS)) % m
        distances = np.linalg.norm(self.rows[i] - self.rows[j], axis=1)
        return np.concatenate([[0.0], np.quantile(distances, (np.arange(_QUANTILES) + 0.5) / _QUANTILES)])


@final
@dataclass(frozen=True, eq=False)
class FitTask:
    """What a map is fitted to: a recipe, a sample of rows in their region, and the kernel matrix of two blocks of them."""

    recipe: FeatureRecipe
    sample: PlacedRows
    region: Region
    gram: Callable[[np.ndarray, np.ndarray], np.ndarray]


def placed_sample(X: Any, n_rows: int, domain: Domain, rng: np.random.Generator, *, reach: bool = False) -> PlacedRows:
    """A random sample of the rows of X as one dense block, placed on the domain."""
    n = X.shape[0]
    chosen = np.arange(n) if n <= n_rows else np.sort(rng.choice(n, n_rows, replace=False))
    rows = X[chosen]
    rows = np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)
    if domain.sphere:
        lengths = row_norms(rows)
        wrong = chosen[lengths == 0.0 if domain.scales else np.abs(lengths - 1.0) > UNIT_TOLERANCE]
        for row in wrong[:1]:  # an error names the row of X, not of the sample
            unit_rows(X[row : row + 1], normalize=domain.scales, name=name_of(X), first=int(row))
        if domain.scales:
            rows = rows / lengths[:, None]
    rows = rows[rng.permutation(rows.shape[0])]
    return PlacedRows(_extremes_last(rows) if reach else rows)


def name_of(X: Any) -> str:
    """What to call a matrix in an error message."""
    return "the sparse matrix X" if sp.issparse(X) else "X"


def _extremes_last(rows: np.ndarray) -> np.ndarray:
    """Every other one of the rows farthest from the center goes to the end, where projections are fitted.

    A projection may be large outside the rows it was fitted to, so these should reach as far as the data; the others of the
    farthest stay where chance put them, to test on.
    """
    some = 2 * max(8, len(rows) // 50)
    lengths = np.linalg.norm(rows - rows.mean(axis=0), axis=1)
    compared = np.round(lengths / (lengths.max() or 1.0), _SAME_LENGTH)
    farthest = np.argsort(-compared, kind="stable")[:some:2]
    return np.concatenate([np.delete(rows, farthest, axis=0), rows[farthest]])
