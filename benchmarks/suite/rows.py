"""What a section returns: one measured number, its spread, and the target it is held against."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

__all__ = ["Row", "of_ratio", "of_times"]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Parameters
    ----------
    name : str
    value : float
        The median.
    unit : str
        ``"×"`` is a ratio of times.
    low, high : float or None
        Quartiles of the repeats.
    at_least, at_most : float or None
        The target, if there is one.
    note : str
        Sizes, or why there is no number.
    """

    name: str
    value: float = float("nan")
    unit: str = "×"
    low: float | None = None
    high: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def target(self) -> str:
        """The target in words, empty if there is none."""
        if self.at_least is not None and self.at_most is not None:
            return f"{self.at_least:g} to {self.at_most:g}"
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return "" if self.at_most is None else f"≤ {self.at_most:g}"

    @property
    def met(self) -> bool | None:
        """Whether the median meets the target; None without a target or a number."""
        if not self.target or np.isnan(self.value):
            return None
        enough = self.at_least is None or self.value >= self.at_least
        return enough and (self.at_most is None or self.value <= self.at_most)

    def as_dict(self) -> dict[str, Any]:
        """For the file of results."""
        record = {key: value for key, value in asdict(self).items() if value is not None}
        if np.isnan(self.value):
            record["value"] = None
        return record | {"target": self.target, "met": self.met}


def of_times(name: str, seconds: np.ndarray, scale: float = 1e3, unit: str = "ms", **rest: Any) -> Row:
    """Median and quartiles of some times."""
    low, median, high = np.quantile(seconds, [0.25, 0.5, 0.75]) * scale
    return Row(name, float(median), unit, float(low), float(high), **rest)


def of_ratio(name: str, above: np.ndarray, below: np.ndarray, **rest: Any) -> Row:
    """Median and quartiles of the ratios within each turn, so that what else the machine did falls on both."""
    turns = min(len(above), len(below))  # slow tasks sit turns out
    low, median, high = np.quantile(above[:turns] / below[:turns], [0.25, 0.5, 0.75])
    return Row(name, float(median), "×", float(low), float(high), **rest)
