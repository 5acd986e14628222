"""Arrays inside frozen objects: copied, checked once, and never written to again."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["check_shape", "finite_array", "signs"]


def finite_array(value: Any, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
    """A read-only float64 copy of finite numbers, or an error that names the array.

    Parameters
    ----------
    value : array of numbers
    name : str
        What to call it in an error message.
    shape : tuple of int or None
        The shape it must have; None where any length will do.

    Returns
    -------
    ndarray
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from error
    check_shape(array, name, shape)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    array.setflags(write=False)
    return array


def signs(value: Any, name: str, length: int) -> np.ndarray:
    """A read-only array of so many signs ±1, or an error that names it.

    Parameters
    ----------
    value : array of numbers
    name : str
    length : int

    Returns
    -------
    ndarray of shape (length,)
    """
    array = finite_array(value, name, (length,))
    if (np.abs(array) != 1.0).any():
        raise ValueError(f"{name} must be made of +1 and -1, got other numbers")
    return array


def check_shape(array: Any, name: str, shape: tuple[int | None, ...]) -> None:
    """Refuse an array, dense or sparse, of another shape.

    Parameters
    ----------
    array : array
    name : str
        What to call it in an error message.
    shape : tuple of int or None
        None for any length.
    """
    have = tuple(array.shape)
    if len(have) != len(shape) or any(want not in (None, length) for length, want in zip(have, shape, strict=True)):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(f"{name} must have shape ({wanted}{',' * (len(shape) == 1)}), got {have}")
