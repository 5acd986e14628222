"""Records of finished runs: a file with one line of JSON per run, which survives a kill and a full disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import krein
from krein.experiments.plan import FORMAT, Run

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

    def to_json(self) -> str:
        """The record as one line.

        Returns
        -------
        str
        """
        fields = {
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
        return json.dumps(fields, allow_nan=True, ensure_ascii=False)

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Record | None:
        """The inverse of `to_json`, after the line has been parsed.

        Parameters
        ----------
        fields : dict

        Returns
        -------
        Record or None
            None for what is no record of this format and of this version of the library.
        """
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

    A record is appended with one write and pushed to the disk before the next run counts. A line cut short, by a kill in the
    middle of a write, is skipped in reading and its run is done again. A write that fails, as on a full disk, is undone.

    Only records of this format that this version of the library wrote are read: what another version measured is no result of
    this one. The others stay in the file.

    Parameters
    ----------
    path : path
        Need not exist; its folder must.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Record]:
        """Records of this version by the key of their run; the first of each key counts.

        Returns
        -------
        dict of str to Record
        """
        found: dict[str, Record] = {}
        for fields in self._lines():
            record = Record.from_fields(fields)
            if record is not None:
                found.setdefault(record.run.key, record)
        return found

    def count_others(self) -> int:
        """How many records another version of the library wrote.

        Returns
        -------
        int
        """
        return sum("run" in fields and Record.from_fields(fields) is None for fields in self._lines())

    def append(self, record: Record) -> None:
        """Add a record; when this returns it is on the disk.

        Parameters
        ----------
        record : Record
        """
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            end = os.lseek(descriptor, 0, os.SEEK_END)
            torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"
            line = ("\n" if torn else "") + record.to_json() + "\n"
            try:
                _write_all(descriptor, line.encode())
                os.fsync(descriptor)
            except OSError as error:
                os.ftruncate(descriptor, end)
                raise OSError(error.errno, error.strerror, str(self.path)) from error
        finally:
            os.close(descriptor)

    def _lines(self) -> Iterator[dict[str, Any]]:
        """Whole lines that hold an object; torn ones and those of others are passed over."""
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, NotADirectoryError):
            return
        for line in text.split("\n"):
            try:
                fields = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(fields, dict):
                yield fields


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
