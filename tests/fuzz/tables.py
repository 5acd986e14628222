"""Tables to learn from, ordinary and odd: shapes, dtypes, memory layouts, containers and values, all from one seed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["Table", "draw_sample", "draw_table"]

ROWS = (0, 1, 2, 3, 5, 8, 12, 20, 30, 40)
COLUMNS = (0, 1, 1, 2, 3, 4, 6, 40)
ODD = 0.35  # of tables that have something odd about their values or their container


@dataclass(frozen=True)
class Table:
    """Rows, targets and weights, and a name that says how they were made.

    ``ordinary`` tables are finite numbers of moderate size, at least eight of them: a fit with legal parameters may still decline
    (one class, a width that does not fit), but what it returns is checked the same way.
    """

    name: str
    X: Any
    y: Any
    weight: Any
    ordinary: bool

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0]) if hasattr(self.X, "shape") and self.X.shape else len(self.X)


def _special(name: str) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    def change(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if not X.size:
            return X
        spot = tuple(rng.integers(0, n) for n in X.shape)
        if name in ("nan", "inf", "-inf"):
            X[spot] = float(name)
        elif name == "all nan":
            X[:] = np.nan
        return X

    return change


VALUES: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    **{name: _special(name) for name in ("nan", "inf", "-inf", "all nan")},
    "huge": lambda X, rng: X * 10.0 ** rng.integers(100, 308),
    "large": lambda X, rng: X * 10.0 ** rng.integers(6, 60),
    "subnormal": lambda X, rng: X * 1e-310,
    "tiny": lambda X, rng: X * 10.0 ** -rng.integers(6, 200).astype(float),
    "far": lambda X, rng: X + 10.0 ** rng.integers(3, 20),
    "constant": lambda X, rng: np.full_like(X, rng.normal()),
    "zero": lambda X, rng: np.zeros_like(X),
    "duplicated": lambda X, rng: X[rng.integers(0, max(1, min(2, X.shape[0])), size=X.shape[0])] if X.shape[0] else X,
    "one constant column": lambda X, rng: np.hstack([X, np.ones((X.shape[0], 1))]),
    "one huge row": lambda X, rng: np.vstack([X, np.full((1, X.shape[1]), 1e200)]),
    "zero row": lambda X, rng: np.vstack([X, np.zeros((1, X.shape[1]))]),
}
DTYPES = (
    "float64",
    "float64",
    "float64",
    "float32",
    "float32",
    "float16",
    "int64",
    "int8",
    "uint8",
    "bool",
    "complex128",
    "longdouble",
)


def _memory_map(X: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:  # the file stays readable while it is mapped
        path = Path(folder) / "rows.npy"
        np.save(path, X)
        return np.load(path, mmap_mode="r")


def _read_only(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "reversed": lambda X: X[::-1, ::-1],
    "read only": _read_only,
    "memory map": _memory_map,
    "list": lambda X: X.tolist(),
}


def _frame(X: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"column {i}" for i in range(X.shape[1])])


def _odd_frame(kind: str) -> Callable[[np.ndarray], Any]:
    def make(X: np.ndarray) -> Any:
        frame = _frame(X)
        if not X.size:
            return frame
        name = frame.columns[0]
        if kind == "nullable":
            frame[name] = frame[name].astype("Float64")
        elif kind == "missing":
            column = frame[name].astype("Float64")
            column.iloc[0] = None
            frame[name] = column
        elif kind == "categorical":
            frame[name] = frame[name].round().astype("category")
        elif kind == "text":
            frame[name] = [f"text {i}" for i in range(len(frame))]
        return frame

    return make


def _polars(X: np.ndarray) -> Any:
    try:
        import polars
    except ModuleNotFoundError:
        return _frame(X)
    return polars.DataFrame(X, schema=[f"column {i}" for i in range(X.shape[1])])


def _text(X: np.ndarray) -> np.ndarray:
    return np.array([["a", "b"][int(value > 0)] for value in X.ravel()], dtype=object).reshape(X.shape)


CONTAINERS: dict[str, Callable[[np.ndarray], Any]] = {
    "frame": _frame,
    **{f"{kind} frame": _odd_frame(kind) for kind in ("nullable", "missing", "categorical", "text")},
    "polars frame": _polars,
    **{
        f"{kind} matrix": (lambda X, kind=kind: sp.coo_array(X).asformat(kind))
        for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
    },
    "objects": lambda X: X.astype(object),
    "text": _text,
    "strings": lambda X: [f"{row.sum():.3f}" for row in X],
    "one row": lambda X: X[0] if X.shape[0] else X,
    "three axes": lambda X: X[:, :, None],
    "scalar": lambda X: np.float64(1.0),
    "none": lambda X: None,
}


def draw_table(rng: np.random.Generator) -> Table:
    """A table, about two thirds of them ordinary."""
    n, d = int(rng.choice(ROWS)), int(rng.choice(COLUMNS))
    odd = rng.random() < ODD
    if not odd:
        n, d = max(n, 8), max(d, 1)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2)
    words = [f"{n} x {d}"]
    square = rng.random() < 0.08
    if square:
        X = X @ X.T / max(d, 1)
        words.append("square")
    dtype = str(rng.choice(DTYPES)) if odd else str(rng.choice(["float64", "float64", "float32", "int64"]))
    if odd and rng.random() < 0.6:
        name = str(rng.choice(list(VALUES)))
        with np.errstate(all="ignore"):
            X = VALUES[name](X, rng)
        words.append(name)
    with np.errstate(all="ignore"):
        X = X.astype(dtype)
    words.append(dtype)
    layout = str(rng.choice(list(LAYOUTS)))
    container = ""
    if rng.random() < (0.4 if odd else 0.15):
        pool = list(CONTAINERS) if odd else ["frame", "csr matrix", "csc matrix"]
        container = str(rng.choice(pool))
    n_rows = X.shape[0]
    if container:
        made = _container(container, X)
        words.append(container)
    else:
        made = LAYOUTS[layout](X)
        words.append(layout)
    y, kind = _targets(n_rows, odd, rng)
    words.append(f"y: {kind}")
    weight = None if rng.random() < 0.8 else _weights(n_rows, odd, rng)
    if weight is not None:
        words.append("weights")
    return Table(", ".join(words), made, y, weight, not odd)


def draw_sample(rng: np.random.Generator, *, numbers: bool) -> Table:
    """Rows of moderate numbers, and a target that depends on them: something can be learned."""
    n, d = int(rng.choice([12, 30, 60, 120, 250])), int(rng.choice([1, 2, 3, 5, 9]))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2, size=d) + rng.normal(size=d)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    signal = np.cos(2.0 * Z[:, 0]) + Z.sum(axis=1) / d + 10.0 ** -rng.integers(1, 4) * rng.normal(size=n)
    pool = ("number", "numbers") if numbers else ("two classes", "classes", "words")
    kind = str(rng.choice(pool))
    codes = np.digitize(signal, np.quantile(signal, [0.5] if kind == "two classes" else [0.3, 0.7]))
    y: Any = {
        "number": signal,
        "numbers": np.stack([signal, Z[:, -1] ** 2], axis=1),
        "words": np.array(["one", "two", "three"])[codes],
    }.get(kind, codes)
    weight = None if rng.random() < 0.8 else rng.integers(1, 4, size=n).astype(float)
    return Table(f"{n} x {d}, y: {kind}{'' if weight is None else ', weights'}", X, y, weight, True)


def _container(name: str, X: np.ndarray) -> Any:
    """The container, or the plain array where a format cannot hold it."""
    try:
        return CONTAINERS[name](X)
    except (TypeError, ValueError, NotImplementedError, IndexError):
        return X


def _targets(n: int, odd: bool, rng: np.random.Generator) -> tuple[Any, str]:
    numbers = rng.normal(size=n)
    pool: dict[str, Callable[[], Any]] = {
        "numbers": lambda: numbers,
        "two classes": lambda: (numbers > 0).astype(int),
        "classes": lambda: rng.integers(0, 3, size=n),
        "words": lambda: np.array(["one", "two", "three"])[rng.integers(0, 3, size=n)],
    }
    if odd:
        pool |= {
            "targets": lambda: rng.normal(size=(n, 2)),
            "one class": lambda: np.zeros(n, dtype=int),
            "nan": lambda: np.where(np.arange(n) == 0, np.nan, numbers),
            "huge": lambda: numbers * 1e300,
            "too long": lambda: rng.normal(size=n + 1),
            "none": lambda: None,
            "objects": lambda: numbers.astype(object),
            "bool": lambda: numbers > 0,
            "each its own": lambda: np.arange(n),
            "mixed": lambda: np.array([0, "a"] * n, dtype=object)[:n],
        }
    name = str(rng.choice(list(pool)))
    return pool[name](), name


def _weights(n: int, odd: bool, rng: np.random.Generator) -> Any:
    pool = [rng.uniform(0.1, 2.0, size=n), np.ones(n), rng.integers(0, 3, size=n) + (np.arange(n) == 0)]
    if odd:
        pool += [np.zeros(n), -np.ones(n), np.full(n, np.nan), np.ones(n + 1), np.full(n, 1e300)]
    return pool[int(rng.integers(len(pool)))]
