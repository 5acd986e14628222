"""The models of a comparison: learners of this library, and those that a careful user would try instead; and what a model chose."""

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
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from krein._core.checks import one_of
from krein.comparison.xrfm_models import XRFMClassifier, XRFMRegressor
from krein.estimators import KreinLogistic, KreinRidge, KreinRidgeClassifier, KreinSVC

__all__ = ["Contender", "Task", "choose_contenders", "chosen_by", "last_step", "table_contenders"]

Task = Literal["classification", "regression"]
_COLUMNS = 512  # of the random features that are compared, as this library's own default
_STRENGTHS = np.logspace(-4, 4, 17)  # among which a ridge on them chooses by leave-one-out
_GRID = {"C": (1.0, 10.0, 100.0), "gamma times columns": (0.1, 0.3, 1.0, 3.0)}  # of the machine that is tuned


@dataclass(frozen=True, eq=False)
class Contender:
    """A model of the comparison.

    Parameters
    ----------
    name, label : str
        Short, as on the command line, and as in a table.
    estimator : estimator
        Not fitted; it is cloned.
    ours : bool, default=False
        Whether it is one of this library's.
    note : str, default=""
        How the data are prepared and which parameters are set, in a line.
    data : array or None, default=None
        What it learns from in place of the rows that all others have.
    """

    name: str
    label: str
    estimator: Any
    ours: bool = False
    note: str = ""
    data: np.ndarray | None = None


def table_contenders(task: Task, n_rows: int, n_columns: int, *, seed: int = 0) -> list[Contender]:
    """Models that learn from a table of numbers. Ours get the columns as they are, the others get standardized columns."""
    classify = task == "classification"
    width = min(_COLUMNS, n_rows)
    machine: Any = SVC() if classify else SVR()
    kind = type(machine).__name__
    grid = {"C": _GRID["C"], "gamma": [value / n_columns for value in _GRID["gamma times columns"]]}
    words = "; ".join(f"{name} in {', '.join(f'{value:g}' for value in values)}" for name, values in _GRID.items())
    ridge: Any = (RidgeClassifierCV if classify else RidgeCV)(alphas=_STRENGTHS)
    waves = RBFSampler(gamma="scale", n_components=width, random_state=seed)
    landmarks = Nystroem(n_components=width, random_state=seed)
    ridge_note = f"{width} columns, then a ridge that chooses its strength by leave-one-out"
    neighbors: Any = KNeighborsClassifier() if classify else KNeighborsRegressor()
    boosting: Any = (HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor)(random_state=seed)
    rivals = [
        ("svc", kind, machine, "default settings"),
        ("svc-tuned", f"{kind} tuned", GridSearchCV(machine, grid, cv=3), f"{words}, chosen by three folds"),
        ("rbf-sampler", "RBFSampler, ridge", make_pipeline(waves, ridge), ridge_note),
        ("nystroem", "Nystroem, ridge", make_pipeline(landmarks, ridge), ridge_note),
        ("neighbors", "nearest neighbors", neighbors, "five of them"),
        ("boosting", "gradient boosting", boosting, "histograms, default settings of scikit-learn"),
    ]
    if find_spec("xrfm") is not None and find_spec("torch") is not None:
        xrfm: Any = (XRFMClassifier if classify else XRFMRegressor)(random_state=seed)
        rivals.append(("xrfm", "xRFM", xrfm, "recursive feature machines; tuned on a fifth of the rows"))
    return _ours(classify, seed) + [_standardized(*rival, classify=classify) for rival in rivals]


def choose_contenders(known: Sequence[Contender], names: Sequence[str]) -> list[Contender]:
    """The contenders of the given names, in the order of `known`."""
    by_name = {one.name: one for one in known}
    if isinstance(names, str) or not isinstance(names, Collection):
        raise TypeError(f"methods must be a list of names, got {names!r}; use for example [{next(iter(by_name))!r}]")
    for name in names:
        one_of(name, "methods", by_name)
    return [one for one in known if not names or one.name in names]


def _ours(classify: bool, seed: int) -> list[Contender]:
    learners: dict[str, Any] = {
        "krein-ridge": KreinRidgeClassifier if classify else KreinRidge,
        **({"krein-svc": KreinSVC, "krein-logistic": KreinLogistic} if classify else {}),
    }
    note = "default settings, columns as they are"
    return [
        Contender(name, learner.__name__, learner(random_state=seed), True, note) for name, learner in learners.items()
    ]


def _standardized(name: str, label: str, model: Any, note: str, *, classify: bool) -> Contender:
    """A model on standardized columns; support vector machines and xRFM on a standardized target too."""
    target = not classify and name in ("svc", "svc-tuned", "xrfm")
    pipeline = make_pipeline(StandardScaler(), model)
    estimator = TransformedTargetRegressor(pipeline, transformer=StandardScaler()) if target else pipeline
    return Contender(name, label, estimator, note=f"standardized columns{' and target' if target else ''}; {note}")


def chosen_by(model: Any) -> dict[str, Any]:
    """Parameters that a model chose from the data, in words; and the family of its kernel and whether that is indefinite."""
    model = last_step(model)
    if isinstance(model, GridSearchCV):
        best = model.best_params_.items()
        return {"chosen": ", ".join(f"{name.rpartition('__')[2]} {value:.3g}" for name, value in best)}
    if isinstance(model, RidgeCV | RidgeClassifierCV):
        return {"chosen": f"alpha {model.alpha_:.3g}"}
    if not isinstance(model, KreinRidge | KreinRidgeClassifier | KreinLogistic | KreinSVC) or model.choice_ is None:
        return {}
    choice = model.choice_
    strength = f"C {model.C_:.3g}" if isinstance(model, KreinSVC) else _lam_words(model.lam_)
    best = next((trial for trial in choice.trials if trial.chosen), None)
    family = type(choice.kernel).__name__ if best is None else best.family
    scale = "" if best is None or best.factor is None else f" at {best.factor:g} × median"
    words = f"{family}{scale}, {strength}, {model.solver_}"
    return {"chosen": words, "kernel": family, "indefinite": choice.indefinite}


def _lam_words(lam: float | tuple[float, float]) -> str:
    return "λ " + ", ".join(f"{one:.1e}" for one in np.ravel(lam))


def last_step(model: Any) -> Any:
    """The model at the end of pipelines and behind a transformed target."""
    while True:
        if isinstance(model, Pipeline):
            model = model[-1]
        elif isinstance(model, TransformedTargetRegressor):
            model = model.regressor_
        else:
            return model
