"""Values of pairs of objects that were computed before, by the contents of the objects, in memory or in a file."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self, final

import numpy as np

from krein._core.files import append_whole, check_target
from krein.similarities.objects import Objects

__all__ = ["SimilarityCache", "as_cache", "content_key"]

_KEY_BYTES = 16  # of a digest: two of 2³² objects share one with a chance of 2⁻⁶⁵
_RECORD = np.dtype([("left", f"V{_KEY_BYTES}"), ("right", f"V{_KEY_BYTES}"), ("value", "<f8")])
_HEADER = b"krein similarity cache 1\n"


@final
class SimilarityCache:
    """Keeps the similarity (or distance) of each pair of objects, so that no pair is evaluated again.

    Pass it, or the path of its file, as ``cache`` to `krein.Similarity`. Computed values are
    kept when an evaluation fails, when Ctrl-C stops a fit, and, in a file, when the program ends; the next fit continues from
    there. Objects are identified by their contents, not by their positions, so the folds of a cross-validation and the candidates
    of a search share one cache. Use one cache for each similarity: a cache does not record which function its values belong to.

    Parameters
    ----------
    path : str or path, default=None
        A file to read values from and to append new ones to; created if it does not exist. None keeps values in memory only.
    key : callable, default=None
        Returns the contents of an object as text or bytes. Needed for objects that cannot be pickled, or whose pickles
        differ where they are equal.

    Notes
    -----
    A pair takes 40 bytes in the file and about 200 in memory. A cache pays if an evaluation takes longer than a look-up in a
    dictionary.

    Examples
    --------
    >>> from krein import KreinNystroem, Similarity, SimilarityCache
    >>> def common(a, b):
    ...     return len(set(a) & set(b))
    >>> words, similarity = ["ant", "bee", "cat", "dog", "eel"], Similarity(common, cache=SimilarityCache())
    >>> KreinNystroem(similarity, 3, random_state=0).fit(words).n_evaluations_ > 0
    True
    >>> KreinNystroem(similarity, 3, random_state=0).fit(words).n_evaluations_
    0
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, key: Callable[[Any], str | bytes] | None = None
    ) -> None:
        if key is not None and not callable(key):
            raise TypeError(f"key must be a function of an object that returns text or bytes, got {key!r}")
        self.path = None if path is None else Path(path)
        self.key = key
        self._lock = threading.Lock()
        self._values: dict[bytes, float] = {}  # by the keys of both, one after the other
        self._read()

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"SimilarityCache({'' if self.path is None else repr(str(self.path))})"

    def __deepcopy__(self, memo: object) -> Self:
        return self  # clones of an estimator share what was computed

    def __reduce__(self) -> tuple[Any, ...]:  # in another process: the file again, or an empty memory
        return partial(SimilarityCache, key=self.key), (self.path,)

    def keys_of(self, objects: Objects) -> list[bytes]:
        """Digests of the contents of some objects.

        Parameters
        ----------
        objects : Objects

        Returns
        -------
        list of bytes
        """
        return [content_key(one, self.key) for one in objects.one_by_one()]

    def look_up(self, left: list[bytes], right: list[bytes], *, symmetric: bool) -> np.ndarray:
        """Values of pairs, NaN where there is none; that of the pair the other way round serves as well if it is symmetric.

        Parameters
        ----------
        left, right : list of bytes
            Digests of the objects of each pair.
        symmetric : bool

        Returns
        -------
        ndarray of that length
        """
        values = self._values
        found = np.array([values.get(a + b, math.nan) for a, b in zip(left, right, strict=True)])
        if symmetric:
            for k in np.flatnonzero(np.isnan(found)).tolist():
                found[k] = values.get(right[k] + left[k], math.nan)
        return found

    def store(self, left: list[bytes], right: list[bytes], values: np.ndarray) -> None:
        """Keep values of pairs, in the file too.

        Parameters
        ----------
        left, right : list of bytes
            Digests of the objects of each pair.
        values : ndarray of that length
        """
        if not len(values):
            return
        records = np.empty(len(values), dtype=_RECORD)
        for i, (a, b, value) in enumerate(zip(left, right, values.tolist(), strict=True)):
            self._values[a + b] = value
            records[i] = (a, b, value)
        if self.path is not None:
            with self._lock:
                append_whole(self.path, records.tobytes(), lead=lambda last: b"" if last else _HEADER, sync=False)

    def _read(self) -> None:
        if self.path is None or not self.path.exists():
            return
        content = check_target(self.path).read_bytes()
        if not content.startswith(_HEADER) and not _HEADER.startswith(content):
            raise ValueError(f"{self.path} is not a cache of similarities; set cache to the path of a new file")
        body = content[len(_HEADER) :]
        whole = len(body) - len(body) % _RECORD.itemsize
        if whole != len(body) or len(content) < len(_HEADER):  # the program ended while it wrote: the last record goes
            with self.path.open("r+b") as file:
                file.truncate(len(_HEADER) + whole if len(content) >= len(_HEADER) else 0)
        records = np.frombuffer(body[:whole], dtype=_RECORD)
        # Nothing else is ever stored; what was tampered with is computed anew
        records = records[np.isfinite(records["value"])]
        for a, b, value in zip(records["left"], records["right"], records["value"].tolist(), strict=True):
            self._values[a.tobytes() + b.tobytes()] = value


def as_cache(cache: Any) -> SimilarityCache | None:
    """What the parameter ``cache`` stands for."""
    if cache is None or isinstance(cache, SimilarityCache):
        return cache
    if isinstance(cache, str | os.PathLike):
        if not os.fspath(cache):
            raise ValueError("cache must be the path of a file, got ''; use None for no cache")
        return SimilarityCache(cache)
    raise TypeError(
        f"cache must be a path, a krein.SimilarityCache or None, got {cache!r} of type {type(cache).__name__}"
    )


def content_key(value: Any, key: Callable[[Any], str | bytes] | None = None) -> bytes:
    """A digest of the contents of an object, the same in every process.

    Examples
    --------
    >>> content_key("ab") == content_key("a" + "b"), content_key([1, 2]) == content_key((1, 2))
    (True, False)
    """
    if key is not None:
        value = key(value)
        if not isinstance(value, str | bytes):
            raise TypeError(f"the key of an object must be text or bytes, got {value!r} of type {type(value).__name__}")
    elif hasattr(type(value), "to_dict"):  # a row of a table
        value = value.to_dict()
    elif isinstance(value, np.ndarray):
        value = np.ascontiguousarray(value)
    elif isinstance(value, frozenset):
        value = set(value)  # whose elements are sorted
    from joblib import hash as digest  # late: it takes a tenth of a second

    try:
        return bytes.fromhex(digest(value))
    except Exception as error:
        raise TypeError(
            f"a cache identifies objects by their contents, and cannot read those of a {type(value).__name__} ({error}); use "
            "krein.SimilarityCache(path, key=...) with a function that returns them as text or bytes"
        ) from error
