"""Parameters of objects: the value in its own type or an error that names parameter, value and rule; and all of them by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import field, fields, is_dataclass
from numbers import Integral, Real
from typing import Any, Self, TypeVar

import numpy as np

__all__ = [
    "integer",
    "one_of",
    "param",
    "positive_integer",
    "positive_real",
    "real",
    "truth_value",
    "unless_auto",
    "check_shape",
    "frozen_array",
    "real_array",
    "FrozenParams",
]

Value = TypeVar("Value")

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


def unless_auto(check: Callable[[Any, str], Any], value: Any, name: str, otherwise: str) -> Any:
    """What a check makes of a value, which may also be "auto"; `otherwise` says what the check takes, as in `one_of`."""
    return one_of(value, name, ("auto",), otherwise=otherwise) if isinstance(value, str) else check(value, name)


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


def param(default: Value, check: Callable[..., Any]) -> Value:
    """A field of a dataclass with `FrozenParams`: its default, and the check of value and name that gives what is kept."""
    return field(default=default, metadata={"check": check})


class FrozenParams:
    """Parameters by name of a frozen object, so that a grid search reaches them, such as ``kernel__a``; each is checked.

    They are the fields of a dataclass unless a class says otherwise. There is no ``set_params``: an owner that called it and
    went on with the object it has would change nothing. The owner replaces the object by what `with_params` returns.
    """

    def __post_init__(self) -> None:
        declared: tuple[Any, ...] = fields(self) if is_dataclass(self) else ()
        for one in declared:
            if "check" in one.metadata:
                object.__setattr__(self, one.name, one.metadata["check"](getattr(self, one.name), one.name))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of parts, such as ``k0__scale`` of a sum of kernels.

        Returns
        -------
        dict of str to value
        """
        own = self._own_params()
        parts = [(name, value) for name, value in own.items() if deep and isinstance(value, FrozenParams)]
        return own | {f"{name}__{inner}": held for name, part in parts for inner, held in part.get_params().items()}

    def with_params(self, **params: Any) -> Any:
        """The same object but for some parameters, checked by its constructor; this one stays as it is.

        Parameters
        ----------
        **params : values by name of parameter
            Those of parts as ``part__name``.

        Returns
        -------
        object of the same kind
        """
        own, deeper = self._own_params(), dict[str, dict[str, Any]]()
        known = ", ".join(own) or "none"
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in own:
                raise ValueError(f"{self!r} has no parameter {name!r}; its parameters are {known}")
            if inner:
                deeper.setdefault(name, {})[inner] = value
            else:
                own[name] = value
        for name, changes in deeper.items():
            if not isinstance(own[name], FrozenParams):
                raise ValueError(f"parameter {name!r} of {self!r} is {own[name]!r} and has no parameters of its own")
            own[name] = own[name].with_params(**changes)
        return self._from_params(own)

    def _own_params(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)} if is_dataclass(self) else {}

    def _from_params(self, own: dict[str, Any]) -> Any:
        return type(self)(**own)

    def __sklearn_clone__(self) -> Self:
        return self  # nothing in it can change
