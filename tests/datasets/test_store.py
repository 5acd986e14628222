"""Files that are whole or not there, and one process at a time."""

import subprocess
import sys
import time

import numpy as np
import pytest

from krein.datasets.store import locked, read_npz, write_npz


def test_round_trip(tmp_path):
    write_npz(tmp_path / "new" / "a.npz", {"X": np.eye(2), "y": np.arange(2)})
    arrays = read_npz(tmp_path / "new" / "a.npz")
    np.testing.assert_array_equal(arrays["X"], np.eye(2))
    assert list(arrays) == ["X", "y"]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.npz"]


def test_interrupted_writing_keeps_the_old_file(tmp_path, monkeypatch):
    write_npz(tmp_path / "a.npz", {"X": np.eye(2)})

    def interrupted(file, **arrays):
        file.write(b"PK")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_npz(tmp_path / "a.npz", {"X": np.eye(3)})
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
    assert read_npz(tmp_path / "a.npz")["X"].shape == (2, 2)


def test_missing_file_stays_that(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_npz(tmp_path / "a.npz")


def test_single_array_is_refused(tmp_path):
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, np.eye(2))
    with pytest.raises(ValueError, match="single array"):
        read_npz(tmp_path / "a.npz")


def test_second_process_waits(tmp_path):
    pytest.importorskip("fcntl")
    lock = tmp_path / "a.lock"
    code = f"from pathlib import Path\nfrom krein.datasets.store import locked\nwith locked(Path({str(lock)!r})): pass"
    with locked(lock):
        other = subprocess.Popen([sys.executable, "-c", code])
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(timeout=1.5)
        released = time.monotonic()
    assert other.wait(timeout=30) == 0
    assert time.monotonic() >= released
