"""Rows with targets and weights as they are given to a learner, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from krein.learning.ridge_sums import RidgeSums, add_rows
from krein.learning.row_sample import stack_rows
from krein.learning.stream import Features
from krein.learning.targets import Targets

__all__ = ["Block", "CheckTargets", "add_block", "joined_blocks", "numbered_blocks"]

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


def numbered_blocks(blocks: Iterable[Block]) -> Iterator[tuple[int, Any, np.ndarray, np.ndarray | None]]:
    """Blocks with the number of the first row of each.

    Parameters
    ----------
    blocks : iterable of X, y and weight

    Yields
    ------
    tuple of start, X, y and weight
    """
    start = 0
    for X, y, weight in blocks:
        yield start, X, y, weight
        start += X.shape[0]


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
    """Add a block of rows where it lives.

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
