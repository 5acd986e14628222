"""One number of threads for all: who decides, what is limited, and what callers at the same time get."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from krein._core import threads
from krein._core.threads import (
    VARIABLES,
    blas_threads,
    n_threads,
    quiet_blas,
    share,
    share_with,
    thread_limit,
    usable_processors,
    within_budget,
)
from krein.kernels import NTK, Gaussian

# What every loop, product and pool says, in a process of its own: threads of a shared loop of Gram blocks, of the feature loop, of
# a rival, and of BLAS within a call.
REPORT = """
import sys, threading, time
import numpy as np
import krein
from threadpoolctl import threadpool_info
from krein._core import threads
from krein.baselines.base import map_rows
from krein.features import _blocks

expected = int(sys.argv[1])

def used(begin):
    seen, lock, all_here = set(), threading.Lock(), threading.Event()
    def meet():
        with lock:
            seen.add(threading.get_ident())
            if len(seen) >= expected:
                all_here.set()
        all_here.wait(120)  # so that no thread takes all pieces before the others have started, however busy the machine
        time.sleep(0.002)  # nor before one too many
    begin(meet)
    return len(seen)

def radial(z, meet):
    meet()
    return np.exp(-z)

def fill(rows, out, meet):
    meet()
    out[:] = 0

X = np.random.default_rng(0).normal(size=(3000, 3))
counts = [
    used(lambda meet: krein.kernels.Radial(lambda z: radial(z, meet))(X)),
    used(lambda meet: _blocks.share_rows(lambda: lambda lo, hi: meet(), 100, 1, _blocks.thread_count(10**9, None))),
    used(lambda meet: map_rows(X, 2000, lambda rows, out: fill(rows, out, meet))),
]
with threads.within_budget():
    np.ones((2, 2)) @ np.ones((2, 2))
    counts.append(max(pool["num_threads"] for pool in threadpool_info()))
print(*counts)
"""


def report(expected: int, before: str = "", **environment: str) -> list[int]:
    """The numbers of threads used in a new process with these variables, and no other that says anything of threads."""
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    kept["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", before + REPORT, str(expected)],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(count) for count in done.stdout.split()]


def blas_counts() -> list[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture
def undecided(monkeypatch):
    """An environment that says nothing of threads, whatever it said when BLAS and OpenMP were loaded."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "pools_limit", lambda *_: None)


