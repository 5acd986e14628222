"""Support vector classification on features with a signature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.checks import one_of, positive_real
from krein.estimators.learners.newton_classifier import NewtonClassifier
from krein.learning.newton.fitting import Candidates, Chosen

__all__ = ["KreinSVC"]


@final
class KreinSVC(NewtonClassifier):
    r"""Linear support vector machine on features with a signature, as in the paper: squared hinge loss, one against rest.

    .. math:: \min_{w, b}\ \tfrac12 (\|w\|^2 + b^2) + C \sum_i s_i \max(0,\, 1 - y_i (z_i^\top w + b))^2

    where :math:`s_i` is the weight of a row.

    Parameters
    ----------
    kernel : Kernel, str, callable, Similarity, DistanceKernel, feature map or None, default=None
        As in `KreinRidge`. None: scaling, kernel and length scale are chosen from the data.
    features : transformer with a ``signature_``, default=None
        In place of `kernel`, as in `KreinRidge`.
    solver : {"auto", "exact", "features"}, default="auto"
        ``"exact"``: fit on the exact map of all rows, from the spectrum of their kernel matrix, without random features.
        ``"auto"``: exact if the kernel is chosen from the data and there are at most 2,000 distinct rows, else features.
    C : "auto", float or sequence of float, default="auto"
        ``"auto"``: :math:`1 / (2 \lambda \sum_i s_i)`, with the λ of ridge regression for ±1 whose leave-one-out error is least;
        of more than 20,000 rows, on as many. Of several values the one with the best accuracy in five-fold cross-validation is
        chosen; of values whose accuracies are within a thousandth of the best, the smallest. Features of small length, such as
        those of a smooth kernel, need a large C.
    class_weight : mapping of labels to float, "balanced" or None, default=None
        Factors of the weights of the rows of each class. ``"balanced"`` gives every class the same total weight.
    tol : float, default=1e-4
        Stopping tolerance, as defined by LibLinear's primal solver.
    max_iter : int, default=1000
        Largest number of steps.
    random_state : int, RandomState or None, default=None
        For the default feature map.
    verbose : bool, default=False
        Whether a fit shows how far it is: bars on a terminal and in a notebook, lines elsewhere.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_classes, n_components), or (1, n_components) for two classes
    intercept_ : ndarray of shape (n_classes,) or (1,)
    C_ : float
    Cs_ : ndarray of shape (n_candidates,)
        Candidates.
    cv_scores_ : ndarray of shape (n_candidates,) or None
        Accuracy on held-out rows for each candidate; None if there was only one, as with ``C="auto"``.
    solver_ : {"exact", "features"}
        The solver that was used.
    choice_ : Choice or None
        The choice made from the data, with the table of the kernels that were tried.
    model_ : LinearModel or KernelModel
        The fitted model as a function of rows; ``coef_`` and ``features_`` are read from it, and an exact model has none.
    features_ : RowMap
        The fitted feature map as a function of rows.
    n_iter_ : int

    Notes
    -----
    The regularizer is the norm of the Hilbert majorant :math:`k_+ + k_-`; for the Kreĭn problem itself see
    `ExactKreinSVC`.

    The features of all rows are kept in memory, in the dtype of X, up to 2 GiB. For larger tables, chunks and Dask collections
    they are computed again in each of the ten to forty passes.

    Folds are assigned by the content of the rows: the order of rows does not matter, and equal rows are in the same fold.

    Newton's method runs on all classes and folds at once with dense matrix products, and factorizes the Hessian where conjugate
    gradients stall; coordinate descent on the dual (LibLinear) is as fast for small C and does not converge for the large C that
    these features need. Blocks of rows are divided among threads in a fixed way, so the number of threads does not change the
    result.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinSVC
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> bool(KreinSVC(C=10.0, random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    _kind = "hinge"

    def __init__(
        self,
        kernel: Any = None,
        *,
        features: Any = None,
        solver: str = "auto",
        C: Any = "auto",
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.features = features
        self.solver = solver
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _candidates(self) -> Candidates:
        if isinstance(self.C, str):
            one_of(self.C, "C", ("auto",), otherwise=" or a positive number")
            return _RidgeCost(())
        return _Costs(_given_costs(self.C))

    def _store_choice(self, chosen: Chosen, candidates: Candidates) -> None:
        self.Cs_ = candidates.pairs(1.0, 1.0)[:, 0]
        self.C_ = float(self.Cs_[chosen.best])
        self.cv_scores_ = None if chosen.scores is None else 1.0 - chosen.scores.errors


@dataclass(frozen=True)
class _Costs(Candidates):
    """Values of C, all of which are tried."""

    values: tuple[float, ...]

    def pairs(self, scale: float, weight: float) -> np.ndarray:
        return np.stack([self.values, np.ones(len(self.values))], axis=1)

    @property
    def single(self) -> bool:
        return len(self.values) == 1

    @property
    def least(self) -> int:
        return len(self.values)


@final
class _RidgeCost(_Costs):
    """The C of ridge regression: the same penalty beside errors that count on one side of the margin only."""

    @property
    def follow_ridge(self) -> bool:
        return True

    def after_ridge(self, total: float, weight: float) -> Candidates:
        return _Costs((0.5 / total,))


def _given_costs(C: Any) -> tuple[float, ...]:
    """One number or several, ascending."""
    if not isinstance(C, (tuple, list, np.ndarray)):
        return (positive_real(C, "C"),)
    if not len(C):
        raise ValueError("C must be 'auto', a positive number or several of them, got none; use 'auto'")
    return tuple(sorted({positive_real(one, "C") for one in C}))
