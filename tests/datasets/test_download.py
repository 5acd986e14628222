"""One file over a bad line: cut, resumed, refused, retried, interrupted, and no room for it."""

import errno
import io

import numpy as np
import pytest

from krein._core.errors import DatasetError
from krein.datasets.download import ResumingDownloader, download

pytest.importorskip("pooch")

BODY = np.random.default_rng(0).bytes(400_000)


@pytest.fixture
def folder(cache):
    cache.mkdir()
    return cache


def fetch(site, folder, **options):
    return download(site.url("file.bin"), folder, pause=0.0, **options)


def test_whole_file(site, folder):
    site.files["file.bin"] = BODY
    path, fresh = fetch(site, folder)
    assert path.read_bytes() == BODY
    assert fresh
    assert [entry.name for entry in folder.iterdir()] == ["file.bin"]


def test_file_that_is_there_is_not_fetched(site, folder):
    (folder / "file.bin").write_bytes(b"by hand")
    path, fresh = fetch(site, folder)
    assert path.read_bytes() == b"by hand"
    assert not fresh
    assert site.requests == []


def test_cut_file_is_resumed(site, folder):
    site.files["file.bin"] = BODY
    site.cuts["file.bin"] = [150_000, 150_000]
    path, fresh = fetch(site, folder)
    assert path.read_bytes() == BODY
    assert fresh
    ranges = [asked for _, asked in site.requests]
    assert ranges[0] is None
    assert all(int(asked.removeprefix("bytes=").rstrip("-")) > 0 for asked in ranges[1:])
    assert len(ranges) == 3


def test_cut_more_often_than_attempts_but_always_further(site, folder):
    site.files["file.bin"] = BODY
    site.cuts["file.bin"] = [70_000] * 5
    path, _ = fetch(site, folder, attempts=2)
    assert path.read_bytes() == BODY


def test_earlier_part_is_continued(site, folder):
    site.files["file.bin"] = BODY
    (folder / "file.bin.part").write_bytes(BODY[:123_456])
    path, fresh = fetch(site, folder)
    assert path.read_bytes() == BODY
    assert not fresh
    assert site.requests == [("file.bin", "bytes=123456-")]


def test_earlier_part_that_is_complete(site, folder):
    site.files["file.bin"] = BODY
    (folder / "file.bin.part").write_bytes(BODY)
    path, fresh = fetch(site, folder)
    assert path.read_bytes() == BODY
    assert not fresh


def test_earlier_part_longer_than_the_file_is_dropped(site, folder):
    site.files["file.bin"] = BODY
    (folder / "file.bin.part").write_bytes(BODY + b"more")
    path, _ = fetch(site, folder)
    assert path.read_bytes() == BODY


def test_server_without_ranges(site, folder):
    site.files["file.bin"] = BODY
    site.ranges = False
    (folder / "file.bin.part").write_bytes(b"x" * 1000)
    path, fresh = fetch(site, folder)
    assert path.read_bytes() == BODY
    assert fresh


def test_missing_file_is_not_retried(site, folder):
    with pytest.raises(DatasetError, match=r"file\.bin cannot be downloaded: the server answered 404"):
        fetch(site, folder)
    assert len(site.requests) == 1
    assert list(folder.iterdir()) == []


def test_passing_server_error_is_retried(site, folder):
    site.files["file.bin"] = BODY
    site.statuses["file.bin"] = [500, 503]
    path, _ = fetch(site, folder)
    assert path.read_bytes() == BODY
    assert len(site.requests) == 3


def test_lasting_server_error(site, folder):
    site.statuses["file.bin"] = [500] * 9
    with pytest.raises(DatasetError, match="3 attempts failed, the last with: the server answered 500"):
        fetch(site, folder, attempts=3)
    assert len(site.requests) == 3


def test_no_server(folder):
    with pytest.raises(DatasetError, match=r"2 attempts failed, .* \(server 127\.0\.0\.1:9\)$"):
        download("http://127.0.0.1:9/file.bin", folder, attempts=2, pause=0.0)


def test_interrupt_keeps_the_part(site, folder, monkeypatch):
    site.files["file.bin"] = BODY
    written = []

    def write(self, file, chunk):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(file.write(chunk))

    with monkeypatch.context() as patch:
        patch.setattr(ResumingDownloader, "_write", write)
        with pytest.raises(KeyboardInterrupt):
            fetch(site, folder)
    assert [entry.name for entry in folder.iterdir()] == ["file.bin.part"]
    assert (folder / "file.bin.part").stat().st_size == sum(written) > 0
    path, _ = fetch(site, folder)
    assert path.read_bytes() == BODY
    assert site.requests[-1] == ("file.bin", f"bytes={sum(written)}-")


def test_full_disk_leaves_nothing(site, folder, monkeypatch):
    site.files["file.bin"] = BODY

    class Full(io.FileIO):
        def write(self, chunk):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ResumingDownloader, "_open", lambda self, mode: Full(self.part, "w"))
    with pytest.raises(DatasetError, match=r"No space left on device.*KREIN_CACHE"):
        fetch(site, folder)
    assert list(folder.iterdir()) == []
