"""The frame of both ridge learners: one pass over the rows, in blocks, chunks or on a cluster; then one solve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, check_is_fitted, check_scalar, validate_data

from krein._core.threads import quiet_blas
from krein.distributed.dask_rows import DaskRows, head_row, is_dask, map_rows
from krein.estimators.learners.streaming import (
    FEATURE_ROWS,
    LinearMap,
    distinct_rows,
    enter_rows,
    feature_sample,
    fit_features,
    float_block,
    transform_block,
)
from krein.estimators.learners.targets import Labels, Targets
from krein.files.models import SavableMixin
from krein.learning.ledger import RidgeLedger
from krein.learning.ridge_choice import KeptRows, RidgeSolution, check_lam, solve_ridge
from krein.learning.rows import RowSample

__all__ = ["RidgeBase"]

_SHIFT_ROWS = 1024  # rows whose mean serves as the shift of the sums: near the mean is near enough

Block = tuple[Any, np.ndarray, np.ndarray | None]


class RidgeBase(SavableMixin, BaseEstimator, ABC):
    """Everything but what a target is; a subclass names its targets and its outputs."""

    _unsaved = ("_ledger", "_targets")  # sums over rows are for partial_fit, not for predicting

    features: Any
    regularizer: Any
    lam: Any
    selection: Any
    fit_intercept: bool
    loo_rows: int
    validation_fraction: float
    random_state: Any

    features_: Any
    coef_: np.ndarray
    intercept_: Any
    _ledger: RidgeLedger
    _targets: Targets

    @abstractmethod
    def _new_targets(self, classes: Any) -> Targets:
        """An empty book of targets; `classes` are those promised by the caller, or None."""

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
        candidates = self._check_parameters()
        self._targets = self._new_targets(None)
        if is_dask(X):
            rows = DaskRows.of(X, y, sample_weight)
            self._check_names(rows.head)
            self._targets.foresee(rows.distinct_targets)
            sample = distinct_rows(float_block(rows.sample(FEATURE_ROWS), 0))
            self._begin(sample, self._targets.check(rows.first_targets(), 0), candidates)
            self._ledger = rows.reduce(self._ledger, self._targets, self.features_, enter_rows)
            return self._conclude(candidates)
        X, y, weight = self._check_block(X, y, sample_weight, start=0, first=True)
        self._begin(feature_sample(X, weight, self.features), y, candidates)
        enter_rows(self._ledger, self._targets, self.features_, self._ledger.rows, X, y, weight)
        return self._conclude(candidates)

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
        candidates = self._check_parameters()
        self._targets = self._new_targets(None)
        if iter(chunks) is chunks:
            sample, chunks = self._sample_head(iter(chunks))
        else:
            sample = self._sample_chunks(chunks)
        for X, y, weight in self._checked(chunks):
            if sample is not None:
                self._begin(sample, y, candidates)
                sample = None
            enter_rows(self._ledger, self._targets, self.features_, self._ledger.rows, X, y, weight)
        return self._conclude(candidates)

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        candidates = self._check_parameters()
        first = "features_" not in vars(self)
        if first:
            self._targets = self._new_targets(classes)
        elif "_ledger" not in vars(self):
            raise ValueError(
                "this model was loaded from a file, and files hold no sums over rows; fit a new model to continue from"
            )
        start = 0 if first else self._ledger.rows
        X, y, weight = self._check_block(X, y, sample_weight, start=start, first=first)
        if first:
            self._begin(feature_sample(X, weight, self.features), y, candidates)
        enter_rows(self._ledger, self._targets, self.features_, start, X, y, weight)
        return self._conclude(candidates)

    def _check_parameters(self) -> np.ndarray | None:
        check_scalar(self.loo_rows, "loo_rows", Integral, min_val=1)
        check_scalar(
            self.validation_fraction,
            "validation_fraction",
            float,
            min_val=0.0,
            max_val=1.0,
            include_boundaries="neither",
        )
        return check_lam(self.lam, self.regularizer, self.selection)

    def _check_names(self, X: Any, *, first: bool = True) -> Any:
        # finiteness is checked block by block in `float_block`: a check here would read a memory map from end to end
        return validate_data(self, X, accept_sparse="csr", reset=first, ensure_all_finite=False, dtype="numeric")

    def _check_block(self, X: Any, y: Any, sample_weight: Any, *, start: int, first: bool) -> Block:
        X = self._check_names(X, first=first)
        y = self._targets.check(y, start)
        if y.shape[0] != X.shape[0]:
            raise ValueError(
                f"X and y have inconsistent lengths: {X.shape[0]} rows and {y.shape[0]} targets; pass one target per row"
            )
        return X, y, _check_weight(sample_weight, X.shape[0], start)

    def _checked(self, chunks: Iterable[tuple[Any, ...]]) -> Iterator[Block]:
        start = 0
        for X, y, *rest in chunks:
            block = self._check_block(X, y, rest[0] if rest else None, start=start, first=start == 0)
            start += block[0].shape[0]
            yield block

    def _sample_chunks(self, chunks: Iterable[tuple[Any, ...]]) -> Any:
        kept, start = RowSample(FEATURE_ROWS), 0
        for X, _, *rest in chunks:
            X = float_block(self._check_names(X, first=start == 0), start)
            weight = _check_weight(rest[0] if rest else None, X.shape[0], start)
            kept.add(np.arange(start, start + X.shape[0]), X, np.ones(X.shape[0]) if weight is None else weight)
            start += X.shape[0]
        if not start:
            raise ValueError("chunks is empty: there is nothing to fit on")
        X, weight = kept.columns()
        return distinct_rows(X[np.flatnonzero(weight > 0)])

    def _sample_head(self, chunks: Iterator[tuple[Any, ...]]) -> tuple[Any, Iterable[tuple[Any, ...]]]:
        head, rows = [], 0
        for chunk in chunks:
            head.append(chunk)
            rows += len(chunk[1])
            if rows >= FEATURE_ROWS:
                break

        def again() -> Iterator[tuple[Any, ...]]:
            yield from head
            yield from chunks

        return self._sample_chunks(head), again()

    def _begin(self, sample: Any, y: np.ndarray, candidates: np.ndarray | None) -> None:
        """Fit the feature map and open the ledger."""
        if not sample.shape[0]:
            raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")
        self.features_ = fit_features(self.features, sample, self.random_state)
        if self.fit_intercept:
            shift = transform_block(self.features_, sample[:_SHIFT_ROWS]).mean(axis=0, dtype=np.float64)
        else:
            shift = np.zeros(self.features_.signature_.shape[0])
        one = candidates is not None and len(candidates) == 1
        self._ledger = RidgeLedger(
            shift,
            self._targets.shift(y, intercept=self.fit_intercept),
            self._targets.new_shift,
            kept_rows=self.loo_rows if self.selection == "loo" and not one else 0,
            held_fraction=self.validation_fraction if self.selection == "validation" and not one else 0.0,
        )

    def _conclude(self, candidates: np.ndarray | None) -> Self:
        """Solve for the sums in the ledger."""
        ledger = self._ledger
        if not ledger.train.weight:
            raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")
        self._targets.check_complete()
        kept = None
        if ledger.kept is not None and (candidates is None or len(candidates) > 1):
            X, codes, weight = ledger.kept.columns()
            Z, Y = transform_block(self.features_, X), self._targets.expand(codes)
            kept = KeptRows(Z, Y, weight, codes if isinstance(self._targets, Labels) else None)
        solution = solve_ridge(
            ledger,
            self.features_.signature_,
            regularizer=self.regularizer,
            candidates=candidates,
            selection=self.selection,
            intercept=self.fit_intercept,
            kept=kept,
        )
        self.lam_ = solution.lam if self.regularizer == "two" else solution.lam[0]
        self.lams_ = solution.candidates if self.regularizer == "two" else solution.candidates[:, 0]
        self.scores_ = solution.scores
        self.n_rows_ = ledger.rows
        self._store(solution)
        return self

    # ---- predicting

    def _outputs(self, X: Any) -> Any:
        """Values of the linear model, shape (n_samples, n_outputs), float64."""
        check_is_fitted(self, "coef_")
        coef = np.atleast_2d(self.coef_)
        model = LinearMap(self.features_, coef, np.atleast_1d(self.intercept_))
        if is_dask(X):
            self._check_names(head_row(X), first=False)
            return map_rows(model, X, width=coef.shape[0])
        return model(self._check_names(X, first=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = None if self.features is None else get_tags(self.features).input_tags
        tags.input_tags.sparse = True if inner is None else inner.sparse
        tags.input_tags.pairwise = False if inner is None else inner.pairwise
        tags.target_tags.required = True
        return tags


def _check_weight(sample_weight: Any, n_rows: int, start: int) -> np.ndarray | None:
    """Weights as float64, or None."""
    if sample_weight is None:
        return None
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="sample_weight"
    )
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}: one weight per row")
    bad = ~(np.isfinite(weight) & (weight >= 0.0))
    if bad.any():
        raise ValueError(
            f"sample_weight must be finite and not negative, got {weight[bad][0]} in row {start + np.flatnonzero(bad)[0]}"
        )
    return weight
