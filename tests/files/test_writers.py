"""Nothing that the library writes takes the place of a device, a pipe or a folder, and nothing is lost where it cannot write."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import krein
import krein.show.style
from krein._core.errors import DatasetError, ModelFileError, TableError
from krein._core.files import JsonLines
from krein.cli.predict import predict
from krein.cli.tables import check_out, write_columns
from krein.cli.train import train
from krein.datasets.finding import write_npz
from krein.files.models import save_model

MODEL = krein.ExactKreinRidge(lam=0.1).fit(np.eye(4), np.arange(4.0))


def a_table(folder):
    (folder / "table.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{i % 3 / 2}\n" for i in range(40)))
    return folder / "table.csv"


def save_figure(path):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    krein.show.style.save_figure(figure, path)


WRITERS = {
    "model": (lambda path, folder: save_model(MODEL, path), "target"),
    "model.save": (lambda path, folder: MODEL.save(path), "target"),
    "column": (lambda path, folder: write_columns(path, {"y": np.arange(3.0)}), "target.csv"),
    "column, npz": (lambda path, folder: write_columns(path, {"y": np.arange(3.0)}), "target.npz"),
    "column, parquet": (lambda path, folder: write_columns(path, {"y": np.arange(3.0)}), "target.parquet"),
    "check before a command": (lambda path, folder: check_out(path), "target.csv"),
    "krein train": (
        lambda path, folder: train(a_table(folder), "y", path, kernel="gaussian"),
        "target",
    ),
    "krein predict": (
        lambda path, folder: predict(folder / "none", a_table(folder), path),
        "target.csv",
    ),
    "data set": (lambda path, folder: write_npz(path, {"X": np.eye(2)}), "target.npz"),
    "figure": (lambda path, folder: save_figure(path), "target.svg"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_stays_a_pipe(name, tmp_path):
    write, target = WRITERS[name]
    path = tmp_path / target
    os.mkfifo(path)
    with pytest.raises((OSError, DatasetError, ModelFileError, TableError), match="device or a pipe"):
        write(path, tmp_path)
    assert stat.S_ISFIFO(os.lstat(path).st_mode)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As a disk that has room for so many bytes: whatever is written beyond them fails, in the operating system itself."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def store_pair(path, folder):
    krein.SimilarityCache(path).store([b"a" * 16], [b"b" * 16], np.ones(1))


APPENDERS = {
    "records": (lambda path, folder: JsonLines(path).append({"text": "x" * 100}), "records.jsonl"),
    "similarities": (store_pair, "pairs"),
}
# these write nothing before they have what to write, or a table of the test first
QUIET = {"krein train", "check before a command", "krein predict"}


@pytest.mark.parametrize("name", sorted((WRITERS | APPENDERS).keys() - QUIET))
@pytest.mark.parametrize("there", [False, True])
def test_a_disk_that_is_full(name, there, tmp_path):
    """The error says which file, a previous one stays as it was, and nothing is left beside it."""
    write, target = (WRITERS | APPENDERS)[name]
    path = tmp_path / "folder" / target
    path.parent.mkdir()
    if there:
        write(path, tmp_path)
        before = path.read_bytes()
    room = 4 + (path.stat().st_size if there and name in APPENDERS else 0)
    failures = (OSError, DatasetError, ModelFileError, TableError)
    with files_of_at_most(room), pytest.raises(failures, match="too large") as told:
        write(path, tmp_path)
    assert target in str(told.value)
    left = {one.name for one in path.parent.iterdir()}
    if there:
        assert path.read_bytes() == before
        assert left == {target}
    else:
        assert not left or path.read_bytes() == b""  # an appender has made its file


@pytest.mark.parametrize("name", sorted(WRITERS.keys() | APPENDERS.keys()))
def test_a_folder_that_takes_no_files(name, tmp_path):
    """Of the kernel's own file system, which refuses new files even to root."""
    if not os.path.isdir("/proc/self"):
        pytest.skip("there is no /proc here")
    write, target = (WRITERS | APPENDERS)[name]
    with pytest.raises((OSError, DatasetError, ModelFileError, TableError)):
        write(Path("/proc/self") / target, tmp_path)


def test_a_column_of_any_name(tmp_path):
    """numpy.savez takes names as keywords, and has some of its own."""
    for name in ("file", "allow_pickle", "two words"):
        write_columns(tmp_path / "out.npz", {name: np.array(["a", "b"], dtype=object)})
        with np.load(tmp_path / "out.npz", allow_pickle=False) as archive:
            assert archive[name].tolist() == ["a", "b"]
