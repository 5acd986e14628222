"""Trees of plain data and named arrays as objects of this library; each is rebuilt by calling its class, and no other is made."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from krein.files.encoding import KIND
from krein.files.registry import LABELS, Argument, Entry, SavableMixin, entry_for
from krein.files.values import check_array, check_field, check_integer, csr_from, random_state_from, scalar_from

__all__ = ["Decoder"]

# What a constructor may raise when it is given values of the right type that make no sense together.
_REFUSALS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, MemoryError, RecursionError)
_INFINITIES = re.compile(r"-?inf|nan")


class Decoder:
    """Turns a tree made by `Encoder` back into the value; raises ValueError for any other tree.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The named arrays; each is referred to once, and none is left over.
    """

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays = dict(arrays)

    def decode_whole(self, tree: Any, root: str) -> Any:
        """The value a tree stands for, all arrays used up."""
        value = self._decode(tree, root)
        if self._arrays:
            raise ValueError(f"nothing refers to the array {next(iter(self._arrays))!r}")
        return value

    def _decode(self, tree: Any, path: str) -> Any:
        if isinstance(tree, list):
            return [self._decode(item, f"{path}.{i}") for i, item in enumerate(tree)]
        if not isinstance(tree, dict):
            return check_integer(tree, path) if isinstance(tree, int) and not isinstance(tree, bool) else tree
        kind = tree.get(KIND)
        if kind == "object":
            return self._object(tree, path)
        readers: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
            "array": (("name",), self._array),
            "objects": (("items",), self._objects),
            "tuple": (("items",), self._tuple),
            "dict": (("items",), self._dictionary),
            "float": (("value",), self._float),
            "scalar": (("dtype", "value"), self._scalar),
            "csr": (("shape", "data", "indices", "indptr"), self._csr),
            "random-state": (("key", "position", "has_gauss", "gauss"), self._random_state),
        }
        if not isinstance(kind, str) or kind not in readers:
            raise ValueError(f"{path} is of an unknown kind {kind!r}")
        keys, read = readers[kind]
        _check_keys(tree, (KIND, *keys), path)
        return read(*(tree[key] for key in keys), path)

    def _object(self, tree: dict[str, Any], path: str) -> Any:
        entry = entry_for(tree["tag"]) if isinstance(tree.get("tag"), str) else None
        if entry is None:
            raise ValueError(f"{path} has the tag {tree.get('tag')!r}, which no class of this version of krein has")
        _check_keys(tree, (KIND, "tag", "arguments", *(("learned",) if entry.is_estimator else ())), path)
        given = tree["arguments"]
        if entry.upgrade is not None and isinstance(given, dict):
            given = entry.upgrade(given)
        arguments = self._fields(given, entry.arguments, entry, path, checked=not entry.is_estimator)
        try:
            value = entry.cls(**arguments)
        except _REFUSALS as error:
            raise ValueError(f"{path} is not a {entry.tag}: {error}") from error
        if entry.is_estimator and tree["learned"]:
            for name, item in self._fields(tree["learned"], entry.learned, entry, path, checked=True).items():
                setattr(value, name, item)
            self._check_fitted(value, entry, path)
        return value

    def _fields(
        self, tree: Any, known: dict[str, Argument], entry: Entry, path: str, *, checked: bool
    ) -> dict[str, Any]:
        """Arguments or learned attributes: none unknown, none missing, each of its type (parameters are checked by fit)."""
        if not isinstance(tree, dict):
            raise ValueError(f"{path} lists its parts as {type(tree).__name__}, not by name")
        unknown = [name for name in tree if name not in known]
        if unknown:
            raise ValueError(f"{path} has a part {unknown[0]!r}, which {entry.tag} does not have")
        missing = [name for name, one in known.items() if one.required and name not in tree]
        if missing:
            raise ValueError(f"{path} has no {missing[0]!r}, which {entry.tag} must have")
        values = {}
        for name, item in tree.items():
            value = values[name] = self._decode(item, f"{path}.{name}")
            if checked:
                finite = entry.must_be_finite(name, value)
                check_field(value, known[name].hint, f"{path}.{name}", finite=finite, text=name in LABELS)
        return values

    def _check_fitted(self, value: Any, entry: Entry, path: str) -> None:
        for name in entry.may_be_none:
            if name not in vars(value):
                setattr(value, name, None)
        try:
            _check_common(value)
            assert isinstance(value, SavableMixin)
            value._check_loaded()
        except _REFUSALS as error:
            raise ValueError(f"{path} is not a fitted {entry.tag}: {error}") from error

    def _array(self, name: Any, path: str) -> np.ndarray:
        if not isinstance(name, str) or name not in self._arrays:
            raise ValueError(
                f"{path} refers to an array {name!r}, which is not in the file or belongs to something else"
            )
        array = self._arrays.pop(name)
        check_array(array, path)
        return array

    def _objects(self, items: Any, path: str) -> np.ndarray:
        labels = self._decode(items, path) if isinstance(items, list) else [None]
        if not all(isinstance(label, str | int | float | np.generic) for label in labels):
            raise ValueError(f"{path} must be a list of labels")
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        return array

    def _tuple(self, items: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(items, list):
            raise ValueError(f"{path} must list its items")
        return tuple(self._decode(items, path))

    def _dictionary(self, items: Any, path: str) -> dict[str, Any]:
        if not isinstance(items, dict):
            raise ValueError(f"{path} must list its items by name")
        return {key: self._decode(item, f"{path}.{i}") for i, (key, item) in enumerate(items.items())}

    def _float(self, value: Any, path: str) -> float:
        if not isinstance(value, str) or not _INFINITIES.fullmatch(value):
            raise ValueError(f"{path} must be inf, -inf or nan, got {value!r}")
        return float(value)

    def _scalar(self, dtype: Any, value: Any, path: str) -> np.generic:
        return scalar_from(dtype, self._decode(value, path), path)

    def _csr(self, shape: Any, data: Any, indices: Any, indptr: Any, path: str) -> Any:
        parts = [self._decode(part, path) for part in (data, indices, indptr)]
        return csr_from(parts[0], parts[1], parts[2], shape, path)

    def _random_state(self, key: Any, position: Any, has_gauss: Any, gauss: Any, path: str) -> np.random.RandomState:
        return random_state_from(self._decode(key, path), position, has_gauss, gauss, path)


def _check_keys(tree: dict[str, Any], keys: tuple[str, ...], path: str) -> None:
    if set(tree) != set(keys):
        odd = sorted(set(tree) ^ set(keys))[0]
        raise ValueError(f"{path} {'has an unknown' if odd in tree else 'lacks its'} entry {odd!r}")


def _check_common(value: Any) -> None:
    """What scikit-learn keeps on every fitted estimator: numbers of columns, and their names."""
    learned = vars(value)
    columns, names = learned.get("n_features_in_"), learned.get("feature_names_in_")
    if columns is None and value._has_columns():
        raise ValueError("n_features_in_ is missing")
    if columns is not None and columns < 1:
        raise ValueError(f"n_features_in_ must be at least 1, got {columns}")
    if names is not None and not (
        isinstance(names, np.ndarray) and names.shape == (columns,) and all(isinstance(name, str) for name in names)
    ):
        raise ValueError(f"feature_names_in_ must name each of the {columns} columns")
    features = learned.get("features_")
    if features is not None:
        estimator = isinstance(features, SavableMixin)
        given, taken = (
            value._inner_columns(),
            vars(features).get("n_features_in_") if estimator else features.n_features,
        )
        if given != taken and (estimator or taken is not None):
            raise ValueError(f"the model gives {given} columns to its feature map, which is made for {taken}")
    outputs, signature = learned.get("_n_features_out"), learned.get("signature_")
    if outputs is not None and signature is not None and (outputs,) != np.shape(signature):
        raise ValueError(f"there are {outputs} output columns, but signs of shape {np.shape(signature)}")
