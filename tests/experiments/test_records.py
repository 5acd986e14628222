"""Records: what goes in comes out, through torn lines and full disks."""

from __future__ import annotations

import errno
import os

import pytest
from krein.experiments.run import Run

from krein.experiments.records import Record, RecordFile


def run(seed: int = 0, **changes) -> Run:
    fields = {"experiment": "figure2", "score": "error", "dataset": "letter", "kernel": "ntk", "method": "default"}
    return Run(**{**fields, "size": 32, "columns": 32, "seed": seed, "settings": (("test_rows", 100),), **changes})


def record(seed: int = 0, error: float = 0.125) -> Record:
    return Record(run(seed), {"error": error, "z": [0.0, 1.0]}, {"fit": 0.5}, {"krein": "0"}, "2021-04-13", ["ä note"])


def test_round_trip(tmp_path):
    store = RecordFile(tmp_path / "records.jsonl")
    assert store.read() == {}
    for seed in range(3):
        store.append(record(seed))
    assert store.read() == {run(seed).key: record(seed) for seed in range(3)}


def test_the_key_sees_every_field():
    changed = [
        run(1),
        run(experiment="figure5"),
        run(score="accuracy"),
        run(dataset="covtype"),
        run(kernel="ntk(2)"),
        run(method="srf"),
        run(size=33),
        run(columns=33),
        run(settings=(("test_rows", 101),)),
    ]
    keys = {one.key for one in [run(), *changed]}
    assert len(keys) == 1 + len(changed)
    assert run().key == Run.from_dict(run().as_dict()).key


@pytest.mark.parametrize("kept", [1, 40, -1])
def test_a_torn_last_line_is_done_again(tmp_path, kept):
    path = tmp_path / "records.jsonl"
    store = RecordFile(path)
    store.append(record(0))
    whole = path.read_bytes()
    store.append(record(1))
    second = path.read_bytes()[len(whole) :]
    path.write_bytes(whole + second[: kept if kept > 0 else len(second) - 2])
    assert set(store.read()) == {run(0).key}
    store.append(record(1))
    store.append(record(2))
    assert set(store.read()) == {run(seed).key for seed in range(3)}


def test_lines_of_others_are_passed_over(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('\n{"key": 1}\n[1, 2]\nnull\n"text"\n')
    assert RecordFile(path).read() == {}


def test_a_full_disk_leaves_whole_lines(tmp_path, monkeypatch):
    store = RecordFile(tmp_path / "records.jsonl")
    store.append(record(0))
    before = store.path.read_bytes()
    real = os.write

    def half_then_full(descriptor: int, data: bytes) -> int:
        if len(data) > 20:
            return real(descriptor, data[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(
        os, "write", lambda d, data: half_then_full(d, data[:25]) if len(data) > 60 else half_then_full(d, b"")
    )
    with pytest.raises(OSError, match="No space left") as raised:
        store.append(record(1))
    assert raised.value.errno == errno.ENOSPC
    assert raised.value.filename == str(store.path)
    monkeypatch.undo()
    assert store.path.read_bytes() == before
    store.append(record(1))
    assert len(store.read()) == 2
