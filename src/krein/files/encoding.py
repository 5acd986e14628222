"""Objects of this library as trees of plain data and named arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from krein.files.registry import LABELS, Entry, entry_of
from krein.files.values import array_dtype, check_field, check_integer
from krein.kernels import Kernel

__all__ = ["KIND", "Encoder"]

KIND = "@"  # a JSON object with this key says what it stands for; there are no others in the tree of a model
_CALLED = ("kernel", "metric")  # parameters that may be a function, and need not be one


class Encoder:
    """Turns a value into what JSON can hold; arrays are collected in `arrays` and referred to by name.

    What it refuses raises ValueError: whatever was encoded can be decoded again.

    Parameters
    ----------
    root : str
        What to call the whole in errors.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, value: Any, path: str = "") -> Any:
        """The value as a tree."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str(value)  # a label of numpy's own type of strings
        if isinstance(value, np.generic):
            return self._scalar(value, path)
        if isinstance(value, int):
            return check_integer(value, self._name(path))
        if isinstance(value, float):
            return value if math.isfinite(value) else {KIND: "float", "value": repr(value)}
        if isinstance(value, np.ndarray):
            return self._objects(value, path) if value.dtype.kind == "O" else self._array(value, path)
        if isinstance(value, tuple | list):
            items = [self.encode(item, f"{path}.{i}") for i, item in enumerate(value)]
            return items if isinstance(value, list) else {KIND: "tuple", "items": items}
        if isinstance(value, dict):
            return self._dictionary(value, path)
        if sp.issparse(value):
            return self._csr(value, path)
        if isinstance(value, np.random.RandomState):
            return self._random_state(value, path)
        entry = entry_of(type(value))
        if entry is None:
            raise ValueError(self._refusal(value, path))
        return self._object(value, entry, path)

    def _object(self, value: Any, entry: Entry, path: str) -> Any:
        start = f"{path}." if path else ""
        tree: dict[str, Any] = {KIND: "object", "tag": entry.tag, "arguments": {}}
        for name, argument in entry.arguments.items():
            item = getattr(value, name)
            if not entry.is_estimator:  # whose parameters are checked by fit
                where, finite = self._name(start + name), entry.must_be_finite(name, item)
                check_field(item, argument.hint, where, finite=finite, text=name in LABELS)
            tree["arguments"][name] = self.encode(item, start + name)
        if not entry.is_estimator:
            return tree
        tree["learned"] = {}
        for name, item in vars(value).items():
            if name in entry.learned:
                where, finite = self._name(start + name), entry.must_be_finite(name, item)
                check_field(item, entry.learned[name].hint, where, finite=finite, text=name in LABELS)
                tree["learned"][name] = self.encode(item, start + name)
            elif name.endswith("_") and not name.startswith("_"):
                raise ValueError(
                    f"{self._name(start + name)} is learned, but {type(value).__name__} is not registered with it; name it in "
                    "register(…, learned=…)"
                )
        missing = [name for name, one in entry.learned.items() if one.required and name not in tree["learned"]]
        if "n_features_in_" not in tree["learned"] and value._has_columns():
            missing.append("n_features_in_")
        if tree["learned"] and missing:
            raise ValueError(f"{self._name(path)} is fitted but lacks {missing[0]}")
        return tree

    def _array(self, value: np.ndarray, path: str) -> Any:
        if array_dtype(value.dtype.newbyteorder("<").str) is None:
            raise ValueError(f"{self._name(path)} is an array of dtype {value.dtype}, which cannot be stored")
        name = path.lstrip(".") or "array"
        self.arrays[name] = value
        return {KIND: "array", "name": name}

    def _objects(self, value: np.ndarray, path: str) -> Any:
        if value.ndim != 1:
            raise ValueError(
                f"{self._name(path)} is an array of Python objects of shape {value.shape}; only vectors are stored"
            )
        return {KIND: "objects", "items": [self.encode(item, f"{path}.{i}") for i, item in enumerate(value)]}

    def _scalar(self, value: np.generic, path: str) -> Any:
        if value.dtype.kind not in "biuf" or array_dtype(value.dtype.newbyteorder("<").str) is None:
            raise ValueError(f"{self._name(path)} is a number of dtype {value.dtype}, which cannot be stored")
        number = self.encode(value.item(), path)
        return {KIND: "scalar", "dtype": value.dtype.newbyteorder("<").str, "value": number}

    def _dictionary(self, value: dict[Any, Any], path: str) -> Any:
        if not all(isinstance(key, str) for key in value):
            raise ValueError(f"{self._name(path)} is a dictionary whose keys are not all text, which cannot be stored")
        return {
            KIND: "dict",
            "items": {key: self.encode(item, f"{path}.{i}") for i, (key, item) in enumerate(value.items())},
        }

    def _csr(self, value: Any, path: str) -> Any:
        matrix: Any = sp.csr_array(value)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        parts = {part: self._array(getattr(matrix, part), f"{path}.{part}") for part in ("data", "indices", "indptr")}
        return {KIND: "csr", "shape": [int(n) for n in matrix.shape], **parts}

    def _random_state(self, value: np.random.RandomState, path: str) -> Any:
        state: Any = value.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":
            raise ValueError(f"{self._name(path)} is a random state of {state['bit_generator']}; use a seed")
        return {
            KIND: "random-state",
            "key": self._array(state["state"]["key"], f"{path}.key"),
            "position": int(state["state"]["pos"]),
            "has_gauss": int(state["has_gauss"]),
            "gauss": float(state["gauss"]),
        }

    def _refusal(self, value: Any, path: str) -> str:
        kind = type(value)
        if isinstance(value, Kernel):
            return (
                f"{self._name(path)} is {value!r}, a kernel that cannot be stored because it holds a function, and so neither can "
                "the model; use a named kernel of krein.kernels"
            )
        reason = (
            f"{self._name(path)} is a {kind.__module__}.{kind.__qualname__}, which cannot be stored: a model file holds "
            "arrays, plain values and objects of classes registered with krein.files.registry.register, so that reading it "
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
