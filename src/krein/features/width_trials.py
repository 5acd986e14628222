"""The trials of a search for a width, with their errors and costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from krein._core.checks import integer, one_of, positive_integer, positive_real
from krein.show.cards import card, card_table

__all__ = ["WidthTrial", "WidthSearch"]


@final
@dataclass(frozen=True)
class WidthTrial:
    """One fit of a search.

    Parameters
    ----------
    weights : {"calibrated", "projected"}
    n_columns : int
        Columns that were drawn: those of the map, or of the dictionary before its projection.
    n_evaluations : int
        Values of the kernel that the fit computed.
    n_components : int
        The smallest width that meets the target, or the most accurate one if none does.
    error : float
        Relative error at that width on the rows used for the choice, plus twice its standard error.
    """

    weights: str
    n_columns: int
    n_evaluations: int
    n_components: int
    error: float

    def __post_init__(self) -> None:
        one_of(self.weights, "weights", ("calibrated", "projected"))
        for name in ("n_columns", "n_components"):
            positive_integer(getattr(self, name), name)
        integer(self.n_evaluations, "n_evaluations", least=0)
        if not (isinstance(self.error, float) and 0.0 <= self.error < math.inf):
            raise ValueError(f"error must be a finite number, at least 0, got {self.error!r}")


@final
@dataclass(frozen=True)
class WidthSearch:
    """A search for the smallest map that meets a target.

    Parameters
    ----------
    target : float
        Target for the relative error of the kernel matrix.
    trials : tuple of WidthTrial
        At least one, in the order in which they were made.
    chosen : int
        Index of the trial whose map was chosen.
    """

    target: float
    trials: tuple[WidthTrial, ...]
    chosen: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", positive_real(self.target, "target"))
        if not self.trials or not all(isinstance(one, WidthTrial) for one in self.trials):
            raise TypeError(f"trials must be made of WidthTrial, at least one, got {self.trials!r}")
        integer(self.chosen, "chosen", least=0, most=len(self.trials) - 1)

    @property
    def met(self) -> bool:
        """Whether the chosen map meets the target on the rows used for the choice."""
        return self.trials[self.chosen].error <= self.target

    @property
    def n_evaluations(self) -> int:
        """Values of the kernel that the whole search computed."""
        return sum(one.n_evaluations for one in self.trials)

    def _repr_html_(self) -> str:
        header = ("weights", "drawn", "evaluations", "n_components", "error")
        rows = [
            (one.weights, f"{one.n_columns}", f"{one.n_evaluations}", f"{one.n_components}", f"{one.error:.2e}")
            for one in self.trials
        ]
        best = {(self.chosen, j) for j in range(len(header))}
        said = f"Search for an error of {self.target:g}: {'met' if self.met else 'not met'}"
        return card(said, table=card_table(header, rows, best=best))

    def __str__(self) -> str:
        lines = ["weights     drawn  evaluations  n_components     error"]
        for place, one in enumerate(self.trials):
            mark = "  <-" if place == self.chosen else ""
            lines.append(
                f"{one.weights:10} {one.n_columns:6} {one.n_evaluations:12} {one.n_components:13} {one.error:9.2e}{mark}"
            )
        return "\n".join(lines)
