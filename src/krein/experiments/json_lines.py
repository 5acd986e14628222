"""A file with one line of JSON for each finished piece of work, which survives a kill and a full disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["JsonLines"]


class JsonLines:
    """Objects of JSON, a line each.

    A line is appended with one write and pushed to the disk before the next piece of work counts. A line cut short, by a kill in
    the middle of a write, is skipped in reading and its work is done again. A write that fails, as on a full disk, is undone.

    Parameters
    ----------
    path : path
        Need not exist; its folder must.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, fields: dict[str, Any]) -> None:
        """Add a line; when this returns it is on the disk.

        Parameters
        ----------
        fields : dict
            What JSON can hold, NaN included.
        """
        text = json.dumps(fields, allow_nan=True, ensure_ascii=False)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            end = os.lseek(descriptor, 0, os.SEEK_END)
            torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"
            try:
                _write_all(descriptor, (("\n" if torn else "") + text + "\n").encode())
                os.fsync(descriptor)
            except OSError as error:
                os.ftruncate(descriptor, end)
                raise OSError(error.errno, error.strerror, str(self.path)) from error
        finally:
            os.close(descriptor)

    def read(self) -> Iterator[dict[str, Any]]:
        """Whole lines that hold an object; torn ones and those of others are passed over.

        Yields
        ------
        dict
        """
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
