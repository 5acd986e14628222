"""Columns of text fields as numbers: what is missing, what is a number, what becomes indicators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["as_matrix", "whole_rows"]

_MISSING = ("?", "<null>", "", "NA")


def whole_rows(rows: Sequence[Sequence[str]], name: str) -> list[list[str]]:
    """Rows without a missing field, their fields stripped; an error if they differ in length or none is left."""
    stripped = [[field.strip() for field in row] for row in rows]
    if len({len(row) for row in stripped}) != 1:
        raise ValueError(f"{name}: rows must all have the same number of fields, and there must be some")
    whole = [row for row in stripped if not any(field in _MISSING for field in row)]
    if not whole:
        raise ValueError(f"{name}: every row has a missing value")
    return whole


def as_matrix(columns: Sequence[Sequence[str]]) -> np.ndarray:
    """Numbers as they are; a column with text becomes an indicator for each of its values."""
    return np.column_stack([_as_numbers(np.array(column)) for column in columns])


def _as_numbers(values: np.ndarray) -> np.ndarray:
    try:
        return values.astype(np.float64)[:, None]
    except ValueError:
        return (values[:, None] == np.unique(values)).astype(np.float64)
