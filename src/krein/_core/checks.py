"""Parameters of objects: the value in its own type or an error that names parameter, value and rule; and all of them by name."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields, replace
from numbers import Integral, Real
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

__all__ = [
    "integer",
    "one_of",
    "positive_integer",
    "positive_real",
    "real",
    "truth_value",
    "check_shape",
    "frozen_array",
    "real_array",
    "FrozenParams",
    "HasParams",
]

_LARGEST = 2**63 - 1  # what counts are stored in


def real(value: Any, name: str) -> float:
    """A finite float, or an error that names the parameter."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a real number, got {value!r} of type {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {_short(value)}")
    return number


def positive_real(value: Any, name: str) -> float:
    """A positive finite float, or an error that names the parameter."""
    number = real(value, name)
    if number <= 0.0:
        raise ValueError(f"{name} must be positive, got {value!r}; use a number greater than 0")
    return number


def integer(value: Any, name: str, *, least: int, most: int | None = None, why: str = "") -> int:
    """An integer of at least `least` and at most `most`, or an error that names the parameter; `why` follows the rule."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {_short(value)} of type {type(value).__name__}")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} must be at least {least}{why}, got {_short(value)}; use {least} or more")
    most = _LARGEST if most is None else most
    if number > most:
        raise ValueError(f"{name} must be at most {most}{why}, got {_short(value)}; use {most} or less")
    return number


def positive_integer(value: Any, name: str, *, why: str = "") -> int:
    """An integer of at least 1, or an error that names the parameter."""
    return integer(value, name, least=1, why=why)


def truth_value(value: Any, name: str) -> bool:
    """True or False, or an error that names the parameter."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def one_of(value: Any, name: str, choices: Iterable[str], *, otherwise: str = "") -> str:
    """One of some names, or an error that lists them; `otherwise` says what else the parameter takes, such as " or a number"."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        rule = ("one of " if len(known) > 1 else "") + ", ".join(map(repr, known))
        raise ValueError(f"{name} must be {rule}{otherwise}, got {_short(value)}")
    return str(value)


def _short(value: Any) -> str:
    """The value as an error can show it: an integer of a thousand digits is not shown whole."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of more than some thousand digits
        return f"a {type(value).__name__} too long to print"
    return text if len(text) <= 200 else f"{text[:200]}…"


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


@runtime_checkable
class HasParams(Protocol):
    """What a frozen object needs for its parameters to be searched over, such as ``measure__tol`` in a grid."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, those of parts as ``part__name`` if deep."""
        ...

    def with_params(self, **params: Any) -> Self:
        """The same object but for some parameters."""
        ...


class FrozenParams:
    """`HasParams` for a frozen dataclass whose fields are its parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            As scikit-learn asks; no field has parameters of its own, so it makes no difference.

        Returns
        -------
        dict of str to value
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # a dataclass

    def with_params(self, **params: Any) -> Self:
        """The same object but for some parameters, checked by its constructor.

        Parameters
        ----------
        **params : values by name of parameter

        Returns
        -------
        object of the same class
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; its parameters are {', '.join(known)}"
                )
        return replace(self, **params)  # type: ignore[type-var]  # a dataclass
