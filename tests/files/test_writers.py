"""Nothing that the library writes takes the place of a device, a pipe or a folder."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

import krein
import krein._core.look
from krein._core.errors import DatasetError, ModelFileError, TableError
from krein.cli.files import check_out, write_column
from krein.cli.predict import predict
from krein.cli.train import train
from krein.datasets.download import ResumingDownloader, download
from krein.datasets.store import write_npz
from krein.files.models import save_model

MODEL = krein.ExactKreinRidge(lam=0.1).fit(np.eye(4), np.arange(4.0))


def a_table(folder):
    (folder / "table.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{i % 3 / 2}\n" for i in range(40)))
    return folder / "table.csv"


def finished_download(path):
    downloader = ResumingDownloader(path.with_name("some.part"))
    downloader.part.write_bytes(b"all of it")
    downloader._transfer = lambda url, update: None  # nothing is left to fetch
    downloader("http://localhost/some", path, None)


def save_figure(path):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    krein._core.look.save_figure(figure, path)


WRITERS = {
    "model": (lambda path, folder: save_model(MODEL, path), "target"),
    "model.save": (lambda path, folder: MODEL.save(path), "target"),
    "column": (lambda path, folder: write_column(path, "y", np.arange(3.0)), "target.csv"),
    "column, npz": (lambda path, folder: write_column(path, "y", np.arange(3.0)), "target.npz"),
    "column, parquet": (lambda path, folder: write_column(path, "y", np.arange(3.0)), "target.parquet"),
    "check before a command": (lambda path, folder: check_out(path), "target.csv"),
    "krein train": (
        lambda path, folder: train(a_table(folder), "y", path, kernel="gaussian", show_progress=False),
        "target",
    ),
    "krein predict": (
        lambda path, folder: predict(folder / "none", a_table(folder), path, show_progress=False),
        "target.csv",
    ),
    "data set": (lambda path, folder: write_npz(path, {"X": np.eye(2)}), "target.npz"),
    "download": (lambda path, folder: finished_download(path), "target"),
    "download to a folder": (lambda path, folder: download("http://localhost/target", folder), "target"),
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


def test_a_column_of_any_name(tmp_path):
    """numpy.savez takes names as keywords, and has some of its own."""
    for name in ("file", "allow_pickle", "two words"):
        write_column(tmp_path / "out.npz", name, np.array(["a", "b"], dtype=object))
        with np.load(tmp_path / "out.npz", allow_pickle=False) as archive:
            assert archive[name].tolist() == ["a", "b"]
