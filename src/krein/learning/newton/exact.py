"""The same classifiers without features: on the exact map of all rows, which is given by the spectrum of the kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from krein.learning.kernel_model import KernelModel
from krein.learning.newton.fitting import (
    N_FOLDS,
    Candidates,
    Chosen,
    FittedMachine,
    best_of,
    fit_features,
    penalty_factor,
)
from krein.learning.newton.held_out import Scores, held_out_scores
from krein.learning.newton.labeled import LabeledRows, deal_folds
from krein.learning.newton.machines import Machine
from krein.learning.newton.rows import MemoryRows
from krein.learning.solve import symmetric_eigen
from krein.learning.strengths import by_ratio
from krein.learning.tuning.choice import Choice

__all__ = ["ExactMap", "exact_map", "fit_exact"]

_ROUNDING = 1e-13  # of the largest eigenvalue, below which there is nothing


@final
@dataclass(frozen=True, eq=False)
class ExactMap:
    r"""Features of all rows with :math:`Z J Z^\top = K`, orthogonal with respect to the weights of the rows.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
    signature : ndarray of shape (rank,)
    carry : ndarray of shape (n_rows, rank)
    mean : ndarray of shape (n_rows,)
        A row with similarities :math:`k` to all rows has the features ``(k - mean) @ carry``.
    """

    Z: np.ndarray
    signature: np.ndarray
    carry: np.ndarray
    mean: np.ndarray

    def dual(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the kernel's columns, and the offset."""
        dual = self.carry @ coef.T
        return dual, intercept - self.mean @ dual


def exact_map(gram: np.ndarray, weight: np.ndarray, *, center: bool) -> ExactMap:
    r"""From the spectrum of :math:`W^{1/2} H K H^\top W^{1/2}`, with :math:`H = I - 1 w^\top / \sum w` or the identity."""
    root, share = np.sqrt(weight), weight / weight.sum()
    mean = share @ gram if center else np.zeros(weight.size)
    inner = gram
    if center:
        inner = gram - mean - mean[:, None] + share @ mean
    values, vectors = symmetric_eigen(inner * (root * root[:, None]))
    kept = np.flatnonzero(np.abs(values) > _ROUNDING * values.size * np.abs(values).max(initial=0.0))
    values, vectors = values[kept], vectors[:, kept]
    size = np.sqrt(np.abs(values))
    carry = (vectors * (np.sign(values) / size)) * root[:, None]
    if center:
        carry = carry - np.multiply.outer(share, carry.sum(axis=0))
    return ExactMap(vectors * size / root[:, None], np.sign(values), carry, mean)


def fit_exact(
    machine: Machine, candidates: Candidates, choice: Choice, labeled: LabeledRows
) -> tuple[FittedMachine, KernelModel]:
    """Choose a penalty and fit on all rows."""
    placed = choice.placement(labeled.X).astype(np.float64, copy=False)
    gram = choice.kernel.gram(placed)
    found_map = exact_map(gram, labeled.weights, center=machine.free_intercept)
    chosen = None
    if choice.indefinite and not candidates.single:
        scale = float((labeled.weights / labeled.weights.sum()) @ np.square(found_map.Z).sum(axis=1))
        chosen = _choose_by_folds(machine, candidates, gram, labeled, scale)
    found = fit_features(machine, candidates, found_map.Z.copy(), labeled, found_map.signature, chosen)
    dual, offset = found_map.dual(found.fit.coef, found.fit.intercept)
    return found, KernelModel(choice.placement, choice.kernel, placed, dual, offset)


def _choose_by_folds(
    machine: Machine, candidates: Candidates, gram: np.ndarray, labeled: LabeledRows, scale: float
) -> Chosen:
    """The best candidate for an indefinite kernel, whose spectrum is computed again without each fold.

    The map of all rows would be optimistic here: the majorant of an indefinite matrix depends on the held-out rows.
    """
    weight = labeled.weights
    fold = deal_folds(labeled.X, labeled.codes, N_FOLDS)
    pairs = candidates.pairs(scale, float(weight.sum()))
    errors, losses = np.zeros(len(pairs)), np.zeros(len(pairs))
    for held in np.unique(fold[fold >= 0]):
        inside = np.flatnonzero(fold != held)
        found = exact_map(gram[np.ix_(inside, inside)], weight[inside], center=machine.free_intercept)
        Z = (gram[:, inside] - found.mean) @ found.carry
        share = weight[fold == held].sum() / weight[fold >= 0].sum()
        for ratio, same in by_ratio(np.stack([np.ones(len(pairs)), pairs[:, 1]], axis=1)):
            factor = penalty_factor(found.signature, ratio)
            rows = MemoryRows(Z if factor is None else Z * factor, labeled.codes, weight, np.where(fold == held, 0, -1))
            same = same[np.argsort(pairs[same, 0], kind="stable")]
            strengths = pairs[same, 0].tolist()
            scores = held_out_scores(rows, rows.moments(), machine, strengths, 1, least=candidates.least)
            errors[same] += share * scores.errors
            losses[same] += share * scores.log_loss
    return best_of(machine, pairs[:, 0], Scores(errors, losses), scale)
