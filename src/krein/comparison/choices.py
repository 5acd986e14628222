"""What a fitted model chose from the data, in a few words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from krein.estimators import KreinLogistic, KreinRidge, KreinRidgeClassifier, KreinSVC
from krein.learning.tuning.choice import Choice

__all__ = ["Chosen", "chosen_by", "last_step"]


@dataclass(frozen=True)
class Chosen:
    """What was chosen.

    Parameters
    ----------
    words : str, default=""
        Parameters, in a few words.
    kernel : str, default=""
        Family of the kernel, if one was chosen.
    indefinite : bool, default=False
        Whether it is not positive definite on the rows.
    """

    words: str = ""
    kernel: str = ""
    indefinite: bool = False


def chosen_by(model: Any) -> Chosen:
    """Parameters that a model chose from the data."""
    model = last_step(model)
    if isinstance(model, GridSearchCV):
        return Chosen(
            ", ".join(f"{name.rpartition('__')[2]} {value:.3g}" for name, value in model.best_params_.items())
        )
    if isinstance(model, RidgeCV | RidgeClassifierCV):
        return Chosen(f"alpha {model.alpha_:.3g}")
    if isinstance(model, KreinRidge | KreinRidgeClassifier | KreinLogistic | KreinSVC) and model.choice_ is not None:
        strength = f"C {model.C_:.3g}" if isinstance(model, KreinSVC) else _lam_words(model.lam_)
        return _of_choice(model.choice_, model.solver_, strength)
    return Chosen()


def _lam_words(lam: float | tuple[float, float]) -> str:
    return "λ " + ", ".join(f"{one:.1e}" for one in np.ravel(lam))


def _of_choice(choice: Choice, solver: str, strength: str) -> Chosen:
    """The kernel that was taken, its scale, how strongly it is regularized and how the problem was solved."""
    best = next((trial for trial in choice.trials if trial.chosen), None)
    family = type(choice.kernel).__name__ if best is None else best.family
    scale = "" if best is None or best.factor is None else f" at {best.factor:g} × median"
    return Chosen(f"{family}{scale}, {strength}, {solver}", family, choice.indefinite)


def last_step(model: Any) -> Any:
    """The model at the end of pipelines and behind a transformed target."""
    while True:
        if isinstance(model, Pipeline):
            model = model[-1]
        elif isinstance(model, TransformedTargetRegressor):
            model = model.regressor_
        else:
            return model
