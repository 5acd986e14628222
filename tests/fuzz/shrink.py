"""A case that fails, made smaller while it fails in the same way, and told as a snippet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from fuzz.trial import Case, Verdict

__all__ = ["shrink", "snippet"]

_TRIES = 60  # runs of a case that fails, at most
_HEAD = 30  # characters of a complaint that are to stay the same


def shrink(case: Case, verdict: Verdict, run: Callable[[Case], Verdict]) -> Case:
    """Arguments and weights are left out and rows taken away, as long as the same step fails with the same words."""
    tries = 0

    def same(other: Case) -> bool:
        nonlocal tries
        tries += 1
        found = run(other)
        return found.step == verdict.step and _words(found) == _words(verdict)

    while tries < _TRIES:
        smaller = next((one for one in _smaller(case) if tries < _TRIES and same(one)), None)
        if smaller is None:
            break
        case = smaller
    return case


def _words(verdict: Verdict) -> str:
    return verdict.text.partition(f", {verdict.step}: ")[2][:_HEAD]


def _smaller(case: Case) -> Iterator[Case]:
    for name in case.arguments:
        yield replace(case, arguments={key: value for key, value in case.arguments.items() if key != name})
    table = case.table
    if table.weight is not None:
        yield replace(case, table=replace(table, weight=None))
    if isinstance(table.X, np.ndarray) and table.X.ndim == 2 and np.shape(table.y)[:1] == table.X.shape[:1]:
        n, d = table.X.shape
        for rows in (slice(n // 2), slice(n // 2, n), slice(n - 1)) if n > 1 else ():
            weight = None if table.weight is None else table.weight[rows]
            yield replace(case, table=replace(table, X=table.X[rows], y=table.y[rows], weight=weight))
        if d > 1:
            yield replace(case, table=replace(table, X=table.X[:, : d // 2]))


def snippet(case: Case, step: str) -> str:
    """Lines of Python that show the failure, as far as ``repr`` can say what was given."""
    given = ", ".join(f"{key}={_literal(value)}" for key, value in case.arguments.items())
    table = case.table
    lines = [f"X = {_literal(table.X)}", f"y = {_literal(table.y)}"]
    if table.weight is not None:
        lines.append(f"sample_weight = {_literal(table.weight)}")
    return "\n".join([*lines, f"{case.name}({given})  # then {step}"])


def _literal(value: Any) -> str:
    dense = value.toarray() if sp.issparse(value) else value
    if not isinstance(dense, np.ndarray):
        return repr(dense)
    text = np.array2string(dense, separator=", ", threshold=400)
    made = f"np.array({text}, dtype={str(dense.dtype)!r})"
    return f"scipy.sparse.{type(value).__name__}({made})" if sp.issparse(value) else made
