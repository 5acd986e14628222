"""Weights of classes as weights of rows, for learners that know rows only: in memory, in chunks, on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from krein.estimators.learners.input_checks import check_class_weight, check_labels, check_weight, weights_by_class
from krein.learning.newton.labeled import LabeledSample
from krein.rows.dask_rows import DaskRows

__all__ = ["weigh_chunks", "weigh_dask", "weigh_rows"]


@final
@dataclass(frozen=True, eq=False)
class _Factors:
    """The factor of each class; rows of weight zero may have classes that are not among them."""

    classes: np.ndarray
    factors: np.ndarray

    def __call__(self, y: np.ndarray) -> np.ndarray:
        if not self.classes.size:  # no row has a weight, which whoever counts rows says
            return np.ones(y.shape[0])
        places = np.minimum(np.searchsorted(self.classes, y), self.classes.size - 1)
        return np.asarray(np.where(self.classes[places] == y, self.factors[places], 1.0))


def _factors_of(class_weight: Any, sample: LabeledSample) -> _Factors:
    classes, totals = sample.classes()
    factors = check_class_weight(class_weight, classes, totals)
    assert factors is not None
    return _Factors(classes, factors)


def weigh_rows(class_weight: Any, y: Any, sample_weight: Any, *, all_rows: bool = True) -> np.ndarray:
    """Weights of rows times those of their classes."""
    labels = check_labels(y)
    weight = check_weight(sample_weight, labels.size)
    sample = LabeledSample()
    sample.count(labels, weight)
    if not all_rows:
        if isinstance(class_weight, str):
            raise ValueError(
                f"class_weight={class_weight!r} needs all labels at once; give partial_fit, or chunks that can be read only "
                "once, a mapping of classes to weights"
            )
        known = set(labels.tolist())
        class_weight = {label: factor for label, factor in weights_by_class(class_weight).items() if label in known}
    factors = _factors_of(class_weight, sample)(labels)
    return factors if weight is None else weight * factors


@final
@dataclass(frozen=True, eq=False)
class _WeighedChunks:
    """Chunks with weights of rows, which can be passed over as often as those they come from."""

    chunks: Iterable[tuple[Any, ...]]
    factors: _Factors

    def __iter__(self) -> Iterator[tuple[Any, Any, np.ndarray]]:
        for X, y, *rest in self.chunks:
            labels = check_labels(y)
            weight = check_weight(rest[0] if rest else None, labels.size)
            yield X, y, self.factors(labels) * (1.0 if weight is None else weight)


def weigh_chunks(class_weight: Any, chunks: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
    """Chunks with the weights of classes in those of rows; an iterator stays one, a collection is passed over once for it."""
    if iter(chunks) is chunks:
        return (
            (X, y, weigh_rows(class_weight, y, rest[0] if rest else None, all_rows=False)) for X, y, *rest in chunks
        )
    sample, start = LabeledSample(), 0
    for _, y, *rest in chunks:
        labels = check_labels(y, start)
        sample.count(labels, check_weight(rest[0] if rest else None, labels.size, start))
        start += labels.size
    return _WeighedChunks(chunks, _factors_of(class_weight, sample))


def weigh_dask(class_weight: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Weights of rows times those of their classes, lazily; one pass over the labels finds the classes."""
    rows = DaskRows.of(X, y, sample_weight)
    factors = _factors_of(class_weight, rows.reduce(LabeledSample(), partial(_count, check_labels)))
    weight = rows.y.map_blocks(factors, dtype=np.float64)
    return weight if rows.weight is None else weight * rows.weight


def _count(check: Any, sample: LabeledSample, start: int, X: Any, y: Any, weight: np.ndarray | None) -> None:
    sample.count(check(y, start), weight)