class TestWhoDecides:
    @pytest.mark.parametrize("variable", VARIABLES)
    def test_every_variable_counts_and_of_several_the_least(self, undecided, monkeypatch, variable):
        monkeypatch.setenv(variable, "3")
        assert n_threads() == 3  # more than there are processors, if so
        for other in VARIABLES:
            if other != variable:
                monkeypatch.setenv(other, "5")
        assert n_threads() == 3

    @pytest.mark.parametrize("variable", ["KREIN_NUM_THREADS", "OMP_NUM_THREADS"])
    def test_one_variable_limits_everything(self, variable):
        assert report(1, **{variable: "1"}) == [1, 1, 1, 1]

    def test_of_several_variables_the_least_limits_everything(self):
        loops = report(3, KREIN_NUM_THREADS="4", OMP_NUM_THREADS="3", NUMBA_NUM_THREADS="5")[:3]
        assert loops == [3, 3, 3]  # BLAS keeps to the processors there are

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
    def test_the_processors_this_process_may_use(self):
        first = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        assert report(1, first) == [1, 1, 1, 1]

    def test_no_more_processors_than_there_are(self):
        assert 1 <= usable_processors() <= (os.cpu_count() or 1)

    @pytest.mark.parametrize(
        "before",
        [
            "from krein import _core; from krein._core.threads import thread_limit; limit = thread_limit(1); limit.__enter__()\n",
            "import numpy, scipy.linalg; from threadpoolctl import threadpool_limits; limit = threadpool_limits(1)\n",
        ],
        ids=["thread_limit", "threadpoolctl"],
    )
    def test_a_limit_of_the_program(self, before):
        assert report(1, before) == [1, 1, 1, 1]

    def test_numba_limits_everything_once_its_threads_run(self):
        before = (
            "import numba, numpy\n@numba.njit(parallel=True)\ndef f(x):\n    for i in numba.prange(len(x)):\n        x[i] = i\n"
            "f(numpy.empty(10)); numba.set_num_threads(1)\n"
        )
        assert report(1, before, NUMBA_NUM_THREADS="2")[:3] == [1, 1, 1]

    def test_the_program_goes_before_the_environment(self, undecided, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        assert n_threads() == 2
        assert n_threads(5) == 5
        with thread_limit(7):
            assert n_threads() == 7
            assert n_threads(5) == 5
            with thread_limit(3):
                assert n_threads() == n_threads(5) == 3
            assert n_threads() == 7
        with within_budget(4):
            assert n_threads() == 4
            assert n_threads(2) == 2
        assert n_threads() == 2

    @pytest.mark.parametrize("value", ["none", "", "0", "-3", "2.5"])
    def test_variables_that_say_nothing(self, undecided, monkeypatch, value):
        usual = n_threads()
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert n_threads() == usual

    def test_openmp_may_have_a_number_for_each_level(self, undecided, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "3,1")
        assert n_threads() == 3

    def test_negative_numbers_count_back_from_the_processors(self, undecided, monkeypatch):
        monkeypatch.setattr(threads, "usable_processors", lambda: 8)
        assert [n_threads(jobs) for jobs in (-1, -2, -8, -99)] == [8, 7, 1, 1]

    @pytest.mark.parametrize(
        ("n_jobs", "error"), [(0, ValueError), (1.5, TypeError), (True, TypeError), ("2", TypeError)]
    )
    def test_absurd_numbers_are_named(self, n_jobs, error):
        with pytest.raises(error, match="n_jobs must"):
            n_threads(n_jobs)

    @pytest.mark.parametrize("limit", [0, -1])
    def test_absurd_limits_are_named(self, limit):
        with pytest.raises(ValueError, match="threads must be at least 1"), thread_limit(limit):
            pass


class TestCallersAtTheSameTime:
    def test_they_share_the_threads(self, undecided, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "8")
        seen, here, leave = {}, threading.Barrier(3), threading.Barrier(3)

        def call(name: int, jobs: int | None) -> None:
            with within_budget(jobs):
                here.wait(120)
                seen[name] = n_threads()
                leave.wait(120)

        with ThreadPoolExecutor(3) as pool:
            for done in [pool.submit(call, 0, None), pool.submit(call, 1, None), pool.submit(call, 2, 1)]:
                done.result()
        assert seen == {0: 2, 1: 2, 2: 1}
        assert n_threads() == 8

    def test_calls_within_one_another_are_one_caller(self, undecided, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "8")
        with within_budget(), quiet_blas(), within_budget():
            assert n_threads() == 8

    def test_blas_has_one_thread_as_long_as_there_are_several(self):
        before = blas_counts()
        with within_budget():
            alone = blas_counts()
            with ThreadPoolExecutor(1) as pool:

                def other() -> list[int]:
                    with within_budget():
                        return blas_counts()

                assert set(pool.submit(other).result()) == {1}
            assert blas_counts() == alone
        assert blas_counts() == before

    @pytest.mark.parametrize("last", [True, False])
    def test_blas_is_set_back_by_whoever_leaves_last(self, last):
        """Only one thread may set the number of threads by threadpoolctl's own rules, and here each of two does."""
        before = blas_counts()
        here, leave = threading.Barrier(2), threading.Event()

        def other() -> None:
            with quiet_blas():
                here.wait(120)
                leave.wait(120)

        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(other)
            with quiet_blas():
                here.wait(120)
                assert set(blas_counts()) == {1}
                if last:
                    leave.set()
                    done.result()
                    assert set(blas_counts()) == {1}
            if not last:
                assert set(blas_counts()) == {1}
                leave.set()
                done.result()
        assert blas_counts() == before

    def test_a_limit_from_a_thread_that_did_not_set_the_first(self):
        with quiet_blas():
            pass
        with ThreadPoolExecutor(1) as pool:

            def other() -> list[int]:
                with quiet_blas():
                    return blas_counts()

            assert set(pool.submit(other).result()) == {1}

    def test_what_others_have_limited_is_kept(self):
        with threadpool_limits(1):
            with within_budget():
                assert set(blas_counts()) == {1}
            assert set(blas_counts()) == {1}

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
    def test_a_child_is_not_bound_by_the_calls_of_its_parent(self):
        code = (
            "import os, threading, numpy\nfrom krein._core.threads import n_threads, quiet_blas\n"
            "here, leave = threading.Event(), threading.Event()\n"
            "def call():\n    with quiet_blas():\n        here.set(); leave.wait(120)\n"
            "t = threading.Thread(target=call); t.start(); here.wait(120)\n"
            "child = os.fork()\nif not child:\n    os._exit(n_threads())\n"
            "print(n_threads(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])); leave.set(); t.join()"
        )
        environment = os.environ | {"KREIN_NUM_THREADS": "6", "PYTHONPATH": os.pathsep.join(sys.path)}
        for name in VARIABLES[1:]:
            environment.pop(name, None)
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        assert done.stdout.split() == ["3", "6"], done.stderr


class TestBlas:
    def test_quiet_inside_a_budget_and_loud_inside_quiet(self):
        before = blas_counts()
        with within_budget():
            usual = blas_counts()
            with quiet_blas():
                assert set(blas_counts()) == {1}
                with blas_threads(1.0):
                    assert set(blas_counts()) == {1}
                with blas_threads(1e12):
                    assert blas_counts() == usual
            assert blas_counts() == usual
        assert blas_counts() == before

    def test_a_call_with_n_jobs(self):
        with within_budget(n_jobs=1):
            assert set(blas_counts()) == {1}
            assert {pool["num_threads"] for pool in threadpool_info()} == {1}

    def test_a_limit_binds_all_pools_and_lifts(self):
        before = threadpool_info()
        with thread_limit(1):
            assert {pool["num_threads"] for pool in threadpool_info()} == {1}
        assert threadpool_info() == before

    def test_an_error_leaves_everything_as_it_was(self):
        before = threadpool_info()
        with pytest.raises(KeyError), thread_limit(1), within_budget(), quiet_blas():
            raise KeyError
        assert threadpool_info() == before
        assert not threads._state.callers
        assert not threads._state.limits


class TestShare:
    @pytest.mark.parametrize("count", [1, 2, 5, None])
    def test_all_pieces_are_done_once(self, count):
        done = np.zeros(100, dtype=int)

        def work(i: int) -> None:
            done[i] += 1

        share(work, iter(range(100)), threads=count)
        assert (done == 1).all()

    def test_within_a_piece_no_more_threads_are_started_whatever_is_asked_for(self):
        alone = []

        def outer(_: int) -> None:
            here, seen = threading.get_ident(), set()
            share(lambda _: seen.add(threading.get_ident()), range(20), threads=4)
            alone.append(seen == {here})

        share(outer, range(2), threads=2)
        assert alone == [True, True]

    @pytest.mark.parametrize("count", [1, 2, 5])
    def test_as_many_threads_as_asked_for_each_with_its_own_work(self, count):
        seen, workers, meet = set(), [], threading.Barrier(count)

        def worker():
            workers.append(threading.get_ident())
            first = []

            def work(_: int) -> None:
                if not first:
                    first.append(meet.wait(120))
                seen.add(threading.get_ident())

            return work

        share_with(worker, range(40), threads=count)
        assert len(seen) == len(workers) == count
        assert threading.get_ident() in seen

    @pytest.mark.parametrize("count", [1, 3])
    def test_an_error_comes_out_and_blas_keeps_its_threads(self, count):
        before = blas_counts()

        def work(i: int) -> None:
            if i == 3:
                raise KeyError(i)

        with pytest.raises(KeyError):
            share(work, range(10), threads=count)
        assert blas_counts() == before
        assert not threads._state.callers

    def test_work_within_work_is_done_by_one_thread(self):
        before, counts, idents = blas_counts(), [], []

        def inner(outer: int) -> None:
            idents.append((outer, threading.get_ident()))
            counts.append(blas_counts())

        def outer(i: int) -> None:
            assert n_threads() == 1
            share(lambda _: inner(i), range(5))

        share(outer, range(6), threads=3)
        assert len(set(idents)) == 6  # each piece by one thread
        assert all(count == 1 for found in counts for count in found)
        assert blas_counts() == before

    def test_without_pieces(self):
        share(lambda _: pytest.fail("nothing to do"), [], threads=3)

    def test_no_thread_is_absurd(self):
        with pytest.raises(ValueError, match="threads must be at least 1"):
            share(print, [1], threads=0)


@pytest.mark.parametrize("kernel", [Gaussian(), NTK()])
@pytest.mark.parametrize("rows", [100, 1500])
def test_gram_matrices_are_the_same_for_any_number_of_threads(kernel, rows):
    X = np.random.default_rng(0).normal(size=(rows, 7))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    found = []
    for count in (1, 2, 3):
        with thread_limit(count):
            found.append((kernel(X), kernel(X, X[: 2 * rows // 3] + 0.0)))
    for square, oblong in found[1:]:
        np.testing.assert_array_equal(square, found[0][0])
        np.testing.assert_array_equal(oblong, found[0][1])
    square = found[0][0]
    assert np.array_equal(square, square.T)
    assert np.array_equal(np.diag(square), np.full(rows, float(kernel.radial(0.0))))
