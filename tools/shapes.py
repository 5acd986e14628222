"""Time and memory of fits by the shape of a table: ``python tools/shapes.py [--only NAME] [--most 60] [--out DIR]``.

Each shape of a grid (rows, columns, share of entries that are not zero, classes or targets) is learned in a process of its own,
whose processor time and peak memory are compared with a model of cost: the multiplications of the work that is to be done, at the
speed of a product of matrices on this processor here and now. A fit that takes more than three times its model, or more than a
minute without the model saying so, is an error. ``make shapes`` writes a table and a plot.
"""

from __future__ import annotations

import argparse
import csv
import math
import multiprocessing
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import krein
from krein.learning.limits import EXACT_MACHINE_ROWS, EXACT_ROWS, default_width

SLACK = 3.0  # times its model
ANNOUNCED = 60.0  # seconds from which on a sentence must have said so
FLOOR_SECONDS, FLOOR_BYTES = 3.0, 4e8  # of importing, compiling, and choosing among kernels on few rows
LEARNERS = {
    "ridge": krein.KreinRidge,
    "ridge classifier": krein.KreinRidgeClassifier,
    "machine": krein.KreinSVC,
    "logistic": krein.KreinLogistic,
}


@dataclass(frozen=True)
class Shape:
    """A table and its targets."""

    learner: str
    rows: int
    columns: int
    share: float = 1.0  # of entries that are not zero
    outputs: int = 1  # classes of a classifier, else targets

    def table(self) -> tuple[Any, np.ndarray]:
        """Rows around as many centers as there are classes, or smooth functions of them."""
        rng = np.random.default_rng(0)
        if self.share < 1.0:
            X = sp.random_array(
                (self.rows, self.columns), density=self.share, format="csr", rng=rng, data_sampler=rng.standard_normal
            )
        else:
            X = rng.normal(size=(self.rows, self.columns))
        few = min(self.columns, 20)
        if self.learner == "ridge":
            y = np.tanh(X @ rng.normal(size=(self.columns, self.outputs)) / math.sqrt(self.columns * self.share))
            return X, y[:, 0] if self.outputs == 1 else y
        labels = rng.integers(self.outputs, size=self.rows)
        if self.share == 1.0:
            X[:, :few] += 3.0 * rng.normal(size=(self.outputs, few))[labels]
        return X, labels

    @property
    def products(self) -> float:
        """Multiplications that learning takes, by the sizes of what is factorized and multiplied."""
        n, d, t = self.rows, self.columns * self.share, 1 if self.outputs == 2 else self.outputs
        machine = self.learner in ("machine", "logistic")
        if n <= (EXACT_MACHINE_ROWS if machine else EXACT_ROWS):
            kernel = 3.0 * n**2 * (d + 30.0) + 4.0 * n**3
            return kernel + (60.0 * t * n**2 * 10 if machine else 2.0 * t * n**2)
        width, leaf = default_width(n), min(n, 16_384) if n <= 16_384 else 5_000
        features = n * width * (width + d) + 5.0 * width**3
        if machine:
            return features + 300.0 * t * n * width
        leaves = math.ceil(n / leaf) * (leaf**3 + 4.0 * t * leaf**2) + 10.0 * 3000**2 * (d + 3000)
        return features + 4.0 * leaves + 2.0 * t * n * width

    @property
    def bytes(self) -> float:
        """Of the table, its copies, and the largest matrix of a fit."""
        n = self.rows
        largest = max(n**2 if n <= EXACT_ROWS else default_width(n) ** 2, min(n, 16_384) ** 2 / 2)
        return 4.0 * 8 * n * (self.columns * self.share + self.outputs) + 3.0 * 8 * largest


@dataclass(frozen=True)
class Measured:
    """What a fit took, and what the model says; `words` is why it was refused."""

    learner: str
    rows: int
    columns: int
    share: float
    outputs: int
    seconds: float
    gigabytes: float
    model_seconds: float
    model_gigabytes: float
    words: str = ""

    @property
    def fine(self) -> bool:
        """Whether the shape costs what it should, or was refused."""
        if self.words:
            return True
        near = self.seconds <= SLACK * self.model_seconds and self.gigabytes <= SLACK * self.model_gigabytes
        return near and self.seconds <= max(ANNOUNCED, self.model_seconds)


