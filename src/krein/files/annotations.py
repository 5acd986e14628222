"""Whether a value is what an annotation promises, for the annotations that dataclasses and estimators of this library use."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

__all__ = ["describe", "fits"]


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type.

    Numbers of numpy count as numbers, a whole number as a float, and True as neither. What cannot be told from the value alone (a
    protocol, a type variable) is left to the constructor that takes it.

    Examples
    --------
    >>> fits((1.0, 2), tuple[float, ...]), fits(None, float | None), fits("one", float)
    (True, True, False)
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if hint is None:
        return value is None
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in arguments)
    if origin is Annotated:
        return fits(value, arguments[0])
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and _items_fit(value, arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, origin) and all(
            fits(k, arguments[0]) and fits(v, arguments[1]) for k, v in value.items()
        )
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return isinstance(value, origin) and all(fits(item, arguments[0]) for item in value)
    if origin is not None:  # such as an array of a given dtype: the dtype is the constructor's affair
        return fits(value, origin)
    if hint in (bool, int, float):
        return _is_number(value, hint)
    if isinstance(hint, type) and not getattr(hint, "_is_protocol", False):
        return isinstance(value, hint)
    return True


def describe(hint: Any) -> str:
    """An annotation in a few words, for an error.

    Examples
    --------
    >>> describe(float | None), describe(tuple[int, ...])
    ('float | None', 'tuple[int, ...]')
    """
    if hint is type(None):
        return "None"
    if get_origin(hint) in (Union, types.UnionType):
        return " | ".join(describe(one) for one in get_args(hint))
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint).replace("typing.", "")


def _items_fit(value: tuple[Any, ...], arguments: tuple[Any, ...]) -> bool:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return all(fits(item, arguments[0]) for item in value)
    return len(value) == len(arguments) and all(fits(item, one) for item, one in zip(value, arguments, strict=True))


def _is_number(value: Any, kind: type) -> bool:
    truth = isinstance(value, bool | np.bool_)
    if kind is bool:
        return truth
    return not truth and isinstance(value, Integral if kind is int else Real)
