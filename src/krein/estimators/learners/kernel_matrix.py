"""What exact learners share: their parameter ``kernel``, the matrix of the training rows, and similarities of new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, validate_data

from krein.estimators.maps.base import default_kernel
from krein.estimators.maps.objects import check_objects, object_tags
from krein.estimators.numbers import checked_rows, numbers_in
from krein.learning.distance_choice import tuned_matrix
from krein.similarities import (
    DistanceKernel,
    Effort,
    KernelSimilarity,
    Objects,
    PrecomputedSimilarity,
    Similarity,
    TrainingMatrix,
    as_similarity,
    is_called,
    is_precomputed,
)

__all__ = ["KernelMatrixMixin"]


class KernelMatrixMixin(BaseEstimator):
    """A learner on the whole matrix of similarities of its training rows or objects."""

    kernel: Any
    call: str
    symmetrize: str
    n_jobs: int | None
    cache: Any
    verbose: bool
    similarity_: Similarity
    X_fit_: Any
    n_evaluations_: int
    _stands_for: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"kernel": default_kernel}

    def _checked_pair(self, X: Any, y: Any, **options: Any) -> tuple[Any, np.ndarray]:
        """Training rows or objects, and one target for each; `options` are scikit-learn's for targets."""
        if not is_called(self.kernel):
            with numbers_in("X or y"):
                checked: tuple[Any, np.ndarray] = validate_data(self, X, y, **self._rows, **options)
            return checked
        with numbers_in("y"):
            y = validate_data(self, "no_validation", y, **options)
        objects = check_objects(self, X, first=True)
        check_consistent_length(objects, y)
        return objects, y

    def _comparable(self, X: Any) -> Any:
        """Training rows whose copies can be told by their content; None for objects and precomputed similarities."""
        return None if is_called(self.kernel) or is_precomputed(self.kernel) else X

    def _train(self, X: Any, targets: np.ndarray) -> TrainingMatrix:
        """The symmetric matrix of similarities of checked training rows, which `_keep` stores what is needed of.

        Targets, numbers or ±1 for each class, are for a kernel that is to be chosen by what it predicts.
        """
        kernel = self.kernel
        tuned = isinstance(kernel, DistanceKernel) and kernel.needs_fit  # also a median: here it is that of all pairs
        similarity = as_similarity(
            kernel.as_distance() if tuned else kernel, call=self.call, symmetrize=self.symmetrize
        )
        trained = similarity.training(similarity.place(X), self._effort)
        return tuned_matrix(trained, kernel, targets) if tuned else trained

    def _keep(self, trained: TrainingMatrix) -> None:
        self.similarity_, self.X_fit_ = trained.similarity, trained.rows
        self.n_evaluations_ = trained.n_evaluations

    def _similarities(self, X: Any) -> np.ndarray:
        """Similarities of new rows (first axis) with the training rows."""
        called = is_called(self.kernel)
        X = check_objects(self, X, first=False) if called else checked_rows(self, X, **self._rows, reset=False)
        placed = self.similarity_.place(X)
        return np.asarray(self.similarity_.block(placed, self.X_fit_, self._effort), dtype=np.float64)

    @property
    def _effort(self) -> Effort:
        return Effort(self.n_jobs, self.cache, self.verbose)

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
        if not isinstance(similarity, Similarity):
            raise ValueError(f"similarity_ must be a Similarity, got {similarity!r}")
        columns = vars(self).get("n_features_in_")
        if isinstance(similarity, PrecomputedSimilarity):
            fits = rows is None and columns == n_samples
        elif isinstance(similarity, KernelSimilarity):
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
