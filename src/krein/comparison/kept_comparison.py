"""A comparison whose finished fits are kept in a folder, so that an interrupted one continues where it stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

import krein
from krein._core.folder_lock import alone_in
from krein.comparison.contenders import Contender, Task
from krein.comparison.folds import score_folds, split_rows
from krein.comparison.model_comparison import ModelComparison
from krein.comparison.scores import FoldScore, ScoreFile
from krein.datasets.catalog import content_digest

__all__ = ["KeptComparison"]


class KeptComparison:
    """Cross-validation of several models with ``scores.jsonl`` in a folder.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
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
        X: np.ndarray,
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
        self.out = out
        versions = (krein.__version__, version("scikit-learn"))
        facts = (content_digest({"X": X, "y": y}), task, folds, seed, *versions)
        self._file = ScoreFile(out / "scores.jsonl", hashlib.sha256(repr(facts).encode()).hexdigest())

    @property
    def result(self) -> ModelComparison:
        """What is finished, as the file has it."""
        names = {one.name for one in self._contenders}
        scores = tuple(score for score in self._file.read() if score.contender in names)
        return ModelComparison(self._task, self._folds, self._contenders, scores)

    def run(self, on_score: Callable[[FoldScore], None] = lambda score: None) -> ModelComparison:
        """Do what is not done yet."""
        failed = []
        with alone_in(self.out):
            finished = {(score.contender, score.fold) for score in self._file.read()}
            for score in score_folds(self._X, self._y, self._contenders, self._splits, finished):
                if score.failure:
                    failed.append(score)
                else:
                    self._file.append(score)
                on_score(score)
        kept = self.result
        return ModelComparison(kept.task, kept.folds, kept.contenders, (*kept.scores, *failed))
