"""The same support vector machines from LibLinear, for those who want to compare."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from krein.learning.newton.choice import Scores, path_ends
from krein.learning.newton.fitting import N_FOLDS, Candidates, Chosen, FittedMachine, best_of
from krein.learning.newton.labeled import LabeledRows, deal_folds
from krein.learning.newton.machines import LinearFit, Machine
from krein.rows.feature_blocks import Features, all_features
from krein.rows.targets import winning_columns

__all__ = ["fit_liblinear"]


def fit_liblinear(
    machine: Machine,
    candidates: Candidates,
    features: Features,
    labeled: LabeledRows,
    choice: LabeledRows | None,
    *,
    dual: bool,
    random_state: Any,
) -> FittedMachine:
    """Choose and fit, as `krein.learning.newton.fitting.fit_in_memory`, one machine after the other."""

    def fit(Z: np.ndarray, codes: np.ndarray, weight: np.ndarray, C: float) -> LinearFit:
        found = LinearSVC(C=C, dual=dual, tol=machine.tol, max_iter=machine.max_iter, random_state=random_state)
        found.fit(Z, codes, weight)
        coef, intercept = found.coef_.astype(np.float64), found.intercept_.astype(np.float64)
        return LinearFit(coef, intercept, int(found.n_iter_), converged=True)  # it warns by itself

    strengths = candidates.pairs(1.0, 1.0)[:, 0]
    chosen = Chosen(0, None, 1.0)
    if not candidates.single:
        some = labeled if choice is None else choice
        Z, weight = all_features(features, some.X, checked=some.checked), some.weights
        fold = deal_folds(some.X, some.codes, N_FOLDS)
        share = weight / weight[fold >= 0].sum()
        constant = 1.0 - float(np.bincount(some.codes[fold >= 0], share[fold >= 0]).max(initial=0.0))
        scores = Scores(np.full(strengths.size, np.inf), np.full(strengths.size, np.inf))
        for i, C in enumerate(strengths):
            scores.errors[i] = 0.0
            for held in range(N_FOLDS):
                inside, outside = np.flatnonzero(fold != held), np.flatnonzero(fold == held)
                one = fit(Z[inside], some.codes[inside], weight[inside], C)
                missed = winning_columns(Z[outside] @ one.coef.T + one.intercept) != some.codes[outside]
                scores.errors[i] += share[outside] @ missed
            so_far = Scores(scores.errors[: i + 1], scores.log_loss[: i + 1])
            if i + 1 >= candidates.least and path_ends(so_far, machine, constant):
                break
        chosen = best_of(machine, strengths, scores, 1.0)
    Z = all_features(features, labeled.X, checked=labeled.checked)
    return FittedMachine(fit(Z, labeled.codes, labeled.weights, float(strengths[chosen.best])), chosen)
