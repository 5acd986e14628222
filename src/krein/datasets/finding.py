"""Where the arrays of a data set are looked for: a folder of the user, the package, the cache, the official source."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from krein._core.errors import DatasetError
from krein._core.files import check_target, whole_file
from krein.datasets.catalog import Arrays, Entry, content_digest
from krein.show.progress import ShowProgress, progress

__all__ = ["cache_folder", "find_arrays", "read_npz", "write_npz"]

_ATTEMPTS = 4  # retries of a download that fails
_TIMEOUT = 30  # seconds without an answer
_DAMAGE = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError)


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
    return Path(chosen).expanduser().absolute() if chosen else Path(_pooch().os_cache("krein"))


def find_arrays(entry: Entry) -> Arrays:
    """Arrays of a data set, from the first place that has it; see `krein.datasets.load`.

    A wrong file in ``KREIN_DATA`` is an error, because it was put there on purpose; one in the cache is reported and replaced.
    """
    file, chosen = f"{entry.name}.npz", os.environ.get("KREIN_DATA", "")
    given = Path(chosen).expanduser()
    if chosen and not given.is_dir():
        raise DatasetError(
            f"KREIN_DATA is set to {chosen}, which is not a folder; set it to the folder that has {file}, or unset it"
        )
    places = [(given / file, "replace the file, or unset KREIN_DATA to use another copy")] if chosen else []
    places.append((Path(__file__).parent / "data" / file, "it came with krein, so reinstall krein"))
    for path, advice in places:
        if path.exists():
            try:
                return _checked(entry, path)
            except (ValueError, OSError) as error:
                raise DatasetError(f"{error}; {advice}") from error
    path = cache_folder() / file
    if path.exists():
        try:
            return _checked(entry, path)
        except ValueError as error:
            warnings.warn(f"{error}; it is downloaded again", stacklevel=3)
        except OSError as error:
            raise DatasetError(f"{path} cannot be read ({error}); set KREIN_CACHE to another folder") from error
    return _from_source(entry, path)


def _checked(entry: Entry, path: Path) -> Arrays:
    """Arrays of a local file, or a ValueError with the expected and the found digest."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        arrays = read_npz(path)
    except ValueError as error:
        raise ValueError(f"{error}: sha256 {sha256[:12]}, expected {entry.file_sha256[:12]}") from error
    if sha256 != entry.file_sha256 and (found := content_digest(arrays)) != entry.digest:
        raise ValueError(
            f"{path} does not hold the data set {entry.name}: "
            f"digest of its arrays {found[:12]}, expected {entry.digest[:12]}"
        )
    return arrays


def _from_source(entry: Entry, path: Path) -> Arrays:
    """Download, read, check and store; files that were put beside `path` by hand are taken instead of downloads."""
    folder = path.parent
    instead = (
        f"Instead you can set KREIN_DATA to a folder that has {entry.name}.npz, or download by hand "
        f"{' and '.join(entry.urls)} into {folder}; KREIN_CACHE names another folder than that"
    )
    try:
        check_target(path)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            files = [_fetched(url, folder, Path(fresh)) for url in entry.urls]
            try:
                arrays = entry.read(files)
            except _DAMAGE as error:
                raise DatasetError(
                    f"the official source of {entry.name} sent something else: {error}. {instead}"
                ) from error
        if (found := content_digest(arrays)) != entry.digest:
            rows = " + ".join(str(len(array)) for key, array in arrays.items() if key.startswith("X"))
            raise DatasetError(
                f"the official source of {entry.name} sent something else: {rows} rows with digest {found[:12]}, "
                f"expected {entry.digest[:12]}. {instead}"
            )
        write_npz(path, arrays)
    except DatasetError:
        raise
    except OSError as error:  # of the disk, or of the network: what requests raises is one
        raise DatasetError(f"{entry.name} cannot be had: {error}. {instead}") from error
    return arrays


def _fetched(url: str, by_hand: Path, fresh: Path) -> Path:
    """The file at an address."""
    name = url.rpartition("/")[2]
    if (by_hand / name).is_file():
        return by_hand / name
    pooch = _pooch()
    with progress(f"of {name}", title=name, unit="bytes", asked=False) as show:
        downloader = pooch.HTTPDownloader(progressbar=_Bar(show), timeout=_TIMEOUT)
        # official sources have no checksums: that of the arrays is checked, see content_digest
        registry = pooch.create(
            path=fresh, base_url="", registry={name: None}, urls={name: url}, retry_if_failed=_ATTEMPTS
        )
        return Path(registry.fetch(name, downloader=downloader))


class _Bar:
    """What pooch wants of a progress bar."""

    def __init__(self, show: ShowProgress) -> None:
        self._show, self._done, self.total = show, 0, 0

    def update(self, size: int) -> None:
        """More bytes have come."""
        self._done += size
        self._show(self._done, self.total or None)

    def reset(self) -> None:
        """All have come, or the download begins again."""
        self._done = 0

    def close(self) -> None:
        """Nothing is to be done."""


def _pooch() -> Any:
    """The module ``pooch``, or an error that names the extra it comes with."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            "downloading a data set needs pooch, which is not installed; run: pip install 'krein[data]' "
            "(or set KREIN_DATA to a folder that has the data set as NAME.npz)"
        ) from error
    return pooch


def read_npz(path: Path) -> Arrays:
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
    except _DAMAGE as error:
        raise ValueError(f"{path} is not a readable .npz archive of plain arrays ({error})") from error


def write_npz(path: Path, arrays: Arrays) -> None:
    """Write arrays to a compressed ``.npz`` file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain: dict[str, Any] = dict(arrays)
    with whole_file(path) as file:
        np.savez_compressed(file, **plain)
