"""Rows with targets and weights as they are given to a learner, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from krein.estimators.learners.input_checks import check_lengths, check_rows, check_weight
from krein.learning.ridge_sums import RidgeSums, add_rows
from krein.learning.row_sample import stack_rows
from krein.learning.stream import Features
from krein.learning.targets import Targets

__all__ = ["Block", "CheckTargets", "add_block", "check_block", "joined_blocks", "numbered_blocks"]

Block = tuple[Any, np.ndarray, np.ndarray | None]
CheckTargets = Callable[[Any, int], np.ndarray]


def joined_blocks(first: Block, second: Block) -> Block:
    """The rows of two blocks; weights of 1 where only one has any.

    Parameters
    ----------
    first, second : tuple of X, y and weight

    Returns
    -------
    tuple of X, y and weight
    """
    weights = [np.ones(X.shape[0]) if weight is None else weight for X, _, weight in (first, second)]
    weight = None if first[2] is None and second[2] is None else np.concatenate(weights)
    return stack_rows([first[0], second[0]]), np.concatenate([first[1], second[1]]), weight


def check_block(
    learner: BaseEstimator, check: CheckTargets, X: Any, y: Any, sample_weight: Any, *, start: int, first: bool
) -> Block:
    """Rows, targets and weights that can be learned from; else an error that says what is wrong where.

    Parameters
    ----------
    learner : BaseEstimator
        Which keeps the number and the names of columns.
    check : callable
        ``(y, start) -> y``, the check of a block of targets.
    X, y, sample_weight
        As given.
    start : int
        Number of the first row.
    first : bool
        Whether nothing is known of the columns yet.

    Returns
    -------
    tuple of X, y and weight
    """
    X, y = check_rows(learner, X, first=first), check(y, start)
    check_lengths(X, y)
    return X, y, check_weight(sample_weight, X.shape[0], start)


def numbered_blocks(
    chunks: Iterable[tuple[Any, ...]], check: Callable[..., Block]
) -> Iterator[tuple[int, Any, np.ndarray, np.ndarray | None]]:
    """Chunks whose columns are known, checked, with the number of the first row of each.

    Parameters
    ----------
    chunks : iterable of X and y, or of X, y and weight
    check : callable
        The learner's `check_block`, of ``X, y, sample_weight, start=, first=``.

    Yields
    ------
    tuple of start, X, y and weight
    """
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
    """Add a block of rows to the sums, where it is stored.

    Parameters
    ----------
    targets : Targets
    check : callable
        ``(y, start) -> y``, the check of a block of targets.
    features : Features
    sums : RidgeSums
    start : int
        Number of the first row.
    X : ndarray of shape (n_rows, n_features)
    y : array of n_rows entries
    weight : ndarray of shape (n_rows,) or None
    """
    add_rows(sums, targets.copy(), features, X, check(y, start), weight, start=start)
