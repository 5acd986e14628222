"""Reproducing: the same records for the same seed, nothing done twice, whatever ended the last attempt."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import krein
from krein import cli
from krein._core.processes import alone_in
from krein.paper import Plan, Record, RecordFile, catalog, kept_runs, reproduce

HERE = Path(__file__).parent
PATIENCE = 1800.0  # seconds after which a process that does not answer is given up; no result hangs on it
COMMAND = (
    # a shell starts background jobs, such as these tests may be, with SIGINT ignored
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "sys.path.insert(0, sys.argv.pop(1)); import tiny; tiny.install(); from krein.cli import main; main()"
)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    code = stopped.value.code
    return 0 if code is None else int(code)


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(HERE), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_records(process: subprocess.Popen[str], path: Path, count: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)
    out, err = process.communicate(timeout=PATIENCE)
    raise AssertionError(f"no {count} records came: {out} {err}")


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def but_for_times(path: Path) -> list[str]:
    kept = [{key: value for key, value in line.items() if key not in ("seconds", "started")} for line in lines(path)]
    return sorted(json.dumps(one, sort_keys=True) for one in kept)


def test_two_runs_of_one_seed_agree_but_for_times(small, finished, tmp_path):
    reproduce(["figure1", "figure2"], out=tmp_path)
    again = but_for_times(tmp_path / "records.jsonl")
    assert len(again) > 10
    assert set(again) <= set(but_for_times(finished[0] / "records.jsonl"))


def test_another_seed_gives_other_records(small, finished, tmp_path):
    (tmp_path / "records.jsonl").write_bytes((finished[0] / "records.jsonl").read_bytes())
    before = dict(RecordFile(tmp_path / "records.jsonl").read())
    found = reproduce(["figure2"], Plan(seed=7), tmp_path)
    assert found.reused == 0
    other = [record for key, record in RecordFile(tmp_path / "records.jsonl").read().items() if key not in before]
    assert len(other) == found.done
    errors = {record.results["error"] for record in before.values() if "error" in record.results}
    assert not all(record.results["error"] in errors for record in other)


def test_finished_runs_are_not_done_again(small, tmp_path):
    first = reproduce(["figure1", "errata"], out=tmp_path)
    before = (tmp_path / "records.jsonl").read_bytes()
    second = reproduce(["figure1", "errata"], out=tmp_path)
    assert (first.reused, second.done, second.reused) == (0, 0, first.done)
    assert (tmp_path / "records.jsonl").read_bytes() == before


def test_records_carry_what_it_takes_to_repeat_them(finished):
    for record in RecordFile(finished[0] / "records.jsonl").read().values():
        assert record.started.endswith("+00:00")
        assert {"krein", "python", "numpy", "scipy", "scikit-learn", "numba"} <= set(record.versions)
        assert all(value >= 0 for value in record.seconds.values())


def test_continues_after_sigkill(small, finished, tmp_path):
    records = tmp_path / "records.jsonl"
    arguments = ("reproduce", "figure2", "--out", str(tmp_path), "--jobs", "1")
    process = start(*arguments)
    wait_for_records(process, records, 3)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    with records.open("ab") as file:  # as if the kill had come in the middle of a line
        file.write(b'{"key": "0123", "run": {"exper')
    kept = set(RecordFile(records).read())
    assert len(kept) >= 3
    found = reproduce(["figure2"], out=tmp_path)
    assert found.reused == len(kept)
    assert kept < set(RecordFile(records).read())
    assert len(RecordFile(records).read()) == found.reused + found.done
    whole = RecordFile(finished[0] / "records.jsonl").read()
    assert all(one.results == whole[key].results for key, one in RecordFile(records).read().items())


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_says_how_to_continue(tmp_path, jobs):
    process = start("reproduce", "figure2", "figure1", "--out", str(tmp_path), "--jobs", jobs)
    wait_for_records(process, tmp_path / "records.jsonl", 2)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    said = " ".join(err.split())
    assert "the same command continues from there" in said
    assert "Traceback" not in err
    kept = len(RecordFile(tmp_path / "records.jsonl").read())
    assert len(lines(tmp_path / "records.jsonl")) == kept >= 2
    assert re.search(rf" {kept} of \d+ runs are kept", said)


def test_processes_give_the_records_of_one(finished, tmp_path):
    process = start("reproduce", "figure1", "errata", "--out", str(tmp_path), "--jobs", "2")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "report:" in out
    records = RecordFile(finished[0] / "records.jsonl").read()
    for key, record in RecordFile(tmp_path / "records.jsonl").read().items():
        assert records[key].results == record.results


def test_unknown_names(capsys, tmp_path):
    assert run("reproduce", "figure12", "--out", str(tmp_path)) == 2
    assert "known: figure1, figure2" in " ".join(capsys.readouterr().err.split())
    assert run("reproduce", "figure1", "--datasets", "mnist", "--out", str(tmp_path)) == 2
    assert "Known: letter, ijcnn1, covtype, cod_rna" in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [("--count", "rows"), ("--jobs", "-1"), ("--seed", "-1")])
def test_bad_options(capsys, tmp_path, option):
    assert run("reproduce", "figure1", *option, "--out", str(tmp_path)) == 2
    assert "error: " in capsys.readouterr().err


def test_a_file_in_the_way(capsys, tmp_path):
    (tmp_path / "results").write_text("precious")
    assert run("reproduce", "figure1", "--out", str(tmp_path / "results")) == 2
    assert "File exists" in capsys.readouterr().err
    assert (tmp_path / "results").read_text() == "precious"


def test_a_folder_that_cannot_be_written(capsys, tmp_path, monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)  # root may write anywhere, so the answer of the system is imitated
    with pytest.raises(PermissionError, match=r"records\.jsonl"):
        reproduce(["figure1"], out=tmp_path)


def test_a_full_disk_keeps_what_is_finished(small, capsys, tmp_path, monkeypatch):
    real, count = RecordFile.append, 0

    def full_after_two(self: RecordFile, record: Record) -> None:
        nonlocal count
        count += 1
        if count > 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(self.path))
        real(self, record)

    monkeypatch.setattr(RecordFile, "append", full_after_two)
    assert run("reproduce", "figure1", "--out", str(tmp_path), "--jobs", "1") == 2
    err = " ".join(capsys.readouterr().err.split())
    assert "No space left on device" in err
    assert "2 of 5 runs are kept" in err
    monkeypatch.undo()
    assert len(RecordFile(tmp_path / "records.jsonl").read()) == 2


def test_a_run_that_fails_is_told_and_tried_again(small, capsys, tmp_path, monkeypatch):
    (figure1,) = catalog.known_experiments(["figure1"])

    def break_srf(one):
        if one.method == "srf_published":
            raise ValueError("a bad day")
        return figure1.measure(one)

    with monkeypatch.context() as patch:
        patch.setattr(catalog, "EXPERIMENTS", (replace(figure1, measure=break_srf),))
        assert run("reproduce", "figure1", "--out", str(tmp_path), "--jobs", "1") == 0
    assert "a bad day" in capsys.readouterr().err
    assert len(RecordFile(tmp_path / "records.jsonl").read()) == 4
    again = reproduce(["figure1"], out=tmp_path)
    assert (again.done, again.reused) == (1, 4)


def test_records_of_another_version_are_not_reused(small, capsys, tmp_path, monkeypatch):
    names = ["figure1"]
    with monkeypatch.context() as patch:
        patch.setattr(krein, "__version__", "0.0.1")
        patch.setattr("krein.paper.execute._versions", lambda: {"krein": "0.0.1"})
        assert reproduce(names, out=tmp_path).done == 5
        assert kept_runs(names, Plan(), tmp_path) == (5, 5)
    assert kept_runs(names, Plan(), tmp_path) == (0, 5)
    assert run("reproduce", "figure1", "--out", str(tmp_path), "--jobs", "1") == 0
    assert "5 records of another version of krein stay in the file and are not used" in capsys.readouterr().out
    assert kept_runs(names, Plan(), tmp_path) == (5, 5)
    assert len(lines(tmp_path / "records.jsonl")) == 10


def test_ctrl_c_between_a_record_and_its_count(small, capsys, tmp_path, monkeypatch):
    """The message once said 3 where the file had 4: the interrupt came after the write and before the count."""
    real, count = RecordFile.append, 0

    def interrupted_after_two(self: RecordFile, record: Record) -> None:
        nonlocal count
        real(self, record)
        count += 1
        if count == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(RecordFile, "append", interrupted_after_two)
    assert run("reproduce", "figure1", "--out", str(tmp_path), "--jobs", "1") == 130
    assert "2 of 5 runs are kept" in " ".join(capsys.readouterr().err.split())
    assert len(lines(tmp_path / "records.jsonl")) == 2


def test_a_second_process_in_the_folder_is_refused(small, capsys, tmp_path):
    with alone_in(tmp_path):
        assert run("reproduce", "figure1", "--out", str(tmp_path), "--jobs", "1") == 2
    err = " ".join(capsys.readouterr().err.split())
    assert f"process {os.getpid()}" in err
    assert "is using this folder" in err
    assert "runs are kept" not in err
    assert (tmp_path / "records.jsonl").read_bytes() == b""


def test_two_processes_do_no_run_twice(tmp_path):
    """Started together: one works, the other is refused or comes when all is done; the file has every run once."""
    both = [start("reproduce", "figure2", "--out", str(tmp_path), "--jobs", "1") for _ in range(2)]
    ended = [(process.communicate(timeout=PATIENCE), process.returncode) for process in both]
    codes = sorted(code for _, code in ended)
    assert codes in ([0, 0], [0, 2]), ended
    for (_, err), code in ended:
        assert code == 0 or "is using this folder" in " ".join(err.split())
    keys = [line["key"] for line in lines(tmp_path / "records.jsonl")]
    assert len(keys) == len(set(keys)) > 10


def test_what_will_be_done_is_said_first(small, capsys, tmp_path, monkeypatch):
    def nothing(*_, **__):
        raise OSError("not in this test")

    monkeypatch.setattr("krein.paper.reproduce", nothing)
    assert run("reproduce", "figure1", "table2", "--out", str(tmp_path), "--jobs", "2") == 2
    said = " ".join(capsys.readouterr().err.split())
    total = sum(len(Plan().runs(one)) for one in catalog.known_experiments(["figure1", "table2"]))
    assert f"{total} runs on letter (quick), about " in said
    assert "figure1 5 nothing drawn" in said
    assert "table2" in said
    assert "1 seed; 150 training and 60 test rows" in said
    assert "2 processes, one thread per run; timed runs (table2) one at a time" in said
    assert "index.html" in said
    assert list(tmp_path.iterdir()) == []


def test_progress_without_a_terminal_tells_the_time_left(small, capsys, tmp_path):
    assert run("reproduce", "figure1", "--out", str(tmp_path), "--jobs", "1") == 0
    err = capsys.readouterr().err
    told = re.findall(r"^(\d+) of 5 runs, \d+ s, about \d+ s left$", err, flags=re.MULTILINE)
    assert told == ["1", "2", "3", "4", "5"]


def test_the_terminal_says_who_wins(small, capsys, tmp_path):
    assert run("reproduce", "figure2", "--out", str(tmp_path), "--jobs", "1") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Relative error of each arm and of the best rival" in out
    assert "Claims of the paper" in out
    assert "index.html" in out


def test_the_paper_counts_pairs(small, tmp_path):
    reproduce(["figure2"], Plan(count="pairs"), tmp_path)
    columns = {
        line["run"]["method"]: line["run"]["columns"] / line["run"]["size"]
        for line in lines(tmp_path / "records.jsonl")
    }
    assert columns["literal"] == columns["code"] == columns["default"] == 4
    assert (columns["srf"], columns["srf_published"], columns["nystroem"]) == (2, 1, 1)
    assert "pairs s" in (tmp_path / "index.html").read_text()


def test_a_killed_worker_is_said_plainly(tmp_path):
    process = start("reproduce", "figure2", "--out", str(tmp_path), "--jobs", "2")
    wait_for_records(process, tmp_path / "records.jsonl", 1)
    psutil = pytest.importorskip("psutil")
    workers = [child for child in psutil.Process(process.pid).children() if "spawn_main" in " ".join(child.cmdline())]
    workers[0].kill()
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "a process was killed" in " ".join(err.split())
    assert "the same command continues" in " ".join(err.split())
