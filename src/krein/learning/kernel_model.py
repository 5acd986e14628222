"""Kernel ridge solved exactly on all rows, and the model that comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.memory import check_memory
from krein._core.rows import rows_times
from krein.kernels import Kernel
from krein.learning.exact_ridge import fit_exact_ridge
from krein.learning.folds import fold_values
from krein.learning.leave_one_out import factor_residuals
from krein.learning.limits import MARGINS
from krein.learning.link import LeftOut
from krein.learning.model import Model
from krein.learning.path import Regularizer, dual_problem
from krein.learning.solve import RidgeFactor, ridge_factor
from krein.learning.tuning.choice import Choice
from krein.learning.tuning.placement import Placement
from krein.rows.blocks import block_length
from krein.rows.equal import MergedRows

__all__ = ["KernelModel", "fit_kernel_model"]

_LEFT_OUT = 1000  # rows, which tell the two or three numbers of a link well enough


@final
@dataclass(frozen=True, eq=False)
class KernelModel(Model):
    r"""Rows to values :math:`f(x) = \sum_i \alpha_i\, k(p(x), x_i) + b`, in blocks, so that memory is bounded.

    Parameters
    ----------
    placement : Placement
        :math:`p`, raw rows to the rows the kernel sees.
    kernel : Kernel
    rows : ndarray or CSR matrix of shape (n_rows, n_columns)
        Placed training rows.
    dual : ndarray of shape (n_rows, n_outputs)
        :math:`\alpha`.
    offset : ndarray of shape (n_outputs,)
        :math:`b`.
    """

    placement: Placement
    kernel: Kernel
    rows: np.ndarray | sp.csr_array
    dual: np.ndarray
    offset: np.ndarray

    def __post_init__(self) -> None:
        if self.rows.ndim != 2:
            raise ValueError(f"rows must have two dimensions, got shape {self.rows.shape}")
        if self.dual.ndim != 2 or self.dual.shape[0] != self.rows.shape[0]:
            raise ValueError(f"dual has shape {self.dual.shape}, which does not fit {self.rows.shape[0]} rows")
        if self.offset.shape != self.dual.shape[1:]:
            raise ValueError(
                f"offset has shape {self.offset.shape}, which does not fit dual of shape {self.dual.shape}"
            )

    @property
    def width(self) -> int:
        return int(self.dual.shape[1])

    @property
    def constant(self) -> np.ndarray:
        return self.offset

    @property
    def block_rows(self) -> int:
        return block_length(self.rows.shape[0])

    def values(self, X: Any) -> np.ndarray:
        out = np.empty((X.shape[0], self.width))
        placed = self.placement(X).astype(np.float64, copy=False)
        rows_times(self.kernel.gram(placed, self.rows), self.dual, out)
        out += self.offset
        return out

    def combined(self, weights: np.ndarray, constant: np.ndarray | float = 0.0) -> KernelModel:
        return KernelModel(
            self.placement, self.kernel, self.rows, self.dual @ weights, self.offset @ weights + constant
        )

    def check(self, n_features: int | None) -> None:
        if n_features is None or self.placement.n_features not in (None, n_features):
            raise ValueError(
                f"the kernel model takes rows of {self.placement.n_features} columns, but the learner has {n_features}"
            )
        placed = self.placement.n_outputs(n_features)
        if self.rows.shape[1] != placed:
            raise ValueError(
                f"the kernel model has rows of {self.rows.shape[1]} columns, but its placement gives {placed}"
            )


def fit_kernel_model(
    choice: Choice,
    rows: MergedRows,
    *,
    regularizer: Regularizer = "hilbert",
    candidates: np.ndarray | None = None,
    intercept: bool = True,
    leave_out: bool = False,
) -> tuple[KernelModel, tuple[float, float], LeftOut | None]:
    r"""Solve :math:`(K + n\lambda I)\,\alpha = y - b` on all rows, and leave some of them out if that is wanted."""
    n = len(rows)
    check_memory(3.0 * 8 * n * n, f"the exact problem of {n:,} rows", "use solver='local' or 'features'")
    placed = choice.placement(rows.X).astype(np.float64, copy=False)
    gram = choice.kernel.gram(placed)
    if choice.lam is None:
        raise ValueError("a choice without targets has no λ; choose with targets")
    lam = choice.lam, choice.lam
    if choice.indefinite:
        if candidates is None or regularizer != "two":
            candidates = np.array([lam])
        found = fit_exact_ridge(
            gram, rows.Y, regularizer=regularizer, candidates=candidates, intercept=intercept, weight=rows.weight
        )
        dual, offset, lam = found.dual, found.offset, found.lam
        factor = None
    else:
        dual, offset, factor = _solve_definite(gram, rows, choice.lam, intercept=intercept)

    left_out = _left_out(gram, rows, lam, regularizer, factor, intercept=intercept) if leave_out else None
    if not (np.isfinite(dual).all() and np.isfinite(offset).all()):
        raise ValueError(
            f"the coefficients for y and sample_weight, which reaches {rows.weight.max():.3g}, are too large for a float; "
            "divide both by their largest value"
        )
    return KernelModel(choice.placement, choice.kernel, placed, dual, offset), lam, left_out


def _solve_definite(
    gram: np.ndarray, rows: MergedRows, lam: float, *, intercept: bool
) -> tuple[np.ndarray, np.ndarray, RidgeFactor | None]:
    """Coefficients and offset for a matrix without negative eigenvalues beyond rounding, and its factor if it has one."""
    penalty = rows.total * lam / rows.weight
    factor = ridge_factor(gram, penalty, pieces=True)
    if factor is None:  # λ below rounding: eigenvalues can be cut at zero, a Cholesky factor cannot
        problem = dual_problem(gram, "hilbert", center=intercept, weight=rows.weight)
        dual, part = problem.coefficients(rows.Y, rows.total * lam), rows.weight / rows.total
        return dual, part @ (rows.Y - gram @ dual) if intercept else np.zeros(rows.Y.shape[1]), None
    right = np.column_stack([rows.Y, np.ones(len(rows))])
    solved = factor.solve(right)
    solved += factor.solve(right - gram @ solved - penalty[:, None] * solved)  # one step of refinement
    dual, ones = solved[:, :-1], solved[:, -1:]
    if not intercept:
        return dual, np.zeros(rows.Y.shape[1]), factor
    offset = dual.sum(axis=0) / float(ones.sum())
    return dual - ones * offset, offset, factor


def _left_out(
    gram: np.ndarray,
    rows: MergedRows,
    lam: tuple[float, float],
    regularizer: Regularizer,
    factor: RidgeFactor | None,
    *,
    intercept: bool,
) -> LeftOut:
    """Some rows one by one, or all fold by fold where there is no factor, as for an indefinite kernel."""
    if factor is None:
        values = fold_values(gram, rows.Y, lam, regularizer, center=intercept, weight=rows.weight)
        return LeftOut(values, rows.Y, rows.weight)
    penalty, share = rows.total * lam[0] / rows.weight, rows.left_out / rows.weight
    count = min(len(rows), _LEFT_OUT)
    residual, free = factor_residuals(factor, penalty, rows.Y, share, count, intercept=intercept)
    last = slice(len(rows) - count, None)
    residual = residual / np.maximum(free, MARGINS.freedom_of_sums)[:, None]
    return LeftOut(rows.Y[last] - residual, rows.Y[last], rows.weight[last])
