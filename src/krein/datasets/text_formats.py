"""Text formats of the official sources: UCI tables and LIBSVM's sparse lines, compressed or not.

The fast paths are vectorized and only find out *that* something is wrong; the line is then looked for one by one.
"""

from __future__ import annotations

import bz2
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Callable
from typing import TypeVar

import numpy as np

__all__ = ["decompress", "parse_integer_table", "parse_letters", "parse_libsvm"]

_Result = TypeVar("_Result")

_SPACE, _COLON, _NEWLINE = b" :\n"  # what separates fields, as byte codes
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def decompress(data: bytes) -> bytes:
    """Undo gzip or bzip2, told by the first bytes; anything else is returned as it is.

    Names are no guide: some servers and proxies decompress on the way and keep the name.

    Examples
    --------
    >>> import bz2
    >>> decompress(bz2.compress(b"1 2:3")), decompress(b"1 2:3")
    (b'1 2:3', b'1 2:3')
    """
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(b"BZh"):
            return bz2.decompress(data)
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise ValueError(f"the compressed data are cut or damaged ({error})") from error
    return data


def parse_integer_table(data: bytes, n_columns: int, dtype: type[np.integer]) -> np.ndarray:
    """Comma-separated integers, one row per line, no header.

    Examples
    --------
    >>> import numpy as np
    >>> parse_integer_table(b"1,2,3\\n4,5,6\\n", 3, np.int16)
    array([[1, 2, 3],
           [4, 5, 6]], dtype=int16)
    >>> parse_integer_table(b"1,2,3\\n4,five,6\\n", 3, np.int16)
    Traceback (most recent call last):
    ValueError: line 2: field 2 is not an integer of type int16, got 'five'
    """
    limits = np.iinfo(dtype)

    def fault(line: bytes) -> str | None:
        return _integer_fault(line.split(b","), n_columns, limits)

    def parse() -> np.ndarray:
        return np.loadtxt(io.TextIOWrapper(io.BytesIO(data), "ascii"), dtype, delimiter=",", ndmin=2, comments=None)

    table = _parsed(parse, data, fault)
    if table.shape[1] != n_columns:
        raise ValueError(_first_fault(data, fault))
    return table


