"""Where the rows of a data set live: on the unit sphere or in space, how far apart, and which rows fall outside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.rows import UNIT_TOLERANCE, row_norms, unit_rows

__all__ = ["diameter", "LOWEST", "OFF_UNIT", "Region", "region_of"]

OFF_UNIT = UNIT_TOLERANCE
LOWEST = -1e-6  # how far below zero an entry may be that should not be negative
_MARGIN = 1.1  # room beyond the training rows, in space


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
        Largest distance of a row from the centre that is inside; ``inf`` where nothing depends on it.
    scale : float
        Mean squared distance from the centre.
    """

    sphere: bool
    normalize: bool
    found: bool
    radius: float
    non_negative: bool
    center: np.ndarray
    reach: float
    scale: float

    def place(self, X: Any, *, name: str = "X", first: int = 0) -> Any:
        """Rows as points of the region, of unit length on the sphere."""
        if not self.sphere or self.found:
            return X
        return unit_rows(X, normalize=self.normalize, name=name, first=first)

    def outside(self, X: Any) -> int:
        """How many placed rows lie where the features were not built for."""
        if self.found:
            off = np.abs(row_norms(X) - 1.0) > OFF_UNIT
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
    """The region of some dense training rows, already placed.

    Parameters
    ----------
    rows : ndarray of shape (m, dim)
    sphere, normalize : bool
    radius : float or None
        None: 2 on the sphere, √2 there if no entry is negative, else the diameter of the rows with a margin of 10 %.
    """
    found = not sphere and bool(np.all(np.abs(row_norms(rows) - 1.0) < 1e-5)) and (radius is None or radius <= 2.0)
    sphere = sphere or found
    center = rows.mean(axis=0, dtype=np.float64)
    distance = row_norms(rows - center.astype(rows.dtype))
    scale = float(np.mean(distance**2)) or 1.0
    farthest = float(distance.max())
    if sphere:
        positive = bool(rows.min() >= 0.0)
        if radius is None:
            radius = math.sqrt(2.0) if positive and rows.shape[1] > 1 else 2.0
        relies = positive and radius < 2.0 and radius >= math.sqrt(2.0) * (1 - 1e-9)
        return Region(True, normalize, found, radius, relies, np.zeros(rows.shape[1]), math.inf, 1.0)
    if radius is None:
        radius = _MARGIN * diameter(rows)
        radius = radius if radius > 0 else 1.0  # a single point: any radius will do
        return Region(False, False, False, radius, False, center, _MARGIN * farthest or math.inf, scale)
    return Region(False, False, False, radius, False, center, max(radius, farthest), scale)


def diameter(rows: np.ndarray) -> float:
    """Largest distance among up to 2,000 rows, the farthest from the centre included."""
    if rows.shape[0] > 2000:
        distance = row_norms(rows - rows.mean(axis=0))
        rows = rows[np.argsort(-distance, kind="stable")[:2000]]
    points = rows.astype(np.float64) - rows[0]
    squares = np.einsum("ij,ij->i", points, points)
    largest = 0.0
    for start in range(0, points.shape[0], 500):
        block = points[start : start + 500]
        gaps = squares[start : start + 500, None] + squares - 2 * (block @ points.T)
        largest = max(largest, float(gaps.max()))
    return math.sqrt(largest)
