"""The interface of a similarity of objects: how it is called, which part of it is costly, and what it must learn first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

__all__ = ["FunctionKernel", "ObjectKernel"]


class ObjectKernel(ABC):
    """A symmetric similarity of objects: a costly value for each pair, and a cheap function of that value.

    The costly values, such as distances, are counted, shared among processes and kept in a cache. Parameters of the cheap
    function can be changed without computing them again.
    """

    @property
    @abstractmethod
    def takes_blocks(self) -> bool | None:
        """Whether `evaluate` takes two sequences and returns a matrix, or two objects and returns a number; None if unknown."""

    @abstractmethod
    def evaluate(self, X: Any, Y: Any) -> Any:
        """The costly value of two objects, or the matrix of the costly values of two sequences of objects.

        Parameters
        ----------
        X, Y : objects, or sequences of objects in the form in which they were given (lists, arrays, tables)

        Returns
        -------
        float, or array of shape (len(X), len(Y))
        """

    @property
    def evaluator(self) -> Callable[[Any, Any], Any]:
        """`evaluate`, or what it calls with nothing in between: a quick distance takes no longer than a call."""
        return self.evaluate

    def similarity(self, values: np.ndarray) -> np.ndarray:
        """Similarities from costly values, entry by entry.

        Parameters
        ----------
        values : ndarray of any shape

        Returns
        -------
        ndarray of the same shape
        """
        return values

    @property
    def self_value(self) -> float | None:
        """The costly value of an object with itself if it is known beforehand, such as 0 for a distance."""
        return None

    @property
    def needs_fit(self) -> bool:
        """Whether parameters must be learned from costly values of the training objects before similarities can be computed."""
        return False

    def fitted(self, values: np.ndarray) -> Self:
        """The kernel with its learned parameters.

        Parameters
        ----------
        values : ndarray of shape (n_pairs,)
            Costly values of pairs of different training objects, drawn at random.

        Returns
        -------
        ObjectKernel of the same class
        """
        return self

    @property
    def precomputed(self) -> bool:
        """Whether X holds the costly values already: square in `fit`, new by training objects later."""
        return False


@final
@dataclass(frozen=True)
class FunctionKernel(ObjectKernel):
    """A function of two objects or of two sequences of objects.

    Parameters
    ----------
    function : callable
    blocks : bool or None, default=None
        Whether it takes two sequences and returns a matrix.
    """

    function: Callable[[Any, Any], Any]
    blocks: bool | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function must be callable with two objects or two sequences, got {self.function!r}")

    @property
    def takes_blocks(self) -> bool | None:
        return self.blocks

    def evaluate(self, X: Any, Y: Any) -> Any:
        return self.function(X, Y)

    @property
    def evaluator(self) -> Callable[[Any, Any], Any]:
        return self.function
