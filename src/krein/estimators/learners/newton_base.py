"""The frame of the classifiers that Newton's method fits: rows in memory, in chunks, in files or on a cluster."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from krein._core.checks import one_of, positive_integer, positive_real
from krein._core.rows import row_blocks
from krein._core.threads import quiet_blas
from krein.estimators.exporting import RowModelExportMixin
from krein.estimators.learners.given_blocks import Block, check_block, numbered_blocks
from krein.estimators.learners.input_checks import check_class_weight, check_labels, check_rows
from krein.estimators.learners.linear import RowClassifierMixin, check_kernel_model, check_linear
from krein.estimators.learners.rollback import unchanged_on_error
from krein.estimators.maps.base import check_features, row_map
from krein.estimators.maps.fitting import (
    copy_input_tags,
    fit_features,
    is_chosen,
    look_for,
    training_features,
    tuning_of,
    wants_columns,
)
from krein.files.models import SavableMixin
from krein.learning.kernel_model import KernelModel
from krein.learning.limits import EXACT_MACHINE_ROWS
from krein.learning.newton import exact, fitting, labeled
from krein.learning.newton.fitting import Candidates, Chosen, FittedMachine, fit_in_memory, fit_stream
from krein.learning.newton.labeled import LabeledRows, LabeledSample
from krein.learning.newton.machines import Kind, Machine
from krein.learning.newton.passes import Add, RowTask, Stream
from krein.learning.tuning.choice import FEATURE_CHOICE_ROWS, Choice
from krein.rows import look as looks
from krein.rows.dask_rows import DaskRows, is_dask
from krein.rows.feature_blocks import Features, LinearModel, RowModel, finite_rows
from krein.rows.look import ChunkPass, Examples, FirstPass
from krein.rows.sample import sample_numbers
from krein.rows.targets import LabelTargets
from krein.similarities import Objects

__all__ = ["NewtonClassifier"]

_SOLVERS = ("auto", "exact", "features")
_STREAM_ROWS = 65_536  # rows of a matrix that a pass takes at a time


class NewtonClassifier(RowModelExportMixin, RowClassifierMixin, SavableMixin, BaseEstimator, ABC):
    """Everything but the loss and its penalty, which a subclass names."""

    features: Any
    solver: str
    class_weight: Any
    tol: float
    max_iter: int
    random_state: Any

    solver_: str
    choice_: Choice | None
    model_: KernelModel | None
    features_: Any
    coef_: Any
    intercept_: np.ndarray
    n_iter_: int

    _kind: Kind

    @abstractmethod
    def _candidates(self) -> Candidates:
        """The penalties to choose from; an error that names a parameter that is not what it should be."""

    @abstractmethod
    def _store_choice(self, chosen: Chosen, candidates: Candidates) -> None:
        """Set what there is to say of the penalty."""

    # ---- fitting

    @unchanged_on_error
    @quiet_blas()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit on all rows.

        Parameters
        ----------
        X : array, memory map, DataFrame, sparse matrix, dask.array or dask.dataframe of shape (n_samples, n_features)
            Dask collections are fitted through the active scheduler; see the user guide on clusters.
        y : array-like of shape (n_samples,), or the Dask equivalent
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative, not all zero. A whole-number weight is a number of copies of the row.

        Returns
        -------
        self
        """
        candidates = self._check_parameters()
        if is_dask(X):
            return self._fit_dask(DaskRows.of(X, y, sample_weight), candidates)
        X, y, weight = self._check_block(X, y, sample_weight, start=0, first=True)
        X, seen, checked = look_for(self.features, X, weight, Examples(y, LabelTargets(), self._most_examples()))
        sample = LabeledSample()
        sample.count(y, weight)
        factors = self._learn_classes(sample)
        features = self._prepare(seen)
        if features is None:
            return self._fit_exact(seen, factors, candidates)
        rows, choice = LabeledRows.of(X, y, weight, self.classes_, factors, checked=checked), None
        if X.shape[0] > labeled.CHOICE_ROWS:
            some = sample_numbers(X.shape[0], labeled.CHOICE_ROWS)
            sampled = X[some] if checked else finite_rows(X[some], some)
            part = None if weight is None else weight[some]
            choice = LabeledRows.of(sampled, y[some], part, self.classes_, factors, checked=True)
        if not get_tags(self).input_tags.pairwise:
            choice = None if choice is None else choice.merged()
            rows = rows.merged() if checked else rows
        return self._conclude(self._fit_rows(rows, choice, features, candidates), candidates)

    def _prepare(self, seen: FirstPass) -> Features | None:
        """Choose a way of solving, and a kernel if there is one to choose; the fitted map, None where none is needed."""
        chosen = is_chosen(self.features)
        self.solver_ = self._way(seen, chosen=chosen)
        self.choice_ = self.model_ = self.features_ = self.coef_ = None
        tuning = tuning_of(self.features)
        if chosen and tuning is not None:
            most = EXACT_MACHINE_ROWS if self.solver_ == "exact" else None
            self.choice_ = tuning.choose(seen, exact_rows=most)
        if self.solver_ == "exact":
            return None
        self.features_ = fit_features(self.features, seen, self.random_state, self.choice_)
        return training_features(self.features_, seen)

    def _way(self, seen: FirstPass, *, chosen: bool) -> str:
        obstacles = {
            "needs features=None or TunedFeatures with kernels to choose from": not chosen,
            "needs all rows in memory, and there are too many": not seen.complete,
            "needs optimizer='newton'": self._needs_features(),
        }
        met = next((obstacle for obstacle, there in obstacles.items() if there), None)
        if self.solver == "exact" and met is not None:
            raise ValueError(f"solver='exact' {met}; use solver='features'")
        if self.solver == "auto":
            return "exact" if met is None and seen.sample.shape[0] <= EXACT_MACHINE_ROWS else "features"
        return self.solver

    def _most_examples(self) -> int | None:
        """Distinct rows that are kept with their targets."""
        return None if self.solver == "exact" else FEATURE_CHOICE_ROWS

    def _needs_features(self) -> bool:
        """Whether the problem cannot be solved without features."""
        return False

    def _fit_exact(self, seen: FirstPass, factors: np.ndarray | None, candidates: Candidates) -> Self:
        assert self.choice_ is not None
        assert seen.given is not None
        rows = LabeledRows.of(*seen.given, self.classes_, factors, checked=True).merged()
        found, self.model_ = exact.fit_exact(self._machine(), candidates, self.choice_, rows)
        return self._conclude(found, candidates)

    def _fit_rows(
        self, rows: LabeledRows, choice: LabeledRows | None, features: Features, candidates: Candidates
    ) -> FittedMachine:
        """Choose and fit on rows of a matrix, with their features in memory if they fit."""
        if rows.X.dtype.itemsize * rows.codes.size * features.signature.size <= fitting.MEMORY_BYTES:
            return fit_in_memory(self._machine(), candidates, features, rows, choice)
        task = RowTask(features, np.arange(self.classes_.size))
        return fit_stream(self._machine(), candidates, _MatrixStream(rows), task, choice or rows)

    def _fit_dask(self, rows: DaskRows, candidates: Candidates) -> Self:
        check_rows(self, rows.head, first=True)
        look = rows.first_look(
            looks.FEATURE_ROWS,
            LabelTargets(),
            check_labels,
            summarize=wants_columns(self.features),
            examples=self._most_examples() if is_chosen(self.features) else 0,
        )
        return self._fit_stream(rows, look.seen, check_labels, candidates)

    @unchanged_on_error
    @quiet_blas()
    def fit_chunks(self, chunks: Iterable[tuple[Any, ...]]) -> Self:
        """Fit from a collection of ``(X, y)`` or ``(X, y, sample_weight)``, for tables that do not fit in memory.

        Newton's method reads the rows about twenty times, so the collection (a list, a `krein.files.tables.TableChunks`) must
        give the same chunks each time. The model is that of `fit` on all rows, up to the order of summation.

        Parameters
        ----------
        chunks : iterable of tuples

        Returns
        -------
        self
        """
        candidates = self._check_parameters()
        if iter(chunks) is chunks:
            raise TypeError(
                f"chunks must be a collection that can be iterated again, got the iterator {chunks!r}: "
                f"{type(self).__name__} reads the rows several times; use a list, or KreinRidgeClassifier"
            )
        chosen_by = LabelTargets() if is_chosen(self.features) else None
        look = ChunkPass(summarize=wants_columns(self.features), targets=chosen_by, most=self._most_examples())
        for X, y, *rest in chunks:
            X, y, weight = self._check_block(X, y, rest[0] if rest else None, start=look.rows, first=look.rows == 0)
            if isinstance(X, Objects):
                raise TypeError("fit_chunks takes rows of numbers; pass objects to fit, all at once")
            look.add(X, weight, y)
        return self._fit_stream(_ChunkStream(chunks, self._check_block), look.seen(), None, candidates)

    def _fit_stream(
        self, stream: Stream, seen: FirstPass, check: Callable[[Any, int], np.ndarray] | None, candidates: Candidates
    ) -> Self:
        """Choose on a sample, and fit in passes over all rows."""
        sample = stream.reduce(LabeledSample(labeled.CHOICE_ROWS), partial(_add_sample, check))
        factors = self._learn_classes(sample)
        features = self._prepare(seen)
        if features is None:
            return self._fit_exact(seen, factors, candidates)
        task = RowTask(features, self.classes_, factors, check)
        choice = sample.sample(self.classes_, factors).merged()
        return self._conclude(fit_stream(self._machine(), candidates, stream, task, choice), candidates)

    def _check_parameters(self) -> Candidates:
        check_features(self.features)
        one_of(self.solver, "solver", _SOLVERS)
        positive_real(self.tol, "tol")
        positive_integer(self.max_iter, "max_iter")
        return self._candidates()

    def _check_block(self, X: Any, y: Any, sample_weight: Any, *, start: int, first: bool) -> Block:
        return check_block(self, check_labels, X, y, sample_weight, start=start, first=first)

    def _learn_classes(self, sample: LabeledSample) -> np.ndarray | None:
        """Set the classes; the factors of the weights of each, or None."""
        self.classes_, totals = sample.classes()
        LabelTargets(self.classes_).check_complete()
        return check_class_weight(self.class_weight, self.classes_, totals)

    def _machine(self) -> Machine:
        return Machine(self._kind, self.classes_.size, float(self.tol), int(self.max_iter))

    def _conclude(self, found: FittedMachine, candidates: Candidates) -> Self:
        if not found.fit.converged:
            warnings.warn(
                f"the solver stopped after max_iter={self.max_iter} steps without reaching tol={self.tol}; use a larger "
                "max_iter, a larger tol or a stronger penalty",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.n_iter_ = found.fit.n_iter
        if self.model_ is None:
            self.coef_, self.intercept_ = found.fit.coef, found.fit.intercept
        else:
            self.intercept_ = self.model_.offset
        self._store_choice(found.chosen, candidates)
        return self

    # ---- predicting

    def _row_model(self) -> RowModel:
        """The fitted model as a function of rows."""
        if self.model_ is not None:
            return self.model_
        return LinearModel(row_map(self.features_), self.coef_, self.intercept_)

    def _check_loaded(self) -> None:
        if "classes_" not in vars(self):
            return
        self.solver_ = self.solver_ or "features"  # files from before there was a choice
        n_outputs = 1 if self.classes_.shape[0] == 2 else self.classes_.shape[0]
        if self.model_ is None:
            check_linear(self.features_, self.coef_, self.intercept_, n_outputs)
        else:
            check_kernel_model(self.model_, self.n_features_in_, n_outputs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self.features)
        return tags


def _add_sample(
    check: Callable[[Any, int], np.ndarray] | None, sample: LabeledSample, start: int, X: Any, y: Any, weight: Any
) -> None:
    sample.add(start, finite_rows(X, start), y if check is None else check(y, start), weight)


@final
@dataclass(frozen=True, eq=False)
class _MatrixStream:
    """Rows of a matrix, some at a time."""

    rows: LabeledRows

    def reduce(self, empty: Any, add: Add) -> Any:
        X, codes, weight = self.rows.X, self.rows.codes, self.rows.weight
        for rows in row_blocks(codes.size, _STREAM_ROWS):
            add(empty, rows.start, X[rows], codes[rows], None if weight is None else weight[rows])
        return empty


@final
@dataclass(frozen=True, eq=False)
class _ChunkStream:
    """Chunks that are checked anew in every pass."""

    chunks: Iterable[tuple[Any, ...]]
    check: Callable[..., Block]

    def reduce(self, empty: Any, add: Add) -> Any:
        for block in numbered_blocks(self.chunks, self.check):
            add(empty, *block)
        return empty
