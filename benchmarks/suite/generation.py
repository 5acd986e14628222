"""Section 4: the paper's Table 2 turned round, time to generate features once the data is known."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from suite.data import rows_of, split_of
from suite.methods import KERNELS, make, methods_for
from suite.rows import Row, of_ratio, of_times
from suite.timing import interleaved

__all__ = ["measure"]

_KERNEL_OF = {"DIGMM": "delta-gaussian"}
_SLOW = 0.15  # seconds from which on two times are enough
_RIVALS = ("RM", "TS", "TRP", "SRF", "DIGMM", "Nyström")


def measure(names: tuple[str, ...], multiples: tuple[int, ...], repeats: int) -> list[Row]:
    """Each rival's time over ours at the same width and kernel: transform alone, and fit with transform; and both errors."""
    rows: list[Row] = []
    for name in names:
        X = rows_of(name)
        fit_rows, new = split_of(name, len(X) - 1000)
        for multiple in multiples:
            width = multiple * X.shape[1]
            for kernel in ("polynomial", "delta-gaussian"):
                rivals = [m for m in _RIVALS if _KERNEL_OF.get(m, "polynomial") == kernel and m in methods_for(kernel)]
                rows += _compare(X, fit_rows, new, kernel, width, rivals, repeats, f"{name}, {multiple}d")
    return rows


def _compare(
    X: np.ndarray,
    fit_rows: np.ndarray,
    new: np.ndarray,
    kernel: str,
    width: int,
    rivals: list[str],
    repeats: int,
    where: str,
) -> list[Row]:
    maps = {method: make(method, kernel, width) for method in ("krein", *rivals)}
    for (
        features
    ) in maps.values():  # imports, compilation, and what a method needs to know of the kernel before any data
        features.fit(new).transform(new)
    fits = interleaved({m: partial(f.fit, fit_rows) for m, f in maps.items()}, max(repeats, 3), slow=_SLOW)
    mapping = interleaved({m: partial(f.transform, X) for m, f in maps.items()}, max(repeats, 3), slow=_SLOW)
    exact = KERNELS[kernel](new)
    errors = {m: _error(f, new, exact) for m, f in maps.items()}
    ours, fit = mapping["krein"], fits["krein"]
    note = f"{kernel}, n = {len(X):,}, D = {width}, fit {np.median(fit) * 1e3:.0f} ms, error {errors['krein']:.4f}"
    rows = [of_times(f"{where}: krein, {kernel}, transform", ours, note=note)]
    for method in rivals:
        note = f"fit {np.median(fits[method]) * 1e3:.0f} ms, error {errors[method]:.4f}"
        rows.append(of_ratio(f"{where}: {method} / krein, transform", mapping[method], ours, at_least=1.0, note=note))
        whole = float((np.median(fits[method]) + np.median(mapping[method])) / (np.median(fit) + np.median(ours)))
        rows.append(Row(f"{where}: {method} / krein, fit + transform", whole, at_least=1.0))
    return rows


def _error(features: Any, new: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(features.approximate(new) - exact) / np.linalg.norm(exact))
