"""The rows a fit looks at: a random sample, checked and placed once, part of it held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.rows import UNIT_TOLERANCE, row_norms, unit_rows
from krein.features.feature_recipe import LAST_ROWS, Domain

__all__ = ["PlacedRows", "name_of", "placed_sample"]

_LEAST_HELD_OUT = 4  # rows: with fewer to choose by, nothing is chosen
_PAIRS = 4000  # whose distances are looked at
_QUANTILES = 200  # of those distances that stand for all
# Digits to which lengths are compared, so that rows equally far out keep their order on every processor
_SAME_LENGTH = 9


@final
@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Placed rows in random order; below this nothing is checked or scaled again.

    Parameters
    ----------
    rows : ndarray of shape (m, dim), float64
    domain : Domain
        Where they were placed.
    """

    rows: np.ndarray
    domain: Domain

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
    return PlacedRows(_extremes_last(rows) if reach else rows, domain)


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
