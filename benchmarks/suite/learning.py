"""Section 6: learners beside their bounds, and how times grow with n, D and d."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import LinearSVC

from krein import KreinSVC, MeasureRecipe, SignedFourierFeatures, datasets
from krein.kernels import NTK, Gaussian
from suite.rows import Row, of_ratio, of_times
from suite.timing import exponent, interleaved

__all__ = ["growth", "ridge", "svm"]


def ridge(n: int, width: int, *, at_most: float | None) -> list[Row]:
    """Streaming ridge over the bare ZᵀZ of the same blocks, in a process of its own (``learners.py one``).

    The steps of the fit take turns with the products, so that other work on the machine slows both. Fitting the features and
    solving do not grow with n, so the target is for many rows only.
    """
    script = Path(__file__).resolve().parents[1] / "learners.py"
    command = [sys.executable, "-W", "ignore", str(script), "one", str(n), str(width), "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    size = f"n = {n:,}, d = 54, D = {width}"
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1][:100] if done.stderr.strip() else "no message"
        return [Row("ridge fit / bare ZᵀZ", note=f"not measured: {reason}")]
    record = json.loads(done.stdout.strip().splitlines()[-1])
    product, fit, features = (record[f"{key}_seconds"] for key in ("float64", "interleaved_fit", "feature_fit"))
    note = f"{size}; fit {fit:.1f} s, of it {features:.1f} s to fit the features"
    return [
        Row("ridge fit / bare ZᵀZ in float64", fit / product, at_most=at_most, note=note),
        Row("same, features fitted before", (fit - features) / product, note="sums, solving, choice of λ, transform"),
        Row(
            "same, what grows with n", record["blocks_over_float64_product"], at_most=at_most, note="transform and sums"
        ),
        Row("peak memory of the fit, rows included", record["peak_mib"], "MiB"),
    ]


class _Fitted(BaseEstimator):
    """A fitted map that stays as it is when it is cloned or fitted again, so that only the learner is timed."""

    def __init__(self, features: Any) -> None:
        self.features = features
        self.signature_ = features.signature_

    def __sklearn_clone__(self) -> _Fitted:
        return self

    def fit(self, X: Any, y: Any = None) -> _Fitted:
        return self

    def transform(self, X: Any) -> np.ndarray:
        return self.features.transform(X)


def svm(n: int, width: int, repeats: int) -> list[Row]:
    """KreinSVC beside scikit-learn's LinearSVC on the same fitted features of letter."""
    data = datasets.load("letter")
    X, X_new = datasets.minmax_unit(data.X_train[:n].astype(np.float64), data.X_test.astype(np.float64))
    y = data.y_train[:n]
    features = _Fitted(SignedFourierFeatures(kernel=NTK(), n_components=width, random_state=0).fit(X))
    Z, Z_new = features.transform(X), features.transform(X_new)
    ours = KreinSVC(features, C=1.0, random_state=0)
    theirs = LinearSVC(C=1.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = interleaved(
            {"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(Z, y)}, repeats, warm_up=False
        )
        right = ours.score(X_new, data.y_test), theirs.score(Z_new, data.y_test)
    note = f"letter, n = {len(X):,}, D = {width}; accuracy {right[0]:.4f} and {right[1]:.4f}"
    return [
        of_times("KreinSVC fit", seconds["ours"], 1.0, "s", note="transform included"),
        of_ratio("LinearSVC / KreinSVC", seconds["theirs"], seconds["ours"], at_least=1.0, note=note),
    ]


def growth(scale: int, repeats: int) -> tuple[list[Row], dict[str, tuple[list[int], list[float]]]]:
    """Exponents of the time of transform in n, D and d, and what they were fitted to."""
    sweeps = {
        "n": [(scale * k, 22, 1024) for k in (1, 2, 4, 8)],
        "D": [(2 * scale, 22, width) for width in (256, 512, 1024, 2048, 4096)],
        "d": [(scale, d, 1024) for d in (64, 128, 256, 512)],
    }
    rows, lines = [], {}
    for letter, shapes in sweeps.items():
        tasks = {}
        for n, d, width in shapes:
            X = np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)
            features = SignedFourierFeatures(
                kernel=Gaussian(d**0.5),
                n_components=width,
                weights="unbiased",
                measure=MeasureRecipe(head_degree=1, tol=1e-2),
                random_state=0,
            ).fit(X[:1000])
            tasks[f"{n} {d} {width}"] = lambda features=features, X=X: features.transform(X)
        seconds = [float(np.median(times)) for times in interleaved(tasks, repeats).values()]
        sizes = [shape["ndD".index(letter)] for shape in shapes]
        target = {"at_least": 0.9, "at_most": 1.1} if letter == "n" else {}
        note = ", ".join(f"{size}: {1e3 * value:.0f} ms" for size, value in zip(sizes, seconds, strict=True))
        rows.append(Row(f"transform, exponent of {letter}", exponent(sizes, seconds), "", note=note, **target))
        lines[letter] = (sizes, seconds)
    return rows, lines
