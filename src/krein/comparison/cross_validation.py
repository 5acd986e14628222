"""Cross-validation of several models, fold by fold, whose finished fits can be kept in a folder and shown at any time."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, cross_validate

import krein
from krein._core.checks import integer
from krein._core.files import JsonLines
from krein._core.processes import alone_in
from krein.comparison.contenders import Contender, Task, chosen_by
from krein.comparison.model_comparison import FoldScore, ModelComparison
from krein.datasets.catalog import content_digest
from krein.show.progress import report

__all__ = ["KeptComparison", "compare_models", "score_folds", "split_rows"]

Splits = Sequence[tuple[np.ndarray, np.ndarray]]


def compare_models(
    X: Any, y: Any, contenders: Sequence[Contender], *, task: Task, folds: int = 5, seed: int = 0
) -> ModelComparison:
    """Score every contender on every fold."""
    scores = tuple(score_folds(X, y, contenders, split_rows(y, task=task, folds=folds, seed=seed)))
    return ModelComparison(task, folds, tuple(contenders), scores)


def split_rows(y: Any, *, task: Task, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Numbers of the rows to fit on and of those held out, for each fold."""
    integer(folds, "folds", least=2)
    y = np.asarray(y)
    if len(y) < folds:
        raise ValueError(f"folds must be at most the number of rows, got {folds} folds of {len(y)} rows")
    if task == "regression":
        return list(KFold(folds, shuffle=True, random_state=seed).split(y))
    classes, counts = np.unique(y, return_counts=True)
    if classes.size < 2:
        raise ValueError(f"there must be at least 2 classes, got only {classes[0]!r}")
    if counts.min() < folds:
        rare = classes[counts.argmin()]
        raise ValueError(
            f"every class must have a row in every fold, got {counts.min()} of class {rare!s} for {folds} folds; use fewer folds, "
            "or leave out rare classes"
        )
    return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(y, y))


def score_folds(
    X: Any, y: Any, contenders: Sequence[Contender], splits: Splits, finished: Collection[tuple[str, int]] = ()
) -> Iterator[FoldScore]:
    """Scores as they come, all contenders on a fold before the next one, so that an interrupted comparison is a fair one."""
    every = ((one, fold) for fold in range(len(splits)) for one in contenders)
    left = [(one, fold) for one, fold in every if (one.name, fold) not in finished]
    for done, (one, fold) in enumerate(left, 1):
        yield _score(X if one.data is None else one.data, y, one, fold, splits[fold])
        report("fits", done, len(left))


def _score(X: Any, y: Any, one: Contender, fold: int, split: tuple[np.ndarray, np.ndarray]) -> FoldScore:
    start, busy = time.perf_counter(), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cross_validate(clone(one.estimator), X, y, cv=[split], return_estimator=True, error_score="raise")
    except Exception as error:  # whatever another package raises, the others are worth having
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return FoldScore(one.name, fold, float("nan"), time.perf_counter() - start, 0.0, failure=message[:300])
    used = time.process_time() - busy
    score, fit, predict = (float(found[name][0]) for name in ("test_score", "fit_time", "score_time"))
    return FoldScore(one.name, fold, score, fit, predict, processor_seconds=used, **chosen_by(found["estimator"][0]))


class KeptComparison:
    """Cross-validation of several models that continues where it stopped: ``scores.jsonl`` in a folder has what is finished.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns) or None
        Rows of the contenders that have no data of their own.
    y : ndarray of shape (n_rows,)
    contenders : sequence of Contender
    out : path
        Made if it is missing. One process at a time works in it.
    task : {"classification", "regression"}
    folds : int, default=5
    seed : int, default=0
        Random seed of the folds.
    """

    def __init__(
        self,
        X: np.ndarray | None,
        y: np.ndarray,
        contenders: Sequence[Contender],
        out: Path,
        *,
        task: Task,
        folds: int = 5,
        seed: int = 0,
    ) -> None:
        self._X, self._y, self._contenders, self._task, self._folds = X, y, tuple(contenders), task, folds
        self._splits = split_rows(y, task=task, folds=folds, seed=seed)
        out.mkdir(parents=True, exist_ok=True)
        self.out, self._file = out, JsonLines(out / "scores.jsonl")
        data = {id(one.data): one.data for one in contenders}.values()  # one matrix for many
        arrays = {"y": y} | {f"X{i}": array for i, array in enumerate([X, *data]) if array is not None}
        facts = (content_digest(arrays), task, folds, seed, krein.__version__, version("scikit-learn"))
        self._key = hashlib.sha256(repr(facts).encode()).hexdigest()

    @property
    def result(self) -> ModelComparison:
        """What is finished, as the file has it; lines of other data, folds, seeds and versions are passed over."""
        names = {one.name for one in self._contenders}
        found: dict[tuple[str, int], FoldScore] = {}
        for fields in self._file.read():
            if fields.pop("key", None) == self._key and fields.keys() == FoldScore.__dataclass_fields__.keys():
                score = FoldScore(**fields)
                if score.contender in names:
                    found.setdefault((score.contender, score.fold), score)
        return ModelComparison(self._task, self._folds, self._contenders, tuple(found.values()))

    def run(self) -> ModelComparison:
        """Do what is not done yet; what fails is not kept."""
        failed = []
        with alone_in(self.out):
            finished = {(score.contender, score.fold) for score in self.result.scores}
            for score in score_folds(self._X, self._y, self._contenders, self._splits, finished):
                if score.failure:
                    failed.append(score)
                else:
                    self._file.append({"key": self._key, **asdict(score)})
        return ModelComparison(self._task, self._folds, self._contenders, (*self.result.scores, *failed))
