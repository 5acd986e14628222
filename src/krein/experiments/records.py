"""Records of finished runs: a file with one line of JSON per run, which survives a kill and a full disk."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from krein.experiments.run import Run

__all__ = ["Record", "RecordFile"]


@dataclass(frozen=True)
class Record:
    """What one run gave.

    Parameters
    ----------
    run : Run
    results : dict
        Numbers, or lists of numbers; the same in every repetition.
    seconds : dict
        Times, by what was timed.
    versions : dict
        Of Python and the packages that matter.
    started : str
        Date and time, ISO 8601, UTC.
    notes : list of str
        Warnings the run gave.
    """

    run: Run
    results: dict[str, Any]
    seconds: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    started: str = ""
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """One line."""
        fields = {
            "key": self.run.key,
            "run": self.run.as_dict(),
            "results": self.results,
            "seconds": self.seconds,
            "versions": self.versions,
            "started": self.started,
            "notes": self.notes,
        }
        return json.dumps(fields, allow_nan=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Record:
        """The inverse of `to_json`; a line that is no record is a ValueError."""
        fields = json.loads(line)
        try:
            run = Run.from_dict(fields["run"])
            return cls(
                run, fields["results"], fields["seconds"], fields["versions"], fields["started"], fields["notes"]
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a record: {line[:80]!r}") from error


class RecordFile:
    """Finished runs in ``records.jsonl``.

    A record is appended with one write and pushed to the disk before the next run counts. A line cut short, by a kill in the
    middle of a write, is skipped in reading and its run is done again. A write that fails, as on a full disk, is undone.

    Parameters
    ----------
    path : path
        Need not exist; its folder must.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Record]:
        """Records by the key of their run; the first of each key counts."""
        found: dict[str, Record] = {}
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return found
        for line in text.split("\n"):
            try:
                record = Record.from_json(line)
            except ValueError:  # torn, or not ours
                continue
            found.setdefault(record.run.key, record)
        return found

    def append(self, record: Record) -> None:
        """Add a record; when this returns it is on the disk."""
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


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
