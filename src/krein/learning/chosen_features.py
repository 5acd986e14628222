"""Features of a kernel that the data chose: what is chosen from, the choice, and the fitted map as one function of raw rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.checks import one_of, positive_integer
from krein._core.threads import quiet_blas
from krein.features import FeatureRecipe, RowMap, fit_map
from krein.kernels import Kernel
from krein.learning.limits import default_width
from krein.learning.path import Regularizer
from krein.learning.tuning.choice import (
    Choice,
    choose,
    feature_round,
    fixed_choice,
    in_learned_metric,
    unsupervised_choice,
)
from krein.learning.tuning.placement import SCALINGS, Placement
from krein.learning.tuning.rounds import PORTFOLIO
from krein.nystroem.nystroem_fit import NystroemRecipe, fit_nystroem
from krein.rows.equal import MergedRows
from krein.rows.look import Look
from krein.similarities import KernelSimilarity

__all__ = ["KnownFeatures", "MapSource", "PlacedMap", "Tuning", "fit_chosen"]


@final
@dataclass(frozen=True)
class Tuning:
    """What is chosen from; `krein.TunedFeatures` has the same as parameters.

    Parameters
    ----------
    kernels : tuple of Kernel or None, default=PORTFOLIO
        The kernels to try; None takes `given` as it is.
    n_components : int or "auto", default="auto"
    scaling : {"standard", "minmax", "none"}, default="standard"
    metric : {"none", "learned"}, default="none"
    given : Kernel or None, default=None
        The kernel where none is chosen; None is ``DeltaGaussian()``.
    """

    kernels: tuple[Kernel, ...] | None = PORTFOLIO
    n_components: int | str = "auto"
    scaling: str = "standard"
    metric: str = "none"
    given: Kernel | None = None

    def __post_init__(self) -> None:
        one_of(self.scaling, "scaling", SCALINGS)
        one_of(self.metric, "metric", ("none", "learned"))
        if self.metric == "learned" and self.scaling == "minmax":
            raise ValueError(
                "metric='learned' rotates columns, and scaling='minmax' clips them; use scaling='standard'"
            )
        if isinstance(self.n_components, str):
            one_of(self.n_components, "n_components", ("auto",), otherwise=" or a positive integer")
        else:
            object.__setattr__(self, "n_components", positive_integer(self.n_components, "n_components"))

    def width(self, look: Look) -> int:
        """Columns of the map: as asked for, or by the number of distinct rows."""
        return default_width(look.size) if isinstance(self.n_components, str) else self.n_components

    def choose(
        self,
        look: Look,
        rows: MergedRows | None = None,
        *,
        lams: np.ndarray | None = None,
        regularizer: Regularizer = "hilbert",
        intercept: bool = True,
        exact_rows: int | None = None,
        width: int | None = None,
    ) -> Choice:
        """Placement, kernel and λ from a look at rows.

        Parameters
        ----------
        look : Look
        rows : MergedRows or None, default=None
            Distinct rows with targets; None chooses without.
        lams : ndarray of shape (n_lams,), default=None
            Values of λ a learner may take; None for a grid.
        regularizer : {"hilbert", "two", "krein"}, default="hilbert"
        intercept : bool, default=True
        exact_rows : int or None, default=None
            Most rows of an exact problem that is to be solved; None where features will be fitted.
        width : int or None, default=None
            Columns of those features; None for `n_components`.
        """
        if self.kernels is None:
            return fixed_choice(self.given, look.distinct, columns=look.columns, scaling=self.scaling)
        if rows is None:
            return unsupervised_choice(self.kernels, look.distinct, columns=look.columns, scaling=self.scaling)
        if exact_rows is None:
            most_rows, width = feature_round(look.size, self.width(look) if width is None else width)
        else:
            most_rows, width = exact_rows, None
        choose_from = partial(
            choose,
            kernels=self.kernels,
            lams=lams,
            regularizer=regularizer,
            intercept=intercept,
            most_rows=most_rows,
            width=width,
        )
        found = choose_from(rows, columns=look.columns, scaling=self.scaling)
        if self.metric == "none":
            return found
        return in_learned_metric(found, rows, partial(choose_from, scaling="none"))


@final
@dataclass(frozen=True, eq=False)
class MapSource:
    """Where a learner has its features from.

    Parameters
    ----------
    fit : callable
        ``(look, choice, width) -> RowMap``: the map fitted to rows, for a choice if there is one, of so many columns if it is free.
    tuning : Tuning or None, default=None
        What is chosen; None where the map is given.
    known : RowMap or None, default=None
        The fitted map, where the rows are its features already.
    """

    fit: Callable[[Look, Choice | None, int | None], RowMap]
    tuning: Tuning | None = None
    known: RowMap | None = None

    @property
    def chosen(self) -> Tuning | None:
        """What a kernel is chosen from; None if there is no kernel to choose."""
        return None if self.tuning is None or self.tuning.kernels is None else self.tuning


@final
@dataclass(frozen=True, eq=False)
class KnownFeatures:
    """Rows that are features already."""

    signature: np.ndarray

    @property
    def n_features(self) -> int:
        """Columns of the rows."""
        return int(self.signature.size)

    def __call__(self, X: Any) -> np.ndarray:
        """The rows themselves."""
        return np.asarray(X)


@final
@dataclass(frozen=True, eq=False)
class PlacedMap:
    """A chosen kernel as features: raw rows are placed, and a fitted map takes the placed rows.

    Parameters
    ----------
    placement : Placement
    map : RowMap
        Of placed rows.
    """

    placement: Placement
    map: RowMap

    def __post_init__(self) -> None:
        if not isinstance(self.map, RowMap):
            raise TypeError(f"map must be a fitted map, got {type(self.map).__name__}")
        columns, taken = self.placement.n_features, self.map.n_features
        if columns is not None and taken is not None and self.placement.n_outputs(columns) != taken:
            raise ValueError(
                f"the placement gives rows of {self.placement.n_outputs(columns)} columns, but the map takes {taken}"
            )

    @property
    def signature(self) -> np.ndarray:
        """±1 for each output column."""
        return self.map.signature

    @property
    def n_features(self) -> int | None:
        """Columns of raw rows."""
        taken = self.map.n_features
        if self.placement.n_features is not None or taken is None:
            return self.placement.n_features
        return taken - (self.placement.lift is not None)

    def __call__(self, X: Any) -> np.ndarray:
        """Features of finite raw rows, shape (n_rows, n_components), in the dtype of X."""
        return self.map(self.placement(X))


@quiet_blas()
def fit_chosen(choice: Choice, sample: Any, width: int, rng: np.random.Generator) -> PlacedMap:
    """The map of a chosen kernel, fitted to raw rows that were checked.

    Dense rows take landmarks, whose features learn better than as many random ones; where every row can be a landmark they are
    exact. Sparse rows take waves.
    """
    placed = choice.placement(sample)
    fitted: RowMap
    if sp.issparse(placed) and width < placed.shape[0]:
        fitted = fit_map(FeatureRecipe(choice.kernel, width), placed, rng).everywhere()  # nobody could set its radius
    else:
        # in double precision, as single would round away more than λ; features are as precise as the rows
        placed = placed.astype(np.float64, copy=False)
        recipe = NystroemRecipe(width, "uniform" if width >= placed.shape[0] else "auto")
        fitted = fit_nystroem(KernelSimilarity(choice.kernel), placed, recipe, rng).map
    return PlacedMap(choice.placement, fitted)
