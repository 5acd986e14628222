"""Objects of this library as trees of plain data and named arrays, and back; no object from elsewhere is ever made."""

from __future__ import annotations

import dataclasses
import importlib
import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from krein.kernels import Kernel, parse_kernel

__all__ = ["Decoder", "Encoder", "EncodingError"]

_TAG = "@"  # a JSON object with this key is not a dictionary but something else


class EncodingError(ValueError):
    """Something that is neither plain data nor an object of this library."""


class Encoder:
    """Turns a value into what JSON can hold; arrays are collected in `arrays` and referred to by name."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._seen: dict[int, str] = {}
        self._alive: list[Any] = []  # ids are unique only among living objects

    def encode(self, value: Any, path: str) -> Any:
        """The value as a tree; `path` says in errors where it sits."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, np.generic):
            return {_TAG: "scalar", "array": self._array(np.asarray(value))}
        if isinstance(value, int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {_TAG: "float", "value": repr(value)}
        if isinstance(value, np.ndarray):
            return self._encode_array(value, path)
        if isinstance(value, tuple | list):
            items = [self.encode(item, f"{path}[{i}]") for i, item in enumerate(value)]
            return items if isinstance(value, list) else {_TAG: "tuple", "items": items}
        if isinstance(value, dict):
            pairs = [[self.encode(k, path), self.encode(v, f"{path}[{k!r}]")] for k, v in value.items()]
            return {_TAG: "dict", "items": pairs}
        if isinstance(value, Kernel) and _reads_back(value):
            return {_TAG: "kernel", "text": repr(value)}
        if sp.issparse(value):
            csr: Any = sp.csr_array(value)
            parts = {name: self._array(getattr(csr, name)) for name in ("data", "indices", "indptr")}
            return {_TAG: "csr", "shape": list(csr.shape), **parts}
        if isinstance(value, np.random.RandomState):
            return {_TAG: "random_state", "state": self.encode(value.get_state(legacy=False), path)}
        if isinstance(value, np.dtype):
            return {_TAG: "dtype", "name": value.str}
        return self._encode_object(value, path)

    def _encode_object(self, value: Any, path: str) -> Any:
        kind = type(value)
        name = f"{kind.__module__}:{kind.__qualname__}"
        ours = kind.__module__.split(".")[0] == "krein" and "<locals>" not in kind.__qualname__
        if ours and isinstance(value, BaseEstimator):
            unsaved = getattr(kind, "_unsaved", ())
            state = {k: v for k, v in vars(value).items() if k not in unsaved}
            return {_TAG: "estimator", "class": name, "state": self._encode_state(state, path)}
        if ours and dataclasses.is_dataclass(value):
            state = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            if isinstance(value, Kernel) and any(
                callable(item) and not isinstance(item, Kernel) for item in state.values()
            ):
                raise EncodingError(
                    f"{path} is {value!r}, a kernel that cannot be stored because it holds a function, and so neither can "
                    "the model; use a named kernel of krein.kernels"
                )
            return {_TAG: "dataclass", "class": name, "state": self._encode_state(state, path)}
        if ours and not isinstance(value, type) and not callable(value):
            return {_TAG: "object", "class": name, "state": self._encode_state(vars(value), path)}
        raise EncodingError(
            f"{path} is a {kind.__module__}.{kind.__qualname__}, which cannot be stored: a model file holds arrays, plain "
            "values and objects of krein, so that reading it runs no foreign code"
        )

    def _encode_state(self, state: dict[str, Any], path: str) -> dict[str, Any]:
        return {name: self.encode(item, f"{path}.{name}") for name, item in state.items()}

    def _encode_array(self, value: np.ndarray, path: str) -> Any:
        if value.dtype.kind == "O":
            items = [self.encode(item, f"{path}[{i}]") for i, item in enumerate(value.ravel())]
            return {_TAG: "objects", "shape": list(value.shape), "items": items}
        if value.dtype.kind not in "biufcSUmM":
            raise EncodingError(f"{path} is an array of dtype {value.dtype}, which cannot be stored")
        return {_TAG: "array", "name": self._array(value), "read_only": not value.flags.writeable}

    def _array(self, value: np.ndarray) -> str:
        if id(value) not in self._seen:
            name = f"a{len(self.arrays)}"
            self.arrays[name] = value
            self._seen[id(value)] = name
            self._alive.append(value)
        return self._seen[id(value)]


class Decoder:
    """Turns a tree made by `Encoder` back into the value; `arrays` are the named arrays."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = arrays

    def decode(self, tree: Any) -> Any:
        """The value a tree stands for."""
        if isinstance(tree, list):
            return [self.decode(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        kind = tree[_TAG]
        if kind == "array":
            array = self.arrays[tree["name"]]
            array.setflags(write=not tree["read_only"])
            return array
        if kind == "scalar":
            return self.arrays[tree["array"]][()]
        if kind == "float":
            return float(tree["value"])
        if kind == "tuple":
            return tuple(self.decode(item) for item in tree["items"])
        if kind == "dict":
            return {self.decode(k): self.decode(v) for k, v in tree["items"]}
        if kind == "kernel":
            return parse_kernel(tree["text"])
        if kind == "csr":
            parts = tuple(self.arrays[tree[name]] for name in ("data", "indices", "indptr"))
            return sp.csr_array(parts, shape=tuple(tree["shape"]))
        if kind == "random_state":
            state = np.random.RandomState(0)
            state.set_state(self.decode(tree["state"]))
            return state
        if kind == "dtype":
            return np.dtype(tree["name"])
        if kind == "objects":
            array = np.empty(tree["shape"], dtype=object)
            array.reshape(-1)[:] = [self.decode(item) for item in tree["items"]]
            return array
        if kind in ("estimator", "dataclass", "object"):
            return self._decode_object(kind, tree)
        raise EncodingError(f"unknown kind of value {kind!r}")

    def _decode_object(self, kind: str, tree: dict[str, Any]) -> Any:
        cls: Any = _own_class(tree["class"])
        if kind == "estimator" and not issubclass(cls, BaseEstimator):
            raise EncodingError(f"{tree['class']} is not an estimator")
        if kind == "dataclass" and not dataclasses.is_dataclass(cls):
            raise EncodingError(f"{tree['class']} is not a dataclass")
        value = cls.__new__(cls)
        for name, item in tree["state"].items():
            object.__setattr__(value, name, self.decode(item))  # frozen classes refuse the ordinary way
        return value


def _reads_back(kernel: Kernel) -> bool:
    try:
        return parse_kernel(repr(kernel)) == kernel
    except (ValueError, TypeError):
        return False


def _own_class(name: str) -> type:
    """A class of this library by its path; nothing outside the package is imported."""
    module, _, qualname = name.partition(":")
    if module.split(".")[0] != "krein" or not qualname.isidentifier():
        raise EncodingError(f"{name} is not a class of krein")
    found = getattr(importlib.import_module(module), qualname)
    if not isinstance(found, type) or found.__module__ != module:
        raise EncodingError(f"{name} is not a class of krein")
    return found
