"""A fitted model as a value: a function of raw rows, stored, exported and sent to workers as it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.rows import row_blocks, rows_times
from krein.features import RowMap
from krein.rows.blocks import block_length, finite_rows

__all__ = ["LinearModel", "Model"]


class Model(ABC):
    """Rows to values, in blocks, so that memory is bounded; rows are checked to be finite here and nowhere below."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of outputs."""

    @property
    @abstractmethod
    def constant(self) -> np.ndarray:
        """What is added to each output, shape (n_outputs,)."""

    @property
    @abstractmethod
    def block_rows(self) -> int:
        """Rows to take at a time."""

    @abstractmethod
    def values(self, X: Any) -> np.ndarray:
        """Values of finite rows, shape (n_rows, n_outputs), float64."""

    @abstractmethod
    def combined(self, weights: np.ndarray, constant: np.ndarray | float = 0.0) -> Model:
        """Outputs that are linear functions of these: ``f(x) @ weights + constant``."""

    @abstractmethod
    def check(self, n_features: int | None) -> None:
        """An error unless the parts fit each other and rows of so many columns, for models that come from files."""

    def __call__(self, X: Any) -> np.ndarray:
        """Values of shape (n_rows, n_outputs), float64."""
        out = np.empty((X.shape[0], self.width))
        for rows in row_blocks(X.shape[0], self.block_rows):
            out[rows] = self.values(finite_rows(X[rows], rows.start))
        return out


@final
@dataclass(frozen=True, eq=False)
class LinearModel(Model):
    """Linear functions of the features of rows.

    Parameters
    ----------
    features : RowMap
    coef : ndarray of shape (n_outputs, n_components)
    intercept : ndarray of shape (n_outputs,)
    """

    features: RowMap
    coef: np.ndarray
    intercept: np.ndarray

    @property
    def width(self) -> int:
        return int(self.coef.shape[0])

    @property
    def constant(self) -> np.ndarray:
        return self.intercept

    @property
    def block_rows(self) -> int:
        return block_length(self.features.signature.shape[0])

    def values(self, X: Any) -> np.ndarray:
        out = np.empty((X.shape[0], self.width))
        rows_times(self.features(X), self.coef.T, out)
        out += self.intercept
        return out

    def combined(self, weights: np.ndarray, constant: np.ndarray | float = 0.0) -> LinearModel:
        return LinearModel(
            self.features, np.ascontiguousarray((self.coef.T @ weights).T), self.intercept @ weights + constant
        )

    def check(self, n_features: int | None) -> None:
        width = self.features.signature.shape[0]
        if self.coef.ndim != 2 or self.coef.shape[1] != width:
            raise ValueError(f"coef_ has shape {self.coef.shape}, which does not fit a feature map of {width} columns")
        if self.intercept.shape != self.coef.shape[:1]:
            raise ValueError(
                f"intercept_ has shape {self.intercept.shape}, which does not fit coef_ of shape {self.coef.shape}"
            )
        if not (np.isfinite(self.coef).all() and np.isfinite(self.intercept).all()):
            raise ValueError("coef_ and intercept_ must be finite")
        taken = self.features.n_features
        if taken is not None and taken != n_features:
            raise ValueError(f"the feature map takes rows of {taken} columns, but the model {n_features}")
