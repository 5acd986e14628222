"""Linear classifiers as problems of Newton's method: support vector machines one against rest, logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from krein.learning.newton.losses import BinaryLogistic, Loss, Problems, Softmax, SquaredHinge
from krein.learning.newton.minimize import Minimum, minimize
from krein.learning.newton.rows import Moments, NewtonRows
from krein.learning.newton.system import Preconditioner

__all__ = ["LinearFit", "Machine", "Preparation", "fit_machine"]

Kind = Literal["hinge", "logistic"]


@dataclass(frozen=True)
class Machine:
    """What is to be minimized over all rows.

    Parameters
    ----------
    kind : {"hinge", "logistic"}
        Squared hinge, one class against the rest, the intercept with a penalty as in LibLinear; or logistic, binomial for
        two classes and multinomial for more, the intercept free.
    n_classes : int
    tol : float
    max_iter : int
        As in `minimize`.
    """

    kind: Kind
    n_classes: int
    tol: float
    max_iter: int

    @property
    def free_intercept(self) -> bool:
        """Whether the intercept has no penalty."""
        return self.kind == "logistic"

    @property
    def n_outputs(self) -> int:
        """Linear functions: one for two classes, else one for each class."""
        return 1 if self.n_classes == 2 else self.n_classes

    def problems(self, strength: float, folds: int | None = None) -> Problems:
        """The problems of all rows, or of all rows but each of some folds."""
        loss: Loss
        loss = (
            SquaredHinge()
            if self.kind == "hinge"
            else BinaryLogistic()
            if self.n_classes == 2
            else Softmax(self.n_classes)
        )
        each = np.array([1]) if self.n_classes == 2 else np.arange(self.n_classes // loss.size)
        if loss.size > 1:
            each = np.array([0])
        left_out = np.array([-1]) if folds is None else np.arange(folds)
        return Problems(
            loss,
            np.tile(each, left_out.size),
            np.repeat(left_out, each.size),
            np.full(each.size * left_out.size, float(strength)),
        )


@dataclass(frozen=True, eq=False)
class Preparation:
    """How features enter the problem: less a shift, times a factor for each column."""

    shift: np.ndarray | None = None
    factor: np.ndarray | None = None

    def __call__(self, Z: np.ndarray, *, in_place: bool = False) -> np.ndarray:
        """Features as the problem sees them."""
        if self.shift is not None:
            Z = np.subtract(Z, self.shift, out=Z if in_place else None, dtype=Z.dtype, casting="same_kind")
            in_place = True
        if self.factor is not None:
            Z = np.multiply(Z, self.factor, out=Z if in_place else None, dtype=Z.dtype, casting="same_kind")
        return Z

    def undone(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts for features as they are."""
        coef = weights[:-1].T.astype(np.float64)
        if self.factor is not None:
            coef = coef * self.factor
        intercept = weights[-1].astype(np.float64)
        if self.shift is not None:
            intercept = intercept - coef @ self.shift
        return np.ascontiguousarray(coef), intercept


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A machine that was found.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_components)
    intercept : ndarray of shape (n_outputs,)
    n_iter : int
        Newton steps.
    converged : bool
    """

    coef: np.ndarray
    intercept: np.ndarray
    n_iter: int
    converged: bool


def fit_machine(
    machine: Machine,
    rows: NewtonRows,
    moments: Moments,
    preparation: Preparation,
    strength: float,
    *,
    before: Preconditioner | None = None,
) -> LinearFit:
    """Minimize over all rows."""
    found: Minimum = minimize(
        rows,
        machine.problems(strength),
        moments,
        free_intercept=machine.free_intercept,
        before=before,
        tol=machine.tol,
        max_iter=machine.max_iter,
    )
    coef, intercept = preparation.undone(found.weights)
    return LinearFit(coef, intercept, found.n_iter, found.converged)