def parse_letters(data: bytes, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Lines of a capital letter and integers below 256, as UCI's ``letter-recognition.data``.

    Examples
    --------
    >>> X, y = parse_letters(b"T,2,8\\nA,5,12\\n", 2)
    >>> X.tolist(), y.tolist()
    ([[2, 8], [5, 12]], [19, 0])
    """

    def fault(line: bytes) -> str | None:
        letter, *fields = line.split(b",")
        if not (len(letter) == 1 and letter.isalpha() and letter.isupper()):
            return f"field 1 must be a capital letter, got {_shown(letter)}"
        return _integer_fault(fields, n_columns, np.iinfo(np.uint8), first=2)

    def parse() -> tuple[np.ndarray, np.ndarray]:
        # two bytes are kept of the label so that "AB" is seen to be wrong instead of being read as "A"
        row = np.dtype([("y", "S2"), ("X", np.uint8, (n_columns,))])
        table = np.loadtxt(io.TextIOWrapper(io.BytesIO(data), "ascii"), row, delimiter=",", ndmin=1, comments=None)
        codes = np.ascontiguousarray(table["y"]).view(np.uint8).reshape(-1, 2)
        if ((codes[:, 0] < ord("A")) | (codes[:, 0] > ord("Z")) | (codes[:, 1] != 0)).any():
            raise ValueError("a label is not a capital letter")
        return np.ascontiguousarray(table["X"]), codes[:, 0] - np.uint8(ord("A"))

    return _parsed(parse, data, fault)


def parse_libsvm(data: bytes, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """LIBSVM's sparse lines ``label index:value index:value …`` as a dense array.

    Examples
    --------
    >>> X, y = parse_libsvm(b"-1 1:0.5 3:2\\n+1 2:1e-1\\n", 3)
    >>> X
    array([[0.5, 0. , 2. ],
           [0. , 0.1, 0. ]], dtype=float32)
    >>> y
    array([-1,  1], dtype=int8)
    >>> parse_libsvm(b"-1 1:0.5 3:2\\n+1 4:1\\n", 3)
    Traceback (most recent call last):
    ValueError: line 2: index 4 is not in 1 … 3
    """

    def parse() -> tuple[np.ndarray, np.ndarray]:
        text = re.sub(rb"[ \t]+", b" ", re.sub(rb"[ \t\r]*\n\s*", b"\n", data.strip()))
        n_entries = _entries_per_line(text)
        with warnings.catch_warnings():
            # before numpy 2.3 a field that is no number ended the result early, with a warning; the size tells both
            warnings.simplefilter("ignore", DeprecationWarning)
            numbers = np.fromstring(text.replace(b":", b" ").decode("ascii"), sep=" ")
        if numbers.size != n_entries.size + 2 * n_entries.sum():
            raise ValueError("a field is not a number")
        at_label = np.zeros(numbers.size, dtype=bool)
        at_label[np.cumsum(1 + 2 * n_entries) - (1 + 2 * n_entries)] = True
        labels, pairs = numbers[at_label], numbers[~at_label].reshape(-1, 2)
        rows = np.repeat(np.arange(n_entries.size), n_entries)
        columns = pairs[:, 0]
        if (
            not np.isfinite(numbers).all()
            or ((labels != np.rint(labels)) | (labels < -128) | (labels > 127)).any()
            or ((columns != np.rint(columns)) | (columns < 1) | (columns > n_features)).any()
            or (np.diff(columns)[np.diff(rows) == 0] <= 0).any()
        ):
            raise ValueError("a label or an index is out of range")
        X = np.zeros((n_entries.size, n_features), dtype=np.float32)
        X[rows, columns.astype(np.intp) - 1] = pairs[:, 1]
        return X, labels.astype(np.int8)

    return _parsed(parse, data, lambda line: _libsvm_fault(line, n_features))


def _entries_per_line(text: bytes) -> np.ndarray:
    """Colons in every line, after a check that each field but the first of a line has exactly one."""
    codes = np.frombuffer(text, dtype=np.uint8)
    separators = codes[(codes == _SPACE) | (codes == _COLON) | (codes == _NEWLINE)]
    before = np.concatenate([[_NEWLINE], separators[:-1]])
    after = np.concatenate([separators[1:], [_NEWLINE]])
    if not text or (before[separators == _COLON] != _SPACE).any() or (after[separators == _SPACE] != _COLON).any():
        raise ValueError("a field is not index:value")
    line_of_separator = np.cumsum(separators == _NEWLINE)
    n_lines = 1 + int((separators == _NEWLINE).sum())
    return np.bincount(line_of_separator[separators == _COLON], minlength=n_lines)


def _parsed(parse: Callable[[], _Result], data: bytes, fault: Callable[[bytes], str | None]) -> _Result:
    """What ``parse`` returns, or an error that names the line."""
    if not data.strip():
        raise ValueError("the file is empty")
    try:
        return parse()
    except ValueError as error:  # UnicodeDecodeError is one of them
        raise ValueError(_first_fault(data, fault) or str(error)) from None


def _first_fault(data: bytes, fault: Callable[[bytes], str | None]) -> str | None:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip() and (reason := fault(line.strip())) is not None:
            return f"line {number}: {reason}"
    return None


def _integer_fault(fields: list[bytes], n_columns: int, limits: np.iinfo, first: int = 1) -> str | None:
    if len(fields) != n_columns:
        return f"expected {n_columns} integers, got {len(fields)}"
    for number, field in enumerate(fields, start=first):
        if not re.fullmatch(rb"\s*[+-]?\d{1,19}\s*", field) or not limits.min <= int(field) <= limits.max:
            return f"field {number} is not an integer of type {limits.dtype}, got {_shown(field)}"
    return None


def _libsvm_fault(line: bytes, n_features: int) -> str | None:
    label, *fields = line.split()
    if not _NUMBER.fullmatch(label) or float(label) not in range(-128, 128):
        return f"the label is not an integer from -128 to 127, got {_shown(label)}"
    last = 0
    for field in fields:
        index, _, value = field.partition(b":")
        if not index.isdigit() or not _NUMBER.fullmatch(value):
            return f"expected index:value, got {_shown(field)}"
        if not 1 <= int(index) <= n_features:
            return f"index {int(index)} is not in 1 … {n_features}"
        if int(index) <= last:
            return f"indices must ascend, got {int(index)} after {last}"
        last = int(index)
    return None


def _shown(field: bytes) -> str:
    return repr(field[:40].decode("ascii", "replace"))
