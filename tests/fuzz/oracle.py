"""A second opinion on what is learned: two ways to the same numbers.

A `Relation` says of which cases it holds, and gives the numbers found and those expected. Cases are legal: finite rows, and targets
that depend on them. How far the two may be apart is measured: what a change of the rows by their own rounding does to the same
learner, times a factor, but never more than a limit beyond which nobody would call it rounding.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

import krein
from fuzz.arguments import draw_arguments
from fuzz.shrink import shrink, snippet
from fuzz.subjects import estimators
from fuzz.tables import Table, draw_sample
from fuzz.trial import DOCUMENTED, Case, Verdict

__all__ = ["RELATIONS", "Opinion", "Relation", "judge"]

FILLS = (-9999.0, 1e20, 9.97e36, 1e300)  # what stands for "missing" in files, and beyond
SINGLE, DOUBLE = 2.0**-24, 2.0**-52
SEARCH = 1e-7  # share of the gradient that a search may leave
CUT = 1e-5  # of the largest eigenvalue, which grows with the rows: what a map of landmarks drops in single precision
ROUGH = 1e-3  # of single precision, of columns with four digits, of searches
EXACT = ("ExactKreinRidge", "ExactKreinSVC")
MAPS = ("SignedFourierFeatures", "KreinNystroem", "SphericalRandomFeatures", "TensorSketch")
PLACED = ("KreinRidge", "KreinRidgeClassifier", "KreinSVC", "KreinLogistic", "KreinPCA", "TunedFeatures")


@dataclass
class Learner:
    """A case that learns: from its own rows, or from others."""

    case: Case

    def learn(self, table: Table | None = None, **changed: Any) -> Any:
        """A fitted model of the case, with some arguments changed."""
        table = self.case.table if table is None else table
        return self._fit(self.new(**changed), "fit", table.X, table.y, table.weight)

    def new(self, **changed: Any) -> Any:
        """The estimator, not fitted, which searches longer than by default."""
        cls = estimators()[self.case.name]
        precise = {"tol": SEARCH, "max_iter": 10_000, "random_state": 0}
        known = {name: value for name, value in precise.items() if name in inspect.signature(cls).parameters}
        return clone(cls(**{**known, **self.case.arguments, **changed}))

    def _fit(self, model: Any, method: str, X: Any, y: Any, weight: Any) -> Any:
        takes_weight = "sample_weight" in inspect.signature(model.fit).parameters
        return getattr(model, method)(X, y, **({"sample_weight": weight} if takes_weight else {}))

    def values(self, model: Any, X: Any) -> np.ndarray:
        """All that a model says of rows, in columns; of a map the similarities, as its columns may turn."""
        if not is_classifier(model) and not is_regressor(model):
            signature = getattr(model, "signature_", 1.0)
            Z = np.asarray(model.transform(X), dtype=float)
            return (Z * signature) @ Z.T
        if is_regressor(model):
            return np.asarray(model.predict(X), dtype=float).reshape(np.shape(X)[0], -1)
        found = np.asarray(model.decision_function(X), dtype=float).reshape(np.shape(X)[0], -1)
        if not hasattr(model, "predict_proba"):
            return found
        free = found.mean(axis=1, keepdims=True) if found.shape[1] > 1 else 0.0  # what softmax does not see
        return np.hstack([found - free, model.predict_proba(X)])

    @cached_property
    def model(self) -> Any:
        return self.learn()

    @cached_property
    def query(self) -> np.ndarray:
        """Rows to predict: between and a little beyond those learned from."""
        rng, X = np.random.default_rng(self.case.calls), self.case.table.X
        rows = X[rng.integers(len(X), size=25)]
        return rows + 0.3 * X.std(axis=0) * rng.normal(size=rows.shape)

    @cached_property
    def expected(self) -> np.ndarray:
        return self.values(self.model, self.query)

    def noise(self, unit: float) -> float:
        """What changes when every number of the rows is off by rounding."""
        rng, X = np.random.default_rng(self.case.calls + 1), self.case.table.X
        moved = X * (1.0 + unit * rng.choice([-1.0, 1.0], size=X.shape))
        return distance(self.values(self.learn(self.table(X=moved)), self.query), self.expected)

    def table(self, **changed: Any) -> Table:
        return replace(self.case.table, **changed)


@dataclass(frozen=True)
class Relation:
    """Two ways to the same numbers.

    Parameters
    ----------
    name : str
    applies : callable
        Whether a case promises it.
    pair : callable
        Numbers found, and numbers expected.
    limit : float
        Share of the spread of the numbers that nothing explains.
    unit : float
        Relative rounding of the rows in the other way.
    may_decline : bool
        Whether one of the ways may be refused in documented words.
    """

    name: str
    applies: Callable[[Case], bool]
    pair: Callable[[Learner], tuple[np.ndarray, np.ndarray]]
    limit: float = 1e-2
    unit: float = DOUBLE
    may_decline: bool = False


def distance(found: np.ndarray, expected: np.ndarray) -> float:
    """Of two sets of numbers, as a share of the spread of the second."""
    if found.shape != expected.shape:
        return np.inf
    center = expected.mean(axis=0)
    scale = max(float(np.linalg.norm(expected - center)), 1e-3 * float(np.linalg.norm(expected)), 1e-300)
    return float(np.linalg.norm(found - expected)) / scale


def _chosen(case: Case) -> bool:
    """Columns are placed before a kernel sees them."""
    given = case.arguments.get("kernel")
    placed = case.name in PLACED and isinstance(given, krein.kernels.Kernel)
    return "features" not in case.arguments and (placed or (case.name in (*PLACED, *EXACT) and given is None))


def _no_draws(case: Case) -> bool:
    """Nothing is drawn by column."""
    return case.name in EXACT or (
        _chosen(case) and case.name in PLACED[:4] and case.arguments.get("solver", "auto") in ("auto", "exact")
    )


def _learner(case: Case) -> bool:
    return case.name in (*PLACED[:4], *EXACT)


def _looks_at_values(case: Case) -> bool:
    """Not where rows are held out by their numbers, nor where a distance takes them as objects, which nobody merges."""
    distance_given = isinstance(case.arguments.get("kernel"), (krein.DistanceKernel, str))
    return _learner(case) and case.arguments.get("selection") != "validation" and not distance_given


def _by_ratios(case: Case) -> bool:
    """Not where a weight is a price, beside a penalty without one."""
    return _learner(case) and case.name not in ("KreinSVC", "ExactKreinSVC")


def _compared_alike(case: Case) -> bool:
    """Columns of sparse rows are not centered, and their landmarks no means."""
    placed = case.name in PLACED and "features" not in case.arguments
    return not placed and not _chosen(case) and not _by_landmarks(case)


def _by_landmarks(case: Case) -> bool:
    return case.name == "KreinNystroem" or isinstance(case.arguments.get("features"), krein.KreinNystroem)


def _always(case: Case) -> bool:
    return True


def _again(change: Callable[[np.ndarray, np.random.Generator], np.ndarray]) -> Callable[[Learner], Any]:
    """Rows changed in the same way in learning and predicting."""

    def pair(one: Learner) -> tuple[np.ndarray, np.ndarray]:
        both = change(np.vstack([one.case.table.X, one.query]), np.random.default_rng(one.case.calls + 2))
        X, query = both[: -len(one.query)], both[-len(one.query) :]
        return one.values(one.learn(one.table(X=X)), query), one.expected

    return pair


def _far(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    far, query = one.case.table.X + 1e12, one.query + 1e12
    near = one.learn(one.table(X=far - 1e12))  # exactly as far from one another
    return one.values(one.learn(one.table(X=far)), query), one.values(near, query - 1e12)


def _order(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    table, order = one.case.table, np.random.default_rng(one.case.calls + 3).permutation(one.case.table.n_rows)
    weight = None if table.weight is None else table.weight[order]
    return one.values(one.learn(one.table(X=table.X[order], y=table.y[order], weight=weight)), one.query), one.expected


def _copies(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    rng, table = np.random.default_rng(one.case.calls + 4), one.case.table
    weight = rng.integers(1, 4, size=table.n_rows)
    rows = rng.permutation(np.repeat(np.arange(table.n_rows), weight))
    copies = one.learn(one.table(X=table.X[rows], y=table.y[rows], weight=None))
    weighed = one.learn(one.table(weight=weight.astype(float)))
    return one.values(weighed, one.query), one.values(copies, one.query)


def _ratios(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    weight = np.random.default_rng(one.case.calls + 5).uniform(0.1, 2.0, size=one.case.table.n_rows)
    found, expected = (one.values(one.learn(one.table(weight=w)), one.query) for w in (weight, 16.0 * weight))
    return found, expected


def _single(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    X, query = one.case.table.X.astype(np.float32), one.query.astype(np.float32)
    double = one.learn(one.table(X=X.astype(float)))
    return one.values(one.learn(one.table(X=X)), query), one.values(double, query.astype(float))


def _sparse(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    X, query = (np.where(np.abs(A) < 0.7 * np.abs(A).mean(axis=0), 0.0, A) for A in (one.case.table.X, one.query))
    dense = one.values(one.learn(one.table(X=X)), query)
    return one.values(one.learn(one.table(X=sp.csr_array(X))), sp.csr_array(query)), dense


def _frame(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    X, query = (
        pd.DataFrame(A, columns=[f"column {i}" for i in range(A.shape[1])]) for A in (one.case.table.X, one.query)
    )
    return one.values(one.learn(one.table(X=X)), query), one.expected


def _chunks(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    table, model = one.case.table, one.new()
    parts = [slice(a, a + 11) for a in range(0, table.n_rows, 11)]
    weigh = () if table.weight is None else (table.weight,)
    model.fit_chunks([tuple(A[part] for A in (table.X, table.y, *weigh)) for part in parts])
    return one.values(model, one.query), one.expected


def _threads(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    def alone(threads: int) -> np.ndarray:
        with krein.thread_limit(threads):
            return one.values(one.learn(), one.query)

    return alone(1), alone(2)


def _fill(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(one.case.calls + 6)
    query = one.query.copy()
    query[3, rng.integers(query.shape[1])] = rng.choice(FILLS)
    found, expected = one.values(one.model, query), one.expected
    if not np.isfinite(found).all():
        return np.full_like(expected, np.nan), expected
    kept = np.arange(len(query)) != 3
    across = (kept, slice(None)) if _learner(one.case) else np.ix_(kept, kept)
    return found[across], expected[across]


def _targets(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    factor = 2.0 ** np.random.default_rng(one.case.calls + 7).integers(-60, 60)
    return one.values(one.learn(one.table(y=one.case.table.y * factor)), one.query) / factor, one.expected


def _map_of(case: Case) -> bool:
    return isinstance(case.arguments.get("features"), (krein.SignedFourierFeatures, krein.KreinNystroem))


def _features(one: Learner, model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    Z, Q = (np.asarray(model.features_(A), dtype=float) for A in (one.case.table.X, one.query))
    return Z, Q, np.asarray(model.features_.signature, dtype=float)


def _dual(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    """(K + nλI)⁻¹ in the dual is the indefinite problem in the primal."""
    primal = one.learn(regularizer="krein", lam=1e-2)
    Z, Q, signature = _features(one, primal)
    dual = krein.ExactKreinRidge("precomputed", regularizer="krein", lam=1e-2)
    dual.fit((Z * signature) @ Z.T, one.case.table.y, sample_weight=one.case.table.weight)
    return one.values(primal, one.query), one.values(dual, (Q * signature) @ Z.T)


def _rival_ridge(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    ours, table = one.learn(regularizer="hilbert", lam=1e-3, fit_intercept=True), one.case.table
    Z, Q, _ = _features(one, ours)
    total = table.n_rows if table.weight is None else table.weight.sum()
    rival = Ridge(alpha=1e-3 * total, solver="cholesky").fit(Z, table.y, sample_weight=table.weight)
    return one.values(ours, one.query), rival.predict(Q).reshape(len(Q), -1)


def _rival_machine(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    table = one.table(weight=None)
    kernel = krein.kernels.Gaussian(2.0)
    ours = one.learn(table, kernel=kernel, C=2.0, class_weight=None)
    rival = SVC(kernel="precomputed", C=2.0, tol=1e-9).fit(kernel(table.X), table.y)
    same = rival.decision_function(kernel(one.query, table.X)) if len(rival.classes_) == 2 else None
    if same is None:  # three classes: ours are put together in another way, the labels are not
        return (ours.predict(one.query) == rival.predict(kernel(one.query, table.X)))[:, None] * 1.0, np.ones((25, 1))
    return one.values(ours, one.query), same[:, None]


def _matrix(one: Learner) -> tuple[np.ndarray, np.ndarray]:
    """A matrix says nothing of rows: whatever is chosen must hang on their similarities alone."""
    kernel, X = krein.kernels.NTK(1), one.case.table.X
    given = one.learn(one.table(X=kernel(X)), kernel="precomputed")
    return one.values(given, kernel(one.query, X)), one.values(one.learn(kernel=kernel), one.query)


def _in_chunks(case: Case) -> bool:
    """With a map: a kernel chosen from few rows is solved exactly, which chunks are not."""
    return hasattr(estimators()[case.name], "fit_chunks") and case.arguments.get("features") is not None


def _regression(case: Case) -> bool:
    return case.name in ("KreinRidge", "ExactKreinRidge") and "lam" not in case.arguments


RELATIONS = (
    Relation(
        "columns times powers of two", _chosen, _again(lambda X, rng: X * 2.0 ** rng.integers(-50, 50, X.shape[1]))
    ),
    Relation("columns in coulomb", _chosen, _again(lambda X, rng: X * 1.6e-19)),
    Relation(
        "one column in coulomb", _chosen, _again(lambda X, rng: X * np.where(np.arange(X.shape[1]) == 0, 1.6e-19, 1.0))
    ),
    Relation("columns far from zero", _chosen, _far, unit=1e12 * DOUBLE),
    Relation("order of rows", _looks_at_values, _order),
    Relation("order of columns", _no_draws, _again(lambda X, rng: X[:, rng.permutation(X.shape[1])])),
    Relation("weights are copies", _looks_at_values, _copies),
    Relation("weights count by their ratios", _by_ratios, _ratios),
    Relation("float32 rows", _always, _single, limit=5e-2, unit=SINGLE),
    Relation("sparse rows", _compared_alike, _sparse, may_decline=True),
    Relation("a data frame", _always, _frame),
    Relation("chunks", _in_chunks, _chunks, may_decline=True),
    Relation("threads", _always, _threads),
    Relation("a fill value in one row", _always, _fill, may_decline=True),
    Relation("targets times a power of two", _regression, _targets),
    Relation("the dual problem", lambda case: case.name == "KreinRidge" and _map_of(case), _dual),
    Relation("Ridge of scikit-learn", lambda case: case.name == "KreinRidge" and _map_of(case), _rival_ridge),
    Relation("the kernel's matrix", lambda case: case.name in EXACT, _matrix),
    Relation("SVC of scikit-learn", lambda case: case.name == "ExactKreinSVC", _rival_machine),
)


@dataclass(frozen=True)
class Opinion:
    """A seed is a legal case of an estimator, and some of the relations that it promises."""

    seed: int
    only: str = ""
    relation: str = ""
    most: int = 2

    def case(self) -> Case:
        rng = np.random.default_rng([self.seed, 18])
        name = self.only or str(rng.choice([*PLACED, *PLACED[:4], *EXACT, *MAPS]))
        arguments = draw_arguments(estimators()[name], rng, lawful=True)
        for asked in ("tol", "max_iter", "random_state"):  # the least is compared, not where a search stopped
            arguments.pop(asked, None)
        table = draw_sample(rng, numbers=is_regressor(estimators()[name]()))
        return Case(name, arguments, table, int(rng.integers(2**31)))

    def run(self) -> Verdict:
        case = self.case()
        promised = [one for one in RELATIONS if one.applies(case) and one.name.startswith(self.relation)]
        order = np.random.default_rng([self.seed, 19]).permutation(len(promised))[: self.most]
        verdict = Verdict("refused", "no relation")
        for one in (promised[i] for i in order):
            found = judge(case, one)
            if found.kind == "failure":
                small = shrink(case, found, partial(judge, relation=one))
                return replace(found, snippet=snippet(small, f"{one.name}: {judge(small, one).text}"))
            verdict = found if found.kind == "result" else verdict
        return verdict


def judge(case: Case, relation: Relation) -> Verdict:
    """Whether a relation holds; a case that declines in documented words has nothing to compare."""
    one = Learner(case)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found, expected = relation.pair(one)
            apart = distance(found, expected)
            allowed = min(relation.limit, 1e-8)
            if not apart <= allowed:
                local = getattr(one.model, "solver_", "") == "local"  # leaves are solved in single precision
                rough = relation.unit > DOUBLE or local or hasattr(one.model, "tol")
                known = ROUGH if rough else 1e-6
                if relation.unit == SINGLE and _by_landmarks(case):
                    known = max(known, 2.0 * CUT * case.table.n_rows)
                allowed = min(relation.limit, max(known, 30.0 * one.noise(relation.unit)))
        except DOCUMENTED as error:
            if relation.may_decline or _declines(one):
                return Verdict("refused", f"{case.name}: {error}")
            return _failure(case, relation, f"declined: {error}")
        except Exception as error:
            return _failure(case, relation, f"{type(error).__name__}: {error}")
    if apart <= allowed:
        return Verdict("result", case.name)
    return _failure(case, relation, f"not the same, by {apart:.1e} of the spread where {allowed:.1e} are allowed")


def _declines(one: Learner) -> bool:
    """Whether the case itself is declined, in whatever way it is changed."""
    try:
        return one.expected is None
    except DOCUMENTED:
        return True


def _failure(case: Case, relation: Relation, words: str) -> Verdict:
    return Verdict("failure", f"{case}, {relation.name}: {words}", step=relation.name)
