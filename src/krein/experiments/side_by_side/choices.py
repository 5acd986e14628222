"""What a fitted model chose from the data, in a few words."""

from __future__ import annotations

from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

__all__ = ["chosen_by", "last_step"]


def chosen_by(model: Any) -> str:
    """Parameters that were chosen, or nothing.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    str
    """
    model = last_step(model)
    if isinstance(model, GridSearchCV):
        return ", ".join(f"{name} {value:.3g}" for name, value in model.best_params_.items())
    if isinstance(model, RidgeCV | RidgeClassifierCV):
        return f"alpha {model.alpha_:.3g}"
    return ""


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
