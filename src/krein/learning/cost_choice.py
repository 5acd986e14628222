"""The choice of C of support vector machines by cross-validation, all folds and classes at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from krein.learning.squared_hinge import squared_hinge
from krein.learning.targets import winning_columns

__all__ = ["C_GRID", "best_cost", "class_signs", "fold_hits"]

C_GRID = (0.01, 0.1, 1.0, 10.0, 100.0)  # the paper's, ascending
_MARGIN = 1e-3  # share of the rows: numbers of hits that differ by less are equal, and the smaller C is taken


def class_signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """±1 for each class against the rest; for two classes one column, positive for the second.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        The class of each row, counted from zero.
    n_classes : int

    Returns
    -------
    ndarray of shape (n_rows, n_classes) or (n_rows, 1)
    """
    classes = np.arange(1, 2) if n_classes == 2 else np.arange(n_classes)
    return np.where(codes[:, None] == classes, 1.0, -1.0)


def fold_hits(
    Z: np.ndarray, codes: np.ndarray, held: Sequence[np.ndarray], n_classes: int, *, tol: float, max_iter: int
) -> np.ndarray:
    """How many held-out rows each C of the grid classifies rightly.

    A held-out row has cost zero, and its value comes with the solution; C grows from warm starts.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
    codes : ndarray of shape (n_rows,)
    held : sequence of ndarray
        The rows that each fold leaves out.
    n_classes : int
    tol : float
    max_iter : int
        As for `squared_hinge`.

    Returns
    -------
    ndarray of shape (n_costs,), integer
    """
    signs = class_signs(codes, n_classes)
    width = signs.shape[1]
    present = np.ones((codes.size, len(held) * width), dtype=Z.dtype)
    for fold, test in enumerate(held):
        present[test, fold * width : (fold + 1) * width] = 0.0
    signs = np.tile(signs, (1, len(held))).astype(Z.dtype)
    hits = np.zeros(len(C_GRID), dtype=np.int64)
    start = None
    for i, C in enumerate(C_GRID):
        found = squared_hinge(Z, signs, C * present, start=start, tol=tol, max_iter=max_iter)
        start = found.weights
        for fold, test in enumerate(held):
            winners = winning_columns(found.values[test, fold * width : (fold + 1) * width])
            hits[i] += np.count_nonzero(winners == codes[test])
    return hits


def best_cost(hits: np.ndarray, n_rows: int) -> float:
    """The smallest C of the grid whose hits are the most but for a thousandth of the rows.

    Parameters
    ----------
    hits : ndarray of shape (n_costs,), integer
    n_rows : int

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning.cost_choice import best_cost
    >>> best_cost(np.array([800, 949, 950, 950, 940]), 1000)
    0.1
    """
    good = np.flatnonzero(hits >= hits.max() - _MARGIN * n_rows)
    return C_GRID[int(good[0])]
