"""Work shared among threads: all of it done, errors kept, BLAS as it was before."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from krein._core.threads import n_threads, share
from krein.kernels import NTK, Gaussian


def blas_threads() -> list[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_all_pieces_are_done_once(threads):
    done = np.zeros(100, dtype=int)

    def work(i: int) -> None:
        done[i] += 1

    share(work, range(100), threads=threads)
    assert (done == 1).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_comes_out_and_blas_keeps_its_threads(threads):
    before = blas_threads()

    def work(i: int) -> None:
        if i == 3:
            raise KeyError(i)

    with pytest.raises(KeyError):
        share(work, range(10), threads=threads)
    assert blas_threads() == before


def test_callers_inside_one_another_leave_blas_as_it_was():
    before, seen = blas_threads(), []

    def inner(_: int) -> None:
        seen.append(blas_threads())

    share(lambda _: share(inner, range(3), threads=2), range(3), threads=2)
    assert all(count == 1 for counts in seen for count in counts)
    assert blas_threads() == before


def test_the_environment_limits_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert n_threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "none")
    assert n_threads() >= 1


@pytest.mark.parametrize("kernel", [Gaussian(), NTK()])
def test_gram_matrices_do_not_depend_on_the_number_of_threads(kernel, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(1500, 7))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = {}
    for count in ("1", "2", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", count)
        found[count] = kernel(rows), kernel(rows, rows[:1000] + 0.0)
    for one, two, three in zip(*found.values(), strict=True):
        assert np.array_equal(two, three)
        # one thread leaves BLAS its own, which may add in another order
        assert np.allclose(one, two, rtol=0, atol=1e-12)
    square = found["2"][0]
    assert np.array_equal(square, square.T)
    assert np.array_equal(np.diag(square), np.full(1500, float(kernel.radial(0.0))))
