"""Objects of this library as trees of plain data and named arrays, and back by calling their constructors and no other function."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from krein.files.registry import Argument, Entry, entry_for, entry_of
from krein.files.values import array_dtype, check_array, check_integer, csr_from, scalar_from
from krein.kernels import Kernel

__all__ = ["Decoder", "Encoder"]

KIND = "@"  # a JSON object with this key says what it stands for; there are no others in the tree of a model
_CALLED = ("kernel", "metric")  # parameters that may be a function, and need not be one
# What a constructor may raise when it is given values of the right type that make no sense together.
_REFUSALS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, MemoryError, RecursionError)
_INFINITIES = re.compile(r"-?inf|nan")


class Encoder:
    """Turns a value into what JSON can hold; arrays are collected in `arrays` and referred to by name.

    What it refuses raises ValueError, in which `root` is the name of the whole; whatever was encoded can be decoded again.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, value: Any, path: str = "") -> Any:
        """The value as a tree."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, np.random.RandomState):
            return None  # it has moved on, and nothing that was learned depends on it
        if isinstance(value, str):
            return str(value)  # a label of numpy's own type of strings
        if isinstance(value, np.generic):
            return self._scalar(value, path)
        if isinstance(value, int):
            return check_integer(value, self._name(path))
        if isinstance(value, float):
            return value if math.isfinite(value) else {KIND: "float", "value": repr(value)}
        if isinstance(value, np.ndarray):
            if value.dtype.kind != "O":
                return self._array(value, path)
            if value.ndim != 1:
                raise ValueError(
                    f"{self._name(path)} is an array of Python objects of shape {value.shape}; only vectors are stored"
                )
            return {KIND: "objects", "items": self._items(value, path)}
        if isinstance(value, list):
            return self._items(value, path)
        if isinstance(value, tuple):
            return {KIND: "tuple", "items": self._items(value, path)}
        if isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                raise ValueError(
                    f"{self._name(path)} is a dictionary with keys that are no text, which cannot be stored"
                )
            return {KIND: "dict", "items": dict(zip(value, self._items(value.values(), path), strict=True))}
        if sp.issparse(value):
            return self._csr(value, path)
        entry = entry_of(type(value))
        if entry is None:
            raise ValueError(self._refusal(value, path))
        return self._object(value, entry, path)

    def _items(self, items: Any, path: str) -> list[Any]:
        return [self.encode(item, f"{path}.{i}") for i, item in enumerate(items)]

    def _object(self, value: Any, entry: Entry, path: str) -> Any:
        tree: dict[str, Any] = {KIND: "object", "tag": entry.tag}
        given = {name: getattr(value, name) for name in entry.arguments}
        # the parameters of an estimator are checked by fit
        tree["arguments"] = self._fields(given, {} if entry.is_estimator else entry.arguments, entry, path)
        if not entry.is_estimator:
            return tree
        learned = {name: item for name, item in vars(value).items() if name in entry.learned}
        for name in vars(value).keys() - learned:
            if name.endswith("_") and not name.startswith("_"):
                raise ValueError(
                    f"{self._name(f'{path}.{name}')} is learned, but {type(value).__name__} is not registered with it; name it "
                    "in register(…, learned=…)"
                )
        missing = [name for name, one in entry.learned.items() if one.required and name not in learned]
        if "n_features_in_" not in learned and value._has_columns():
            missing.append("n_features_in_")
        if learned and missing:
            raise ValueError(f"{self._name(path)} is fitted but lacks {missing[0]}")
        return {**tree, "learned": self._fields(learned, entry.learned, entry, path)}

    def _fields(self, values: dict[str, Any], checked: dict[str, Argument], entry: Entry, path: str) -> dict[str, Any]:
        found = {}
        for name, item in values.items():
            where = f"{path}.{name}" if path else name
            if name in checked:
                entry.check(name, checked[name], item, self._name(where))
            found[name] = self.encode(item, where)
        return found

    def _array(self, value: np.ndarray, path: str) -> Any:
        if array_dtype(value.dtype.newbyteorder("<").str) is None:
            raise ValueError(f"{self._name(path)} is an array of dtype {value.dtype}, which cannot be stored")
        name = path.lstrip(".") or "array"
        self.arrays[name] = value
        return {KIND: "array", "name": name}

    def _scalar(self, value: np.generic, path: str) -> Any:
        dtype = value.dtype.newbyteorder("<").str
        if value.dtype.kind not in "biuf" or array_dtype(dtype) is None:
            raise ValueError(f"{self._name(path)} is a number of dtype {value.dtype}, which cannot be stored")
        return {KIND: "scalar", "dtype": dtype, "value": self.encode(value.item(), path)}

    def _csr(self, value: Any, path: str) -> Any:
        matrix: Any = sp.csr_array(value)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        parts = {part: self._array(getattr(matrix, part), f"{path}.{part}") for part in ("data", "indices", "indptr")}
        return {KIND: "csr", "shape": [int(n) for n in matrix.shape], **parts}

    def _refusal(self, value: Any, path: str) -> str:
        if isinstance(value, Kernel):
            return (
                f"{self._name(path)} is {value!r}, a kernel that cannot be stored because it holds a function, and so neither can "
                "the model; use a named kernel of krein.kernels"
            )
        reason = (
            f"{self._name(path)} is a {type(value).__module__}.{type(value).__qualname__}, which cannot be stored: a model file "
            "holds arrays, plain values and objects of classes registered with krein.files.registry.register, so that reading it "
            "runs no foreign code"
        )
        if path.rpartition(".")[2] in _CALLED and callable(value):
            return (
                f"{reason}; use a distance by name, as in DistanceKernel('cityblock'), or an object with __call__ of a registered "
                "class, or kernel='precomputed' with similarities that you compute yourself"
            )
        return reason

    def _name(self, path: str) -> str:
        return f"{self.root}.{path.lstrip('.')}" if path else self.root


class Decoder:
    """Turns a tree made by `Encoder`, and its arrays by name, back into the value; raises ValueError for any other tree."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays = dict(arrays)
        self._readers: dict[Any, tuple[tuple[str, ...], Callable[..., Any]]] = {
            "array": (("name",), self._array),
            "objects": (("items",), self._objects),
            "tuple": (("items",), self._tuple),
            "dict": (("items",), self._dictionary),
            "float": (("value",), self._float),
            "scalar": (("dtype", "value"), self._scalar),
            "csr": (("shape", "data", "indices", "indptr"), self._csr),
        }

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
        if not isinstance(kind, str) or kind not in self._readers:
            raise ValueError(f"{path} is of an unknown kind {kind!r}")
        keys, read = self._readers[kind]
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
            learned = self._fields(tree["learned"], entry.learned, entry, path, checked=True)
            vars(value).update(dict.fromkeys(entry.may_be_none) | learned)
            try:
                _check_common(value)
                value._check_loaded()
            except _REFUSALS as error:
                raise ValueError(f"{path} is not a fitted {entry.tag}: {error}") from error
        return value

    def _fields(
        self, tree: Any, known: dict[str, Argument], entry: Entry, path: str, *, checked: bool
    ) -> dict[str, Any]:
        """Arguments or learned attributes: none unknown, none missing, each of its type (parameters are checked by fit)."""
        if not isinstance(tree, dict):
            raise ValueError(f"{path} lists its parts as {type(tree).__name__}, not by name")
        for name in tree:
            if name not in known:
                raise ValueError(f"{path} has a part {name!r}, which {entry.tag} does not have")
        for name, one in known.items():
            if one.required and name not in tree:
                raise ValueError(f"{path} has no {name!r}, which {entry.tag} must have")
        values = {name: self._decode(item, f"{path}.{name}") for name, item in tree.items()}
        for name, value in values.items() if checked else ():
            entry.check(name, known[name], value, f"{path}.{name}")
        return values

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
    outputs, signature = learned.get("_n_features_out"), learned.get("signature_")
    if outputs is not None and signature is not None and (outputs,) != np.shape(signature):
        raise ValueError(f"there are {outputs} output columns, but signs of shape {np.shape(signature)}")
