"""The frame of the classifiers that Newton's method fits."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from krein._core.checks import one_of, positive_integer, positive_real
from krein.estimators.learners.input_checks import check_labels
from krein.estimators.learners.row_learner import RowClassifierMixin, RowLearner
from krein.learning.chosen_features import MapSource
from krein.learning.newton.fitting import Candidates, Chosen
from krein.learning.newton.learn import MACHINE_SOLVERS, MachineOptions, learn_machine
from krein.learning.newton.machines import Kind
from krein.rows.source import RowSource
from krein.rows.targets import LabelTargets

__all__ = ["NewtonClassifier"]


class NewtonClassifier(RowClassifierMixin, RowLearner):
    """Everything but the loss and its penalty, which a subclass names."""

    solver: str
    class_weight: Any
    tol: float
    max_iter: int

    _kind: Kind

    @abstractmethod
    def _candidates(self) -> Candidates:
        """The penalties to choose from; an error that names a parameter that is not what it should be."""

    @abstractmethod
    def _store_choice(self, chosen: Chosen, candidates: Candidates) -> None:
        """Set what there is to say of the penalty."""

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
        if iter(chunks) is chunks:
            raise TypeError(
                f"chunks must be a collection that can be iterated again, got the iterator {chunks!r}: "
                f"{type(self).__name__} reads the rows several times; use a list, or KreinRidgeClassifier"
            )
        return super().fit_chunks(chunks)

    def _learn(self, rows: RowSource, source: MapSource) -> None:
        one_of(self.solver, "solver", MACHINE_SOLVERS)
        tol, max_iter = positive_real(self.tol, "tol"), positive_integer(self.max_iter, "max_iter")
        targets = LabelTargets(class_weight=self.class_weight)
        options = MachineOptions(self._kind, self._candidates(), tol, max_iter)
        found = learn_machine(rows, targets, source, options, solver=self.solver)
        if not found.converged:
            warnings.warn(
                f"the solver stopped after max_iter={self.max_iter} steps without reaching tol={self.tol}; use a larger "
                "max_iter, a larger tol or a stronger penalty",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.classes_ = targets.sorted_classes()[0]
        self.solver_, self.choice_, self.n_iter_ = found.solver, found.choice, found.n_iter
        self.model_, self.intercept_ = found.model, found.model.constant
        self._store_choice(found.chosen, found.candidates)

    @property
    def _check_targets(self) -> Callable[[Any, int], np.ndarray]:
        return check_labels

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "model_" in vars(self):
            self.solver_ = self.solver_ or "features"  # files from before there was a choice
