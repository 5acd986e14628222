"""Checksums of files, and of arrays whatever file they came in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

__all__ = ["content_digest", "file_sha256", "short"]


def content_digest(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over the names, dtypes, shapes and values of some arrays.

    Two files with the same digest hold the same data, be they text or binary, compressed or not: that is what makes a
    download checkable although the official sources publish no checksums.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [2.0, 3.0]])
    >>> content_digest({"X": X}) == content_digest({"X": np.asfortranarray(X)})
    True
    >>> content_digest({"X": X}) == content_digest({"X": X.astype(np.float32)})
    False
    """
    sha = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        little = array.dtype.newbyteorder("<")
        plain = np.ascontiguousarray(array, dtype=little)
        if plain.dtype.kind == "f":
            plain = plain + little.type(0)  # −0 + 0 = +0
        sha.update(f"{name} {little.str} {plain.shape}\n".encode())
        sha.update(plain.astype(little, copy=False).tobytes())
    return sha.hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def short(digest: str) -> str:
    """First twelve digits, enough to tell two files apart in a message.

    Examples
    --------
    >>> short("5a45dd55978866b3333c95bb6af21c81727f838a9a21ca057649277e992e41b1")
    '5a45dd559788'
    """
    return digest[:12]
