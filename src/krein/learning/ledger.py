"""All that one pass over the rows has to remember in order to fit a ridge model and to choose its λ."""

from __future__ import annotations

from typing import Any

import numpy as np

from krein.learning.rows import RowSample, row_keys
from krein.learning.sums import NormalSums

__all__ = ["RidgeLedger"]


class RidgeLedger:
    """Sums of the rows trained on, sums of the rows held out, and a bounded sample of rows for leave-one-out.

    Ledgers of parts of a stream merge into that of the whole, whatever the parts: which rows are held out or kept
    depends on the number of the row only.

    Parameters
    ----------
    shift : ndarray of shape (n_components,)
    y_shift : ndarray of shape (n_targets,)
    new_shift : float, default=0.0
        See `NormalSums`.
    kept_rows : int, default=0
        Most rows to keep for leave-one-out.
    held_fraction : float, default=0.0
        Share of the rows to hold out.
    """

    def __init__(
        self,
        shift: np.ndarray,
        y_shift: np.ndarray,
        new_shift: float = 0.0,
        *,
        kept_rows: int = 0,
        held_fraction: float = 0.0,
    ) -> None:
        self.train = NormalSums(shift, y_shift, new_shift)
        self.held = NormalSums(shift, y_shift, new_shift) if held_fraction > 0.0 else None
        self.kept = RowSample(kept_rows) if kept_rows else None
        self.held_fraction = held_fraction
        self.rows = 0

    def add(
        self,
        numbers: np.ndarray,
        Z: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray | None = None,
        beside: tuple[Any, ...] = (),
    ) -> None:
        """Enter rows of the stream.

        Parameters
        ----------
        numbers : ndarray of shape (n_rows,)
            Their numbers in the stream.
        Z, Y, weight : ndarray
            As for `NormalSums.add`. Y may have more columns than before.
        beside : tuple of arrays
            What to keep of the rows in the sample: enough to form Z and Y again, at less memory than those.
        """
        self.rows += Z.shape[0]
        self.train.widen(Y.shape[1])
        if self.kept is not None:
            self.kept.add(numbers, *beside)
        if self.held is None:
            self.train.add(Z, Y, weight)
            return
        self.held.widen(Y.shape[1])
        aside = row_keys(numbers) < self.held_fraction
        for sums, rows in ((self.train, ~aside), (self.held, aside)):
            sums.add(Z[rows], Y[rows], None if weight is None else weight[rows])

    def merge(self, other: RidgeLedger) -> None:
        """Enter what another ledger, started with the same shift, has of other rows."""
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
