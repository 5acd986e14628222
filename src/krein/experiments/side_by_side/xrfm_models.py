"""xRFM, where it is installed, as estimators that a pipeline and a cross-validation can take."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import train_test_split

__all__ = ["XRFMClassifier", "XRFMRegressor"]

_HELD_OUT = 0.2  # of the rows given, for xRFM to tune itself on: it asks for them, and its own examples take so many


class _XRFM(BaseEstimator):
    """What both have in common."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state


class XRFMClassifier(ClassifierMixin, _XRFM):
    """Recursive feature machines that predict classes, with the settings that xRFM has by default.

    Parameters
    ----------
    random_state : int, default=0
        Of the rows held out, and of xRFM's own draws.
    """

    def fit(self, X: Any, y: Any) -> XRFMClassifier:
        """Fit on four fifths of the rows, tuned on the others.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        y : array of shape (n_rows,)

        Returns
        -------
        self
        """
        self.classes_, codes = np.unique(y, return_inverse=True)
        few = np.bincount(codes).min() < 2 or _HELD_OUT * len(codes) < len(self.classes_)
        self.model_ = _fitted(X, codes.astype(np.int64), self.random_state, None if few else codes)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Classes of new rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        codes = np.asarray(self.model_.predict(_rows(X))).ravel()
        return np.asarray(self.classes_[codes.astype(np.int64)])


class XRFMRegressor(RegressorMixin, _XRFM):
    """Recursive feature machines that predict a quantity, with the settings that xRFM has by default.

    Parameters
    ----------
    random_state : int, default=0
        Of the rows held out, and of xRFM's own draws.
    """

    def fit(self, X: Any, y: Any) -> XRFMRegressor:
        """Fit on four fifths of the rows, tuned on the others, to a standardized target.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        y : array of shape (n_rows,)

        Returns
        -------
        self
        """
        y = np.asarray(y, dtype=np.float64)
        self.mean_, self.deviation_ = float(y.mean()), float(y.std()) or 1.0
        target = ((y - self.mean_) / self.deviation_).astype(np.float32)
        self.model_ = _fitted(X, target, self.random_state, None)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Values at new rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        values = np.asarray(self.model_.predict(_rows(X)), dtype=np.float64).ravel()
        return values * self.deviation_ + self.mean_


def _fitted(X: Any, y: np.ndarray, seed: int, classes: np.ndarray | None) -> Any:
    from xrfm import xRFM

    X, X_tune, y, y_tune = train_test_split(_rows(X), y, test_size=_HELD_OUT, random_state=seed, stratify=classes)
    model = xRFM(device="cpu", random_state=seed, verbose=False)
    model.fit(X, y, X_tune, y_tune)
    return model


def _rows(X: Any) -> np.ndarray:
    return np.ascontiguousarray(X, dtype=np.float32)
