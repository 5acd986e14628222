"""A formula of rows as data: which array operations, on what, in which order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

__all__ = ["OPERATIONS", "Expression", "concatenated", "constant", "ordered", "rows_input"]

# What a runtime must be able to do. Reductions are over the columns of a row and keep the axis.
OPERATIONS = (
    *("input", "constant", "add", "sub", "mul", "div", "matmul", "concat", "gather", "at_least", "at_most"),
    *("cos", "sin", "exp", "log", "sqrt", "arccos", "sum"),
)


@final
@dataclass(frozen=True, eq=False)
class Expression:
    """One operation on others; two-dimensional, rows first.

    Parameters
    ----------
    operation : str
        One of `OPERATIONS`.
    inputs : tuple of Expression
    value : ndarray or None
        Of a constant; for ``"gather"`` the numbers of the columns.
    """

    operation: str
    inputs: tuple[Expression, ...] = ()
    value: np.ndarray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.operation not in OPERATIONS:
            raise ValueError(f"operation must be one of {', '.join(OPERATIONS)}, got {self.operation!r}")

    def __add__(self, other: Any) -> Expression:
        return Expression("add", (self, _as_expression(other)))

    def __sub__(self, other: Any) -> Expression:
        return Expression("sub", (self, _as_expression(other)))

    def __mul__(self, other: Any) -> Expression:
        return Expression("mul", (self, _as_expression(other)))

    def __truediv__(self, other: Any) -> Expression:
        return Expression("div", (self, _as_expression(other)))

    def __matmul__(self, other: Any) -> Expression:
        return Expression("matmul", (self, _as_expression(other)))

    def __neg__(self) -> Expression:
        return self * -1.0

    def at_least(self, bound: float) -> Expression:
        """The larger of each entry and a number."""
        return Expression("at_least", (self, _as_expression(bound)))

    def at_most(self, bound: float) -> Expression:
        """The smaller of each entry and a number."""
        return Expression("at_most", (self, _as_expression(bound)))

    def sum(self) -> Expression:
        """Sum of each row, shape (n, 1)."""
        return Expression("sum", (self,))

    def columns(self, numbers: np.ndarray) -> Expression:
        """Some of the columns."""
        return Expression("gather", (self,), np.asarray(numbers, dtype=np.int64))

    def apply(self, function: str) -> Expression:
        """A function of each entry."""
        return Expression(function, (self,))


def rows_input() -> Expression:
    """The rows that the formula is of."""
    return Expression("input")


def constant(value: Any) -> Expression:
    """Numbers that do not depend on the rows."""
    return Expression("constant", (), np.atleast_2d(np.asarray(value, dtype=np.float64)))


def concatenated(parts: list[Expression]) -> Expression:
    """Columns side by side."""
    return parts[0] if len(parts) == 1 else Expression("concat", tuple(parts))


def ordered(last: Expression) -> list[Expression]:
    """All operations that a result needs, each after those it needs and once."""
    found: list[Expression] = []
    seen: set[int] = set()
    stack: list[tuple[Expression, bool]] = [(last, False)]
    while stack:
        one, ready = stack.pop()
        if id(one) in seen:
            continue
        if ready:
            seen.add(id(one))
            found.append(one)
            continue
        stack.append((one, True))
        stack.extend((part, False) for part in one.inputs)
    return found


def _as_expression(value: Any) -> Expression:
    return value if isinstance(value, Expression) else constant(value)
