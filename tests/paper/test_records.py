"""Records: what goes in comes out, through torn lines, full disks and other versions of the library."""

from __future__ import annotations

import errno
import json
import os

import pytest

import krein
from krein.paper import plan
from krein.paper.plan import Run
from krein.paper.records import Record, RecordFile


def run(seed: int = 0, **changes) -> Run:
    fields = {"experiment": "figure2", "dataset": "letter", "kernel": "ntk", "method": "default"}
    return Run(**{**fields, "size": 32, "columns": 32, "seed": seed, "test_rows": 100, **changes})


def record(seed: int = 0, error: float = 0.125) -> Record:
    results, versions = {"error": error, "z": [0.0, 1.0]}, {"krein": krein.__version__}
    return Record(run(seed), results, {"fit": 0.5}, versions, "2021-04-13", ["ä note"], 1)


def test_round_trip(tmp_path):
    store = RecordFile(tmp_path / "records.jsonl")
    assert store.read() == {}
    for seed in range(3):
        store.append(record(seed))
    assert store.read() == {run(seed).key: record(seed) for seed in range(3)}
    assert store.count_others() == 0


def test_the_key_sees_every_field():
    changes = {
        "experiment": "figure5",
        "dataset": "covtype",
        "kernel": "ntk(2)",
        "method": "srf",
        "size": 33,
        "columns": 33,
        "seed": 1,
        "train_rows": 7,
        "test_rows": 101,
        "cut": 10.0,
    }
    assert set(changes) == set(run().as_dict())
    changed = [Run(**{**run().as_dict(), name: value}) for name, value in changes.items()]
    assert len({one.key for one in [run(), *changed]}) == 1 + len(changed)
    assert run().key == Run.from_dict(run().as_dict()).key


def test_a_record_of_another_version_is_never_reused(tmp_path, monkeypatch):
    store = RecordFile(tmp_path / "records.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr(krein, "__version__", "0.0.1")
        store.append(record(0))
        assert set(store.read()) == {run(0).key}
        old = run(0).key
    assert run(0).key != old
    assert store.read() == {}
    assert store.count_others() == 1
    store.append(record(0))
    assert set(store.read()) == {run(0).key}
    assert store.count_others() == 1


def test_a_record_of_another_format_is_never_reused(tmp_path, monkeypatch):
    store = RecordFile(tmp_path / "records.jsonl")
    store.append(record(0))
    monkeypatch.setattr(plan, "FORMAT", plan.FORMAT + 1)
    monkeypatch.setattr("krein.paper.records.FORMAT", plan.FORMAT)
    assert store.read() == {}
    assert store.count_others() == 1


def test_what_the_first_format_wrote_is_passed_over(tmp_path):
    """It had no format, and keys without the version."""
    store = RecordFile(tmp_path / "records.jsonl")
    first = record(0).as_dict()
    del first["format"]
    first["run"] |= {"score": "error", "settings": {"test_rows": 100}}
    store.path.write_text(json.dumps(first) + "\n")
    assert store.read() == {}
    assert store.count_others() == 1


def test_a_record_with_a_key_that_is_not_its_own_is_passed_over(tmp_path):
    store = RecordFile(tmp_path / "records.jsonl")
    changed = record(0).as_dict()
    changed["run"]["columns"] = 64
    store.path.write_text(json.dumps(changed) + "\n")
    assert store.read() == {}


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
    assert RecordFile(path).count_others() == 0


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


@pytest.mark.parametrize(
    "line", ["[" * 100_000, '{"a":' * 100_000, '{"seed": ' + "9" * 10_000 + "}", "\0", "{}", "null"]
)
def test_lines_that_were_tampered_with_are_passed_over(tmp_path, line):
    store = RecordFile(tmp_path / "records.jsonl")
    store.append(record(0))
    with store.path.open("a") as file:
        file.write(line + "\n")
    store.append(record(1))
    assert len(store.read()) == 2
