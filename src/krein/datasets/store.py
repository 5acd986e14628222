"""Data sets on disk: ``.npz`` files that are read without pickle and written whole or not at all."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from krein._core.errors import DatasetError
from krein._core.files import whole_file

__all__ = ["cache_folder", "locked", "read_npz", "require_pooch", "write_npz"]


def require_pooch() -> ModuleType:
    """The module ``pooch``, or an error that names the extra it comes with."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            "downloading a data set needs pooch, which is not installed; run: pip install 'krein[data]' "
            "(or set KREIN_DATA to a folder that has the data set as NAME.npz)"
        ) from error
    module: ModuleType = pooch
    return module


def cache_folder() -> Path:
    """Folder in which downloaded data sets are kept; it need not exist yet.

    The environment variable ``KREIN_CACHE`` if set, else the usual place of the operating system.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> import os
    >>> os.environ["KREIN_CACHE"] = "some-folder"
    >>> cache_folder().name
    'some-folder'
    >>> del os.environ["KREIN_CACHE"]
    """
    chosen = os.environ.get("KREIN_CACHE", "")
    return Path(chosen).expanduser().absolute() if chosen else Path(require_pooch().os_cache("krein"))


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an ``.npz`` file; never unpickles."""
    try:
        # numpy leaves a file it opened itself open when the archive in it is damaged
        with path.open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it is a single array, not an .npz archive")
            with archive:
                return {name: archive[name] for name in archive.files}
    except (FileNotFoundError, PermissionError):
        raise
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise ValueError(f"{path} is not a readable .npz archive of plain arrays ({error})") from error


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays to a compressed ``.npz`` file that appears under its name only once it is complete.

    Whatever interrupts the writing (a full disk, Ctrl-C) leaves no file behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        plain: dict[str, Any] = dict(arrays)
        np.savez_compressed(file, **plain)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on ``path``, so that of several processes one downloads and the others wait for it.

    The operating system releases the lock when its holder dies, so a killed process does not block others. On systems without
    such locks (Windows) two processes may both download; the digest of the result still detects a mixture.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    except OSError as error:
        raise DatasetError(
            f"the cache folder {path.parent} cannot be written to ({error}); "
            "set KREIN_CACHE to a folder that can, or KREIN_DATA to a folder that already has the data set as NAME.npz"
        ) from error
    with file:
        try:
            import fcntl
        except ImportError:
            pass
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
