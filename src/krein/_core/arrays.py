"""Arrays inside frozen objects: copied, checked once, and never written to again."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["finite_array", "signs"]


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
    fits = array.ndim == len(shape) and all(
        want is None or want == got for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(f"{name} must have shape ({wanted}), got {array.shape}: the parts do not fit")
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
