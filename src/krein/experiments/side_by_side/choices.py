"""What a fitted model chose from the data, in a few words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

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
    """Parameters that a model chose from the data.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    Chosen
    """
    model = last_step(model)
    if isinstance(model, GridSearchCV):
        return Chosen(
            ", ".join(f"{name.rpartition('__')[2]} {value:.3g}" for name, value in model.best_params_.items())
        )
    if isinstance(model, RidgeCV | RidgeClassifierCV):
        return Chosen(f"alpha {model.alpha_:.3g}")
    return Chosen()


def last_step(model: Any) -> Any:
    """The model at the end of pipelines and behind a transformed target.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    estimator
    """
    while True:
        if isinstance(model, Pipeline):
            model = model[-1]
        elif isinstance(model, TransformedTargetRegressor):
            model = model.regressor_
        else:
            return model