def grid() -> Iterator[Shape]:
    """All shapes, the quickest first."""
    found = [Shape("ridge", n, d) for n in (100, 1_000, 5_000, 20_000, 100_000) for d in (1, 10, 100, 1_000)]
    found += [Shape("ridge", n, d) for n in (200, 2_000) for d in (20_000, 50_000)]
    found += [Shape("ridge", n, 50_000, 0.002) for n in (2_000, 20_000)]
    found += [Shape("ridge", n, 10, outputs=t) for n in (1_000, 8_000) for t in (20, 500)]
    for name in ("ridge classifier", "machine", "logistic"):
        found += [Shape(name, n, 10, outputs=c) for n in (1_000, 5_000, 20_000) for c in (2, 20, 200)]
    found += [Shape("ridge classifier", n, 10, outputs=1_000) for n in (5_000, 5_200)]
    return iter(
        sorted((one for one in found if one.rows * one.columns * one.share <= 2e7), key=lambda one: one.products)
    )


def speed() -> float:
    """Multiplications a second of a product of matrices, one thread, the best of a few."""
    A, best = np.ones((800, 800)), math.inf
    for _ in range(5):
        begin = time.process_time()
        A @ A
        best = min(best, time.process_time() - begin)
    return 800.0**3 / best


def _fit(shape: Shape, pipe: Any, most: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(most) + 1, int(most) + 2))
    X, y = shape.table()
    words, begin = "", time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            LEARNERS[shape.learner](random_state=0).fit(X, y)
        except (ValueError, MemoryError) as error:
            words = str(error)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    pipe.send((time.process_time() - begin, peak, words))


def measure(shape: Shape, most: float) -> Measured:
    """Learn in a process of its own, which ends after so many seconds of processor time."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_fit, args=(shape, theirs, most))
    process.start()
    theirs.close()
    try:
        seconds, peak, words = ours.recv()
    except EOFError:  # it was ended
        seconds, peak, words = math.inf, math.nan, ""
    process.join()
    model = FLOOR_SECONDS + 4.0 * shape.products / speed(), (FLOOR_BYTES + shape.bytes) / 1e9
    return Measured(*asdict(shape).values(), seconds, peak / 1e9, *model, words)


def draw(found: list[Measured], path: Path) -> None:
    """Seconds against the model, a point for each shape."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 5))
    for name in LEARNERS:
        points = [one for one in found if one.learner == name and math.isfinite(one.seconds) and not one.words]
        axes.loglog([one.model_seconds for one in points], [one.seconds for one in points], "o", label=name, alpha=0.7)
    ends = np.array([FLOOR_SECONDS, max(one.model_seconds for one in found)])
    axes.loglog(ends, ends, "k-", lw=0.8)
    axes.loglog(ends, SLACK * ends, "k:", lw=0.8)
    axes.set(xlabel="seconds by the model of cost", ylabel="seconds measured")
    axes.legend()
    figure.savefig(path, bbox_inches="tight")


def main() -> int:
    """Measure all shapes; 1 if one costs more than it should."""
    parser = argparse.ArgumentParser(prog="shapes")
    parser.add_argument("--only", default="", help="shapes of learners whose name begins so")
    parser.add_argument("--most", type=float, default=180.0, help="seconds of processor time that a fit may take")
    parser.add_argument(
        "--model", type=float, default=math.inf, help="leave out shapes beyond so many seconds by the model"
    )
    parser.add_argument("--out", type=Path, default=Path("results"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found: list[Measured] = []
    limit = given.model * speed() / 4.0
    with (given.out / "shapes.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([field.name for field in fields(Measured)])
        for shape in grid():
            if shape.learner.startswith(given.only) and shape.products <= limit:
                found.append(measure(shape, given.most))
                table.writerow([f"{v:.4g}" if isinstance(v, float) else v for v in asdict(found[-1]).values()])
                file.flush()
                sys.stdout.write(f"{'' if found[-1].fine else 'TOO DEAR '}{found[-1]}\n")
                sys.stdout.flush()
    draw(found, given.out / "shapes.svg")
    return int(not all(one.fine for one in found))


if __name__ == "__main__":
    sys.exit(main())
