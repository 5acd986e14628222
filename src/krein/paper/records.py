"""Records of finished runs, and the file that keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import krein
from krein._core.files import JsonLines
from krein.paper.plan import FORMAT, Run

__all__ = ["Record", "RecordFile"]


@dataclass(frozen=True)
class Record:
    """What one run gave.

    Parameters
    ----------
    run : Run
        What was done.
    results : dict
        Numbers, or lists of numbers; the same in every repetition.
    seconds : dict, default={}
        Times, by what was timed.
    versions : dict, default={}
        Of Python and the packages that matter.
    started : str, default=""
        Date and time, ISO 8601, UTC.
    notes : list of str, default=[]
        Warnings the run gave.
    threads : int, default=0
        The most threads that any pool could use in the run, as found when it ended; 0 for unknown.
    """

    run: Run
    results: dict[str, Any]
    seconds: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    started: str = ""
    notes: list[str] = field(default_factory=list)
    threads: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON has it."""
        return {
            "format": FORMAT,
            "key": self.run.key,
            "run": self.run.as_dict(),
            "results": self.results,
            "seconds": self.seconds,
            "versions": self.versions,
            "started": self.started,
            "notes": self.notes,
            "threads": self.threads,
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Record | None:
        """The inverse of `as_dict`."""
        versions = fields.get("versions")
        version = versions.get("krein") if isinstance(versions, dict) else None
        if (fields.get("format"), version) != (FORMAT, krein.__version__):
            return None
        try:
            record = cls(Run.from_dict(fields["run"]), **{name: fields[name] for name in _RESULTS})
        except (KeyError, TypeError):  # this format, and yet not its fields
            return None
        return record if record.run.key == fields.get("key") else None


_RESULTS = ("results", "seconds", "versions", "started", "notes", "threads")  # fields of a line beside its run


class RecordFile:
    """Finished runs in ``records.jsonl``.

    Only records of this format that this version of the library wrote are read: what another version measured is no result of
    this one. The others stay in the file.

    Parameters
    ----------
    path : path
        Need not exist; its folder must.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = JsonLines(path)

    def read(self) -> dict[str, Record]:
        """Records of this version by the key of their run; the first of each key counts."""
        found: dict[str, Record] = {}
        for fields in self._file.read():
            record = Record.from_fields(fields)
            if record is not None:
                found.setdefault(record.run.key, record)
        return found

    def count_others(self) -> int:
        """How many records another version of the library wrote."""
        return sum("run" in fields and Record.from_fields(fields) is None for fields in self._file.read())

    def append(self, record: Record) -> None:
        """Add a record; when this returns it is on the disk."""
        self._file.append(record.as_dict())
