"""The frame of both ridge learners: one pass over the rows, in blocks, chunks or on a cluster; then one solve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from krein._core.checks import positive_integer, real, truth_value
from krein._core.threads import quiet_blas
from krein.distributed.dask_rows import DaskRows, is_dask
from krein.estimators.learners.input_checks import check_lengths, check_rows, check_weight
from krein.estimators.learners.linear import check_linear, linear_values
from krein.estimators.maps.fitting import (
    CheckedFeatures,
    check_features,
    copy_input_tags,
    fit_features,
    look_for,
    wants_columns,
)
from krein.files.models import SavableMixin
from krein.learning import first_pass
from krein.learning.first_pass import ChunkPass, FirstPass
from krein.learning.path import Regularizer
from krein.learning.ridge_choice import RidgeOptions, RidgeSolution, check_lam, solve_ridge
from krein.learning.ridge_sums import RidgeSums, add_rows
from krein.learning.stream import Features
from krein.learning.targets import Targets

__all__ = ["RidgeBase"]

_SHIFT_ROWS = (
    1024  # rows whose mean is the shift of sums that are made on several machines: near the mean is near enough
)

Block = tuple[Any, np.ndarray, np.ndarray | None]
CheckTargets = Callable[[Any, int], np.ndarray]


class RidgeBase(SavableMixin, BaseEstimator, ABC):
    """Everything but what a target is; a subclass names its targets and its outputs."""

    features: Any
    regularizer: str
    lam: Any
    selection: str
    fit_intercept: bool
    loo_rows: int
    validation_fraction: float
    random_state: Any

    features_: Any
    coef_: np.ndarray
    intercept_: Any
    _sums: RidgeSums
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

    # ---- fitting

    @quiet_blas()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit in one pass over blocks of rows; the features of all rows are never held at once.

        Parameters
        ----------
        X : array, memory map, DataFrame, sparse matrix, dask.array or dask.dataframe of shape (n_samples, n_features)
            Dask collections are fitted through the scheduler that is active, see the user guide on clusters.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or the Dask equivalent
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative, not all zero. Whole-number weights are numbers of copies of a row.

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
        X, seen, checked = look_for(self.features, X, weight)
        features = self._fit_features(seen)
        n_rows = X.shape[0] if all_rows else None
        sums = options.new_sums(targets, y, features.signature.shape[0], shift=None, n_rows=n_rows)
        add_rows(sums, targets, features, X, y, weight, start=0, checked=checked)
        return self._conclude(sums, targets, options)

    def _fit_dask(self, rows: DaskRows, targets: Targets, options: RidgeOptions) -> Self:
        check_rows(self, rows.head, first=True)
        wanted = wants_columns(self.features)
        look = rows.first_look(first_pass.FEATURE_ROWS, targets, self._check_targets, summarize=wanted)
        first = cast(np.ndarray, look.targets)
        targets.announce(first)
        features = self._fit_features(look.seen)
        # workers must subtract the same: the mean of some sampled rows, whose features are made here for it
        shift = features(look.seen.sample[:_SHIFT_ROWS]).mean(axis=0, dtype=np.float64)
        empty = options.new_sums(targets, first, shift.shape[0], shift=shift)
        sums = rows.reduce(empty, partial(_add_block, targets, self._check_targets, features))
        return self._conclude(sums, targets, options)

    @quiet_blas()
    def fit_chunks(self, chunks: Iterable[tuple[Any, ...]]) -> Self:
        """Fit from an iterable of ``(X, y)`` or ``(X, y, sample_weight)``, for tables that do not fit in memory.

        A collection that can be passed over again (a list, a `krein.files.tables.TableChunks`) is passed over twice: once to
        draw the rows the feature map is fitted on, once to learn; the result is that of `fit` on all rows. An iterator
        can be passed over only once: the map is then fitted on its first 50,000 rows.

        Parameters
        ----------
        chunks : iterable of tuples

        Returns
        -------
        self
        """
        options, targets = self._options(), self._new_targets(None)
        look = ChunkPass(summarize=wants_columns(self.features))
        again = chunks
        if iter(chunks) is chunks:  # an iterator: its head is looked at and learned from, the rest only learned from
            rest, head = iter(chunks), []
            while look.rows < first_pass.FEATURE_ROWS and (chunk := next(rest, None)) is not None:
                head.append(chunk)
                self._look(look, chunk)
            again = chain(head, rest)
        else:
            for chunk in chunks:
                self._look(look, chunk)
        features = self._fit_features(look.seen())
        sums: RidgeSums | None = None
        for X, y, weight in self._checked(again):
            if sums is None:
                sums = options.new_sums(targets, y, features.signature.shape[0], shift=None)
            add_rows(sums, targets, features, X, y, weight, start=sums.rows)
        if sums is None:
            raise ValueError("chunks gave rows in the first pass and none in the second; pass a list or an iterator")
        return self._conclude(sums, targets, options)

    @quiet_blas()
    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        options = self._options()
        with _unchanged_on_error(self):
            if "features_" not in vars(self):
                block = self._check_block(X, y, sample_weight, start=0, first=True)
                return self._start(block, self._new_targets(classes), options, all_rows=False)
            if "_sums" not in vars(self):
                raise ValueError(
                    "this model was loaded from a file, and files hold no sums over rows; fit a new model to continue from"
                )
            # into copies: rows that cannot be learned from must leave no trace
            sums, targets = self._sums.copy(), self._targets.copy()
            X, y, weight = self._check_block(X, y, sample_weight, start=sums.rows, first=False)
            add_rows(sums, targets, CheckedFeatures(self.features_), X, y, weight, start=sums.rows)
            return self._conclude(sums, targets, options)

    def _options(self) -> RidgeOptions:
        check_features(self.features)
        fraction = real(self.validation_fraction, "validation_fraction")
        if not 0.0 < fraction < 1.0:
            raise ValueError(f"validation_fraction must be between 0 and 1, got {fraction}; use 0.1, say")
        return RidgeOptions(
            regularizer=cast(Regularizer, self.regularizer),
            candidates=check_lam(self.lam, self.regularizer, self.selection),
            selection=self.selection,
            intercept=truth_value(self.fit_intercept, "fit_intercept"),
            loo_rows=positive_integer(self.loo_rows, "loo_rows"),
            validation_fraction=fraction,
        )

    def _check_block(self, X: Any, y: Any, sample_weight: Any, *, start: int, first: bool) -> Block:
        X = check_rows(self, X, first=first)
        y = self._check_targets(y, start)
        check_lengths(X, y)
        return X, y, check_weight(sample_weight, X.shape[0], start)

    def _checked(self, chunks: Iterable[tuple[Any, ...]]) -> Iterator[Block]:
        start = 0
        for X, y, *rest in chunks:
            block = self._check_block(X, y, rest[0] if rest else None, start=start, first=start == 0)
            start += block[0].shape[0]
            yield block

    def _look(self, look: ChunkPass, chunk: tuple[Any, ...]) -> None:
        X = check_rows(self, chunk[0], first=look.rows == 0)
        look.add(X, check_weight(chunk[2] if len(chunk) > 2 else None, X.shape[0], look.rows))

    def _fit_features(self, seen: FirstPass) -> Features:
        self.features_ = fit_features(self.features, seen.sample, self.random_state, seen.columns)
        return CheckedFeatures(self.features_)

    def _conclude(self, sums: RidgeSums, targets: Targets, options: RidgeOptions) -> Self:
        """Solve for the sums, and store the model."""
        solution = solve_ridge(sums, targets, CheckedFeatures(self.features_), options)
        self._sums, self._targets = sums, targets
        two = options.regularizer == "two"
        self.lam_ = solution.lam if two else solution.lam[0]
        self.lams_ = solution.candidates if two else solution.candidates[:, 0]
        self.scores_ = solution.scores
        self.n_rows_ = sums.rows
        self._store(solution)
        return self

    # ---- predicting

    def _outputs(self, X: Any) -> Any:
        """Values of the linear model, shape (n_samples, n_outputs), float64."""
        check_is_fitted(self, "coef_")
        return linear_values(self, X, self.features_, np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_))

    def _check_loaded(self) -> None:
        if "coef_" in vars(self):
            check_linear(self.features_, np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self.features)
        tags.target_tags.required = True
        return tags


def _add_block(
    targets: Targets,
    check: CheckTargets,
    features: Features,
    sums: RidgeSums,
    start: int,
    X: Any,
    y: Any,
    weight: np.ndarray | None,
) -> None:
    """Add a block of rows where it lives."""
    add_rows(sums, targets.copy(), features, X, check(y, start), weight, start=start)


@contextmanager
def _unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """All attributes are put back as they were if the block does not run to its end."""
    before, done = dict(vars(estimator)), False
    try:
        yield
        done = True
    finally:
        if not done:
            vars(estimator).clear()
            vars(estimator).update(before)
