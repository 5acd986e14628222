"""What a target is: numbers in columns, or labels whose classes need not be known before the last row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

__all__ = ["Labels", "Numbers", "Targets"]

_SEEN_ROWS = 1024  # rows whose mean is the shift of the sums


class Targets(ABC):
    """Targets as columns of a least-squares problem."""

    new_shift = 0.0  # what is subtracted from columns that appear later

    @abstractmethod
    def check(self, y: Any, start: int) -> np.ndarray:
        """A block of targets as an array, one row per sample; `start` is the number of its first row."""

    @abstractmethod
    def code(self, y: np.ndarray) -> np.ndarray:
        """Checked targets in the small form that is kept beside sampled rows."""

    @abstractmethod
    def expand(self, codes: np.ndarray) -> np.ndarray:
        """Columns, float64 of shape (n_rows, n_targets)."""

    @abstractmethod
    def shift(self, y: np.ndarray, *, intercept: bool) -> np.ndarray:
        """The constant that is subtracted from every column; `y` holds the first targets, for a guess at their mean."""

    @abstractmethod
    def check_complete(self) -> None:
        """An error if no model can be fitted to the targets seen."""

    @abstractmethod
    def foresee(self, distinct: Callable[[], np.ndarray]) -> None:
        """Ask for the distinct targets of all rows, if columns depend on them: workers must agree on columns."""


@final
class Numbers(Targets):
    """One or several numbers per row, remembered as one- or two-dimensional."""

    def __init__(self) -> None:
        self.vector = True

    def check(self, y: Any, start: int) -> np.ndarray:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="y")
        if y.ndim > 2:
            raise ValueError(f"y must be a vector or a matrix, got shape {y.shape}")
        bad = ~np.isfinite(y).reshape(y.shape[0], -1).all(axis=1)
        if bad.any():
            raise ValueError(
                f"y contains NaN or infinity, first in row {start + int(np.flatnonzero(bad)[0])}; drop rows without a target"
            )
        self.vector = y.ndim == 1
        return y

    def code(self, y: np.ndarray) -> np.ndarray:
        return y

    def expand(self, codes: np.ndarray) -> np.ndarray:
        return codes[:, None] if codes.ndim == 1 else codes

    def shift(self, y: np.ndarray, *, intercept: bool) -> np.ndarray:
        columns = self.expand(y[:_SEEN_ROWS])
        if not intercept or not columns.shape[0]:
            return np.zeros(columns.shape[1])
        return columns.mean(axis=0)

    def check_complete(self) -> None:
        pass

    def foresee(self, distinct: Callable[[], np.ndarray]) -> None:
        pass


@final
class Labels(Targets):
    """Class labels as indicator columns, in order of appearance; `sorted_classes` says which is which in the end.

    Parameters
    ----------
    known : array-like or None
        Classes known beforehand. Others may still turn up unless `closed`.
    closed : bool, default=False
        Whether a label outside `known` is an error.
    """

    new_shift = 0.5  # about ½, indicators are the ±½ that a model without intercept needs

    def __init__(self, known: Any = None, *, closed: bool = False) -> None:
        self.closed = False
        self._codes: dict[Any, int] = {}
        self._dtype: Any = None
        if known is not None:
            self._register(np.unique(self.check(known, 0)))
        self.closed = closed

    def check(self, y: Any, start: int) -> np.ndarray:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        # x != x is how NaN, NaT and pandas' missing values differ from every label
        missing = np.isnan(y) if y.dtype.kind == "f" else np.zeros(y.shape[0], dtype=bool)
        if y.dtype.kind == "O":
            missing = np.array([v is None or v != v for v in y], dtype=bool)
        if missing.any():
            raise ValueError(
                f"y contains NaN, first in row {start + int(np.flatnonzero(missing)[0])}, and a missing label is no class; "
                "drop those rows or give them a label of their own"
            )
        check_classification_targets(y)
        return y

    def code(self, y: np.ndarray) -> np.ndarray:
        present, inverse = np.unique(y, return_inverse=True)
        self._register(present)
        return np.array([self._codes[label] for label in present.tolist()], dtype=np.int32)[inverse]

    def expand(self, codes: np.ndarray) -> np.ndarray:
        columns = np.zeros((codes.shape[0], len(self._codes)))
        columns[np.arange(codes.shape[0]), codes] = 1.0
        return columns

    def shift(self, y: np.ndarray, *, intercept: bool) -> np.ndarray:
        return np.full(len(self._codes), self.new_shift)

    def check_complete(self) -> None:
        if len(self._codes) < 2:
            raise ValueError(
                f"y must contain at least 2 classes among rows of positive weight, got only {list(self._codes)}; a "
                "classifier has nothing to tell apart in one class"
            )

    def foresee(self, distinct: Callable[[], np.ndarray]) -> None:
        self._register(np.unique(self.check(distinct(), 0)))

    def sorted_classes(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes, sorted, and the column of each."""
        classes = np.array(list(self._codes), dtype=self._dtype)
        order = np.argsort(classes, kind="stable")
        return classes[order], order

    def _register(self, labels: np.ndarray) -> None:
        # strings of different lengths have different dtypes, and the classes need the longest
        self._dtype = labels.dtype if self._dtype is None else np.promote_types(self._dtype, labels.dtype)
        for label in labels.tolist():
            if label not in self._codes:
                if self.closed:
                    raise ValueError(
                        f"y contains the label {label!r}, which is not among the classes of the first call to partial_fit"
                    )
                self._codes[label] = len(self._codes)
