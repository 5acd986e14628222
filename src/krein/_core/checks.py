"""Checks of single parameters: the value in its own type, or an error that names the parameter, the value and the rule."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["integer", "one_of", "positive_integer", "positive_real", "real", "truth_value"]

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
