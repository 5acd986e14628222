"""Ridge models of rows, wherever they are: one look, one choice, one pass of sums, one solve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import final

import numpy as np
import scipy.sparse as sp

from krein.features import RowMap
from krein.learning.chosen_features import KnownFeatures, MapSource
from krein.learning.kernel_model import fit_kernel_model
from krein.learning.leave_one_out import left_out_model
from krein.learning.leaves.local import LocalModel, LocalTask, fit_local, plan_local
from krein.learning.limits import EXACT_ROWS
from krein.learning.link import LeftOut
from krein.learning.model import LinearModel, Model
from krein.learning.ridge_choice import RidgeOptions, RidgeSolution, solve_ridge
from krein.learning.ridge_sums import RidgeSums, add_rows
from krein.learning.tuning.choice import Choice
from krein.rows.blocks import all_features
from krein.rows.equal import MergedRows
from krein.rows.look import Look
from krein.rows.sample import sample_numbers
from krein.rows.source import Block, RowSource
from krein.rows.targets import LabelTargets, NumberTargets, Targets

__all__ = ["SOLVERS", "RidgeFit", "learn_more", "learn_ridge"]

SOLVERS = ("auto", "exact", "local", "features")
_GLOBAL_COLUMNS = 512  # of the features below a tree of leaves, which learn what they miss
# λ of that model, in units of the mean square length of a feature row: with smaller ones its coefficients would hang on the order
# in which rows are summed, and models from chunks and clusters would differ beyond rounding. Finer things are for the leaves.
_LEAST_GLOBAL_LAMBDA = 1e-6
_PROBED = 1000  # rows that are left out to learn a link to probabilities from
_LARGEST_HAT = 1.0 - 1e-6  # of a leverage: where rounding makes it 1, a row still has a prediction


@final
@dataclass(frozen=True, eq=False)
class RidgeFit:
    """A fitted model of the target columns, and how it was found.

    Parameters
    ----------
    model : Model
    solver : {"exact", "local", "features"}
    choice : Choice or None
    lam : pair of float
        λ₊ and λ₋.
    lams : ndarray of shape (n_candidates, 2)
    scores : ndarray of shape (n_candidates,) or None
    n_rows : int
    targets : Targets
    sums : RidgeSums or None
        What more rows can be added to.
    rows : tuple of X, y and weight, or None
        All rows, where they are few and there are no sums.
    left_out : LeftOut or None
        Of classes: what the model says of some rows without them.
    probe : tuple of X, y and weight, or None
        Those rows, where more rows may come.
    """

    model: Model
    solver: str
    choice: Choice | None
    lam: tuple[float, float]
    lams: np.ndarray
    scores: np.ndarray | None
    n_rows: int
    targets: Targets
    sums: RidgeSums | None = None
    rows: Block | None = None
    left_out: LeftOut | None = None
    probe: Block | None = None


def learn_ridge(
    rows: RowSource, targets: Targets, source: MapSource, options: RidgeOptions, *, solver: str = "auto"
) -> RidgeFit:
    """Choose a way of solving, a kernel if there is one to choose, and λ; solve."""
    labels = isinstance(targets, LabelTargets)
    with_targets = labels or source.chosen is not None or solver == "local"
    look = rows.look(targets, with_targets=with_targets, summarize=source.tuning is not None)
    targets.settle(all_rows=rows.again and not rows.more)
    way = _way_of_solving(solver, rows, look, source, options)
    width = _GLOBAL_COLUMNS if way == "local" and look.n_rows > EXACT_ROWS else None
    choice, merged = None, None
    if source.chosen is not None:
        targets.check_complete()
        merged = look.merged(targets, None if solver == "exact" else EXACT_ROWS)
        comparable = merged.equalized() if isinstance(targets, NumberTargets) else merged
        choice = source.chosen.choose(
            look,
            comparable,
            lams=None if options.candidates is None else np.unique(options.candidates[:, 0]),
            regularizer=options.regularizer,
            intercept=options.intercept,
            exact_rows=EXACT_ROWS if way == "exact" else None,
            width=width,
        )
    if way == "exact" and choice is not None and merged is not None:
        return _solve_exact(look, merged, targets, options, choice)
    features = source.fit(look, choice, width)
    options = replace(options, least=_LEAST_GLOBAL_LAMBDA) if way == "local" else options
    n_rows = None if rows.more else look.n_rows
    sums = options.new_sums(targets, features.signature.shape[0], n_rows=n_rows, here=rows.here)
    sums = rows.reduce(sums, partial(add_rows, targets, features))
    found = _solve_sums(sums, targets, features, source.known or features, options, choice)
    if way != "local":
        return _with_left_out(found, features, options, _probe(look)) if labels else found
    local, left_out = fit_local(_local_task(features, found, options, look), rows)
    return replace(found, model=LocalModel(found.model, local), solver="local", sums=None, left_out=left_out)


def learn_more(known: RidgeFit, rows: RowSource, features: RowMap, options: RidgeOptions) -> RidgeFit:
    """Add rows to the sums of a fit, and solve again; `features` are those of the rows."""
    assert known.sums is not None
    assert isinstance(known.model, LinearModel)
    # into copies: rows that cannot be learned from must leave no trace
    targets, sums = known.targets.copy(), known.sums.copy()
    sums = rows.reduce(sums, partial(add_rows, targets, features))
    found = _solve_sums(sums, targets, features, known.model.features, options, known.choice)
    return found if known.probe is None else _with_left_out(found, features, options, known.probe)


def _probe(look: Look) -> Block:
    """Some rows to leave out, which a second pass over all would find as well."""
    some = sample_numbers(look.X.shape[0], _PROBED)
    y, weight = (None if part is None else part[some] for part in (look.y, look.weight))
    return look.X[some], y, weight


def _probed(found: RidgeFit, features: RowMap, probe: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, target columns and weights of some rows: of those that were kept to choose λ, if there are any."""
    targets, kept = found.targets.copy(), None if found.sums is None else found.sums.kept
    if found.sums is not None and kept is not None:
        rows, codes, weight = kept.columns()
        some = sample_numbers(codes.shape[0], _PROBED)
        Z = rows[some] if found.sums.keep_features else all_features(features, rows[some])
        return Z.astype(np.float64, copy=False), targets.columns(codes[some]), weight[some]
    X, y, given = probe
    if given is not None:
        X, y, given = X[given > 0.0], y[given > 0.0], given[given > 0.0]
    known = targets.weigh(y, given)
    weight = np.ones(y.shape[0]) if known is None else known
    return all_features(features, X).astype(np.float64, copy=False), targets.columns(targets.encode(y)), weight


