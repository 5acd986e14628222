"""What a target is to a least-squares problem: numbers in columns, or labels whose classes need not be known beforehand."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, Self, final

import numpy as np

__all__ = ["LabelTargets", "NumberTargets", "Targets", "are_quantities", "target_columns", "winning_columns"]

_PREVIEW_ROWS = 1024  # targets whose mean is the shift of the sums: near the mean is near enough


class Targets(ABC):
    """Checked targets, turned into the columns of a least-squares problem."""

    late_shift = 0.0  # what is subtracted from columns that appear later

    @abstractmethod
    def preview(self, y: np.ndarray, start: int, weight: np.ndarray | None) -> np.ndarray:
        """What must be known of a block of targets before the first sum."""

    @abstractmethod
    def announce(self, y: np.ndarray) -> None:
        """Learn which columns there will be; those who sum different rows must agree on them."""

    @abstractmethod
    def encode(self, y: np.ndarray) -> np.ndarray:
        """Targets in the small form that is kept beside sampled rows."""

    @abstractmethod
    def columns(self, codes: np.ndarray) -> np.ndarray:
        """Columns of the least-squares problem."""

    @abstractmethod
    def shift(self, y: np.ndarray, *, intercept: bool) -> np.ndarray:
        """The constant that is subtracted from every column."""

    @abstractmethod
    def check_complete(self) -> None:
        """An error if no model can be fitted to the targets seen."""

    def copy(self) -> Self:
        """Targets that can learn of new classes without touching these."""
        return copy.deepcopy(self)


@final
class NumberTargets(Targets):
    """One or several numbers per row, as many in all rows.

    Attributes
    ----------
    vector : bool
        Whether the first targets came as a vector.
    """

    def __init__(self) -> None:
        self.vector = True
        self._count: int | None = None

    def preview(self, y: np.ndarray, start: int, weight: np.ndarray | None) -> np.ndarray:
        return y[: max(0, _PREVIEW_ROWS - start)]

    def announce(self, y: np.ndarray) -> None:
        count = 1 if y.ndim == 1 else y.shape[1]
        if self._count is None:
            self.vector, self._count = y.ndim == 1, count
        elif count != self._count:
            raise ValueError(f"y has {count} targets for each row, but earlier rows had {self._count}")

    def encode(self, y: np.ndarray) -> np.ndarray:
        self.announce(y)
        return y.reshape(-1) if self.vector else y.reshape(y.shape[0], -1)

    def columns(self, codes: np.ndarray) -> np.ndarray:
        return codes[:, None] if codes.ndim == 1 else codes

    def shift(self, y: np.ndarray, *, intercept: bool) -> np.ndarray:
        columns = self.columns(y[:_PREVIEW_ROWS])
        if not intercept or not columns.shape[0]:
            return np.zeros(columns.shape[1])
        mean: np.ndarray = columns.mean(axis=0)
        return mean

    def check_complete(self) -> None:
        pass


@final
class LabelTargets(Targets):
    """Class labels as indicator columns, in order of appearance; `sorted_classes` says which is which in the end.

    Parameters
    ----------
    known : ndarray or None, default=None
        Classes known beforehand.
    closed : bool, default=False
        Whether a label outside `known` is an error.
    """

    late_shift = 0.5  # about ½, indicators are the ±½ that a model without intercept needs

    def __init__(self, known: np.ndarray | None = None, *, closed: bool = False) -> None:
        self.closed = False
        self._codes: dict[Any, int] = {}
        self._dtype: np.dtype[Any] | None = None
        if known is not None:
            self.announce(known)
        self.closed = closed

    def preview(self, y: np.ndarray, start: int, weight: np.ndarray | None) -> np.ndarray:
        return np.unique(y if weight is None else y[weight > 0.0])

    def announce(self, y: np.ndarray) -> None:
        self._register(np.unique(y))

    def encode(self, y: np.ndarray) -> np.ndarray:
        present, inverse = np.unique(y, return_inverse=True)
        self._register(present)
        return np.array([self._codes[label] for label in present.tolist()], dtype=np.int32)[inverse]

    def columns(self, codes: np.ndarray) -> np.ndarray:
        columns = np.zeros((codes.shape[0], len(self._codes)))
        columns[np.arange(codes.shape[0]), codes] = 1.0
        return columns

    def shift(self, y: np.ndarray, *, intercept: bool) -> np.ndarray:
        return np.full(len(self._codes), self.late_shift)

    def check_complete(self) -> None:
        if len(self._codes) < 2:
            raise ValueError(
                f"y must contain at least 2 classes among rows of positive weight, got only {list(self._codes)}; a "
                "classifier cannot learn from one class"
            )

    def sorted_classes(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes, sorted."""
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


def winning_columns(values: np.ndarray) -> np.ndarray:
    """The column of the largest value in each row; of a single column, 1 where it is positive and 0 elsewhere."""
    winners: np.ndarray = (values[:, 0] > 0).astype(int) if values.shape[1] == 1 else values.argmax(axis=1)
    return winners


def are_quantities(y: np.ndarray) -> bool:
    """Whether targets are numbers to predict rather than names of classes.

    Examples
    --------
    >>> import numpy as np
    >>> are_quantities(np.array([0.5, 1.25])), are_quantities(np.array([1.0, 0.0, 1.0, 1.0])), are_quantities(np.array(["a", "b"]))
    (True, False, False)
    """
    if y.dtype.kind != "f":
        return False
    return not np.array_equal(y, np.round(y)) or np.unique(y).size > 0.5 * y.size


def target_columns(y: np.ndarray) -> np.ndarray:
    """Targets of a least-squares problem from numbers, or from names of classes as `are_quantities` tells them apart.

    Examples
    --------
    >>> import numpy as np
    >>> target_columns(np.array(["a", "b", "a"]))
    array([[ 1., -1.],
           [-1.,  1.],
           [ 1., -1.]])
    """
    if y.ndim == 2 or are_quantities(y):
        return y.reshape(y.shape[0], -1).astype(np.float64)
    classes, codes = np.unique(y, return_inverse=True)
    return np.where(codes.reshape(-1, 1) == np.arange(classes.size), 1.0, -1.0)
