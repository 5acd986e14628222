"""Leaves against features alone on the regression tables: leaves are never to be worse by more than a standard error."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass

import numpy as np

from contest.protocol import regression_splits
from contest.regression_tables import TABLES, load_regression

__all__ = ["TABLES", "LocalAgainstFeatures", "compare_solvers"]


@dataclass(frozen=True)
class LocalAgainstFeatures:
    """Results of both solvers on the rows of one table, where each row is predicted once.

    Parameters
    ----------
    name : str
    n_rows, n_columns : int
    features, local : float
        R² on rows that were not fitted on.
    gain : float
        Mean of how much less the squared error of leaves is, in units of the target's variance.
    error : float
        Standard error of that mean, from the paired differences row by row.
    """

    name: str
    n_rows: int
    n_columns: int
    features: float
    local: float
    gain: float
    error: float

    @property
    def worse(self) -> bool:
        """Whether leaves are worse beyond a standard error."""
        return self.gain < -self.error


def compare_solvers(name: str) -> dict[str, object]:
    """Both ways on the three folds of one table, with nothing else set."""
    from krein import KreinRidge

    X, y = load_regression(name)
    squares: dict[str, list[np.ndarray]] = {"features": [], "local": []}
    truth = []
    for split in regression_splits(X, y):
        truth.append(split.y_new)
        for solver, found in squares.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = KreinRidge(solver=solver, random_state=0).fit(split.X, split.y)
                found.append(np.square(model.predict(split.X_new) - split.y_new))
    variance = float(np.concatenate(truth).var())
    features, local = (np.concatenate(squares[solver]) / variance for solver in ("features", "local"))
    gain = features - local
    return asdict(
        LocalAgainstFeatures(
            name,
            gain.size,
            X.shape[1],
            1.0 - float(features.mean()),
            1.0 - float(local.mean()),
            float(gain.mean()),
            float(gain.std(ddof=1) / np.sqrt(gain.size)),
        )
    )
