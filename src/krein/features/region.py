"""The region of the rows of a data set: on the unit sphere or in space, its diameter, and which rows are outside."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.checks import frozen_array, truth_value
from krein._core.rows import UNIT_TOLERANCE, row_blocks, row_norms, unit_rows

__all__ = ["diameter", "LOWEST", "Region", "region_of"]

LOWEST = -1e-6  # how far below zero an entry may be that should not be negative
_MARGIN = 1.1  # factor by which the region exceeds the training rows, in space
# How far from 1 lengths may be by chance for rows to count as unit vectors nobody asked for: single precision
_FOUND = 1e-5
_DIAMETER_ROWS = 2000  # rows whose distances are all looked at


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
        Largest distance between two rows.
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
        for name in ("sphere", "normalize", "found", "non_negative"):
            truth_value(getattr(self, name), name)
        for name in ("radius", "scale", "reach"):
            value, most = getattr(self, name), math.inf if name == "reach" else sys.float_info.max
            if not isinstance(value, float) or not 0.0 < value <= most:
                raise ValueError(f"{name} must be a positive number, got {value!r}")
        object.__setattr__(self, "center", frozen_array(self.center, "center", (None,)))

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
