"""What exact learners share: their parameter ``kernel``, the matrix of the training rows, and similarities of new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, validate_data

from krein.estimators.maps.base import default_kernel
from krein.estimators.maps.objects import check_objects, object_tags
from krein.estimators.numbers import checked_rows, unmasked
from krein.learning.distance_choice import tuned_matrix
from krein.learning.limits import EXACT_ROWS
from krein.learning.tuning.choice import Choice, choose
from krein.rows.columns import ColumnSummary
from krein.rows.equal import merge_rows
from krein.similarities import (
    BlockSource,
    KernelSimilarity,
    Objects,
    PrecomputedSimilarity,
    Similarity,
    TrainingMatrix,
    as_similarity,
    distance_of,
    is_called,
    is_precomputed,
)

__all__ = ["KernelMatrixMixin"]


class KernelMatrixMixin(BaseEstimator):
    """A learner on the whole matrix of similarities of its training rows or objects."""

    kernel: Any
    similarity_: BlockSource
    X_fit_: Any
    n_evaluations_: int
    choice_: Choice | None
    _stands_for: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"kernel": default_kernel}

    def _checked_pair(self, X: Any, y: Any, **options: Any) -> tuple[Any, np.ndarray]:
        """Training rows or objects, and one target for each; `options` are scikit-learn's for targets."""
        y = validate_data(self, "no_validation", unmasked(y, "y"), **options)
        called = is_called(self.kernel)
        rows = check_objects(self, X, self.kernel, first=True) if called else checked_rows(self, X, **self._rows)
        check_consistent_length(rows, y)
        return rows, y

    def _comparable(self, X: Any) -> Any:
        """Training rows whose copies can be told by their content; None for objects and precomputed similarities."""
        return None if is_called(self.kernel) or is_precomputed(self.kernel) else X

    def _train(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> tuple[TrainingMatrix, Choice | None]:
        """The symmetric matrix of similarities of checked training rows, and the choice of a kernel; `_keep` stores both.

        Targets, numbers or ±1 for each class, are for a kernel that is to be chosen by what it predicts.
        """
        if self.kernel is None:
            columns = ColumnSummary.of(X, weight) if isinstance(X, np.ndarray) else None
            choice = choose(merge_rows(X, targets, weight, most=EXACT_ROWS), columns=columns)
            own = KernelSimilarity(choice.kernel)
            return own.training(own.place(choice.placement(X))), choice
        similarity, kernel = as_similarity(self.kernel), distance_of(self.kernel)
        if kernel is None or not kernel.needs_fit:
            return similarity.training(similarity.place(X)), None
        # the distances first; the median is that of all pairs here
        if isinstance(similarity, Similarity):
            similarity = replace(similarity, function=kernel.as_distance())
        else:
            similarity = as_similarity(kernel.as_distance())
        return tuned_matrix(similarity.training(similarity.place(X)), kernel, targets), None

    def _keep(self, trained: TrainingMatrix, choice: Choice | None) -> None:
        self.choice_ = choice
        self.similarity_, self.X_fit_ = trained.similarity, trained.rows
        self.n_evaluations_ = trained.n_evaluations

    def _similarities(self, X: Any) -> np.ndarray:
        """Similarities of new rows (first axis) with the training rows."""
        called = is_called(self.kernel)
        X = (
            check_objects(self, X, self.kernel, first=False)
            if called
            else checked_rows(self, X, **self._rows, reset=False)
        )
        choice = vars(self).get("choice_")  # which files of 0.1 do not have
        placed = self.similarity_.place(X if choice is None else choice.placement(X))
        return np.asarray(self.similarity_.block(placed, self.X_fit_), dtype=np.float64)

    @property
    def _rows(self) -> dict[str, Any]:
        """How scikit-learn is to check rows: our own kernels are evaluated in double precision, matrices are taken as given."""
        dtype = [np.float64, np.float32] if is_precomputed(self.kernel) else np.float64
        return {"dtype": dtype, "accept_sparse": "csr"}

    def _has_columns(self) -> bool:
        return not isinstance(vars(self).get("X_fit_"), Objects)

    def _check_rows(self, n_samples: int) -> None:
        """An error unless similarity, training rows and coefficients fit each other, for models that come from files."""
        similarity, rows = self.similarity_, self.X_fit_
        if not isinstance(similarity, BlockSource):
            raise ValueError(f"similarity_ must be one of the classes of krein.similarities, got {similarity!r}")
        columns = vars(self).get("n_features_in_")
        if isinstance(similarity, PrecomputedSimilarity):
            fits = rows is None and columns == n_samples
        elif isinstance(similarity, KernelSimilarity):
            choice = vars(self).get("choice_")
            if choice is not None and columns is not None:
                columns = choice.placement.n_outputs(columns)
            fits = rows is not None and rows.shape == (n_samples, columns)
        else:
            fits = isinstance(rows, Objects) and len(rows) == n_samples
        if not fits:
            shape = None if rows is None else rows.shape
            raise ValueError(f"coefficients of {n_samples} rows do not fit training rows of shape {shape}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = True
        object_tags(tags, self.kernel)
        return tags
