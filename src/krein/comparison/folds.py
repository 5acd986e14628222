"""Cross-validation of several models, fold by fold, so that what is finished can be shown at any time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, cross_validate

from krein._core.checks import integer
from krein.comparison.choices import chosen_by
from krein.comparison.contenders import Contender, Task
from krein.comparison.model_comparison import ModelComparison
from krein.comparison.scores import FoldScore

__all__ = ["compare_models", "score_folds", "split_rows"]


def compare_models(
    X: Any,
    y: Any,
    contenders: Sequence[Contender],
    *,
    task: Task,
    folds: int = 5,
    seed: int = 0,
    on_score: Callable[[FoldScore], None] = lambda score: None,
) -> ModelComparison:
    """Score every contender on every fold."""
    scores = []
    for score in score_folds(X, y, contenders, split_rows(y, task=task, folds=folds, seed=seed)):
        on_score(score)
        scores.append(score)
    return ModelComparison(task, folds, tuple(contenders), tuple(scores))


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
    X: Any,
    y: Any,
    contenders: Sequence[Contender],
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    finished: Collection[tuple[str, int]] = (),
) -> Iterator[FoldScore]:
    """Scores as they come, all contenders on a fold before the next one, so that an interrupted comparison is a fair one."""
    for fold, split in enumerate(splits):
        for one in contenders:
            if (one.name, fold) not in finished:
                yield _score(X, y, one, fold, split)


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
    chosen = chosen_by(found["estimator"][0])
    return FoldScore(one.name, fold, score, fit, predict, chosen.words, chosen.kernel, chosen.indefinite, used)
