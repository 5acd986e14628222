"""Downloads that survive a bad line: retried, resumed, and clear about what went wrong."""

from __future__ import annotations

import time
from pathlib import Path
from typing import IO, Any, cast

from krein._core.errors import DatasetError
from krein._core.files import check_target, move_whole
from krein.datasets.store import require_pooch
from krein.show.progress import ShowProgress, progress

__all__ = ["ResumingDownloader", "download"]

_CHUNK = 1 << 16  # bytes
_WORTH_RETRYING = frozenset({408, 425, 429, 500, 502, 503, 504})  # answers of a server that is busy or broken for now


class _Interrupted(Exception):
    """The transfer stopped for a reason that may pass."""


class _Refused(Exception):
    """The server answered, and asking again would not help."""


class ResumingDownloader:
    """A pooch downloader that keeps what it has got in a ``.part`` file and asks the server for the rest.

    pooch itself starts from the first byte after each failure, and has no memory of one that ended the process.

    Parameters
    ----------
    part : Path
        Where the incomplete file is kept, in this call and between calls.
    attempts : int, default=5
        Failures in a row, without a byte gained, after which it gives up.
    pause : float, default=0.5
        Seconds before the second attempt; doubled before each further one.
    timeout : float, default=30
        Seconds without an answer that count as a failure.

    Attributes
    ----------
    resumed : bool
        Whether bytes of an earlier call went into the file; if the result is wrong, they may be to blame.
    """

    def __init__(self, part: Path, *, attempts: int = 5, pause: float = 0.5, timeout: float = 30.0) -> None:
        self.part = part
        self.attempts = attempts
        self.pause = pause
        self.timeout = timeout
        self.resumed = part.exists() and part.stat().st_size > 0

    def __call__(self, url: str, output_file: str | Path, pooch: object, check_only: bool = False) -> None:
        """Download ``url`` to ``output_file``; the signature is pooch's."""
        failures = 0
        with progress("bytes", title=Path(url).name, unit="bytes", lines=False) as show:
            while True:
                before = self._size()
                try:
                    self._transfer(url, show)
                    break
                except _Refused as error:
                    raise DatasetError(f"{url} cannot be downloaded: {error}") from error
                except _Interrupted as error:
                    failures = 0 if self._size() > before else failures + 1
                    if failures >= self.attempts:
                        kept = f"; {self._size():,} bytes are kept and the next try continues there"
                        raise DatasetError(
                            f"{url} cannot be downloaded, {failures} attempts failed, the last with: {error}"
                            f"{kept if self._size() else ''}"
                        ) from error
                    time.sleep(self.pause * 2 ** max(failures - 1, 0))
        move_whole(self.part, output_file)

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _transfer(self, url: str, show: ShowProgress) -> None:
        """One request, from the end of the part file to the end of the file."""
        import requests
        import urllib3

        offset = self._size()
        # identity: a Range counts the bytes sent, which must be those of the file and not of a compressed form of it
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
        try:
            with requests.get(url, headers=headers, stream=True, timeout=self.timeout) as response:
                if response.status_code == 416:
                    if _total(response) == offset:
                        return
                    self.part.unlink()
                    raise _Interrupted("the server's file is not the one begun earlier; starting again")
                if response.status_code in _WORTH_RETRYING:
                    raise _Interrupted(f"the server answered {response.status_code} {response.reason}")
                if response.status_code not in (200, 206):
                    raise _Refused(f"the server answered {response.status_code} {response.reason}")
                if response.status_code == 200:
                    self.resumed = False  # the whole file comes again, whatever was asked for
                    offset = 0
                elif not response.headers.get("Content-Range", "").startswith(f"bytes {offset}-"):
                    raise _Refused("the server sent another part of the file than was asked for")
                total = _total(response)
                with self._open("ab" if offset else "wb") as file:
                    for chunk in response.raw.stream(_CHUNK, decode_content=False):
                        self._write(file, chunk)
                        offset += len(chunk)
                        show(offset, total)
        except (requests.Timeout, requests.ConnectionError, urllib3.exceptions.HTTPError) as error:
            raise _Interrupted(f"{_root(error)} (server {urllib3.util.parse_url(url).netloc})") from error
        except requests.RequestException as error:
            raise _Refused(str(error)) from error
        if total is not None and offset != total:
            raise _Interrupted(f"the connection was cut after {offset:,} of {total:,} bytes")

    def _open(self, mode: str) -> IO[bytes]:
        try:
            return cast(IO[bytes], self.part.open(mode))
        except OSError as error:
            raise self._unwritable(error) from error

    def _write(self, file: IO[bytes], chunk: bytes) -> None:
        try:
            file.write(chunk)
            file.flush()
        except OSError as error:
            # most likely the disk is full, and then the fragment is in the way of whatever the user does next
            self.part.unlink(missing_ok=True)
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> DatasetError:
        return DatasetError(
            f"{self.part} cannot be written ({error}); free some space, or set KREIN_CACHE to a folder on another disk"
        )


def _root(error: BaseException) -> BaseException:
    """What an error began with; the libraries in between wrap it three times over."""
    while error.__context__ is not None:
        error = error.__context__
    return error


def _total(response: Any) -> int | None:
    """Size of the whole file as the answer's headers tell it."""
    content_range = response.headers.get("Content-Range", "")
    stated = content_range.rpartition("/")[2] if content_range else response.headers.get("Content-Length", "")
    return int(stated) if stated.isdigit() else None


def download(url: str, folder: Path, **options: Any) -> tuple[Path, bool]:
    """Have the file at ``url`` in ``folder``, under the last part of its address; one that is there is not fetched again."""
    pooch = require_pooch()
    name = url.rpartition("/")[2]
    try:
        there = check_target(folder / name).exists()
    except OSError as error:
        raise DatasetError(f"{folder / name} is in the way of a download: {error.strerror}; remove it") from error
    if there:
        return folder / name, False
    downloader = ResumingDownloader(folder / f"{name}.part", **options)
    # the checksum is not of this file but of the arrays in it, see krein.datasets.digest
    registry = pooch.create(path=folder, base_url="", registry={name: None}, urls={name: url})
    return Path(registry.fetch(name, downloader=downloader)), not downloader.resumed
