"""A file with one line of JSON for each finished piece of work, which survives a kill and a full disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from krein._core.files import append_whole, check_target

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
        """Add a line; when this returns it is on the disk."""
        text = json.dumps(fields, allow_nan=True, ensure_ascii=False)
        append_whole(self.path, text.encode() + b"\n", lead=lambda last: b"" if last in (b"", b"\n") else b"\n")

    def read(self) -> Iterator[dict[str, Any]]:
        """Whole lines that hold an object; torn ones and those of others are passed over."""
        try:
            text = check_target(self.path).read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, NotADirectoryError):
            return
        for line in text.split("\n"):
            try:
                fields = json.loads(line)
            except (ValueError, RecursionError):  # no JSON, numbers without end, or nested without end
                continue
            if isinstance(fields, dict):
                yield fields
