"""Whether a matrix is symmetric, to the rounding of its numbers, and whether it holds similarities or distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from krein._core.rows import row_blocks

__all__ = ["asymmetry_tolerance", "check_kind", "check_symmetric", "symmetric_part"]

_LEAST_TOLERANCE = 1e-6  # of the largest entry: numbers in float64 may have been in float32 on their way
_ZERO = 1e-3  # of the largest entry: a diagonal below it is one of distances; that of a positive matrix holds its largest entry
_STRIPE = 1024  # rows compared at a time, so that the whole matrix is never copied


def asymmetry_tolerance(dtype: npt.DTypeLike) -> float:
    """How much entries (i, j) and (j, i) may differ, relative to the largest entry of the matrix.

    Half the digits of the type, and never less than a millionth: above what a sum over columns loses by rounding, and below
    any asymmetry that would matter.

    Examples
    --------
    >>> asymmetry_tolerance("float64")
    1e-06
    >>> round(asymmetry_tolerance("float32"), 6)
    0.000345
    """
    kind = np.dtype(dtype)
    rounding = float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
    return max(_LEAST_TOLERANCE, math.sqrt(rounding))


def check_symmetric(
    matrix: Any,
    what: str,
    *,
    numbers: np.ndarray | None = None,
    way_out: str = "use the symmetric part (K + K.T) / 2",
) -> float:
    """Refuse a matrix whose two halves differ by more than rounding."""
    worst, place = 0.0, (0, 0)
    for rows in row_blocks(matrix.shape[0], _STRIPE):
        # in double precision: the difference of two numbers in single precision may itself be rounded away
        gap = np.abs(np.subtract(_dense(matrix[rows]), _dense(matrix[:, rows]).T, dtype=np.float64))
        if gap.size and not gap.max() <= worst:
            row, column = divmod(int(gap.argmax()), gap.shape[1])
            worst, place = float(gap[row, column]), (rows.start + row, column)
    if worst == 0.0:
        return worst
    largest = max(float(matrix.max()), -float(matrix.min()))
    if not worst <= asymmetry_tolerance(matrix.dtype) * largest:
        one, other = float(matrix[place]), float(matrix[place[::-1]])
        i, j = place if numbers is None else numbers[list(place)].tolist()
        raise ValueError(
            f"{what} must be symmetric, but entries ({i}, {j}) and ({j}, {i}) are {one:.6g} and {other:.6g}; {way_out}"
        )
    return worst


def check_kind(matrix: Any, *, distance: bool, way_out: str) -> None:
    """Stop where a square matrix that is taken as similarities looks like distances, or the other way round.

    Distances have zeros on the diagonal and no negative entry. Every matrix of training objects that a user gives passes here:
    `PrecomputedSimilarity.settled`, `krein.diagnose`, `krein.compare` (``from krein.matrices import check_kind``).

    Parameters
    ----------
    matrix : array or sparse matrix of shape (n, n)
        Finite.
    distance : bool
        Whether it is taken as distances.
    way_out : str
        What to do if it is not what it is taken as, the end of a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> check_kind(np.array([[0.0, 2.0], [2.0, 0.0]]), distance=False, way_out="pass distance=True")
    Traceback (most recent call last):
    ValueError: the matrix is taken as similarities, but has zeros on its diagonal and no negative entry, as distances have; pass
    distance=True
    """
    own, least = np.abs(np.asarray(matrix.diagonal())), float(matrix.min())
    zero = _ZERO * max(float(matrix.max()), -least)
    if zero == 0.0:
        return
    alike = own.max() <= zero and least >= 0.0
    if distance and not alike:
        worst = int(own.argmax())
        why = f"one is {least:.6g}" if least < 0.0 else f"object {worst} has a distance of {own[worst]:.6g} from itself"
        raise ValueError(f"the matrix is taken as distances, but {why}; {way_out}")
    if alike and not distance:
        raise ValueError(
            "the matrix is taken as similarities, but has zeros on its diagonal and no negative entry, as distances have; "
            f"{way_out}"
        )


def symmetric_part(matrix: np.ndarray) -> np.ndarray:
    """``(K + K.T) / 2``, equal to its transpose to the last bit; the matrix itself where it is so already."""
    n = matrix.shape[0]
    if all(np.array_equal(matrix[rows], matrix[:, rows].T) for rows in row_blocks(n, _STRIPE)):
        return matrix
    mean = np.empty_like(matrix)
    for rows in row_blocks(n, _STRIPE):
        np.add(matrix[rows], matrix[:, rows].T, out=mean[rows])
    mean *= 0.5
    return mean


def _dense(block: Any) -> np.ndarray:
    return np.asarray(block.toarray() if sp.issparse(block) else block)
