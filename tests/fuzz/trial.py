"""One case of the campaign: a subject, a table, arguments and calls, all from one seed; and the rule that decides."""

from __future__ import annotations

import inspect
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_regressor

import krein
from fuzz.arguments import draw_arguments
from fuzz.shrink import shrink, snippet
from fuzz.subjects import estimators, functions, kernel_classes
from fuzz.tables import Table, draw_table
from krein._core.errors import SimilarityError

__all__ = ["Case", "Trial", "Verdict", "run_case"]

# Errors that are documented, and what derives from them: NotFittedError, OutOfReachError, ModelFileError
DOCUMENTED = (ValueError, TypeError, ImportError)
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


METHODS = ("transform", "predict", "decision_function", "predict_proba")


@dataclass(frozen=True)
class Verdict:
    """What became of a case: ``kind`` is "result", "refused" or "failure"; ``step`` is the call that it ended with."""

    kind: str
    text: str
    snippet: str = ""
    step: str = ""


@dataclass(frozen=True)
class Case:
    """A subject by its name, its arguments, a table, and the seed of what is called then."""

    name: str
    arguments: dict[str, Any]
    table: Table
    calls: int

    def __str__(self) -> str:
        given = ", ".join(f"{key}={_brief(value)}" for key, value in self.arguments.items())
        return f"{self.name}({given}) on [{self.table.name}]"


@dataclass(frozen=True)
class Trial:
    """A seed is a case: the subject, its arguments and the table are drawn from it."""

    seed: int
    only: str = ""

    def case(self) -> Case:
        rng = np.random.default_rng([self.seed, 17])
        pools = [estimators(), kernel_classes(), functions()]
        if self.only:
            pools = [{self.only: pool[self.only]} for pool in pools if self.only in pool]
            (pool,) = pools
        else:
            pool = pools[int(rng.choice(3, p=[0.8, 0.1, 0.1]))]
        name = str(rng.choice(list(pool)))
        arguments = draw_arguments(pool[name], rng)
        return Case(name, arguments, draw_table(rng), int(rng.integers(2**31)))

    def run(self) -> Verdict:
        """Run the case; one that fails is made smaller, and told as a snippet."""
        case = self.case()
        verdict = run_case(case)
        if verdict.kind != "failure":
            return verdict
        return replace(verdict, snippet=snippet(shrink(case, verdict, run_case), verdict.step))


class Wrong(Exception):
    """A result that breaks the rule."""


def run_case(case: Case) -> Verdict:
    """Run a case. Whatever is raised is compared with the rule; nothing gets out but what ends a process."""
    step = ["construct"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if case.name in estimators():
                _try_estimator(estimators()[case.name], case, step)
            elif case.name in kernel_classes():
                _try_kernel(kernel_classes()[case.name], case, step)
            else:
                step[0] = "call"
                functions()[case.name](**case.arguments)
    except Wrong as wrong:
        return _failure(case, step[0], str(wrong))
    except DOCUMENTED as error:
        words = _complaint(error, case.arguments)
        return _failure(case, step[0], words) if words else Verdict("refused", f"{case.name}: {error}")
    except Exception as error:  # everything else is a failure to report, whatever it is
        return _failure(case, step[0], f"{type(error).__name__}: {error}")
    return Verdict("result", case.name)


def _failure(case: Case, step: str, words: str) -> Verdict:
    return Verdict("failure", f"{case}, {step}: {words}", step=step)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _complaint(error: Exception, arguments: dict[str, Any]) -> str:
    """What is wrong with the words of a documented exception; empty if they help."""
    text = str(error)
    if isinstance(
        error, SimilarityError
    ):  # the words of a function of the caller's, after those that say which objects
        return ""
    if INTERNAL.search(text):
        return f"{type(error).__name__} in words of the inside: {text}"
    if not (SUBJECT.search(text) or any(key in text for key in arguments)):
        return f"{type(error).__name__} that does not say what of: {text}"
    return ""


def _try_kernel(cls: type, case: Case, step: list[str]) -> None:
    kernel = cls(**case.arguments)
    step[0] = "call"
    K = kernel(case.table.X)
    _check_array(K, (case.table.n_rows, case.table.n_rows), "k(X)")


def _try_estimator(cls: type[BaseEstimator], case: Case, step: list[str]) -> None:
    rng, arguments, table = np.random.default_rng(case.calls), case.arguments, case.table
    model = clone(cls(**arguments)) if rng.random() < 0.2 else cls(**arguments)
    step[0] = "fit"
    takes_weight = "sample_weight" in inspect.signature(model.fit).parameters
    options = {"sample_weight": table.weight} if takes_weight and table.weight is not None else {}
    in_parts = hasattr(model, "partial_fit") and rng.random() < 0.15
    fit = model.partial_fit if in_parts else model.fit
    if in_parts and "classes" in inspect.signature(fit).parameters:
        options["classes"] = None if table.y is None else list(dict.fromkeys(np.asarray(table.y).ravel().tolist()))
    returned = fit(table.X, table.y, **options)
    if returned is not model:
        raise Wrong("fit does not return self")
    if in_parts and rng.random() < 0.5:
        other = draw_table(rng)
        step[0] = f"partial_fit of another table, {other.name}"
        earlier = np.asarray(model.predict(table.X)).tobytes()
        if _tolerate(lambda: fit(other.X, other.y)) is None and (
            np.asarray(model.predict(table.X)).tobytes() != earlier
        ):
            raise Wrong("a partial_fit that is refused changes the model")
    if rng.random() < 0.2:
        _try_another_table(model, draw_table(rng), step)
    before = None
    for name, value in _results(model, table, step):
        _check_result(model, name, value, table)
        before = (name, value) if before is None else before
    if hasattr(model, "save") and before is not None and rng.random() < 0.3:
        step[0] = "save and load"
        _check_saved(model, before, table)


def _try_another_table(model: Any, other: Table, step: list[str]) -> None:
    for name in METHODS:
        if hasattr(model, name):
            step[0] = f"{name} of another table, {other.name}"
            found = _tolerate(partial(getattr(model, name), other.X))
            if found is not None and name != "predict":
                _check_array(found, np.shape(found), name)


def _tolerate(call: Callable[[], Any]) -> Any:
    """What a call returns; None where it is refused in words that help, after which the model is as it was."""
    try:
        return call()
    except DOCUMENTED as error:
        words = _complaint(error, {})
        if words:
            raise Wrong(words) from error
        return None


def _results(model: Any, table: Table, step: list[str]) -> Iterator[tuple[str, Any]]:
    for name in METHODS:
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