def _with_left_out(found: RidgeFit, features: RowMap, options: RidgeOptions, probe: Block) -> RidgeFit:
    r"""Leave rows out by their leverage :math:`h_i = w_i z_i^\top (G + \mu R)^{-1} z_i`."""
    assert isinstance(found.model, LinearModel)
    assert found.sums is not None
    Z, Y, weight = _probed(found, features, probe)
    sums = found.sums.everything().centered(intercept=options.intercept)
    coef, constant = found.model.coef, found.model.intercept
    if options.regularizer != "krein":
        model = left_out_model(KnownFeatures(features.signature), sums, found.lam, coef, constant)
        return replace(found, left_out=LeftOut(model(Z, Y, weight), Y, weight), probe=probe)
    system = sums.gram + np.diag(sums.weight * found.lam[0] * features.signature)  # indefinite, with the same formula
    hat = np.einsum("ij,ji->i", Z - sums.mean, np.linalg.solve(system, (Z - sums.mean).T))
    hat = (hat + (1.0 / sums.weight if options.intercept else 0.0)) * (1.0 if sums.counts else weight)
    hat = np.minimum(hat, _LARGEST_HAT)[:, None]
    return replace(found, left_out=LeftOut((Z @ coef.T + constant - hat * Y) / (1.0 - hat), Y, weight), probe=probe)


def _way_of_solving(solver: str, rows: RowSource, look: Look, source: MapSource, options: RidgeOptions) -> str:
    if solver == "local" and rows.more:
        return "features"
    obstacles = {
        "exact": {
            "cannot be continued by partial_fit": rows.more,
            "needs features=None or TunedFeatures with kernels to choose from": source.chosen is None,
            "chooses λ by leave-one-out only, so it needs selection='loo'": options.selection != "loo",
            "needs all rows in memory, and there are too many": not look.complete,
        },
        "local": {
            "cannot be continued by partial_fit": rows.more,
            "needs dense rows for distances, not sparse rows or similarities": source.known is not None
            or look.pairwise
            or sp.issparse(look.X),
            "needs fit_intercept=True": not options.intercept,
            "needs a convex global problem, not regularizer='krein'": options.regularizer == "krein",
            "reads the rows twice, which an iterator does not allow; pass a list": not rows.again,
        },
    }
    met = {way: next((text for text, there in found.items() if there), None) for way, found in obstacles.items()}
    if met.get(solver) is not None:
        raise ValueError(f"solver={solver!r} {met[solver]}; use solver='features'")
    if solver != "auto":
        return solver
    if met["exact"] is None and look.size <= EXACT_ROWS:
        return "exact"
    return "local" if source.chosen is not None and look.size > EXACT_ROWS and met["local"] is None else "features"


def _solve_exact(look: Look, merged: MergedRows, targets: Targets, options: RidgeOptions, choice: Choice) -> RidgeFit:
    model, lam, left_out = fit_kernel_model(
        choice,
        merged,
        regularizer=options.regularizer,
        candidates=options.candidates,
        intercept=options.intercept,
        leave_out=isinstance(targets, LabelTargets),
    )
    lams = np.empty(0) if choice.lams is None else choice.lams
    lams = np.stack([lams, lams], axis=1)
    given = (look.X, look.y, look.weight)
    return RidgeFit(
        model, "exact", choice, lam, lams, choice.errors, look.n_rows, targets, rows=given, left_out=left_out
    )


def _solve_sums(
    sums: RidgeSums,
    targets: Targets,
    features: RowMap,
    kept: RowMap,
    options: RidgeOptions,
    choice: Choice | None,
) -> RidgeFit:
    """`features` are those of the rows that were summed, `kept` those of the model."""
    found: RidgeSolution = solve_ridge(sums, targets, features, options)
    model = LinearModel(kept, np.ascontiguousarray(found.coefficients.T), found.offset)
    return RidgeFit(model, "features", choice, found.lam, found.candidates, found.scores, sums.rows, targets, sums=sums)


def _local_task(features: RowMap, found: RidgeFit, options: RidgeOptions, look: Look) -> LocalTask:
    """What a tree of leaves is to learn beyond a global model."""
    targets, model = found.targets, found.model
    assert isinstance(model, LinearModel)
    assert found.sums is not None
    X, columns, weight = look.sample(targets)
    plan = plan_local(X, columns, weight, look.n_rows, numbers=isinstance(targets, NumberTargets))
    whole = found.sums.everything().centered(intercept=options.intercept)
    return LocalTask(plan, left_out_model(features, whole, found.lam, model.coef, model.intercept), targets)
