"""Which values may stand in a model file, checked alike when it is written and when it is read."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
import scipy.sparse as sp

__all__ = ["array_dtype", "check_array", "check_field", "check_integer", "csr_from", "describe", "fits", "scalar_from"]

# Numbers and text of a fixed size in memory: no Python objects, no records, nothing whose width depends on the machine.
_NUMBER_DTYPES = {
    np.dtype(name).newbyteorder("<").str: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}
_TEXT_DTYPE = re.compile(r"<U([1-9][0-9]{0,8})")
_LAST_CHARACTER = 0x10FFFF  # of Unicode
_INTEGERS = 2**63  # whole numbers are smaller in absolute value than this


def array_dtype(name: str) -> np.dtype | None:
    """The dtype, in the byte order of this machine, that is called so in a file.

    Examples
    --------
    >>> array_dtype("<f8"), array_dtype("<U3").itemsize, array_dtype("|O"), array_dtype("<f16")
    (dtype('float64'), 12, None, None)
    """
    text = _TEXT_DTYPE.fullmatch(name)
    return np.dtype((np.str_, int(text.group(1)))) if text else _NUMBER_DTYPES.get(name)


def check_array(array: np.ndarray, path: str) -> None:
    """An error if bytes of an array are no value of its type: compiled code may rely on it."""
    flat = array.reshape(-1, order="A")
    if array.dtype.kind == "b" and flat.size and flat.view(np.uint8).max() > 1:
        raise ValueError(f"{path} has bytes that are neither true nor false")
    if array.dtype.kind == "U" and flat.size and flat.view(np.uint32).max() > _LAST_CHARACTER:
        raise ValueError(f"{path} has bytes that are not characters")


def check_field(value: Any, hint: Any, path: str, *, finite: bool, text: bool = False) -> None:
    """An error if a value is not what its field is annotated as, or its arrays are not what arithmetic can be done with.

    Arrays, also those in tuples and lists, hold real numbers that compiled code knows, or complex ones where the annotation leaves
    it open (Any).
    """
    if not fits(value, hint):
        raise ValueError(f"{path} must be {describe(hint)}, got {_kind(value)}")
    for numbers in _numbers(value):
        array = np.asarray(numbers)
        if text and array.dtype.kind in "UO":
            continue
        if array.dtype.kind not in ("biufc" if hint is Any else "biuf") or array.dtype == np.float16:
            raise ValueError(f"{path} must hold numbers, got {_kind(array)}")
        if finite and not np.isfinite(array).all():
            raise ValueError(f"{path} contains NaN or infinity, so no model could predict with it")


def _numbers(value: Any) -> Iterator[Any]:
    """Arrays and floats in a value, also those in tuples and lists."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from _numbers(item)
    elif sp.issparse(value):
        yield value.data
    elif isinstance(value, float | np.ndarray | np.inexact):
        yield value


def check_integer(value: int, path: str) -> int:
    """A whole number that fits into 64 bits."""
    if not -_INTEGERS <= value < _INTEGERS:
        raise ValueError(f"{path} is a whole number beyond 64 bits")
    return value


def csr_from(data: Any, indices: Any, indptr: Any, shape: Any, path: str) -> sp.csr_array:
    """A sparse matrix whose structure has been checked in full: indices in range and in order, none given twice."""
    parts = all(isinstance(part, np.ndarray) for part in (data, indices, indptr)) and data.dtype.kind in "biufc"
    if not parts or indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        raise ValueError(f"the parts of the sparse matrix {path} must be vectors of numbers that fit each other")
    if not fits(shape, list[int]) or len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"the shape of the sparse matrix {path} must be two whole numbers")
    matrix = sp.csr_array((data, indices, indptr), shape=tuple(shape))
    matrix.check_format(full_check=True)
    if int(matrix.indptr[-1]) != data.size or not matrix.has_canonical_format:
        raise ValueError(f"the entries of the sparse matrix {path} must be sorted, each given once")
    return matrix


def scalar_from(dtype: Any, value: Any, path: str) -> np.generic:
    """A numpy number of a given type."""
    known = _NUMBER_DTYPES.get(dtype) if isinstance(dtype, str) else None
    python = {"b": bool, "i": int, "u": int, "f": float}.get(known.kind if known is not None else "")
    if known is None or python is None or not fits(value, python):
        raise ValueError(f"{path} is not a number of a known type")
    with np.errstate(over="ignore"):
        number: np.generic = known.type(np.asarray(value).astype(known))
    if number.item() != value and value == value:
        raise ValueError(f"{path} is {value}, which is not a {known}")
    return number


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return "None" if value is None else f"a value of type {type(value).__name__}"


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
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in arguments)
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
