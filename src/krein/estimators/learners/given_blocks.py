"""Rows with targets and weights as they are given to a learner, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from krein.estimators.learners.input_checks import check_lengths, check_rows, check_weight
from krein.learning.ridge_sums import RidgeSums, add_rows
from krein.rows.feature_blocks import Features
from krein.rows.sample import stack_rows
from krein.rows.targets import Targets

__all__ = ["Block", "CheckTargets", "add_block", "check_block", "joined_blocks", "numbered_blocks"]

Block = tuple[Any, np.ndarray, np.ndarray | None]
CheckTargets = Callable[[Any, int], np.ndarray]


def joined_blocks(first: Block, second: Block) -> Block:
    """The rows of two blocks; weights of 1 where only one has any."""
    weights = [np.ones(X.shape[0]) if weight is None else weight for X, _, weight in (first, second)]
    weight = None if first[2] is None and second[2] is None else np.concatenate(weights)
    return stack_rows([first[0], second[0]]), np.concatenate([first[1], second[1]]), weight


def check_block(
    learner: BaseEstimator, check: CheckTargets, X: Any, y: Any, sample_weight: Any, *, start: int, first: bool
) -> Block:
    """Rows, targets and weights that can be learned from; else an error that says what is wrong where."""
    X, y = check_rows(learner, X, first=first), check(y, start)
    check_lengths(X, y)
    return X, y, check_weight(sample_weight, X.shape[0], start)


def numbered_blocks(
    chunks: Iterable[tuple[Any, ...]], check: Callable[..., Block]
) -> Iterator[tuple[int, Any, np.ndarray, np.ndarray | None]]:
    """Chunks whose columns are known, checked, with the number of the first row of each."""
    start = 0
    for X, y, *rest in chunks:
        block = check(X, y, rest[0] if rest else None, start=start, first=False)
        yield start, *block
        start += block[0].shape[0]


def add_block(
    targets: Targets,
    check: CheckTargets,
    features: Features,
    sums: RidgeSums,
    start: int,
    X: Any,
    y: Any,
    weight: np.ndarray | None,
) -> None:
    """Add a block of rows to the sums, where it is stored."""
    add_rows(sums, targets.copy(), features, X, check(y, start), weight, start=start)
