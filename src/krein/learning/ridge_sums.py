"""All that one pass over the rows has to remember in order to fit a ridge model and to choose its λ."""

from __future__ import annotations

from typing import Any

import numpy as np

from krein.features import RowMap
from krein.learning.sums import NormalSums
from krein.rows.blocks import FeatureBlock, feature_blocks
from krein.rows.sample import RowSample, row_keys
from krein.rows.targets import Targets

__all__ = ["RidgeSums", "add_rows"]

# Features of rows kept for leave-one-out, in bytes of float64: two blocks of features. Above it the rows themselves are kept and
# turned into features again in the end.
_KEPT_BYTES = 2**27


class RidgeSums:
    """Sums of the rows trained on, sums of the rows held out, and a bounded sample of rows for leave-one-out.

    Sums of parts of a stream merge into those of the whole, whatever the parts: which rows are held out or kept depends on
    the number of the row only.

    Parameters
    ----------
    shift : ndarray of shape (n_components,) or None
    y_shift : ndarray of shape (n_targets,)
    late_shift : float, default=0.0
        See `NormalSums`.
    kept_rows : int, default=0
        Most rows to keep for leave-one-out.
    keep_features : bool, default=False
        Whether to keep their features rather than the rows.
    held_fraction : float, default=0.0
        Share of the rows to hold out.
    """

    def __init__(
        self,
        shift: np.ndarray | None,
        y_shift: np.ndarray,
        late_shift: float = 0.0,
        *,
        kept_rows: int = 0,
        keep_features: bool = False,
        held_fraction: float = 0.0,
    ) -> None:
        self.train = NormalSums(shift, y_shift, late_shift)
        self.held = NormalSums(shift, y_shift, late_shift) if held_fraction > 0.0 else None
        self.kept = RowSample(kept_rows) if kept_rows else None
        self.keep_features = keep_features
        self.held_fraction = held_fraction
        self.rows = 0

    def add(self, block: FeatureBlock, codes: np.ndarray, Y: np.ndarray) -> None:
        """Add some rows of the stream."""
        self.train.widen(Y.shape[1])
        if self.kept is not None:
            weight = np.ones(block.numbers.size) if block.weight is None else block.weight
            self.kept.add(block.numbers, block.Z if self.keep_features else block.X, codes, weight)
        if self.held is None:
            self.train.add(block.Z, Y, block.weight)
            return
        self.held.widen(Y.shape[1])
        for sums in (self.train, self.held):  # one shift for both, as they are to be added in the end
            sums.start_at(block.Z)
        aside = row_keys(block.numbers) < self.held_fraction
        for sums, rows in ((self.train, ~aside), (self.held, aside)):
            sums.add(block.Z[rows], Y[rows], None if block.weight is None else block.weight[rows])

    def merge(self, other: RidgeSums) -> None:
        """Add what other sums, started with the same shift, have of other rows."""
        self.rows += other.rows
        self.train.merge(other.train)
        if self.held is not None and other.held is not None:
            self.held.merge(other.held)
        if self.kept is not None and other.kept is not None:
            self.kept.merge(other.kept)

    def everything(self) -> NormalSums:
        """Sums over all rows, held out or not."""
        if self.held is None:
            return self.train
        whole = self.train.copy()
        whole.merge(self.held)
        return whole

    def kept_features(self, features: RowMap) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """What was kept for leave-one-out."""
        if self.kept is None:
            return None
        rows, codes, weight = self.kept.columns()
        return (rows if self.keep_features else features(rows)), codes, weight

    def copy(self) -> RidgeSums:
        """Sums that can be added to without touching these."""
        twin = RidgeSums(
            self.train.shift,
            self.train.y_shift,
            self.train.late_shift,
            kept_rows=0 if self.kept is None else self.kept.limit,
            keep_features=self.keep_features,
            held_fraction=self.held_fraction,
        )
        twin.merge(self)
        return twin

    @staticmethod
    def features_fit(kept_rows: int, n_components: int) -> bool:
        """Whether the features of so many rows may be kept."""
        return 8 * kept_rows * n_components <= _KEPT_BYTES


def add_rows(
    targets: Targets, features: RowMap, sums: RidgeSums, start: int, X: Any, y: Any, weight: np.ndarray | None
) -> None:
    """Add finite rows ``start, start + 1, …`` to the sums, block by block."""
    for block in feature_blocks(features, X, y, targets.weigh(y, weight), start=start):
        codes = targets.encode(block.y)
        sums.add(block, codes, targets.columns(codes))
    sums.rows += X.shape[0]
