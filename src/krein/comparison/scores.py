"""What one fit of a contender gave, and the file that keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from krein._core.journal import JsonLines

__all__ = ["FoldScore", "ScoreFile"]


@dataclass(frozen=True)
class FoldScore:
    """A contender on one fold.

    Parameters
    ----------
    contender : str
        Its name.
    fold : int
        From 0.
    score : float
        Accuracy or R² on the held-out rows; NaN if it failed.
    fit_seconds, predict_seconds : float
    chosen : str, default=""
        What the model chose from the data, in a few words.
    kernel : str, default=""
        Family of the kernel that it chose, if it chose one.
    indefinite : bool, default=False
        Whether that kernel is not positive definite on the rows.
    processor_seconds : float, default=0.0
        Processor time of this process to fit and to predict, which a busy machine changes least.
    failure : str, default=""
        What the error said, if there was one.
    """

    contender: str
    fold: int
    score: float
    fit_seconds: float
    predict_seconds: float
    chosen: str = ""
    kernel: str = ""
    indefinite: bool = False
    processor_seconds: float = 0.0
    failure: str = ""


class ScoreFile:
    """Finished folds of one comparison, a line of JSON each.

    Parameters
    ----------
    path : path
        Need not exist; its folder must.
    key : str
        Key of the comparison: data, folds, seed and versions. Lines of other comparisons are ignored.
    """

    def __init__(self, path: Path, key: str) -> None:
        self.key = key
        self._file = JsonLines(path)

    def append(self, score: FoldScore) -> None:
        """Add a score; when this returns it is on the disk."""
        self._file.append({"key": self.key, **asdict(score)})

    def read(self) -> list[FoldScore]:
        """Scores of this comparison."""
        found: dict[tuple[str, int], FoldScore] = {}
        for fields in self._file.read():
            score = self._of(fields)
            if score is not None:
                found.setdefault((score.contender, score.fold), score)
        return list(found.values())

    def _of(self, fields: dict[str, Any]) -> FoldScore | None:
        if fields.pop("key", None) != self.key:
            return None
        try:
            return FoldScore(**fields)
        except TypeError:  # of this key, and yet not its fields
            return None
