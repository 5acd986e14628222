"""The choice of C or λ by cross-validation, all folds and classes at once, along a path of warm starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from krein.learning.newton.machines import Machine
from krein.learning.newton.minimize import minimize
from krein.learning.newton.rows import MemoryRows, Moments
from krein.rows.targets import winning_columns

__all__ = ["Scores", "best_strength", "held_out_scores", "held_out_values", "log_chances", "path_ends"]

# In units of the tolerance of the machine: the errors of an optimum that is missed by little are those of the optimum.
_COARSER = {"hinge": 10.0, "logistic": 100.0}
_WORSE = 2  # strengths in a row that are no better than the best so far end the path
_MARGIN = 1e-3  # errors that differ by less than this share of the rows, or of the loss, are equal


@dataclass(frozen=True, eq=False)
class Scores:
    """What machines of several strengths do on rows they have not seen.

    Parameters
    ----------
    errors : ndarray of shape (n_strengths,)
        Weighted share of wrong classes; infinite where the path ended before.
    log_loss : ndarray of shape (n_strengths,)
        Weighted mean of minus the logarithm of the probability of the right class, for logistic machines.
    """

    errors: np.ndarray
    log_loss: np.ndarray


def log_chances(values: np.ndarray) -> np.ndarray:
    """Logarithms of the probabilities of all classes.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_chances(np.array([[0.0], [50.0]]))).round(3)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    if values.shape[1] > 1:
        return np.asarray(log_softmax(values, axis=1))
    return np.asarray(-np.logaddexp(0.0, np.concatenate([values, -values], axis=1)))


def held_out_values(
    rows: MemoryRows, moments: Moments, machine: Machine, strengths: Sequence[float], n_folds: int
) -> Iterator[np.ndarray]:
    """Values on each row of the machine that has not seen its fold, for one strength after the other.

    A row of the fold that is left out costs nothing, and its value comes with the solution.
    """
    assert rows.fold is not None
    width = machine.n_outputs
    start = before = None
    index = np.arange(rows.codes.size)
    for strength in strengths:
        found = minimize(
            rows,
            machine.problems(strength, n_folds),
            moments,
            free_intercept=machine.free_intercept,
            start=start,
            before=before,
            tol=_COARSER[machine.kind] * machine.tol,
            max_iter=machine.max_iter,
        )
        start, before = found.weights, found.before
        values = rows.values(start).reshape(index.size, n_folds, width)
        yield values[index, np.maximum(rows.fold, 0)].astype(np.float64)


def held_out_scores(
    rows: MemoryRows, moments: Moments, machine: Machine, strengths: Sequence[float], n_folds: int, least: int = 0
) -> Scores:
    """Errors of several strengths on held-out rows; the path ends where it no longer pays, see `path_ends`."""
    assert rows.fold is not None
    held = np.flatnonzero(rows.fold >= 0)
    share = rows.weight[held] / max(rows.weight[held].sum(), np.finfo(float).tiny)
    codes = rows.codes[held]
    constant = 1.0 - float(np.bincount(codes, share).max(initial=0.0))
    errors, losses = np.full(len(strengths), np.inf), np.full(len(strengths), np.inf)
    for i, values in enumerate(held_out_values(rows, moments, machine, strengths, n_folds)):
        errors[i] = share @ (winning_columns(values[held]) != codes)
        if machine.kind == "logistic":
            loss = -float(share @ log_chances(values[held])[np.arange(held.size), codes])
            losses[i] = np.inf if np.isnan(loss) else loss  # a class that no other fold has: its values run away
        if i + 1 >= least and path_ends(Scores(errors[: i + 1], losses[: i + 1]), machine, constant):
            break
    return Scores(errors, losses)


def path_ends(scores: Scores, machine: Machine, constant: float) -> bool:
    """Whether greater strengths are worth no try: the last two are no better than one before them.

    Errors that differ by a margin are equal. A machine that is no better than the most frequent class has not begun to learn, and
    the path goes on.

    Examples
    --------
    >>> import numpy as np
    >>> hinge = Machine("hinge", 2, 1e-4, 100)
    >>> [path_ends(Scores(np.array(e), np.full(3, np.inf)), hinge, 0.4) for e in ([0.3, 0.3, 0.31], [0.3, 0.3, 0.2], [0.4] * 3)]
    [True, False, False]
    """
    last = scores.errors.size - 1
    if machine.kind == "logistic":
        return last - int(scores.log_loss.argmin()) >= _WORSE
    return last - best_strength(scores, machine) >= _WORSE and float(scores.errors.min()) < constant - _MARGIN


def best_strength(scores: Scores, machine: Machine) -> int:
    """The weakest strength whose score is the best but for a margin.

    Examples
    --------
    >>> import numpy as np
    >>> hinge = Machine("hinge", 2, 1e-4, 100)
    >>> best_strength(Scores(np.array([0.2, 0.0501, 0.05, 0.05, 0.06]), np.full(5, np.inf)), hinge)
    1
    """
    if machine.kind == "logistic":
        least = float(scores.log_loss.min())  # below zero by rounding where all chances are 1
        return int(np.flatnonzero(scores.log_loss <= least + _MARGIN * abs(least))[0])
    return int(np.flatnonzero(scores.errors <= scores.errors.min() + _MARGIN)[0])
