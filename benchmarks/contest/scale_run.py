"""One model on one large set, in a process of its own, so that time and peak memory are its own."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from contest.protocol import Split
from contest.scale_data import load_scale
from contest.scale_methods import make_model
from krein.comparison import chosen_by
from suite.timing import resettable_peak

__all__ = ["CODE", "run_model"]

# For a new process: arguments are the set, rows to fit on and rows to test on (0 for all), kind and settings as JSON.
CODE = """
import json, sys
from contest.scale_run import run_model
name, train, test, kind, settings = sys.argv[1:]
print(json.dumps(run_model(name, int(train) or None, int(test) or None, kind, json.loads(settings))))
"""
_WARM_UP_ROWS = 400  # a first fit loads and compiles; it is in nobody's time


def run_model(
    name: str, most_train: int | None, most_test: int | None, kind: str, settings: dict[str, Any]
) -> dict[str, Any]:
    """Fit and score one model; times in seconds, memory in MiB."""
    warnings.simplefilter("ignore")
    split = load_scale(name, most_train, most_test)
    _warm_up(split, kind, settings)
    rows = split.X.nbytes / 2**20
    before = _resident_mib()
    resettable_peak()
    model = make_model(kind, **settings)
    start, busy = time.perf_counter(), time.process_time()
    model.fit(split.X, split.y)
    fit, used = time.perf_counter() - start, time.process_time() - busy
    peak = _resident_mib("VmHWM")
    start = time.perf_counter()
    accuracy = float(np.mean(model.predict(split.X_new) == split.y_new))
    chosen = chosen_by(model)
    return {
        "n_train": len(split.y),
        "n_test": len(split.y_new),
        "accuracy": accuracy,
        "fit_seconds": fit,
        "fit_processor_seconds": used,
        "predict_seconds": time.perf_counter() - start,
        "rows_mib": rows,
        "fit_mib": None if peak is None or before is None else peak - before,
        "rounds": getattr(model, "n_iter_", None) if kind == "boosting" else None,
        "chosen": chosen.get("chosen", ""),
        "kernel": chosen.get("kernel", ""),
    }


def _warm_up(split: Split, kind: str, settings: dict[str, Any]) -> None:
    # as many rows of each class, so that few rows have all of them
    some = np.concatenate([np.flatnonzero(split.y == label)[: _WARM_UP_ROWS // 10] for label in np.unique(split.y)])
    model = make_model(kind, **{**settings, **({"width": 16} if "width" in settings else {})})
    model.fit(split.X[some], split.y[some]).predict(split.X[some])


def _resident_mib(field: str = "VmRSS") -> float | None:
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))
    except (OSError, StopIteration):
        return None
