"""xRFM, where it is installed, as estimators that a pipeline and a cross-validation can take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import train_test_split

__all__ = ["XRFMClassifier", "XRFMRegressor"]

_HELD_OUT = 0.2  # of the rows given, for xRFM to tune itself on: it asks for them, and its own examples take so many


class _XRFM(BaseEstimator, ABC):
    """Recursive feature machines with the settings that xRFM has by default; a subclass says what they predict.

    Parameters
    ----------
    random_state : int, default=0
        Random seed of the held-out rows and of xRFM.
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on four fifths of the rows, tuned on the others."""
        from xrfm import xRFM

        target, strata = self._learn_target(np.asarray(y))
        X, X_tune, target, target_tune = train_test_split(
            _rows(X), target, test_size=_HELD_OUT, random_state=self.random_state, stratify=strata
        )
        self.model_ = xRFM(device="cpu", random_state=self.random_state, verbose=False)
        self.model_.fit(X, target, X_tune, target_tune)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Classes or values of new rows."""
        return self._in_units_of_y(np.asarray(self.model_.predict(_rows(X))).ravel())

    @abstractmethod
    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """What xRFM is to predict, and the classes of which the held-out rows get their share, if any."""

    @abstractmethod
    def _in_units_of_y(self, predicted: np.ndarray) -> np.ndarray:
        """What xRFM predicted, as `y` has it."""


class XRFMClassifier(ClassifierMixin, _XRFM):
    """Recursive feature machines that predict classes, with the settings that xRFM has by default.

    Parameters
    ----------
    random_state : int, default=0
        Random seed of the held-out rows and of xRFM.
    """

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        self.classes_, codes = np.unique(y, return_inverse=True)
        few = np.bincount(codes).min() < 2 or _HELD_OUT * len(codes) < len(self.classes_)
        return codes.astype(np.int64), None if few else codes

    def _in_units_of_y(self, predicted: np.ndarray) -> np.ndarray:
        return np.asarray(self.classes_[predicted.astype(np.int64)])


class XRFMRegressor(RegressorMixin, _XRFM):
    """Recursive feature machines that predict a quantity, standardized, with the settings that xRFM has by default.

    Parameters
    ----------
    random_state : int, default=0
        Random seed of the held-out rows and of xRFM.
    """

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        y = y.astype(np.float64)
        self.mean_, self.deviation_ = float(y.mean()), float(y.std()) or 1.0
        return ((y - self.mean_) / self.deviation_).astype(np.float32), None

    def _in_units_of_y(self, predicted: np.ndarray) -> np.ndarray:
        return predicted.astype(np.float64) * self.deviation_ + self.mean_


def _rows(X: Any) -> np.ndarray:
    return np.ascontiguousarray(X, dtype=np.float32)
