"""Where the arrays of a data set are looked for: a folder of the user, the package, the cache, the official source."""

from __future__ import annotations

import os
import warnings
from importlib import resources
from pathlib import Path
from typing import Any

from krein._core.errors import DatasetError
from krein.datasets.catalog import Arrays, Entry
from krein.datasets.digest import content_digest, file_sha256, short
from krein.datasets.download import download
from krein.datasets.store import cache_folder, locked, read_npz, write_npz

__all__ = ["find_arrays"]


def find_arrays(entry: Entry) -> Arrays:
    """Arrays of a data set, from the first place that has it.

    1. the folder named by the environment variable ``KREIN_DATA``, as ``NAME.npz``;
    2. the package itself (letter only);
    3. the cache, see :func:`~krein.datasets.cache_folder`;
    4. the official source, after which they are in the cache.

    Files are checked. A wrong file in ``KREIN_DATA`` is an error, because it was put there on purpose; a wrong file in the cache
    is reported and replaced.
    """
    arrays = _from_user_folder(entry)
    if arrays is None:
        arrays = _from_package(entry)
    if arrays is None:
        folder = cache_folder()
        arrays = _from_cache(entry, folder)
        if arrays is None:
            with locked(folder / f"{entry.name}.lock"):
                # another process may have stored it while this one waited
                arrays = _from_cache(entry, folder, report=True)
                if arrays is None:
                    arrays = _from_source(entry, folder)
    return arrays


def _from_user_folder(entry: Entry) -> Arrays | None:
    chosen = os.environ.get("KREIN_DATA", "")
    if not chosen:
        return None
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise DatasetError(
            f"KREIN_DATA is set to {chosen}, which is not a folder; "
            f"set it to the folder that has {entry.name}.npz, or unset it"
        )
    path = folder / f"{entry.name}.npz"
    if not path.exists():
        return None
    try:
        return _checked(entry, path)
    except (ValueError, OSError) as error:
        raise DatasetError(f"{error}; replace the file, or unset KREIN_DATA to use another copy") from error


def _from_package(entry: Entry) -> Arrays | None:
    packaged = resources.files("krein.datasets") / "data" / f"{entry.name}.npz"
    if not packaged.is_file():
        return None
    with resources.as_file(packaged) as path:
        try:
            return _checked(entry, path)
        except ValueError as error:
            raise DatasetError(f"{error}; it came with krein, so reinstall krein") from error


def _from_cache(entry: Entry, folder: Path, *, report: bool = False) -> Arrays | None:
    path = folder / f"{entry.name}.npz"
    if not path.exists():
        return None
    try:
        return _checked(entry, path)
    except ValueError as error:
        if report:
            warnings.warn(f"{error}; it is downloaded again", stacklevel=4)
        return None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read ({error}); set KREIN_CACHE to another folder") from error


def _checked(entry: Entry, path: Path) -> Arrays:
    """Arrays of a local file, or a ValueError with the expected and the found digest."""
    sha256 = file_sha256(path)
    try:
        arrays = read_npz(path)
    except ValueError as error:
        raise ValueError(f"{error}: sha256 {short(sha256)}, expected {short(entry.file_sha256)}") from error
    if sha256 != entry.file_sha256 and (found := content_digest(arrays)) != entry.digest:
        raise ValueError(
            f"{path} does not hold the data set {entry.name}: "
            f"digest of its arrays {short(found)}, expected {short(entry.digest)}"
        )
    return arrays


def _from_source(entry: Entry, folder: Path, **options: Any) -> Arrays:
    """Download, read, check and store; the caller holds the lock."""
    instead = (
        f"Instead you can set KREIN_DATA to a folder that has {entry.name}.npz, or download by hand "
        f"{' and '.join(entry.urls)} into {folder}"
    )
    try:
        fetched = [download(url, folder, **options) for url in entry.urls]
        try:
            arrays = _read_checked(entry, [path for path, _ in fetched])
        except ValueError:
            if all(fresh for _, fresh in fetched):
                raise
            # bytes of an earlier, broken download may be to blame, so these do not get to fail for good
            fetched = [download(url, folder, **options) for url in entry.urls]
            arrays = _read_checked(entry, [path for path, _ in fetched])
    except ValueError as error:
        raise DatasetError(f"the official source of {entry.name} sent something else: {error}. {instead}") from error
    except OSError as error:
        raise DatasetError(f"{error}. {instead}") from error
    path = folder / f"{entry.name}.npz"
    try:
        write_npz(path, arrays)
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be written ({error}); free some space, or set KREIN_CACHE to a folder on another disk"
        ) from error
    for raw, _ in fetched:
        raw.unlink(missing_ok=True)
    return arrays


def _read_checked(entry: Entry, paths: list[Path]) -> Arrays:
    """Arrays of official files. Files that are wrong are removed, lest they be found again by the next try."""
    try:
        arrays = entry.read([path.read_bytes() for path in paths])
        if (found := content_digest(arrays)) != entry.digest:
            rows = " + ".join(str(len(array)) for key, array in arrays.items() if key.startswith("X"))
            raise ValueError(f"{rows} rows with digest {short(found)}, expected {short(entry.digest)}")
    except ValueError as error:
        for path in paths:
            path.unlink(missing_ok=True)
        raise ValueError(f"{', '.join(path.name for path in paths)}: {error}") from error
    return arrays
