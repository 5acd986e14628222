"""Values that another process hands over in memory which both can write: half of what they cost through a pipe.

The memory has no name in the file system and is gone with the last process that has it open, however that one ends. Linux has such
memory; elsewhere, or where a process may not open it, values go through the pipe.
"""

from __future__ import annotations

import os
import secrets
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

__all__ = ["Address", "SharedValues"]


@final
@dataclass(frozen=True)
class Address:
    """Where another process finds the memory.

    Parameters
    ----------
    process, descriptor : int
    name : str
        What the memory is called: on another machine the same numbers may be those of any file.
    """

    process: int
    descriptor: int
    name: str

    def write(self, values: np.ndarray, start: int) -> bool:
        """Put values there, if this process can."""
        path = f"/proc/{self.process}/fd/{self.descriptor}"
        try:
            if not os.readlink(path).startswith(f"/memfd:{self.name}"):
                return False
            file = os.open(path, os.O_RDWR)
            try:
                left = np.ascontiguousarray(values).data.cast("B")
                while left:  # one call writes 2 GiB at most
                    written = os.pwrite(file, left, start)
                    left, start = left[written:], start + written
            finally:
                os.close(file)
        except OSError:
            return False
        return True


@final
class SharedValues(AbstractContextManager["SharedValues"]):
    """Memory for values that other processes of this machine find; a context, after which it is gone."""

    def __init__(self) -> None:
        self.address: Address | None = None  # None where there is no such memory
        if hasattr(os, "memfd_create"):
            name = f"krein-{secrets.token_hex(16)}"
            with suppress(OSError):  # as many files are open as may be
                self.address = Address(os.getpid(), os.memfd_create(name, os.MFD_CLOEXEC), name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Give the memory back; a second time does nothing."""
        if self.address is not None:
            os.close(self.address.descriptor)
            self.address = None

    def read(self, count: int, dtype: np.dtype[Any], start: int) -> np.ndarray:
        """Values that another process has put here."""
        assert self.address is not None
        values = np.empty(count, dtype=dtype)
        left = values.data.cast("B")
        while left:
            found = os.preadv(self.address.descriptor, [left], start)
            if not found:
                raise OSError("values that another process has handed over are not there")
            left, start = left[found:], start + found
        return values
