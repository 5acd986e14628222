"""What a feature map is asked to be, checked before any row is looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, final

import numpy as np

from krein._core.checks import FrozenParams, one_of, param, positive_integer, positive_real, truth_value, unless_auto
from krein.kernels import Kernel
from krein.measures.build import MeasureRecipe, as_measure_recipe, check_kernel
from krein.sampling import Orthogonal, Sampler, as_sampler

__all__ = ["DICTIONARIES", "Domain", "FeatureRecipe", "WEIGHTS", "projection_rows"]

WEIGHTS = ("auto", "calibrated", "unbiased", "projected")
DICTIONARIES = ("auto", "waves", "landmarks")

# Rows whose pairs fit the weights, choose among fits, and estimate the error: a fraction of a second of least squares, and
# errors known to some percent.
FIT_ROWS, CHECK_ROWS, LAST_ROWS = 2000, 256, 512
_FARTHEST = 1e150  # radius
PROJECTION_ROWS = 8192  # at most that fit a projection
# Rows that choose among projections, whose errors may be large on rows that are rare: one in some hundred is seen
PROJECTION_CHECK_ROWS = 1024
SEARCH_CHECK_ROWS = 2048  # that choose a width
LEAST_PROJECTION_ROWS = 512
LANDMARK_ROWS = 16_384  # at most that landmarks stand for, those that fit a projection among them
_LANDMARK_ROWS_PER_COLUMN = 40  # kept: twenty for each of the sections drawn
ROWS_PER_COLUMN = 4  # drawn


class Domain(NamedTuple):
    """Where rows are placed.

    Parameters
    ----------
    sphere : bool
        On the unit sphere.
    scales : bool
        They are scaled to lie there.
    """

    sphere: bool
    scales: bool


@final
@dataclass(frozen=True)
class FeatureRecipe(FrozenParams):
    """The parameters of a fit; `krein.features.fit_map` follows them.

    Parameters
    ----------
    kernel : Kernel
    n_components : int or "auto", default=512
        Output columns; ``"auto"``: as few as meet `error`.
    weights : {"auto", "calibrated", "unbiased", "projected"}, default="auto"
        ``"auto"`` becomes ``"calibrated"`` where `n_components` is a number.
    sampler : Sampler, default=Orthogonal()
    measure : MeasureRecipe, default=MeasureRecipe()
    radius : float or "auto", default="auto"
    normalize : bool or "auto", default="auto"
    oversampling : int or "auto", default="auto"
    dictionary : {"auto", "waves", "landmarks"}, default="auto"
    error : float, default=1e-3
        Relative error of the kernel matrix that ``n_components="auto"`` is to meet.
    """

    kernel: Kernel
    n_components: int | str = param(512, partial(unless_auto, positive_integer, otherwise=" or a positive integer"))
    weights: str = param("auto", partial(one_of, choices=WEIGHTS))
    sampler: Sampler = field(default_factory=Orthogonal)
    measure: MeasureRecipe = field(default_factory=MeasureRecipe)
    radius: float | str = param("auto", partial(unless_auto, positive_real, otherwise=" or a positive number"))
    normalize: bool | str = param("auto", partial(unless_auto, truth_value, otherwise=", True or False"))
    oversampling: int | str = param("auto", partial(unless_auto, positive_integer, otherwise=" or a positive integer"))
    dictionary: str = param("auto", partial(one_of, choices=DICTIONARIES))
    error: float = param(1e-3, positive_real)

    def __post_init__(self) -> None:
        check_kernel(self.kernel)
        super().__post_init__()
        object.__setattr__(self, "sampler", as_sampler(self.sampler))
        object.__setattr__(self, "measure", as_measure_recipe(self.measure))
        if self.n_components != "auto" and self.weights == "auto":
            object.__setattr__(self, "weights", "calibrated")
        if self.n_components == "auto" and self.weights == "unbiased":
            raise ValueError(
                "weights must be 'auto', 'calibrated' or 'projected' with n_components='auto', which is chosen on held-out "
                "rows, got 'unbiased'; set a number of columns"
            )
        if self.given_radius is not None and self.given_radius > _FARTHEST:
            raise ValueError(
                f"radius must be at most {_FARTHEST:g}, so that its square is a number, got {self.radius!r}"
            )

    @property
    def given_radius(self) -> float | None:
        """The radius asked for; None where the rows decide."""
        return None if isinstance(self.radius, str) else self.radius

    @property
    def domain(self) -> Domain:
        """Where the rows are to be placed."""
        on_sphere = self.kernel.domain == "sphere"
        if isinstance(self.normalize, str):
            return Domain(on_sphere, on_sphere and self.kernel.scales_rows)
        return Domain(on_sphere or self.normalize, self.normalize)

    @property
    def width(self) -> int:
        """Output columns, where they are given."""
        return int(self.n_components)

    @property
    def searches(self) -> bool:
        """Whether the width is to be found."""
        return isinstance(self.n_components, str)

    @property
    def n_rows(self) -> int:
        """Rows that a fit looks at, if there are so many."""
        if self.searches:
            return LANDMARK_ROWS + SEARCH_CHECK_ROWS + LAST_ROWS
        if self.weights != "projected":
            return FIT_ROWS + CHECK_ROWS + LAST_ROWS
        wanted = int(np.clip(_LANDMARK_ROWS_PER_COLUMN * self.width, 2 * LEAST_PROJECTION_ROWS, LANDMARK_ROWS))
        return wanted + PROJECTION_CHECK_ROWS + LAST_ROWS


def projection_rows(width: int, per_column: int = 2) -> int:
    """Rows that fit a projection to some width, if there are so many."""
    least = LEAST_PROJECTION_ROWS * max(1, min(per_column, 4) // 2)  # waves are many
    return int(np.clip(ROWS_PER_COLUMN * min(per_column, 2) * width, least, PROJECTION_ROWS))
