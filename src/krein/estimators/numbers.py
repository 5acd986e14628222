"""Numbers that users hand over: where there is something else, the error names the column or the row, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, validate_data

from krein.similarities.objects import is_pandas

__all__ = ["checked_rows", "real_numbers", "unmasked"]

_OBJECTS = (
    "name a distance as kernel ('levenshtein' for strings, 'jaccard' for sets, 'dtw' for series) or pass a function of two "
    "objects as kernel"
)
_FOR_TEXT = {
    "X": "encode text as numbers, as sklearn.preprocessing.OrdinalEncoder does, leave it out or, to compare texts themselves, "
    "pass a list of them and kernel='levenshtein'",
    "y": "for labels use a classifier, such as KreinRidgeClassifier",
    "sample_weight": "pass one number per row",
}
_DATES = "turn dates into numbers, such as days since the first"


def checked_rows(estimator: Any, X: Any, *, reset: bool = True, ensure_all_finite: bool = True, **options: Any) -> Any:
    """Rows as scikit-learn's ``validate_data`` gives them. Cells of a table are seen to be finite in any case."""
    given = real_numbers(X, "X")
    if isinstance(given, np.ndarray) and given.ndim == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array of shape {given.shape}. Reshape your data: X.reshape(-1, 1) if it is one column, "
            "X.reshape(1, -1) if it is one row"
        )
    if isinstance(given, np.ndarray) and given.ndim > 2:
        raise ValueError(
            f"X must be rows of numbers, got an array of shape {given.shape}; for series of several channels name a distance as "
            "kernel, such as 'msm', or make a row of each: X.reshape(len(X), -1)"
        )
    rows = check_array(given, ensure_all_finite=False, estimator=estimator, input_name="X", **options)
    if ensure_all_finite or is_pandas(X):
        _check_finite(rows, list(X.columns) if is_pandas(X) and X.ndim == 2 else None)
    validate_data(estimator, given, reset=reset, skip_check_array=True)
    return rows


def real_numbers(given: Any, name: str) -> Any:
    """What was given, lists and text as arrays, once all of it is real numbers, missing ones among them."""
    if sp.issparse(given):
        _check_kind(given.dtype, name)
        return given
    if is_pandas(given) and given.ndim == 2:
        for i, (label, dtype) in enumerate(zip(given.columns, given.dtypes, strict=True)):
            if getattr(dtype, "kind", "O") not in "fiub":
                _as_numbers(given.iloc[:, i].to_numpy(), name, f"column {label!r} of dtype {dtype}")
        return given
    given = unmasked(given, name)
    if not isinstance(given, np.ndarray) and getattr(given, "ndim", 2) == 1:  # a column
        given = np.asarray(given)
    elif isinstance(given, list | tuple):
        try:
            given = np.asarray(given)
        except ValueError as error:  # of different lengths
            kind = type(given[0]).__name__
            raise ValueError(
                f"{name} must be rows of numbers of one length, got objects of type {kind}; {_OBJECTS}"
            ) from error
    return _as_numbers(given, name) if isinstance(given, np.ndarray) else given


def unmasked(given: Any, name: str) -> Any:
    """An array without a mask; an error if it hides anything."""
    if not isinstance(given, np.ma.MaskedArray):
        return given
    hidden = np.ma.getmaskarray(given)
    if hidden.any():
        raise ValueError(
            f"{name} hides {int(hidden.sum())} of its entries by a mask, the first in row {int(np.argwhere(hidden)[0, 0])}; "
            f"fill them, as {name}.filled(0.0) does, or drop their rows"
        )
    return given.data


def _as_numbers(array: np.ndarray, name: str, place: str = "") -> np.ndarray:
    """An array of numbers as it is, one of text or of objects as floats."""
    _check_kind(array.dtype, name, place)
    if array.dtype.kind in "fiub":
        return array
    try:
        array.astype(np.float64)
    except (TypeError, ValueError) as error:
        entry = tuple(int(i) for i in _first_other(array))
        value = array[entry]
        if name == "X" and not place and array.ndim == 1:
            kind = "strings" if isinstance(value, str | bytes) else f"objects of type {type(value).__name__}"
            raise ValueError(f"X must be rows of numbers, got {kind}; {_OBJECTS}") from error
        here = f"row {entry[0]}" + (f", column {entry[1]}" if len(entry) > 1 else "")
        what = f"{place} does not in {here}" if place else f"not in {here}"
        raise type(error)(f"{name} must hold real numbers, but {what}: {error}{_way_out(value, name)}") from error
    # objects are left to scikit-learn, which tells missing values of all kinds
    return array.astype(np.float64) if array.dtype.kind in "US" else array


def _check_kind(dtype: np.dtype, name: str, place: str = "") -> None:
    if dtype.kind == "c":
        raise ValueError(
            f"{name} must hold real numbers: Complex data not supported, got {place or dtype}; pass np.real({name}), "
            f"np.imag({name}) or np.abs({name}), whichever is meant"
        )
    if dtype.kind in "mM":
        raise ValueError(f"{name} must hold real numbers, got {place or dtype}; {_DATES}")


def _first_other(array: np.ndarray) -> np.ndarray:
    """Where the first entry is that is no number."""
    for entry in np.ndindex(array.shape):
        try:
            float(array[entry])
        except (TypeError, ValueError):
            return np.asarray(entry)
    raise AssertionError("all entries are numbers one by one")


def _way_out(value: Any, name: str) -> str:
    if isinstance(value, str | bytes):
        return f"; {_FOR_TEXT[name]}" if name in _FOR_TEXT else ""
    return f"; {_DATES}" if hasattr(value, "year") or hasattr(value, "days") else ""


def _check_finite(rows: Any, columns: list[Any] | None) -> None:
    """An error that names the first entry that is missing or infinite."""
    values = rows.data if sp.issparse(rows) else rows
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind != "f" or np.isfinite(values.sum()):
            return
    finite = np.isfinite(values)
    if finite.all():
        return
    if sp.issparse(rows):
        raise ValueError("Input X contains NaN or infinity among its nonzero entries; impute or drop such rows")
    row, column = np.argwhere(~finite)[0].tolist()
    where = f"column {column}" if columns is None else f"column {columns[column]!r}"
    raise ValueError(
        f"Input X contains NaN or infinity, first in row {row}, {where}; impute, as sklearn.impute.SimpleImputer does, or drop "
        "such rows"
    )
