"""Any sequence of objects as rows: a length, and a choice of them by number."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

__all__ = ["Objects", "as_objects", "is_numeric_matrix", "is_pandas"]


@final
@dataclass(frozen=True, eq=False)
class Objects:
    """A sequence of objects of any kind, which can be sliced and indexed like rows.

    Parameters
    ----------
    data : list, array of one or more dimensions, CSR matrix, pandas DataFrame or Series
        As `as_objects` makes it.
    """

    data: Any

    def __post_init__(self) -> None:
        if not isinstance(self.data, list | np.ndarray) and not sp.issparse(self.data) and not is_pandas(self.data):
            raise ValueError(f"objects must be a list, an array or a table, got {type(self.data).__name__}")

    def __len__(self) -> int:
        return int(self.data.shape[0]) if not isinstance(self.data, list) else len(self.data)

    def __getitem__(self, rows: slice | np.ndarray) -> Objects:
        if isinstance(self.data, list):
            return Objects(self.data[rows] if isinstance(rows, slice) else [self.data[i] for i in rows])
        return Objects(self.data.iloc[rows] if is_pandas(self.data) else self.data[rows])

    @property
    def shape(self) -> tuple[int]:
        """The number of objects, as an array of them has it."""
        return (len(self),)

    @property
    def dtype(self) -> np.dtype:
        """The type of features of these objects: single precision for rows in single precision."""
        single = getattr(self.data, "dtype", None) == np.float32
        return np.dtype(np.float32 if single else np.float64)

    @property
    def has_columns(self) -> bool:
        """Whether the objects are rows of a table with named columns."""
        return is_pandas(self.data) and self.data.ndim == 2

    @property
    def are_vectors(self) -> bool:
        """Whether the objects are rows of a dense matrix of numbers, which can be averaged."""
        return isinstance(self.data, np.ndarray) and self.data.ndim == 2 and self.data.dtype.kind in "fiu"

    def one_by_one(self) -> list[Any]:
        """The objects in a list; strings and numbers of an array as Python's own, rows of a table as Series.

        Returns
        -------
        list
        """
        if isinstance(self.data, list):
            return self.data
        if is_pandas(self.data):
            return [self.data.iloc[i] for i in range(len(self))]
        if isinstance(self.data, np.ndarray) and self.data.ndim == 1:
            return list(self.data.tolist())
        return [self.data[i] for i in range(len(self))]


def as_objects(X: Any, name: str = "X") -> Objects:
    """A sequence as objects, or an error that says what a sequence is.

    Examples
    --------
    >>> words = as_objects(["a", "bee", "see"])
    >>> len(words), words[1:].one_by_one()
    (3, ['bee', 'see'])
    """
    if isinstance(X, Objects):
        return X
    if sp.issparse(X):
        return Objects(X.tocsr())
    if isinstance(X, np.ndarray):
        if not X.ndim:
            raise ValueError(f"{name} must be a sequence of objects, got a single {X.dtype}; put it into a list")
        return Objects(X)
    if is_pandas(X) or isinstance(X, list):
        return Objects(X)
    if isinstance(X, str | bytes) or not (isinstance(X, Sequence) or _is_sequence_like(X)):
        raise TypeError(
            f"{name} must be a sequence of objects (a list, an array, a DataFrame), got one {type(X).__name__}; put "
            "objects into a list"
        )
    return Objects([X[i] for i in range(len(X))])


def is_numeric_matrix(X: Any) -> bool:
    """Whether scikit-learn would see a matrix of numbers: a 2-D array, a sparse matrix, a table of numbers, lists of numbers.

    A list of arrays is a list of objects even where all have the same length: others may come.

    Examples
    --------
    >>> is_numeric_matrix([[1, 2], [3, 4]]), is_numeric_matrix([[1, 2], [3]]), is_numeric_matrix(["ab", "cd"])
    (True, False, False)
    """
    if sp.issparse(X):
        return True
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.dtype.kind in "fiubc"
    if is_pandas(X):
        return X.ndim == 2 and all(getattr(kind, "kind", "O") in "fiub" for kind in X.dtypes)
    if not isinstance(X, list | tuple) or not X:
        return False
    first = X[0]
    if not isinstance(first, list | tuple) or not all(
        isinstance(row, list | tuple) and len(row) == len(first) for row in X
    ):
        return False
    return bool(first) and all(isinstance(value, int | float | np.number) for row in X for value in row)


def is_pandas(X: Any) -> bool:
    """Whether something is a table or a column of pandas."""
    pandas = sys.modules.get("pandas")  # whoever passes a table has imported it
    return pandas is not None and isinstance(X, pandas.DataFrame | pandas.Series)


def _is_sequence_like(X: Any) -> bool:
    """Whether something that is no registered sequence has a length and items by number, and is no mapping."""
    kind = type(X)
    return hasattr(kind, "__len__") and hasattr(kind, "__getitem__") and not hasattr(kind, "keys")
