"""How good probabilities are: log-loss, calibration error and accuracy beside scikit-learn's, on the small sets of KEEL.

``python benchmarks/probabilities.py [--sets wine sonar ...]``, with the folder of KEEL's raw files in ``KREIN_KEEL``. Rows, folds
and standardized columns as in ``bench_learning.py``. The expected calibration error is that of the most likely class: the mean over
fifteen bins of its probability of how far the share of right answers is from the mean probability, by the rows in a bin.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import krein
from contest.keel import DEVELOPMENT, load_keel
from contest.protocol import small_splits

_BINS = 15

METHODS: dict[str, Callable[[], Any]] = {
    "KreinLogistic": lambda: krein.KreinLogistic(random_state=0),
    "KreinRidgeClassifier, calibrated": lambda: CalibratedClassifierCV(
        krein.KreinRidgeClassifier(random_state=0), cv=3
    ),
    "LogisticRegression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)),
    "SVC, calibrated": lambda: CalibratedClassifierCV(make_pipeline(StandardScaler(), SVC()), cv=5),
    "SVC(C=10), calibrated": lambda: CalibratedClassifierCV(make_pipeline(StandardScaler(), SVC(C=10.0)), cv=5),
}


def calibration_error(y: np.ndarray, chances: np.ndarray) -> float:
    """Expected calibration error of the most likely class."""
    sure, right = chances.max(axis=1), chances.argmax(axis=1) == y
    place = np.minimum((sure * _BINS).astype(int), _BINS - 1)
    gaps = [abs(float(right[place == i].sum() - sure[place == i].sum())) for i in range(_BINS)]
    return sum(gaps) / y.size


def measure(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> tuple[float, float, float, float]:
    """Log-loss, calibration error, accuracy and seconds of processor time, over the held-out rows of all folds."""
    chances, truth, seconds = [], [], 0.0
    labels = np.unique(y)
    for split in small_splits(X, y):
        start = time.process_time()
        model = make().fit(split.X, split.y)
        seconds += time.process_time() - start
        found = np.zeros((split.y_new.size, labels.size))
        found[:, np.searchsorted(labels, model.classes_)] = model.predict_proba(split.X_new)
        chances.append(found)
        truth.append(np.searchsorted(labels, split.y_new))
    p, codes = np.concatenate(chances), np.concatenate(truth)
    right = float((p.argmax(axis=1) == codes).mean())
    return log_loss(codes, p, labels=np.arange(labels.size)), calibration_error(codes, p), right, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(DEVELOPMENT))
    sets = parser.parse_args().sets
    warnings.simplefilter("ignore")
    found: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in METHODS}
    for name in sets:
        X, y = load_keel(name)
        for method, make in METHODS.items():
            found[method].append(measure(make, X, y))
            loss, gap, right, seconds = found[method][-1]
            print(f"{name:16s} {method:34s} {loss:8.4f} {gap:8.4f} {right:8.4f} {seconds:8.2f} s", flush=True)
    print(f"\n{'mean of ' + str(len(sets)) + ' sets':51s} log-loss    error accuracy  seconds")
    for method, rows in found.items():
        loss, gap, right, _ = np.mean(rows, axis=0)
        print(f"{method:51s} {loss:8.4f} {gap:8.4f} {right:8.4f} {sum(row[3] for row in rows):8.1f}")


if __name__ == "__main__":
    main()
