"""xRFM, where it is installed, as estimators that a pipeline and a cross-validation can take."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import train_test_split

__all__ = ["XRFMClassifier", "XRFMRegressor"]

_HELD_OUT = 0.2  # of the rows given, for xRFM to tune itself on: it asks for them, and its own examples take so many


class _XRFM(BaseEstimator):
    """Recursive feature machines with the settings that xRFM has by default.

    Parameters
    ----------
    random_state : int, default=0
        Random seed of the held-out rows and of xRFM.
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def _fit(self, X: Any, target: np.ndarray, strata: np.ndarray | None) -> Self:
        """Fit on four fifths of the rows, tuned on the others, of which classes get their share if there are `strata`."""
        from xrfm import xRFM

        X, X_tune, target, target_tune = train_test_split(
            _rows(X), target, test_size=_HELD_OUT, random_state=self.random_state, stratify=strata
        )
        self.model_ = xRFM(device="cpu", random_state=self.random_state, verbose=False)
        self.model_.fit(X, target, X_tune, target_tune)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """What is predicted for new rows."""
        return np.asarray(self.model_.predict(_rows(X)), dtype=np.float64).ravel()


class XRFMClassifier(ClassifierMixin, _XRFM):
    """Recursive feature machines that predict classes; parameters as in `_XRFM`."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit and tune."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        few = np.bincount(codes).min() < 2 or _HELD_OUT * len(codes) < len(self.classes_)
        return self._fit(X, codes.astype(np.int64), None if few else codes)

    def predict(self, X: Any) -> np.ndarray:
        """Classes of new rows."""
        return np.asarray(self.classes_[super().predict(X).astype(np.int64)])


class XRFMRegressor(RegressorMixin, _XRFM):
    """Recursive feature machines that predict a quantity of the size of 1; parameters as in `_XRFM`."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit and tune."""
        return self._fit(X, np.asarray(y, dtype=np.float32), None)


def _rows(X: Any) -> np.ndarray:
    return np.ascontiguousarray(X, dtype=np.float32)
