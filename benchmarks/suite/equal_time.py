"""Section 5: relative error against the time to fit and to map 50,000 rows, for every method."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from suite.data import split_of
from suite.methods import KERNELS, make, methods_for
from suite.rows import Row
from suite.timing import Task, seconds_of

__all__ = ["Point", "curves", "measure"]

_LONG = 10.0  # seconds
_SHORT = 1.0  # seconds: what takes less is timed three times, as one page fault more or less decides otherwise
_EXACT = 1e-10  # relative errors below are rounding


@dataclass(frozen=True)
class Point:
    """One method at one width: seconds of fit and transform, relative Frobenius error on rows not seen."""

    data: str
    kernel: str
    method: str
    width: int
    fit: float
    transform: float
    error: float

    @property
    def seconds(self) -> float:
        """Everything after the data is known."""
        return self.fit + self.transform


def curves(name: str, kernel: str, multiples: tuple[int, ...], n: int) -> list[Point]:
    """All methods at all widths on one data set; methods take turns within a width, and stop at one that takes very long."""
    X, new = split_of(name, n)
    exact = KERNELS[kernel](new)
    size = np.linalg.norm(exact)
    points = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in methods_for(kernel):  # imports, compilation and page faults are nobody's feature
            make(method, kernel, 4 * X.shape[1]).fit(X[:3000]).transform(X[:3000])
        done: set[str] = set()
        for multiple in multiples:
            for method in methods_for(kernel):
                if method in done:
                    continue
                features = make(method, kernel, multiple * X.shape[1])
                fit = _least_seconds(lambda features=features: features.fit(X))
                transform = _least_seconds(lambda features=features: features.transform(X))
                error = float(np.linalg.norm(features.approximate(new) - exact) / size)
                points.append(Point(name, kernel, method, multiple * X.shape[1], fit, transform, error))
                if points[-1].seconds > _LONG:
                    done.add(method)
    return points


def _least_seconds(task: Task) -> float:
    """Of three times where they are short, else of one."""
    first = seconds_of(task)
    return first if first > _SHORT else min(first, seconds_of(task), seconds_of(task))


def measure(
    names: tuple[str, ...], kernels: tuple[str, ...], multiples: tuple[int, ...], n: int
) -> tuple[list[Row], list[Point]]:
    """Error of the best of Nyström, ours and scikit-learn's, over that of our best map at equal time; and all points.

    Two maps that are exact but for rounding are equal.
    """
    rows, points = [], []
    for name in names:
        for kernel in kernels:
            new = curves(name, kernel, multiples, n)
            points += new
            rows += _compare(name, kernel, new)
    return rows, points


def _compare(name: str, kernel: str, points: list[Point]) -> list[Row]:
    ours = [p for p in points if p.method.startswith("krein")]
    rows = []
    for label, theirs in (
        ("Nyström", [p for p in points if p.method.startswith("Nyström")]),
        ("other features", [p for p in points if not p.method.startswith(("krein", "Nyström"))]),
    ):
        if not theirs:
            continue
        first = max(min(p.seconds for p in ours), min(p.seconds for p in theirs))
        last = max(max(p.seconds for p in ours), max(p.seconds for p in theirs))
        for seconds in np.geomspace(first, last, 3):
            best, other = _best(ours, seconds), _best(theirs, seconds)
            note = f"ours {best.error:.2g} ({best.method}, {best.width}), theirs {other.error:.2g} ({other.method}, {other.width})"
            rows.append(
                Row(
                    f"{name}, {kernel}, in {seconds:.2g} s: error of {label} / krein",
                    max(other.error, _EXACT) / max(best.error, _EXACT),
                    at_least=1.0 if label == "Nyström" else None,
                    note=note,
                )
            )
    return rows


def _best(points: list[Point], seconds: float) -> Point:
    """The most accurate of those that are done by then."""
    return min((p for p in points if p.seconds <= seconds * (1 + 1e-9)), key=lambda p: p.error)
