"""One run of an experiment: everything that decides its result, and a key made from it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["RECIPE", "Run", "Setting"]

Setting = int | float | str

RECIPE = 1  # raise it when the meaning of a run changes: old records then no longer count as finished


@dataclass(frozen=True)
class Run:
    """A pure description; :func:`krein.experiments.scores.measure` turns it into numbers.

    Parameters
    ----------
    experiment : str
        Such as ``"figure2"``.
    score : str
        What is measured, a name in :data:`krein.experiments.scores.SCORES`.
    dataset : str
    kernel : str
        As :func:`krein.kernels.parse_kernel` reads it.
    method : str
        A name in :data:`krein.experiments.methods.METHODS`.
    size : int
        Width as the reader counts it: output columns, or the paper's number of pairs.
    columns : int
        Output columns of the features.
    seed : int
    settings : tuple of (name, value)
        Numbers of rows and the like.

    Examples
    --------
    >>> run = Run("figure2", "error", "letter", "ntk", "default", 32, 32, 0, (("test_rows", 1000),))
    >>> run.setting("test_rows"), len(run.key)
    (1000, 16)
    """

    experiment: str
    score: str
    dataset: str
    kernel: str
    method: str
    size: int
    columns: int
    seed: int
    settings: tuple[tuple[str, Setting], ...] = ()

    @property
    def key(self) -> str:
        """Hash of the description."""
        text = json.dumps({"recipe": RECIPE, **self.as_dict()}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def setting(self, name: str) -> Any:
        """The value of a setting; an unknown name is a KeyError."""
        return dict(self.settings)[name]

    def as_dict(self) -> dict[str, Any]:
        """As JSON keeps it."""
        return {**asdict(self), "settings": dict(self.settings)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Run:
        """The inverse of `as_dict`."""
        return cls(**{**fields, "settings": tuple(fields["settings"].items())})
