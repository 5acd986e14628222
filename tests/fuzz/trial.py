"""One case of the campaign: a subject, a table, arguments and calls, all from one seed; and the rule that decides."""

from __future__ import annotations

import inspect
import re
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone, is_regressor

import krein
from fuzz.arguments import draw_arguments
from fuzz.subjects import estimators, functions, kernel_classes
from fuzz.tables import Table, draw_table

__all__ = ["Trial", "Verdict", "run_trial"]

DOCUMENTED = (
    ValueError,
    TypeError,
    ImportError,
)  # and what derives from them: NotFittedError, OutOfReachError, ModelFileError
# Words of Python, numpy or a library below that say nothing to the caller
INTERNAL = re.compile(
    r"unsupported operand|object (is not (iter|call|subs)|has no|does not support|cannot be)|not enough values|too many values|"
    r"could not be broadcast|out of bounds|positional argument|unexpected keyword|unhashable|cannot reshape|ufunc|"
    r"zero-size array|slice indices|must be str, not|list index|truth value of an array|invalid literal|cannot convert float|"
    r"math domain|int too large|Singular matrix|did not converge|infs or NaNs|'<' not supported|'>' not supported|"
    r"only integer scalar|only length-1|keyword argument|object arrays|lwork|LAPACK|illegal value|reduction operation"
)
# At least one of these, or the name of a parameter, is in a message that helps
SUBJECT = re.compile(
    r"\b(X|Y|y|rows?|columns?|samples?|features?|class(es)?|kernel|matrix|array|target|labels?|weights?|dtype|"
    r"sample_weight|estimator|fit|dimension|distances?|measure|map|values?|input|data|similarit(y|ies)|objects?|sparse|text)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Verdict:
    """What became of a case: ``kind`` is "result", "refused" or "failure"."""

    kind: str
    text: str
    snippet: str = ""


@dataclass(frozen=True)
class Trial:
    """A seed is a case: the subject, its arguments and the table are drawn from it."""

    seed: int
    only: str = ""

    def describe(self) -> tuple[str, dict[str, Any], Table, np.random.Generator]:
        rng = np.random.default_rng([self.seed, 17])
        pools = [estimators(), kernel_classes(), functions()]
        if self.only:
            pools = [{self.only: pool[self.only]} for pool in pools if self.only in pool]
            (pool,) = pools
        else:
            pool = pools[int(rng.choice(3, p=[0.8, 0.1, 0.1]))]
        name = str(rng.choice(list(pool)))
        arguments = draw_arguments(pool[name], rng)
        return name, arguments, draw_table(rng), rng


class Wrong(Exception):
    """A result that breaks the rule."""


def run_trial(trial: Trial) -> Verdict:
    """Run a case. Whatever is raised is compared with the rule; nothing gets out but what ends a process."""
    name, arguments, table, rng = trial.describe()
    step = ["construct"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if name in estimators():
                _try_estimator(estimators()[name], arguments, table, rng, step)
            elif name in kernel_classes():
                _try_kernel(kernel_classes()[name], arguments, table, step)
            else:
                step[0] = "call"
                functions()[name](**arguments)
    except Wrong as wrong:
        return _failure(name, arguments, table, step[0], str(wrong))
    except DOCUMENTED as error:
        words = _complaint(error, arguments)
        return _failure(name, arguments, table, step[0], words) if words else Verdict("refused", f"{name}: {error}")
    except Exception as error:  # everything else is a failure to report, whatever it is
        return _failure(name, arguments, table, step[0], f"{type(error).__name__}: {error}")
    return Verdict("result", name)


def _failure(name: str, arguments: dict[str, Any], table: Table, step: str, words: str) -> Verdict:
    given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return Verdict("failure", f"{name}({given}) on [{table.name}], {step}: {words}", _snippet(name, given, table))


def _snippet(name: str, given: str, table: Table) -> str:
    def words(value: Any) -> str:
        dense = value.toarray() if sp.issparse(value) else value
        text = (
            np.array2string(np.asarray(dense), separator=", ", threshold=400)
            if isinstance(dense, np.ndarray)
            else repr(dense)
        )
        kind = f", dtype={dense.dtype!s}" if isinstance(dense, np.ndarray) else ""
        return f"np.array({text}{kind})" if kind else text

    return f"X = {words(table.X)}\ny = {words(table.y)}\nmodel = {name}({given})"


def _complaint(error: Exception, arguments: dict[str, Any]) -> str:
    """What is wrong with the words of a documented exception; empty if they help."""
    text = str(error)
    if INTERNAL.search(text):
        return f"{type(error).__name__} in words of the inside: {text}"
    if not (SUBJECT.search(text) or any(key in text for key in arguments)):
        return f"{type(error).__name__} that does not say what of: {text}"
    return ""


def _try_kernel(cls: type, arguments: dict[str, Any], table: Table, step: list[str]) -> None:
    kernel = cls(**arguments)
    step[0] = "call"
    K = kernel(table.X)
    _check_array(K, (table.n_rows, table.n_rows), "k(X)")


def _try_estimator(
    cls: type[BaseEstimator], arguments: dict[str, Any], table: Table, rng: np.random.Generator, step: list[str]
) -> None:
    model = clone(cls(**arguments)) if rng.random() < 0.2 else cls(**arguments)
    step[0] = "fit"
    takes_weight = "sample_weight" in inspect.signature(model.fit).parameters
    options = {"sample_weight": table.weight} if takes_weight and table.weight is not None else {}
    fit = model.partial_fit if hasattr(model, "partial_fit") and rng.random() < 0.15 else model.fit
    if fit is not model.fit and "classes" in inspect.signature(fit).parameters:
        options["classes"] = np.unique(np.asarray(table.y)) if table.y is not None else None
    returned = fit(table.X, table.y, **options)
    if returned is not model:
        raise Wrong("fit does not return self")
    before = None
    for name, value in _results(model, table, step):
        _check_result(model, name, value, table)
        before = (name, value) if before is None else before
    if hasattr(model, "save") and before is not None and rng.random() < 0.3:
        step[0] = "save and load"
        _check_saved(model, before, table)


def _results(model: Any, table: Table, step: list[str]) -> Iterator[tuple[str, Any]]:
    for name in ("transform", "predict", "decision_function", "predict_proba"):
        if hasattr(model, name):
            step[0] = name
            yield name, getattr(model, name)(table.X)


def _check_saved(model: Any, before: tuple[str, Any], table: Table) -> None:
    name, value = before
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.krein"
        try:
            model.save(path)
        except (TypeError, ValueError) as error:  # a function cannot be stored, and the message says so
            if not re.search(r"function|callable|save|store|stored|file", str(error)):
                raise
            return
        again = getattr(krein.load_model(path), name)(table.X)
    if not np.array_equal(np.asarray(value), np.asarray(again)):
        raise Wrong(f"{name} of the loaded model is different")


def _check_result(model: Any, name: str, value: Any, table: Table) -> None:
    n = table.n_rows
    if name == "predict" and not is_regressor(model):
        labels = np.asarray(value)
        if labels.shape != (n,) or not np.isin(labels, model.classes_).all():
            raise Wrong(f"predict gives shape {labels.shape} for {n} rows, or labels that were never seen")
        return
    shape = np.asarray(value).shape
    if not shape or shape[0] != n:
        raise Wrong(f"{name} gives shape {shape} for {n} rows")
    if name == "transform" and shape != (n, len(model.get_feature_names_out())):
        raise Wrong(f"transform gives shape {shape}, which get_feature_names_out does not name")
    _check_array(value, shape, name)
    if name == "predict_proba" and not np.allclose(np.asarray(value).sum(axis=1), 1.0, atol=1e-6):
        raise Wrong("probabilities do not sum to one")
    single = isinstance(table.X, np.ndarray) and table.X.dtype == np.float32
    if name == "transform" and single and np.asarray(value).dtype != np.float32:
        raise Wrong(f"transform of float32 gives {np.asarray(value).dtype}")


def _check_array(value: Any, shape: tuple[int, ...], name: str) -> None:
    array = np.asarray(value)
    if array.shape != shape:
        raise Wrong(f"{name} has shape {array.shape}, expected {shape}")
    if array.dtype.kind != "f":
        raise Wrong(f"{name} has dtype {array.dtype}")
    if not np.isfinite(array).all():
        raise Wrong(f"{name} is not finite")
