"""The sections of the comparison of learners: small sets, larger sets, regression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from contest import protocol
from contest.keel import DEVELOPMENT, keel_names, load_keel
from contest.protocol import Folds
from contest.regression_tables import TABLES, load_regression
from contest.results import SetScores
from krein import KreinRidge, KreinRidgeClassifier, TunedFeatures, datasets
from krein.comparison import Contender, FoldScore, score_folds, table_contenders
from krein.kernels import DeltaGaussian
from krein.learning.tuning.rounds import PORTFOLIO

__all__ = ["LARGER", "Section", "as_records", "held_back", "join_sets", "read_sets", "sections", "warm_up"]

LARGER = ("satimage", "phoneme", "penbased", "optdigits", "texture")  # of KEEL, as in the table of the issue
_STORED = ("covtype", "ijcnn1", "cod_rna")  # of krein's own data sets, where they are at hand
Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Section:
    """Sets of one kind, and how they are read and split.

    Parameters
    ----------
    name : {"small", "held back", "larger", "stored", "regression"}
    sets : tuple of str
    load : callable
        Name of a set to its rows and target.
    rows : callable
        All rows and targets to those that are used.
    folds : callable
        Targets to numbers of rows.
    task : {"classification", "regression"}
    shown : bool, default=True
        Whether results are shown set by set.
    """

    name: str
    sets: tuple[str, ...]
    load: Callable[[str], Rows]
    rows: Callable[[np.ndarray, np.ndarray], Rows]
    folds: Callable[[np.ndarray], Folds]
    task: Any
    shown: bool = True

    def measure(
        self, name: str, methods: Sequence[str], on_score: Callable[[FoldScore], None] = lambda score: None
    ) -> SetScores:
        """Scores of all methods on one set."""
        X, y = self.rows(*self.load(name))
        folds = self.folds(y)
        known = [*table_contenders(self.task, len(folds[0][0]), X.shape[1]), _definite(self.task)]
        contenders = [one for one in known if not methods or one.name in methods]
        scores = []
        for score in score_folds(X, y, contenders, folds):
            on_score(score)
            scores.append(score)
        return SetScores(name, len(y), X.shape[1], tuple(scores))


def held_back() -> tuple[str, ...]:
    """KEEL's sets that were not used in development."""
    return tuple(name for name in keel_names() if name not in DEVELOPMENT)


def sections() -> dict[str, Section]:
    """All sections by name."""
    small = (load_keel, protocol.small_rows, protocol.small_folds, "classification")
    larger = (protocol.larger_rows, protocol.larger_fold, "classification")
    regression = (load_regression, protocol.regression_rows, protocol.regression_folds, "regression")
    found = (
        Section("small", DEVELOPMENT, *small),
        Section("held back", held_back(), *small, shown=False),
        Section("larger", LARGER, load_keel, *larger),
        Section("stored", _STORED, _load_stored, *larger),
        Section("regression", TABLES, *regression),
    )
    return {one.name: one for one in found}


def warm_up(methods: Sequence[str]) -> None:
    """Fit every method once, so that loading and compiling is in nobody's time."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    for task, y in (("classification", (X[:, 0] > 0).astype(int)), ("regression", X[:, 0])):
        known = table_contenders(task, 60, 4)
        chosen = [one for one in known if not methods or one.name in methods]
        list(score_folds(X, y, chosen, [(np.arange(60), np.arange(60, 120))]))


def read_sets(records: list[dict[str, Any]]) -> list[SetScores]:
    """The inverse of ``asdict`` over a list of `SetScores`."""
    return [
        SetScores(one["name"], one["n_rows"], one["n_columns"], tuple(FoldScore(**score) for score in one["scores"]))
        for one in records
    ]


def join_sets(now: Sequence[SetScores], before: dict[str, Any] | None, order: Sequence[str]) -> list[SetScores]:
    """Scores of this run with those of an earlier one for the sets and methods that it leaves out."""
    found = {one.name: one for one in read_sets((before or {}).get("sets", []))}
    for one in now:
        found[one.name] = one.joined(found[one.name]) if one.name in found else one
    return [found[name] for name in order if name in found]


def _definite(task: str) -> Contender:
    """Ours without indefinite kernels; the difference is the gain from these."""
    kernels = [kernel for kernel in PORTFOLIO if not isinstance(kernel, DeltaGaussian)]
    learner = KreinRidgeClassifier if task == "classification" else KreinRidge
    features = TunedFeatures(kernels, random_state=0)
    return Contender("krein-definite", "definite kernels only", learner(features, random_state=0), True)


def _load_stored(name: str) -> Rows:
    X, y = datasets.load(name, split=False, binary=False)
    return np.asarray(X, dtype=np.float64), y


def as_records(sets: Sequence[SetScores]) -> list[dict[str, Any]]:
    """For the file of results."""
    return [asdict(one) for one in sets]
