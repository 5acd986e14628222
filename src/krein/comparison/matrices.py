"""``krein.compare``: which model learns best from a matrix of similarities, by nested cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from krein._core.checks import integer, one_of
from krein.comparison.contenders import Contender, Task, choose_contenders
from krein.comparison.folds import compare_models
from krein.comparison.matrix_contenders import matrix_contenders
from krein.comparison.model_comparison import ModelComparison
from krein.comparison.scores import FoldScore
from krein.matrices.entries import as_square, scan_entries
from krein.rows.targets import are_quantities

__all__ = ["compare", "matrix_task"]


def compare(
    K: Any,
    y: Any,
    *,
    methods: Sequence[str] = (),
    task: str = "auto",
    folds: int = 5,
    seed: int = 0,
    on_score: Callable[[FoldScore], None] = lambda score: None,
) -> ModelComparison:
    """Compare Kreĭn learners with scikit-learn's on a matrix of similarities, unchanged and after each correction.

    Every model chooses its parameters by cross-validation within the training objects, and is scored on held-out objects. The
    matrix is first divided by the mean absolute value of its diagonal, so that the candidates for C suit every matrix.

    Parameters
    ----------
    K : array of shape (n_objects, n_objects)
        Similarities, symmetric and finite, of any signs.
    y : array-like of shape (n_objects,)
        Labels, or numbers.
    methods : sequence of str, default=()
        Names of the models to compare: ``"krein-ridge"``, ``"krein-svc"``, ``"krein-logistic"``, ``"svc-raw"``, ``"svc-clip"``,
        ``"svc-flip"``, ``"svc-shift"``, ``"svc-square"`` and ``"neighbors"``; empty for all.
    task : {"auto", "classification", "regression"}, default="auto"
        ``"auto"``: regression if ``y`` holds floats that are not whole numbers, else classification.
    folds : int, default=5
        Number of folds of the outer cross-validation.
    seed : int, default=0
        Random seed of the folds and landmarks.
    on_score : callable, optional
        Called with each score when it is known.

    Returns
    -------
    ModelComparison
        Prints as a table; ``page(heading)`` and ``write_page(path, heading)`` give a page.

    See Also
    --------
    krein.diagnose : Whether the matrix is indefinite, and whether its negative part is noise.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> K = (X * [1.0, 1.0, -2.0]) @ X.T
    >>> found = krein.compare(K, X[:, 2] > 0, methods=["krein-svc", "svc-clip"], folds=3)
    >>> {one.contender.name: one.mean > 0.85 for one in found.summaries()}
    {'krein-svc': True, 'svc-clip': False}
    """
    if not callable(on_score):
        raise TypeError(f"on_score must be a function of one score, got {on_score!r}")
    matrix, labels, kind, contenders = matrix_task(K, y, methods, task, folds, seed)
    return compare_models(matrix, labels, contenders, task=kind, folds=folds, seed=seed, on_score=on_score)


def matrix_task(
    K: Any, y: Any, methods: Sequence[str], task: str, folds: int, seed: int
) -> tuple[np.ndarray, np.ndarray, Task, list[Contender]]:
    """Check a matrix and its labels, and choose the contenders."""
    one_of(task, "task", ("auto", "classification", "regression"))
    integer(folds, "folds", least=2)
    integer(seed, "seed", least=0, most=2**32 - 1)
    matrix = as_square(K, "the matrix of similarities")
    scan = scan_entries(matrix)
    if not scan.complete:
        raise ValueError(f"the matrix has a missing or infinite entry at {scan.first_bad}; see krein.diagnose(K)")
    if not scan.symmetric:
        i, j = scan.gap_at
        raise ValueError(
            f"the matrix must be symmetric, but entries ({i}, {j}) and ({j}, {i}) differ by {scan.largest_gap:.3g}; use "
            "(K + K.T) / 2"
        )
    labels = np.asarray(y).ravel()
    if labels.shape != (scan.n_objects,):
        raise ValueError(f"y must have one entry for each of {scan.n_objects} objects, got {labels.size}")
    kind: Task = (
        "regression" if task == "regression" or (task == "auto" and are_quantities(labels)) else "classification"
    )
    size = float(np.abs(np.diag(matrix)).mean()) or scan.largest or 1.0
    per_fit = scan.n_objects - -(-scan.n_objects // folds)
    return matrix / size, labels, kind, choose_contenders(matrix_contenders(kind, per_fit, seed=seed), methods)
