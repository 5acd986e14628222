"""An order of rows that does not hang on the order they came in, nor on that of their columns, their units or their storage."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["canonical_order", "lexicographic_order"]

_DIGITS = 6  # of what columns are ordered by: rounding of float32 rows is less


def canonical_order(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows in lexicographic order of their columns, these in an order of their own; and where a new row starts.

    Columns in another order or another unit give the same order of rows, and so do sparse rows and dense ones; float32 rows come in
    the order of the float64 rows they were rounded from, unless rounding made two of them equal.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[2.0, 1.0], [1.0, 7.0], [2.0, 1.0]])
    >>> [values.tolist() for values in canonical_order(X)]
    [[1, 0, 2], [True, True, False]]
    """
    order, start = lexicographic_order(X)
    columns = _column_order(X[order[start]])
    return (order, start) if (np.diff(columns) > 0).all() else lexicographic_order(X[:, columns])


def lexicographic_order(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows in lexicographic order of their columns as these stand, and where a new row starts."""
    return _sparse_order(X) if sp.issparse(X) else _dense_order(X)


def _column_order(rows: Any) -> np.ndarray:
    r"""Columns of distinct rows, in the order of :math:`\sum_i u_{ij} (\sum_k u_{ik})^2`, where u is a column brought to [0, 1]."""
    n, d = rows.shape
    if d < 2 or n < 2:
        return np.arange(d)
    least, most = (
        np.asarray(side.todense() if sp.issparse(side) else side, dtype=np.float64).ravel() for side in _ends(rows)
    )
    with np.errstate(over="ignore"):
        width = 0.5 * most - 0.5 * least
    unit = np.divide(0.5, width, out=np.zeros(d), where=width > np.finfo(np.float64).tiny)
    if sp.issparse(rows):
        sums = rows @ unit - least @ unit
        weight = np.square(sums / (sums.max() or 1.0))
        key = (rows.T @ weight) * unit - least * unit * weight.sum()
    else:
        placed = (0.5 * rows - 0.5 * least) * (2.0 * unit)  # halves, as a difference may be beyond floats
        sums = placed.sum(axis=1)
        key = np.square(sums / (sums.max() or 1.0)) @ placed
    return np.argsort(np.round(key / n, _DIGITS), kind="stable")


def _ends(rows: Any) -> tuple[Any, Any]:
    return rows.min(axis=0), rows.max(axis=0)


def _sparse_order(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """By one string of bytes for each row, which compare as dense rows do."""
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    X.sort_indices()
    entries = np.empty(X.nnz, dtype=[("sign", "u1"), ("column", ">u8"), ("value", ">u8")])
    positive, column = X.data > 0.0, X.indices.astype(np.uint64)
    bits = X.data.astype(np.float64).view(np.uint64)
    # a row whose next entry is positive is above one with a later entry or none, and above that one with a negative entry
    entries["sign"] = np.where(positive, 2, 0)
    entries["column"] = np.where(positive, ~column, column)
    entries["value"] = np.where(positive, bits, ~bits)
    cuts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    content = [entries[a:b].tobytes() + b"\1" for a, b in cuts]
    order = sorted(range(len(content)), key=content.__getitem__)
    start = [i == 0 or content[row] != content[order[i - 1]] for i, row in enumerate(order)]
    return np.array(order, dtype=np.int64), np.array(start, dtype=bool)


def _dense_order(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Column by column, and only those rows that are still equal to others."""
    order = np.argsort(X[:, 0], kind="stable")
    group = np.zeros(order.size, dtype=np.int64)  # by place: the number of the run of rows that are equal so far
    for column in range(X.shape[1]):
        tied = np.flatnonzero(np.bincount(group)[group] > 1)
        if not tied.size:
            break
        rows, runs = order[tied], group[tied]
        values = X[rows, column]
        if ((values[1:] < values[:-1]) & (runs[1:] == runs[:-1])).any():
            rows = rows[np.lexsort((values, runs))]
            order[tied] = rows
        values = X[order, column]
        group = np.concatenate([[0], np.cumsum((group[1:] != group[:-1]) | (values[1:] != values[:-1]))])
    return order, np.concatenate([[True], group[1:] != group[:-1]])
