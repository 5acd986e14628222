"""Many cases in processes that may die: a crash or a hang is a failure of its case and ends nothing else."""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

import psutil

from fuzz.shrink import snippet
from fuzz.trial import Trial, Verdict

__all__ = ["Outcome", "run_campaign"]

HANG = 60.0  # seconds of processor time that no case may take
# Seconds on the clock, however busy the machine: a case that waits for something takes no processor time
PATIENCE = 900.0
_LOOK = 1.0  # seconds between two looks at the processes
_MEMORY = 8 << 30  # bytes of address space that a process may have: a case that asks for more gets a MemoryError
_START = 120.0  # seconds that a process may take to start


@dataclass
class Outcome:
    """Counts of verdicts, and the failures with their seeds."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, Verdict]] = field(default_factory=list)

    def add(self, seed: int, verdict: Verdict) -> None:
        self.counts[verdict.kind] += 1
        if verdict.kind == "failure":
            self.failures.append((seed, verdict))


def _work(pipe: Connection, make: Callable[[int], Any]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # paths are among the arguments
        pipe.send(None)
        while (seed := pipe.recv()) is not None:
            pipe.send(make(seed).run())


class _Worker:
    """A process and the case it is at."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        context = mp.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, make), daemon=True)
        self.process.start()
        theirs.close()
        self.seed: int | None = None
        self.make = make
        if not self.pipe.poll(_START):
            raise RuntimeError("a process of the campaign did not start")
        self.pipe.recv()

    def give(self, seed: int) -> None:
        self.seed = seed
        self.given = (self._processor_time(), time.monotonic())
        self.pipe.send(seed)

    def hangs(self) -> bool:
        """Whether the case takes longer than any may."""
        processor, clock = self.given
        return self._processor_time() - processor > HANG or time.monotonic() - clock > PATIENCE

    def _processor_time(self) -> float:
        try:
            times = psutil.Process(self.process.pid).cpu_times()
        except psutil.NoSuchProcess:  # it died, which its pipe says
            return 0.0
        return float(times.user + times.system)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_campaign(
    seeds: Sequence[int],
    *,
    processes: int = 2,
    make: Callable[[int], Any] = Trial,
    on_verdict: Callable[[int, Verdict], Any] = lambda seed, verdict: None,
) -> Outcome:
    """Run all cases: ``make`` of a seed has a ``case()``, and a ``run()`` that gives the verdict."""
    outcome, todo = Outcome(), iter(seeds)
    workers = [_Worker(make) for _ in range(min(processes, len(seeds)))]

    def record(seed: int, verdict: Verdict) -> None:
        outcome.add(seed, verdict)
        on_verdict(seed, verdict)

    try:
        busy = [worker for worker in workers if _next(worker, todo)]
        while busy:
            ready = wait([worker.pipe for worker in busy], timeout=_LOOK)
            for worker in [one for one in busy if one.pipe in ready or one.hangs()]:
                seed = worker.seed
                assert seed is not None
                verdict = _answer(worker, hangs=worker.pipe not in ready)
                record(seed, verdict)
                busy.remove(worker)
                if verdict.text.startswith(("died", "hangs")):
                    worker.end()
                    workers.remove(worker)
                    worker = _Worker(make)
                    workers.append(worker)
                if _next(worker, todo):
                    busy.append(worker)
    finally:
        for worker in workers:
            worker.end()
    return outcome


def _next(worker: _Worker, todo: Iterator[int]) -> bool:
    seed = next(todo, None)
    if seed is None:
        return False
    worker.give(seed)
    return True


def _answer(worker: _Worker, *, hangs: bool) -> Verdict:
    if not hangs:
        try:
            return worker.pipe.recv()  # a pipe takes anything, this one verdicts
        except (EOFError, OSError):
            worker.process.join()
    assert worker.seed is not None
    what = (
        f"hangs for more than {HANG:.0f} s of processor time" if hangs else f"died with code {worker.process.exitcode}"
    )
    case = worker.make(worker.seed).case()  # as it was drawn: smaller ones would hang or die as well
    return Verdict("failure", f"{what}: {case}", snippet(case, "whatever ended it"))
