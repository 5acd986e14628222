"""Figure 3: accuracy of a linear support vector machine on the features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from krein.paper.claims import Claim, Finding, contest, fights_of, ruled
from krein.paper.data import Rows, rows_of
from krein.paper.experiment import Experiment, Outcome, Sizes
from krein.paper.figures import accuracy_panels
from krein.paper.measurements import features_of, timed
from krein.paper.methods import liblinear_machine, method_of, support_vector_machine
from krein.paper.plan import Run
from krein.paper.records import Record
from krein.paper.result_tables import accuracies_by_arm
from krein.paper.rules import ARMS, BY_NAME, CHOSEN, CORRECTED, EXCEPTION, KINDS
from krein.paper.settings import COMPARED, DELTA, SPHERE
from krein.paper.standings import means

__all__ = ["FIGURE3"]


def _measure(run: Run) -> Outcome:
    """Accuracy on test rows, the C that cross-validation chose, the accuracy it saw; and accuracy as the public code has it."""
    rows = rows_of(run)
    machine = support_vector_machine(features_of(run), run.seed)
    _, seconds = timed(lambda: machine.fit(rows.X_train, rows.y_train))
    accuracy = float(np.mean(machine.predict(rows.X_test) == rows.y_test))
    results = {"accuracy": accuracy, "C": float(machine.C_), "held_out": float(machine.cv_scores_.max())}
    method = method_of(run.method)
    if np.unique(rows.y_train).size == 2 and (method.published or run.method == "code"):
        results["accuracy_code"] = _as_the_code(machine.features_, rows)
    return results, {"learn": seconds}


def _as_the_code(features: Any, rows: Rows) -> float:
    """Of LibLinear as the public code calls it: its interface reads real parts, and those of negative columns are zero."""
    real = features.signature > 0
    Z_train, Z_test = (features(X)[:, real] for X in (rows.X_train, rows.X_test))
    guess = liblinear_machine().fit(Z_train, rows.y_train).predict(Z_test)
    return float(np.mean(guess == rows.y_test))


def _chosen(records: Sequence[Record]) -> list[Record]:
    """The run of the kind with the highest accuracy on held-out training rows, at each point and seed that has all kinds."""
    runs: dict[tuple[str, str, int, int], dict[str, Record]] = {}
    for one in records:
        if one.run.method in KINDS:
            run = one.run
            runs.setdefault((run.dataset, run.kernel, run.size, run.seed), {})[run.method] = one
    whole = [kinds for kinds in runs.values() if len(kinds) == len(KINDS)]
    return [max((kinds[name] for name in KINDS), key=lambda one: one.results["held_out"]) for kinds in whole]


def _with_chosen(records: Sequence[Record]) -> list[Record]:
    """Chosen runs beside the others."""
    return [*records, *(replace(one, run=replace(one.run, method=CHOSEN)) for one in _chosen(records))]


def _rises_with_width(records: Sequence[Record]) -> Finding | None:
    rule, rulings = BY_NAME["rises"], {}
    for arm, ours, rivals in zip(ARMS, rule.ours, rule.rivals, strict=True):
        lines: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
        some = [
            one
            for one in _with_chosen(records)
            if one.run.method in (ours, *rivals) and one.run.dataset not in rule.without and arm.accuracy in one.results
        ]
        for point, stat in means(some, arm.accuracy).items():
            lines.setdefault((point.dataset, point.kernel, point.method), []).append((point.size, stat.mean))
        rises = [max(line)[1] > min(line)[1] for line in lines.values() if len(line) > 1]
        if rises:
            won, cells = sum(rises), len(rises)
            rulings[arm.name] = ruled(rule.enough(won, cells), f"{won} of {cells} lines rise.", won=won, cells=cells)
    exception = [stat.mean for stat in means([r for r in records if r.run.dataset == EXCEPTION], "accuracy").values()]
    words = (
        f"On cod_rna accuracies lie between {min(exception):.1%} and {max(exception):.1%}."
        if exception
        else "cod_rna, the paper's exception, is not in these results."
    )
    return Finding(rulings, words) if rulings else None


def _highest(records: Sequence[Record]) -> Finding | None:
    found = contest(BY_NAME["accuracy"], _with_chosen)(records)
    if found is None:
        return None
    kinds = Counter(one.run.method for one in _chosen(records) if one.run.dataset != EXCEPTION)
    counts = ", ".join(f"{label} {kinds[name]}" for name, label in KINDS.items())
    return Finding(found.rulings, f"Kinds chosen by cross-validation: {counts}.")


def _nobody_ahead(records: Sequence[Record]) -> Finding | None:
    rule = BY_NAME["level"]
    fights = fights_of(rule, ARMS.index(CORRECTED), CORRECTED, _with_chosen(records))
    if not fights:
        return None
    level = sum(one.ours.mean >= one.theirs.mean - one.theirs.deviation / 2 for one in fights)
    words = f"level or ahead in {level} of {len(fights)} cells of {max(one.theirs.count for one in fights)} runs."
    return Finding(
        {CORRECTED.name: ruled(rule.enough(level, len(fights)), words, won=level, cells=len(fights))},
    )


FIGURE3 = Experiment(
    "figure3",
    "Figure 3: accuracy with a linear support vector machine (this library's Newton solver)",
    "Test accuracy of a linear support vector machine on the features: squared hinge loss, one against rest, C from "
    "0.01, 0.1, 1, 10, 100 by five-fold cross-validation on the training rows, the paper's grid and the same folds for all "
    "methods. The paper solves this problem with LibLinear; "
    "here this library's own Newton solver does, which finds the same machine (a test compares the two for every C). The "
    "verdicts on the library are about its map of the kind (most accurate, default) that the same cross-validation chooses. On "
    "tasks of two classes the arm of the public code, and the rivals as published, moreover have LibLinear as that code calls it.",
    measure=_measure,
    kernels=(DELTA, SPHERE),
    methods=COMPARED,
    quick=Sizes((2, 8), 2, 2000, 3000),
    full=Sizes((2, 4, 8, 16, 32), 5, 3000, 20_000),
    figures=accuracy_panels,
    tables=accuracies_by_arm,
    claims=(
        Claim(BY_NAME["rises"], _rises_with_width),
        Claim(BY_NAME["accuracy"], _highest),
        Claim(BY_NAME["level"], _nobody_ahead),
    ),
)
