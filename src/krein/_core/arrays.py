"""Arrays as parts of frozen objects: copied, checked, and never written to again."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["check_shape", "frozen_array", "real_array"]


def real_array(value: Any, name: str) -> np.ndarray:
    """An array of real numbers, float32 if it is that and else float64, or an error that names it.

    Examples
    --------
    >>> real_array([1, 2], "points")
    array([1., 2.])
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise TypeError("it is complex, and its imaginary part would be lost")
        return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)
    except OverflowError:
        raise ValueError(f"{name} must be an array of real numbers: one of them is beyond float64") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of real numbers: {error}") from error


def frozen_array(value: Any, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
    """A finite array of real numbers of some shape as a read-only copy, or an error that names it.

    Examples
    --------
    >>> frozen_array([[1, 2]], "points", (None, 2))
    array([[1., 2.]])
    """
    array = np.array(real_array(value, name), dtype=np.float64)
    check_shape(array, name, shape)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
    array.setflags(write=False)
    return array


def check_shape(array: Any, name: str, shape: tuple[int | None, ...]) -> None:
    """Refuse an array, dense or sparse, of another shape."""
    have = tuple(array.shape)
    if len(have) != len(shape) or any(want not in (None, length) for length, want in zip(have, shape, strict=True)):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(f"{name} must have shape ({wanted}{',' * (len(shape) == 1)}), got {have}")
