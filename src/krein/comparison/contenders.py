"""The models of a comparison: learners of this library with default settings, and those that a careful user would try instead."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from krein._core.checks import one_of
from krein.comparison.xrfm_models import XRFMClassifier, XRFMRegressor
from krein.estimators import KreinLogistic, KreinRidge, KreinRidgeClassifier, KreinSVC

__all__ = ["Contender", "Task", "choose_contenders", "table_contenders"]

Task = Literal["classification", "regression"]
_COLUMNS = 512  # of the random features that are compared, as this library's own default
_STRENGTHS = np.logspace(-4, 4, 17)  # among which a ridge on them chooses by leave-one-out
_GRID = {"C": (1.0, 10.0, 100.0), "gamma times columns": (0.1, 0.3, 1.0, 3.0)}  # of the machine that is tuned


@dataclass(frozen=True, eq=False)
class Contender:
    """A model of the comparison.

    Parameters
    ----------
    name : str
        Short, as on the command line.
    label : str
        As in a table.
    estimator : estimator
        Not fitted; it is cloned.
    ours : bool, default=False
        Whether it is one of this library's.
    note : str, default=""
        How the data are prepared and which parameters are set, in a line.
    """

    name: str
    label: str
    estimator: Any
    ours: bool = False
    note: str = ""


def table_contenders(task: Task, n_rows: int, n_columns: int, *, seed: int = 0) -> list[Contender]:
    """Models that learn from a table of numbers. Ours get the columns as they are, the others get standardized columns."""
    one_of(task, "task", ("classification", "regression"))
    classify = task == "classification"
    found = _ours(classify, seed) + _machines(classify, n_columns) + _features(classify, n_rows, seed)
    neighbors: Any = KNeighborsClassifier() if classify else KNeighborsRegressor()
    boosting: Any = (HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor)(random_state=seed)
    found.append(_standardized("neighbors", "nearest neighbors", neighbors, "five of them"))
    found.append(
        _standardized("boosting", "gradient boosting", boosting, "histograms, default settings of scikit-learn")
    )
    if find_spec("xrfm") is not None and find_spec("torch") is not None:
        xrfm: Any = (XRFMClassifier if classify else XRFMRegressor)(random_state=seed)
        found.append(_standardized("xrfm", "xRFM", xrfm, "recursive feature machines; tuned on a fifth of the rows"))
    return found


def choose_contenders(known: Sequence[Contender], names: Sequence[str]) -> list[Contender]:
    """The contenders of the given names, in the order of `known`."""
    by_name = {one.name: one for one in known}
    if isinstance(names, str) or not isinstance(names, Collection):
        raise TypeError(f"methods must be a list of names, got {names!r}; use for example [{next(iter(by_name))!r}]")
    for name in names:
        one_of(name, "methods", by_name)
    return [one for one in known if not names or one.name in names]


def _ours(classify: bool, seed: int) -> list[Contender]:
    note = "default settings, columns as they are"
    if not classify:
        return [Contender("krein-ridge", "KreinRidge", KreinRidge(random_state=seed), True, note)]
    return [
        Contender("krein-ridge", "KreinRidgeClassifier", KreinRidgeClassifier(random_state=seed), True, note),
        Contender("krein-svc", "KreinSVC", KreinSVC(random_state=seed), True, note),
        Contender("krein-logistic", "KreinLogistic", KreinLogistic(random_state=seed), True, note),
    ]


def _machines(classify: bool, n_columns: int) -> list[Contender]:
    """Support vector machines with a Gaussian kernel: by default, and with the best of twelve settings."""
    machine: Any = SVC() if classify else SVR()
    kind = type(machine).__name__
    grid = {"C": _GRID["C"], "gamma": [value / n_columns for value in _GRID["gamma times columns"]]}
    tuned = GridSearchCV(machine, grid, cv=3)
    words = "; ".join(f"{name} in {', '.join(f'{value:g}' for value in values)}" for name, values in _GRID.items())
    return [
        _standardized("svc", kind, machine, "default settings", target=not classify),
        _standardized("svc-tuned", f"{kind} tuned", tuned, f"{words}, chosen by three folds", target=not classify),
    ]


def _features(classify: bool, n_rows: int, seed: int) -> list[Contender]:
    """Features for the Gaussian kernel and a ridge that chooses its strength."""
    width = min(_COLUMNS, n_rows)
    ridge: Any = (RidgeClassifierCV if classify else RidgeCV)(alphas=_STRENGTHS)
    waves = RBFSampler(gamma="scale", n_components=width, random_state=seed)
    landmarks = Nystroem(n_components=width, random_state=seed)
    note = f"{width} columns, then a ridge that chooses its strength by leave-one-out"
    return [
        _standardized("rbf-sampler", "RBFSampler, ridge", make_pipeline(waves, ridge), note),
        _standardized("nystroem", "Nystroem, ridge", make_pipeline(landmarks, ridge), note),
    ]


def _standardized(name: str, label: str, model: Any, note: str, *, target: bool = False) -> Contender:
    """A model on standardized columns, and if asked on a standardized target."""
    pipeline = make_pipeline(StandardScaler(), model)
    estimator = TransformedTargetRegressor(pipeline, transformer=StandardScaler()) if target else pipeline
    return Contender(name, label, estimator, note=f"standardized columns{' and target' if target else ''}; {note}")
