"""What a target is to a least-squares problem: numbers in columns, or labels whose classes need not be known beforehand."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self, final

import numpy as np

from krein._core.checks import one_of

__all__ = [
    *("LabelTargets", "NumberTargets", "Targets", "are_quantities", "class_factors", "target_columns"),
    *("weights_by_class", "winning_columns"),
]

_PREVIEW_ROWS = 1024  # targets whose mean is the shift of the sums: near the mean is near enough


class Targets(ABC):
    """Checked targets, turned into the columns of a least-squares problem.

    All targets are noted in a first pass where there is one, then settled; those who sum different rows have copies that agree.
    """

    late_shift = 0.0  # what is subtracted from columns that appear later

    @abstractmethod
    def note(self, y: np.ndarray, start: int, weight: np.ndarray | None) -> None:
        """Learn from a block of targets which columns there will be."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Take over what was noted of later rows."""

    def settle(self, *, all_rows: bool) -> None:  # noqa: B027  # numbers have nothing to settle
        """Say that the look at targets is over; `all_rows`: all that there will be were noted."""

    def weigh(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        """Weights of rows times those of their classes."""
        return weight

    @abstractmethod
    def encode(self, y: np.ndarray) -> np.ndarray:
        """Targets in the small form that is kept beside sampled rows."""

    @abstractmethod
    def columns(self, codes: np.ndarray) -> np.ndarray:
        """Columns of the least-squares problem."""

    @abstractmethod
    def shift(self, *, intercept: bool) -> np.ndarray:
        """The constant that is subtracted from every column known so far."""

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
        self._first: list[np.ndarray] = []  # columns of the first rows

    def note(self, y: np.ndarray, start: int, weight: np.ndarray | None) -> None:
        columns = self.columns(self.encode(y))
        if start < _PREVIEW_ROWS:
            self._first.append(columns[: _PREVIEW_ROWS - start])

    def merge(self, other: NumberTargets) -> None:
        for columns in other._first:
            self._announce(columns[:, 0] if other.vector else columns)
            self._first.append(columns)

    def encode(self, y: np.ndarray) -> np.ndarray:
        self._announce(y)
        return y.reshape(-1) if self.vector else y.reshape(y.shape[0], -1)

    def columns(self, codes: np.ndarray) -> np.ndarray:
        return codes[:, None] if codes.ndim == 1 else codes

    def shift(self, *, intercept: bool) -> np.ndarray:
        n_columns = self._count or 1
        if not intercept or not any(len(part) for part in self._first):
            return np.zeros(n_columns)
        return np.asarray(np.concatenate(self._first).mean(axis=0))

    def check_complete(self) -> None:
        pass

    def _announce(self, y: np.ndarray) -> None:
        count = 1 if y.ndim == 1 else y.shape[1]
        if self._count is None:
            self.vector, self._count = y.ndim == 1, count
        elif count != self._count:
            raise ValueError(f"y has {count} targets for each row, but earlier rows had {self._count}")


@final
class LabelTargets(Targets):
    """Class labels as indicator columns, in order of appearance; `sorted_classes` says which is which in the end.

    Parameters
    ----------
    known : ndarray or None, default=None
        Classes known beforehand, outside which a label is an error.
    class_weight : mapping of labels to float, "balanced" or None, default=None
    """

    late_shift = 0.5  # about ½, indicators are the ±½ that a model without intercept needs

    def __init__(self, known: np.ndarray | None = None, class_weight: Any = None) -> None:
        self._closed = False
        self._codes: dict[Any, int] = {}
        self._dtype: np.dtype[Any] | None = None
        self._totals: dict[Any, float] = {}
        self._class_weight = class_weight
        self._factors: dict[Any, float] | None = None
        if known is not None:
            self._register(np.unique(known))
            self._closed = True

    def note(self, y: np.ndarray, start: int, weight: np.ndarray | None) -> None:
        labels, inverse = np.unique(y, return_inverse=True)
        totals = np.bincount(inverse, weight, minlength=labels.size)
        present = totals > 0.0  # a row of weight zero is not there
        self._count(labels[present], totals[present].tolist())

    def merge(self, other: LabelTargets) -> None:
        if other._dtype is not None:
            labels = np.array(list(other._totals), dtype=other._dtype)
            self._count(labels, list(other._totals.values()))

    def settle(self, *, all_rows: bool) -> None:
        given = self._class_weight
        if given is None or (all_rows and not self._totals):
            return
        if all_rows:
            classes = self.sorted_classes()[0]
            totals = np.array([self._totals.get(label, 0.0) for label in classes.tolist()])
            found = class_factors(given, classes, totals)
            self._factors = dict(zip(classes.tolist(), np.asarray(found).tolist(), strict=True))
            return
        if isinstance(given, str):
            one_of(given, "class_weight", ("balanced",), otherwise=", a mapping of classes to weights or None")
            raise ValueError(
                f"class_weight={given!r} needs all labels at once; give partial_fit, or chunks that can be read only "
                "once, a mapping of classes to weights"
            )
        labels = np.array(list(weights_by_class(given)))
        self._factors = dict(zip(given, np.asarray(class_factors(given, labels, np.ones(labels.size))), strict=True))

    def weigh(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        if self._factors is None:
            return weight
        labels, inverse = np.unique(y, return_inverse=True)
        factors = np.array([self._factors.get(label, 1.0) for label in labels.tolist()], dtype=np.float64)[inverse]
        return factors if weight is None else weight * factors

    def encode(self, y: np.ndarray) -> np.ndarray:
        present, inverse = np.unique(y, return_inverse=True)
        self._register(present)
        return np.array([self._codes[label] for label in present.tolist()], dtype=np.int32)[inverse]

    def columns(self, codes: np.ndarray) -> np.ndarray:
        columns = np.zeros((codes.shape[0], len(self._codes)))
        columns[np.arange(codes.shape[0]), codes] = 1.0
        return columns

    def shift(self, *, intercept: bool) -> np.ndarray:
        return np.full(len(self._codes), self.late_shift)

    def check_complete(self) -> None:
        if len(self._codes) < 2:
            raise ValueError(
                f"y must contain at least 2 classes among rows of positive weight, got only {list(self._codes)}; a "
                "classifier cannot learn from one class"
            )

    def sorted_classes(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes, sorted, and the column of each."""
        classes = np.array(list(self._codes), dtype=self._dtype)
        order = np.argsort(classes, kind="stable")
        return classes[order], order

    def _count(self, labels: np.ndarray, totals: list[float]) -> None:
        self._register(labels)
        for label, total in zip(labels.tolist(), totals, strict=True):
            self._totals[label] = self._totals.get(label, 0.0) + total

    def _register(self, labels: np.ndarray) -> None:
        # strings of different lengths have different dtypes, and the classes need the longest
        self._dtype = labels.dtype if self._dtype is None else np.promote_types(self._dtype, labels.dtype)
        for label in labels.tolist():
            if label not in self._codes:
                if self._closed:
                    raise ValueError(
                        f"y contains the label {label!r}, which is not among the classes of the first call to partial_fit"
                    )
                self._codes[label] = len(self._codes)


def class_factors(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray | None:
    """What the weights of the rows of each class are to be multiplied with, or None; "balanced" leaves the sum as it is."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        one_of(class_weight, "class_weight", ("balanced",), otherwise=", a mapping of classes to weights or None")
        return np.asarray(totals.sum() / (totals.size * totals))
    known, class_weight = classes.tolist(), weights_by_class(class_weight)
    strange = [label for label in class_weight if label not in known]
    if strange:
        raise ValueError(
            f"class_weight must name classes of y, got {strange[0]!r}, but the classes of y are {known[:10]}; leave it out"
        )
    factors = np.array([float(class_weight.get(label, 1.0)) for label in known])
    if not np.isfinite(factors).all() or (factors <= 0.0).any():
        raise ValueError(f"class_weight must have positive and finite weights, got {dict(class_weight)!r}")
    return factors


def weights_by_class(class_weight: Any) -> Mapping[Any, Any]:
    """An error unless weights of classes are a mapping."""
    if not isinstance(class_weight, Mapping):
        raise TypeError(
            f"class_weight must be 'balanced', a mapping of classes to weights or None, got {class_weight!r} of type "
            f"{type(class_weight).__name__}"
        )
    return class_weight


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
