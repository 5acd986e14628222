"""Rows of the data sets as the experiments see them: scaled, and a seeded sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from krein import datasets
from krein.experiments.run import Run

__all__ = ["DIMENSIONS", "SCALING", "Rows", "known_datasets", "prepare", "rows_of"]

# Columns of each data set, so that widths can be planned before anything is loaded.
DIMENSIONS = {"letter": 16, "ijcnn1": 22, "covtype": 54, "cod_rna": 8}
SCALING = "columns to [0, 1] by the training rows, others clipped; then rows to unit length"


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to fit on and rows to judge by."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def known_datasets(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names themselves, in the paper's order, or an error that lists the known ones."""
    wrong = [name for name in names if name not in DIMENSIONS]
    if wrong:
        raise ValueError(f"unknown data set {wrong[0]!r}; known: {', '.join(DIMENSIONS)}")
    return tuple(name for name in DIMENSIONS if name in names)


@lru_cache(maxsize=1)
def prepare(name: str) -> Rows:
    """All rows of a data set, scaled as in the paper; the split is the one of seed 0."""
    data = datasets.load(name)
    X_train, X_test = datasets.minmax_unit(data.X_train, data.X_test)
    return Rows(X_train, data.y_train, X_test, data.y_test)


def rows_of(run: Run) -> Rows:
    """The sample of rows a run works on, by its seed; the settings ``train_rows`` and ``test_rows`` of 0 mean all."""
    rows = prepare(run.dataset)
    rng = np.random.default_rng([run.seed, 2021])
    train = _some(rng, rows.X_train.shape[0], int(run.setting("train_rows")))
    test = _some(rng, rows.X_test.shape[0], int(run.setting("test_rows")))
    return Rows(
        rows.X_train[train].astype(np.float64),
        rows.y_train[train],
        rows.X_test[test].astype(np.float64),
        rows.y_test[test],
    )


def _some(rng: np.random.Generator, total: int, count: int) -> np.ndarray:
    order = rng.permutation(total)
    return order[:count] if 0 < count < total else order
