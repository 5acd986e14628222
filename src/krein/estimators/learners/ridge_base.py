"""The frame of both ridge learners: one pass over the rows, in blocks, chunks or on a cluster; then one solve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator

from krein._core.checks import one_of, positive_integer, real, truth_value
from krein._core.threads import quiet_blas
from krein.estimators.exporting import RowModelExportMixin
from krein.estimators.learners.given_blocks import (
    Block,
    CheckTargets,
    add_block,
    check_block,
    joined_blocks,
    numbered_blocks,
)
from krein.estimators.learners.input_checks import check_lengths, check_rows, check_weight
from krein.estimators.learners.linear import check_kernel_model, check_linear
from krein.estimators.learners.rollback import unchanged_on_error
from krein.estimators.learners.ways import SOLVERS, choose_for, columns_for, local_task, options_for, way_of_solving
from krein.estimators.maps.base import check_features, row_map
from krein.estimators.maps.fitting import (
    copy_input_tags,
    fit_features,
    is_chosen,
    look_for,
    more_rows,
    training_features,
    tuning_of,
    wants_columns,
)
from krein.files.models import SavableMixin
from krein.learning.kernel_model import KernelModel, fit_kernel_model
from krein.learning.leaves.dask_leaves import fit_local_dask
from krein.learning.leaves.local import LocalModel, LocalPart, LocalTask, fit_local, matrix_blocks
from krein.learning.limits import EXACT_ROWS
from krein.learning.path import Regularizer
from krein.learning.ridge_choice import RidgeOptions, RidgeSolution, solve_ridge
from krein.learning.ridge_sums import RidgeSums, add_rows
from krein.learning.strengths import check_lam
from krein.learning.tuning.choice import Choice
from krein.rows import look as looks
from krein.rows.dask_rows import DaskRows, is_dask
from krein.rows.feature_blocks import Features, LinearModel, RowModel
from krein.rows.look import ChunkPass, Examples, FirstPass
from krein.rows.targets import Targets
from krein.similarities import Objects

__all__ = ["RidgeBase"]

_SHIFT_ROWS = 1024  # whose mean is the shift of sums made on several machines: near the mean is near enough


class RidgeBase(RowModelExportMixin, SavableMixin, BaseEstimator, ABC):
    """Everything but what a target is; a subclass names its targets and its outputs."""

    features: Any
    solver: str
    regularizer: str
    lam: Any
    selection: str
    fit_intercept: bool
    loo_rows: int
    validation_fraction: float
    random_state: Any

    solver_: str
    choice_: Choice | None
    model_: KernelModel | None
    local_: LocalPart | None
    features_: Any
    coef_: Any
    intercept_: Any
    _sums: RidgeSums
    _given: Any
    _targets: Targets

    @abstractmethod
    def _new_targets(self, classes: Any) -> Targets:
        """Targets of which nothing is known but the classes promised by the caller, or None."""

    @property
    @abstractmethod
    def _check_targets(self) -> CheckTargets:
        """The check of a block of targets, ``(y, number of its first row) -> y``."""

    @abstractmethod
    def _store(self, solution: RidgeSolution) -> None:
        """Set ``coef_``, ``intercept_`` and what else describes the outputs."""

    @abstractmethod
    def _store_local(self, local: LocalPart) -> None:
        """Set ``local_``, what leaves add to the outputs, from what they add to the target columns."""

    @abstractmethod
    def _store_model(self, model: KernelModel) -> None:
        """Set ``model_``, ``intercept_`` and what else describes the outputs, for a kernel model of the target columns."""

    # ---- fitting

    @unchanged_on_error
    @quiet_blas()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit in one pass over blocks of rows; the features of all rows are never in memory at once.

        Parameters
        ----------
        X : array, memory map, DataFrame, sparse matrix, dask.array or dask.dataframe of shape (n_samples, n_features)
            Dask collections are fitted through the active scheduler; see the user guide on clusters.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or the Dask equivalent
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative, not all zero. A whole-number weight is a number of copies of the row.

        Returns
        -------
        self
        """
        options, targets = self._options(), self._new_targets(None)
        if is_dask(X):
            return self._fit_dask(DaskRows.of(X, y, sample_weight), targets, options)
        block = self._check_block(X, y, sample_weight, start=0, first=True)
        return self._start(block, targets, options)

    def _start(self, block: Block, targets: Targets, options: RidgeOptions, *, all_rows: bool = True) -> Self:
        """Fit the map and the model on a first matrix; `all_rows`: more will not come."""
        X, y, weight = block
        examples = Examples(y, targets, self._most_examples())
        X, seen, checked = look_for(self.features, X, weight, examples, always=self.solver == "local")
        features = self._prepare(seen, targets, options, all_rows=all_rows)
        if features is None:
            return self._solve_kernel(seen, targets, options)
        n_rows = X.shape[0] if all_rows else None
        sums = options.new_sums(targets, y, features.signature.shape[0], shift=None, n_rows=n_rows)
        add_rows(sums, targets, features, X, y, weight, start=0, checked=checked)
        return self._conclude(
            sums, targets, options, features, seen, lambda task: fit_local(task, matrix_blocks(X, y, weight))
        )

    def _fit_dask(self, rows: DaskRows, targets: Targets, options: RidgeOptions) -> Self:
        check_rows(self, rows.head, first=True)
        look = rows.first_look(
            looks.FEATURE_ROWS,
            targets,
            self._check_targets,
            summarize=wants_columns(self.features),
            examples=self._most_examples() if self._looks_at_targets else 0,
        )
        first = cast(np.ndarray, look.targets)
        targets.announce(first)
        features = self._prepare(look.seen, targets, options)
        if features is None:
            return self._solve_kernel(look.seen, targets, options)
        # workers must subtract the same: the mean of some sampled rows, whose features are made here for it
        shift = features(look.seen.sample[:_SHIFT_ROWS]).mean(axis=0, dtype=np.float64)
        empty = options.new_sums(targets, first, shift.shape[0], shift=shift)
        sums = rows.reduce(empty, partial(add_block, targets, self._check_targets, features))
        check = self._check_targets
        return self._conclude(
            sums, targets, options, features, look.seen, lambda task: fit_local_dask(task, rows, check)
        )

    @unchanged_on_error
    @quiet_blas()
    def fit_chunks(self, chunks: Iterable[tuple[Any, ...]]) -> Self:
        """Fit from an iterable of ``(X, y)`` or ``(X, y, sample_weight)``, for tables that do not fit in memory.

        A collection that can be iterated again (a list, a `krein.files.tables.TableChunks`) is read twice: once to draw the
        rows that the feature map is fitted on, once to fit the model; the result is that of `fit` on all rows. An iterator
        can be read only once: the map is then fitted on its first 50,000 rows.

        Parameters
        ----------
        chunks : iterable of tuples

        Returns
        -------
        self
        """
        options, targets = self._options(), self._new_targets(None)
        chosen_by = targets if self._looks_at_targets else None
        look = ChunkPass(summarize=wants_columns(self.features), targets=chosen_by, most=self._most_examples())
        again, complete = chunks, True
        if iter(chunks) is chunks:  # an iterator: its head is looked at and learned from, the rest only learned from
            rest, head = iter(chunks), []
            while look.rows < looks.FEATURE_ROWS and (chunk := next(rest, None)) is not None:
                head.append(chunk)
                self._look(look, chunk)
            again, complete = chain(head, rest), look.rows < looks.FEATURE_ROWS
        else:
            for chunk in chunks:
                self._look(look, chunk)
        seen = look.seen(complete=complete)
        features = self._prepare(seen, targets, options, passes_again=again is chunks)
        if features is None:
            return self._solve_kernel(seen, targets, options)
        sums: RidgeSums | None = None
        for start, X, y, weight in numbered_blocks(again, self._check_block):
            if sums is None:
                sums = options.new_sums(targets, y, features.signature.shape[0], shift=None)
            add_rows(sums, targets, features, X, y, weight, start=start)
        if sums is None:
            raise ValueError("chunks gave rows in the first pass and none in the second; pass a list or an iterator")
        check = self._check_block
        return self._conclude(
            sums, targets, options, features, seen, lambda task: fit_local(task, numbered_blocks(again, check))
        )

    @unchanged_on_error
    @quiet_blas()
    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        options = self._options()
        if "solver_" not in vars(self):
            block = self._check_block(X, y, sample_weight, start=0, first=True)
            return self._start(block, self._new_targets(classes), options, all_rows=False)
        if self.solver_ == "local":
            raise ValueError(
                "a model with solver='local' cannot be continued by partial_fit; use solver='features' from the start"
            )
        if "_sums" not in vars(self) and "_given" not in vars(self):
            raise ValueError(
                "this model was loaded from a file, and files hold no sums over rows; fit a new model to continue with"
            )
        if self.solver_ != "features":  # the rows learned from are few, and still there
            block = self._check_block(X, y, sample_weight, start=self.n_rows_, first=False)
            both = joined_blocks(self._given, block)
            return self._start(both, self._new_targets(classes), options, all_rows=False)
        # into copies: rows that cannot be learned from must leave no trace
        sums, targets = self._sums.copy(), self._targets.copy()
        X, y, weight = self._check_block(X, y, sample_weight, start=sums.rows, first=False)
        rows, features = more_rows(self.features_, X)
        add_rows(sums, targets, features, rows, y, weight, start=sums.rows)
        return self._conclude(sums, targets, options, features)

    def _options(self) -> RidgeOptions:
        check_features(self.features)
        one_of(self.solver, "solver", SOLVERS)
        fraction = real(self.validation_fraction, "validation_fraction")
        if not 0.0 < fraction < 1.0:
            raise ValueError(f"validation_fraction must be between 0 and 1, got {fraction}; use for example 0.1")
        return RidgeOptions(
            regularizer=cast(Regularizer, self.regularizer),
            candidates=check_lam(self.lam, self.regularizer, self.selection),
            selection=self.selection,
            intercept=truth_value(self.fit_intercept, "fit_intercept"),
            loo_rows=positive_integer(self.loo_rows, "loo_rows"),
            validation_fraction=fraction,
        )

    def _check_block(self, X: Any, y: Any, sample_weight: Any, *, start: int, first: bool) -> Block:
        return check_block(self, self._check_targets, X, y, sample_weight, start=start, first=first)

    def _look(self, look: ChunkPass, chunk: tuple[Any, ...]) -> None:
        X = check_rows(self, chunk[0], first=look.rows == 0)
        if isinstance(X, Objects):
            raise TypeError("fit_chunks takes rows of numbers; pass objects to fit all at once, or to partial_fit")
        y = self._check_targets(chunk[1], look.rows) if self._looks_at_targets else None
        if y is not None:
            check_lengths(X, y)
        look.add(X, check_weight(chunk[2] if len(chunk) > 2 else None, X.shape[0], look.rows), y)

    @property
    def _looks_at_targets(self) -> bool:
        """Whether rows are sampled with their targets."""
        return is_chosen(self.features) or self.solver == "local"

    def _most_examples(self) -> int | None:
        """Distinct rows that are kept with their targets."""
        return None if self.solver == "exact" else EXACT_ROWS

    def _prepare(
        self,
        seen: FirstPass,
        targets: Targets,
        options: RidgeOptions,
        *,
        all_rows: bool = True,
        passes_again: bool = True,
    ) -> Features | None:
        """Choose a way of solving, and what there is to choose of a kernel; the fitted map, None where none is needed."""
        chosen = is_chosen(self.features)
        self.solver_ = way_of_solving(
            self.solver, seen, options, chosen=chosen, more_to_come=not all_rows, passes_again=passes_again
        )
        self.choice_ = self.model_ = self.local_ = self.features_ = self.coef_ = None
        tuning = tuning_of(self.features)
        if chosen and tuning is not None:
            targets.check_complete()
            self.choice_ = choose_for(tuning, seen, targets, options, self.solver_)
        if self.solver_ == "exact":
            return None
        width = columns_for(self.solver_, seen)
        self.features_ = fit_features(self.features, seen, self.random_state, self.choice_, width=width)
        return training_features(self.features_, seen)

    def _solve_kernel(self, seen: FirstPass, targets: Targets, options: RidgeOptions) -> Self:
        """Solve without features, and store the model."""
        assert self.choice_ is not None
        assert seen.merged is not None
        model, lam = fit_kernel_model(
            self.choice_,
            seen.merged,
            regularizer=options.regularizer,
            candidates=options.candidates,
            intercept=options.intercept,
        )
        if "_sums" in vars(self):
            del self._sums
        self._targets = targets
        self._given = seen.given
        two = options.regularizer == "two"
        self.lam_ = lam if two else lam[0]
        lams, self.scores_ = cast(np.ndarray, self.choice_.lams), self.choice_.errors
        self.lams_ = np.stack([lams, lams], axis=1) if two else lams
        self.n_rows_ = seen.n_rows
        self._store_model(model)
        return self

    def _conclude(
        self,
        sums: RidgeSums,
        targets: Targets,
        options: RidgeOptions,
        features: Features,
        seen: FirstPass | None = None,
        fit_leaves: Callable[[LocalTask], LocalPart] | None = None,
    ) -> Self:
        """Solve for the sums, and for leaves that learn the rest if that is the way, and store the model.

        `features` are those of the rows that were summed.
        """
        solution = solve_ridge(sums, targets, features, options_for(self.solver_, options))
        self._sums, self._targets = sums, targets
        if "_given" in vars(self):
            del self._given
        two = options.regularizer == "two"
        self.lam_ = solution.lam if two else solution.lam[0]
        self.lams_ = solution.candidates if two else solution.candidates[:, 0]
        self.scores_ = solution.scores
        self.n_rows_ = sums.rows
        self._store(solution)
        if self.solver_ == "local" and seen is not None and fit_leaves is not None:
            self._store_local(fit_leaves(local_task(features, sums, targets, options, solution, seen)))
            del self._sums  # nothing can be added to a tree
        return self

    # ---- predicting

    def _row_model(self) -> RowModel:
        """The fitted model as a function of rows."""
        if self.model_ is not None:
            return self.model_
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        linear = LinearModel(row_map(self.features_), coef, intercept)
        return linear if self.local_ is None else LocalModel(linear, self.local_)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean squared derivative of a first model along each column; the sum is 1. For ``solver="local"`` only."""
        local = vars(self).get("local_")
        if local is None:
            raise AttributeError(f"feature_importances_ need solver='local'; this {type(self).__name__} has none")
        return np.asarray(local.metric.importances)

    def _check_loaded(self) -> None:
        if "coef_" not in vars(self):
            return
        self.solver_ = self.solver_ or "features"  # files from before there was a choice
        n_outputs = self._n_outputs()
        if self.model_ is None:
            check_linear(self.features_, np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_), n_outputs)
            local = self.local_
            if local is not None and (local.width, local.metric.importances.size, local.leaves.rows.shape[1]) != (
                np.atleast_1d(self.intercept_).size,
                self.n_features_in_,  # which a model of objects does not have
                local.placement.n_outputs(self.n_features_in_),
            ):
                raise ValueError("the leaves do not fit the number of columns or of outputs")
        else:
            check_kernel_model(self.model_, self.n_features_in_, n_outputs)

    @abstractmethod
    def _n_outputs(self) -> int | None:
        """How many outputs a fitted model must have; None if any number."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self.features)
        tags.input_tags.sparse = tags.input_tags.sparse and self.solver != "local"
        tags.target_tags.required = True
        return tags
