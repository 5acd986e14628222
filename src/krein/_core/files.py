"""Writing a file whole or not at all, and a file that grows by whole lines."""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["JsonLines", "append_whole", "check_target", "check_writable", "whole_file", "write_whole"]


def check_target(path: str | os.PathLike[str]) -> Path:
    """Where a file of this name would be written; an error if what is there already is no regular file.

    A link is followed, so that what it points to is replaced and not the link. A device, pipe or folder is refused:
    renaming a file over it would put a plain file in its place.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a regular file", str(path))
    return target


def check_writable(path: str | os.PathLike[str]) -> None:
    """An error now rather than after long work, if a file could not be written there."""
    target = check_target(path)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}."):
        pass


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream whose content becomes the file when the block ends well, and is dropped when it does not.

    A temporary file in the same folder is flushed to the disk and renamed over `path`, so that half a file is never visible and
    a failure leaves a previous file as it was.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "some.txt")
    ...     with whole_file(path) as stream:
    ...         _ = stream.write(b"all of it")
    ...     os.listdir(folder)
    ['some.txt']
    """
    target = check_target(path)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _mode(target))  # mkstemp makes files only their owner can read
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename is None:  # as of a write to a full disk: it knows no names
            raise OSError(error.errno or errno.EIO, error.strerror or str(error), str(path)) from error
        raise


def append_whole(
    path: str | os.PathLike[str], data: bytes, *, lead: Callable[[bytes], bytes] = lambda last: b"", sync: bool = True
) -> None:
    """Add bytes to the end of a file, all of them or none."""
    target = check_target(path)
    descriptor = os.open(target, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
    try:
        end = os.lseek(descriptor, 0, os.SEEK_END)
        os.lseek(descriptor, max(end - 1, 0), os.SEEK_SET)
        left = lead(os.read(descriptor, 1)) + data
        try:
            while left:
                left = left[os.write(descriptor, left) :]
            if sync:
                os.fsync(descriptor)
        except OSError as error:
            os.ftruncate(descriptor, end)
            raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(descriptor)


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file whole or not at all; text as UTF-8."""
    with whole_file(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those a new file would get."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


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
