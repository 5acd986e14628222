"""``krein.compare``: which model learns best from similarities or distances, by nested cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from krein._core.checks import integer, one_of, truth_value
from krein.comparison.contenders import Contender, Task, choose_contenders
from krein.comparison.cross_validation import compare_models
from krein.comparison.matrix_contenders import matrix_contenders
from krein.comparison.model_comparison import ModelComparison
from krein.matrices import check_kind
from krein.matrices.entries import as_square, scan_entries
from krein.rows.targets import are_quantities
from krein.show.progress import stages
from krein.similarities import DistanceKernel, PrecomputedSimilarity, Similarity, as_similarity, distance_of

__all__ = ["compare", "object_contenders"]


def compare(
    X: Any,
    y: Any,
    similarity: Any = "precomputed",
    *,
    distance: bool = False,
    methods: Sequence[str] = (),
    task: str = "auto",
    folds: int = 5,
    random_state: int = 0,
    verbose: bool = False,
) -> ModelComparison:
    """Compare Kreĭn learners with scikit-learn's on similarities or distances, unchanged and after each correction.

    Every model chooses its parameters by cross-validation within the training objects, and is scored on held-out objects. A matrix
    of similarities is first divided by the mean absolute value of its diagonal, so that the candidates for C suit every matrix.

    Parameters
    ----------
    X : array of shape (n_objects, n_objects), mapping of str to array, or sequence of objects
        Similarities, symmetric and finite, of any signs, or with ``distance=True`` distances; several matrices by name; or the
        objects themselves.
    y : array-like of shape (n_objects,)
        Labels, or numbers.
    similarity : str, callable, Similarity, DistanceKernel or Kernel, or a list or mapping of several, default="precomputed"
        For objects, what makes the matrix, each pair evaluated once: a function of two objects, the name of a distance or of a
        kernel, or anything that a learner takes as ``kernel``.
    distance : bool, default=False
        Whether matrices hold distances, and functions give them.
    methods : sequence of str, default=()
        Names of the models to compare: ``"krein-ridge"``, ``"krein-svc"``, ``"krein-logistic"``, ``"svc-raw"``, ``"svc-clip"``,
        ``"svc-flip"``, ``"svc-shift"``, ``"svc-square"`` and ``"neighbors"``; empty for all.
    task : {"auto", "classification", "regression"}, default="auto"
        ``"auto"``: regression if ``y`` holds floats that are not whole numbers, else classification.
    folds : int, default=5
        Number of folds of the outer cross-validation.
    random_state : int, default=0
        Random seed of the folds and landmarks.
    verbose : bool, default=False
        Whether to show how far it is.

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

    Objects, with two distances:

    >>> def unshared(a, b):
    ...     return len(a ^ b)
    >>> letters = [set(word) for word in ["ant", "bee", "tan", "eel", "nat", "lee"] * 4]
    >>> found = krein.compare(letters, [0, 1] * 12, [unshared, "jaccard"], distance=True, methods=["neighbors"], folds=2)
    >>> sorted(one.contender.name for one in found.summaries())
    ['jaccard: neighbors', 'unshared: neighbors']
    """
    options: dict[str, Any] = {
        "distance": distance,
        "methods": methods,
        "task": task,
        "folds": folds,
        "seed": random_state,
    }
    with stages(truth_value(verbose, "verbose")):
        labels, kind, contenders = object_contenders(X, y, similarity, **options)
        return compare_models(None, labels, contenders, task=kind, folds=folds, seed=random_state)


def object_contenders(
    X: Any,
    y: Any,
    similarity: Any = "precomputed",
    *,
    distance: bool = False,
    methods: Sequence[str] = (),
    task: str = "auto",
    folds: int = 5,
    seed: int = 0,
) -> tuple[np.ndarray, Task, list[Contender]]:
    """Labels, task, and contenders for each matrix, with the matrix as their data."""
    one_of(task, "task", ("auto", "classification", "regression"))
    integer(folds, "folds", least=2)
    integer(seed, "seed", least=0, most=2**32 - 1)
    truth_value(distance, "distance")
    labels = np.asarray(y).ravel()
    kind: Task = (
        "regression" if task == "regression" or (task == "auto" and are_quantities(labels)) else "classification"
    )
    per_fit = labels.size - -(-labels.size // folds)
    contenders = []
    for name, given, one in _pairs(X, similarity):
        matrix, kernel = _matrix(given, one, distance)
        if labels.shape != (matrix.shape[0],):
            raise ValueError(f"y must have one entry for each of {matrix.shape[0]} objects, got {labels.size}")
        before = f"{name}: " if name else ""
        contenders += [
            replace(found, name=before + found.name, label=before + found.label, data=matrix)
            for found in choose_contenders(matrix_contenders(kind, per_fit, kernel, seed=seed), methods)
        ]
    return labels, kind, contenders


def _pairs(X: Any, similarity: Any) -> Iterator[tuple[str, Any, Any]]:
    """Data and similarity of each matrix, with a name if there are several."""
    if isinstance(X, Mapping):
        yield from ((str(name), matrix, similarity) for name, matrix in X.items())
    elif isinstance(similarity, Mapping):
        yield from ((str(name), X, one) for name, one in similarity.items())
    elif isinstance(similarity, list | tuple):
        for one in similarity:
            known = distance_of(one)
            name = one if isinstance(one, str) else known.metric if known is not None else one
            yield str(getattr(name, "__name__", name)), X, one
    else:
        yield "", X, similarity


def _matrix(X: Any, similarity: Any, distance: bool) -> tuple[np.ndarray, DistanceKernel | None]:
    """The matrix of similarities; or that of distances, and what makes similarities of them."""
    if distance and distance_of(similarity) is None:
        inner = similarity.function if isinstance(similarity, Similarity) else similarity
        kernel = DistanceKernel(inner)
        similarity = replace(similarity, function=kernel) if isinstance(similarity, Similarity) else kernel
    source, kernel_or_none = as_similarity(similarity), distance_of(similarity)
    given = isinstance(source, PrecomputedSimilarity)
    if given:
        matrix = as_square(
            X, "X", "; for objects or rows of numbers name what compares them, such as similarity='euclidean'"
        )
    else:
        if isinstance(source, Similarity) and source.distance is not None:
            source = replace(source, function=source.distance.as_distance())
        matrix = source.training(source.place(X)).matrix
    scan = scan_entries(matrix)
    if not scan.complete:
        raise ValueError(f"the matrix has a missing or infinite entry at {scan.first_bad}; see krein.diagnose(K)")
    if not scan.symmetric:
        i, j = scan.gap_at
        raise ValueError(
            f"the matrix must be symmetric, but entries ({i}, {j}) and ({j}, {i}) differ by {scan.largest_gap:.3g}; use "
            "(K + K.T) / 2"
        )
    if kernel_or_none is None:
        check_kind(
            matrix, distance=False, way_out="pass distance=True, or on the command line --distance, if they are that"
        )
        return matrix / (float(np.abs(np.diag(matrix)).mean()) or scan.largest or 1.0), None
    if given:
        check_kind(matrix, distance=True, way_out="leave distance=True, or on the command line --distance, out")
    return matrix, kernel_or_none
