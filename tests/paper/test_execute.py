"""Runs have one thread, ours and those of rivals, in this process and in others; errors of a run are told."""

from __future__ import annotations

import signal
from dataclasses import replace

import numba
import pytest
from threadpoolctl import threadpool_info

from krein._core.threads import n_threads
from krein.paper import METHODS, Failure, Plan, Record, RecordFile, Sizes, known_experiments, methods
from krein.paper.execute import Task, attempt, execute, threads_allowed

SMALL = Sizes((2,), 1, 150, 60)


def one_run_of_each_method(name: str) -> list[Task]:
    (experiment,) = known_experiments([name])
    experiment = replace(experiment, quick=SMALL)
    runs = {run.method: run for run in Plan().runs(experiment)}
    assert set(runs) == set(experiment.methods)
    return [Task(experiment.measure, run) for run in runs.values()]


class Watched:
    """A map that notes the threads allowed at each of its calls."""

    def __init__(self, inner, seen: list[int]) -> None:
        self._inner, self._seen = inner, seen

    def __getattr__(self, name):
        self._seen += [n_threads(), numba.get_num_threads(), *(pool["num_threads"] for pool in threadpool_info())]
        found = getattr(self._inner, name)
        if name == "fit":
            return lambda *arguments: Watched(found(*arguments), self._seen)
        return found


@pytest.mark.parametrize("name", ["table2", "figure4"])
def test_every_pool_has_one_thread_inside_a_timed_run(name, monkeypatch):
    """Before: krein's own loops, and those of rivals, had as many threads as there are cores."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # so that even a machine of one core would show it
    numba.get_num_threads()  # starts numba's threads, so that there is something to limit
    before = n_threads()
    seen: dict[str, list[int]] = {}

    def watch(method: methods.Method) -> methods.Method:
        def make(kernel, columns, seed):
            return Watched(method.make(kernel, columns, seed), seen.setdefault(method.name, []))

        return replace(method, make=make)

    monkeypatch.setattr(methods, "_BY_NAME", {one.name: watch(one) for one in METHODS})
    tasks = one_run_of_each_method(name)
    for task in tasks:
        record = attempt(task)
        assert isinstance(record, Record), record
        assert record.threads == 1
    assert set(seen) == {task.run.method for task in tasks}
    for method, threads in seen.items():
        assert len(threads) >= 6, method
        assert set(threads) == {1}, method
    assert n_threads() == before


@pytest.mark.parametrize("jobs", [1, 2])
def test_records_say_one_thread(tmp_path, jobs):
    store = RecordFile(tmp_path / "records.jsonl")
    tasks = one_run_of_each_method("figure7")
    assert execute(tasks, store, jobs=jobs) == []
    records = store.read().values()
    assert len(records) == len(tasks)
    assert {record.threads for record in records} == {1}


def deafness(run):
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return {"blocked": float(signal.SIGINT in blocked)}, {}


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no signals that are held back")
def test_workers_never_hear_ctrl_c(tmp_path):
    """Before: one that came while a process was loading made it print a traceback."""
    store = RecordFile(tmp_path / "records.jsonl")
    tasks = [replace(task, measure=deafness) for task in one_run_of_each_method("figure7")]
    assert execute(tasks, store, jobs=2) == []
    assert [record.results for record in store.read().values()] == [{"blocked": 1.0}] * len(tasks)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_the_limit_ends_with_the_run():
    before = threads_allowed()
    attempt(one_run_of_each_method("table2")[0])
    assert threads_allowed() == before


def test_an_error_of_a_run_is_told():
    task = one_run_of_each_method("table2")[0]
    outcome = attempt(replace(task, run=replace(task.run, kernel="no such kernel")))
    assert isinstance(outcome, Failure)
    assert outcome.message.startswith("ValueError")
