"""The trigonometric map against loops, against mpmath, and against itself under any cutting of the work."""

import math
import os
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import mpmath
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from krein.features.waves import trig_map

DTYPES = [np.float32, np.float64]


def problem(n, d, s, dtype, seed=0, scale=1.0):
    """Rows, frequencies and amplitudes of either sign."""
    rng = np.random.default_rng(seed)
    X, W, a = rng.standard_normal((n, d)), scale * rng.standard_normal((s, d)), rng.standard_normal(s)
    return X.astype(dtype), W.astype(dtype), a.astype(dtype)


def mapped(X, W, a, **options):
    return trig_map(X, W, a, np.full((X.shape[0], 2 * len(a)), np.nan, W.dtype), **options)


def loops(X, W, a):
    """The definition, one element at a time, in double precision."""
    n, s = len(X), len(a)
    out = np.empty((n, 2 * s))
    for i in range(n):
        for j in range(s):
            t = math.fsum(float(x) * float(w) for x, w in zip(X[i], W[j], strict=True))
            out[i, j], out[i, s + j] = float(a[j]) * math.cos(t), float(a[j]) * math.sin(t)
    return out


def tolerance(X, W, a):
    """4 ulp of the argument, and the d roundings of the projection in proportion to the sum of absolute products."""
    size = np.abs(X.astype(float)) @ np.abs(W.astype(float)).T
    bound = (4 * np.maximum(1, size) + X.shape[1] * size) * np.finfo(W.dtype).eps * np.abs(a)
    return np.hstack([bound, bound])


def arguments(dtype, largest):
    """Random arguments of all sizes, multiples of π/2 and their neighbors, and small ones."""
    rng = np.random.default_rng(1)
    spread = largest * rng.uniform(-1, 1, 1000)
    sizes = 10.0 ** rng.uniform(-30, np.log10(largest), 1000) * rng.choice([-1, 1], 1000)
    turns = np.round(np.geomspace(1, largest / (np.pi / 2), 200)) * (np.pi / 2)
    t = np.concatenate([spread, sizes, turns, -turns, [0.0, -0.0, largest, -largest]]).astype(dtype)
    return np.concatenate([t, np.nextafter(t, dtype(np.inf)), np.nextafter(t, dtype(-np.inf))])


def exact(t):
    with mpmath.workdps(60):
        return np.array([[float(mpmath.cos(mpmath.mpf(float(x)))), float(mpmath.sin(mpmath.mpf(float(x))))] for x in t])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d", "s"), [(1, 1, 1), (7, 3, 5), (33, 22, 50), (9, 65, 49), (17, 2, 100)])
def test_equals_loops(n, d, s, dtype):
    X, W, a = problem(n, d, s, dtype)
    out = mapped(X, W, a)
    assert out.dtype == dtype
    assert (np.abs(out - loops(X, W, a)) <= tolerance(X, W, a)).all()


@pytest.mark.parametrize(
    ("dtype", "largest", "ulps"),
    # Within the reduced range the error does not grow with the argument; past it libm is as good.
    [(np.float32, 1e4, 2), (np.float64, 1e5, 2), (np.float32, 1e30, 2), (np.float64, 1e30, 2)],
)
def test_cosine_and_sine_against_mpmath(dtype, largest, ulps):
    t = arguments(dtype, largest)
    out = mapped(t[:, None], np.ones((1, 1), dtype), np.ones(1, dtype))  # with one coordinate the argument is exact
    assert np.abs(out - exact(t)).max() <= ulps * np.finfo(dtype).eps
    assert np.abs(out).max() <= 1 + np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_arguments_keep_relative_accuracy(dtype):
    t = np.geomspace(1e-30, 0.5, 500).astype(dtype)
    sine = mapped(t[:, None], np.ones((1, 1), dtype), np.ones(1, dtype))[:, 1]
    np.testing.assert_allclose(sine, exact(t)[:, 1], rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_nan_and_infinity_stay_in_their_rows(dtype):
    X, W, a = problem(40, 5, 30, dtype)
    clean = mapped(X, W, a)
    X[3, 2], X[17, 0], X[18, 4] = np.nan, np.inf, -np.inf
    out = mapped(X, W, a)
    bad = [3, 17, 18]
    assert np.isnan(out[bad]).all()
    np.testing.assert_array_equal(np.delete(out, bad, 0), np.delete(clean, bad, 0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_large_argument_does_not_change_its_neighbours(dtype):
    X, W, a = problem(10, 4, 60, dtype)
    plain = mapped(X, W, a)
    W[7] *= 1e9
    out = mapped(X, W, a)
    others = np.delete(np.arange(120), [7, 67])
    np.testing.assert_array_equal(out[:, others], plain[:, others])
    t = X.astype(float) @ W[7].astype(float)
    assert (np.abs(out[:, 7]) <= abs(a[7])).all()
    assert np.abs(out[:, 7] - a[7] * np.cos(t)).max() <= np.abs(t).max() * 8 * np.finfo(dtype).eps + 1e-6


@pytest.mark.parametrize("dtype", DTYPES)
def test_writes_into_a_slice_of_columns_and_nothing_else(dtype):
    X, W, a = problem(50, 6, 9, dtype)
    wide = np.full((50, 30), 7.0, dtype)
    view = wide[:, 5:23]
    assert trig_map(X, W, a, view) is view
    np.testing.assert_array_equal(view, mapped(X, W, a))
    assert (wide[:, :5] == 7).all()
    assert (wide[:, 23:] == 7).all()


@pytest.mark.parametrize("layout", ["F", "reversed rows", "reversed columns", "every other column", "one row"])
def test_output_of_any_layout(layout):
    X, W, a = problem(50, 6, 9, np.float64)
    if layout == "one row":
        X = X[:1]
    n = len(X)
    out = {
        "F": np.empty((n, 18), order="F"),
        "reversed rows": np.empty((n, 18))[::-1],
        "reversed columns": np.empty((n, 18))[:, ::-1],
        "every other column": np.empty((n, 36))[:, ::2],
        "one row": np.empty((3, 18))[1:2],
    }[layout]
    np.testing.assert_array_equal(trig_map(X, W, a, out), mapped(X, W, a))


@pytest.mark.parametrize("dtype", DTYPES)
def test_input_of_any_layout(dtype):
    X, W, a = problem(60, 7, 20, dtype)
    expected = mapped(X, W, a)
    read_only = X.copy()
    read_only.setflags(write=False)
    wide = np.zeros((120, 21), dtype)
    wide[::2, 1:15:2] = X
    for same in (np.asfortranarray(X), read_only, wide[::2, 1:15:2], X.astype(X.dtype.newbyteorder())):
        np.testing.assert_array_equal(mapped(same, W, a), expected)
    np.testing.assert_array_equal(mapped(X, np.asfortranarray(W), np.repeat(a, 2)[::2]), expected)


def test_type_of_the_output_is_kept_for_other_rows():
    _, W, a = problem(0, 3, 4, np.float32)
    X = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(mapped(X, W, a), mapped(X.astype(np.float32), W, a))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "csc_array", "coo_array"])
def test_sparse_rows_equal_dense_rows(dtype, kind):
    X, W, a = problem(300, 40, 70, dtype)
    X[np.random.default_rng(1).random(X.shape) < 0.9] = 0
    X[:3] = 0
    out = mapped(getattr(scipy.sparse, kind)(X), W, a)
    assert (np.abs(out - mapped(X, W, a)) <= tolerance(X, W, a)).all()
    np.testing.assert_array_equal(out[:3], np.tile(np.concatenate([a, 0 * a]), (3, 1)))


def test_sparse_rows_with_repeated_and_unsorted_entries_and_both_index_types():
    _, W, a = problem(0, 4, 5, np.float64)
    for index in (np.int32, np.int64):
        X = scipy.sparse.csr_array(
            (np.array([1.0, 2.0, 3.0]), np.array([3, 0, 3], index), np.array([0, 3, 3], index)), shape=(2, 4)
        )
        np.testing.assert_allclose(mapped(X, W, a), mapped(np.array([[2.0, 0, 0, 4], [0, 0, 0, 0]]), W, a), atol=1e-14)


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 9, 3], [0, 2, 3]), ([0, -1, 3], [0, 2, 3]), ([0, 1, 3], [0, 7, 3]), ([0, 1, 3], [0, 2, 9])],
)
def test_sparse_rows_with_a_broken_structure_are_refused(indices, indptr):
    """The compiled loop would read, or write, outside of its arrays."""
    _, W, a = problem(0, 4, 5, np.float64)
    X = scipy.sparse.csr_array(np.eye(2, 4) + np.eye(2, 4, 1))
    X.data, X.indices, X.indptr = np.ones(3), np.array(indices, X.indices.dtype), np.array(indptr, X.indptr.dtype)
    with pytest.raises(ValueError, match=r"ind"):
        mapped(X, W, a)


def test_sparse_rows_with_many_columns_are_mapped_in_panels_of_frequencies(monkeypatch):
    from krein.features import waves

    X, W, a = problem(40, 50, 100, np.float64)
    whole = mapped(X, W, a), mapped(scipy.sparse.csr_array(X), W, a)
    monkeypatch.setattr(waves, "PANEL_BYTES", 50 * 8 * 20)
    np.testing.assert_array_equal(mapped(X, W, a), whole[0])
    np.testing.assert_array_equal(mapped(scipy.sparse.csr_array(X), W, a), whole[1])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_do_not_depend_on_threads(dtype, sparse):
    X, W, a = problem(1501, 22, 150, dtype)
    X = scipy.sparse.csr_array(X) if sparse else X
    one = mapped(X, W, a, n_threads=1)
    for n_threads in (2, 3, 7):
        np.testing.assert_array_equal(mapped(X, W, a, n_threads=n_threads), one)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_of_a_row_do_not_depend_on_the_other_rows(dtype, sparse):
    X, W, a = problem(700, 22, 61, dtype)
    whole = mapped(X, W, a) if not sparse else mapped(scipy.sparse.csr_array(X), W, a)
    X = scipy.sparse.csr_array(X) if sparse else X
    for chunk in (1, 5, 8, 64, 333):
        pieces = [mapped(X[lo : lo + chunk], W, a) for lo in range(0, 700, chunk)]
        np.testing.assert_array_equal(np.vstack(pieces), whole)
    order = np.random.default_rng(0).permutation(700)
    np.testing.assert_array_equal(mapped(X[order], W, a), whole[order])


def test_calls_from_several_threads_at_once():
    problems = [problem(800, 10 + k, 100 + k, DTYPES[k % 2], seed=k) for k in range(6)]
    expected = [mapped(*p, n_threads=1) for p in problems]
    results = [None] * len(problems)

    def call(k):
        results[k] = [mapped(*problems[k], n_threads=2) for _ in range(3)]

    threads = [threading.Thread(target=call, args=(k,)) for k in range(len(problems))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for result, truth in zip(results, expected, strict=True):
        for again in result:
            np.testing.assert_array_equal(again, truth)


@pytest.mark.parametrize(("n", "d", "s"), [(0, 3, 4), (5, 3, 0), (0, 0, 0), (4, 0, 3)])
def test_empty(n, d, s):
    X, W, a = problem(n, d, s, np.float64)
    out = mapped(X, W, a)
    assert out.shape == (n, 2 * s)
    if d == 0:
        np.testing.assert_array_equal(out, np.tile(np.concatenate([a, 0 * a]), (n, 1)))
    assert mapped(scipy.sparse.csr_array((n, max(d, 1))), np.zeros((s, max(d, 1))), a).shape == (
        n,
        2 * s,
    )


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 70),
    d=st.integers(1, 40),
    s=st.integers(1, 120),
    dtype=st.sampled_from(DTYPES),
    order=st.sampled_from("CF"),
    scale=st.sampled_from([1e-3, 1.0, 1e2]),
    seed=st.integers(0, 2**16),
)
def test_any_shape(n, d, s, dtype, order, scale, seed):
    X, W, a = problem(n, d, s, dtype, seed, scale)
    t = X.astype(float) @ W.astype(float).T
    expected = np.hstack([a * np.cos(t), a * np.sin(t)])
    assert (np.abs(mapped(np.asarray(X, order=order), W, a) - expected) <= tolerance(X, W, a)).all()


def test_memory_is_the_output_and_some_scratch():
    X, W, a = problem(20_000, 100, 300, np.float64)
    out = np.empty((20_000, 600))
    places = (np.random.default_rng(0).integers(n, size=200_000) for n in (20_000, 5_000))
    S = scipy.sparse.csr_array((np.ones(200_000), tuple(places)), shape=(20_000, 5_000))
    V = np.ones((300, 5_000))
    trig_map(X[:50], W, a, out[:50])
    trig_map(S[:50], V, a, out[:50])
    tracemalloc.start()
    for rows, frequencies in ((X, W), (np.asfortranarray(X), W), (S, V)):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        trig_map(rows, frequencies, a, out)
        assert tracemalloc.get_traced_memory()[1] - before < 32 * 2**20
    tracemalloc.stop()


def test_numba_is_imported_on_first_use_only():
    code = "import sys, krein.features.waves, krein.features.waves; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_compiler_results_are_the_same():
    """With ``NUMBA_DISABLE_JIT=1`` the loops run as Python: slow, and right."""
    code = (
        "import sys, numpy as np, test_waves as t, test_walsh as w\n"
        "for dtype in t.DTYPES:\n"
        "    X, W, a = t.problem(5, 3, 7, dtype)\n"
        "    assert (np.abs(t.mapped(X, W, a) - t.loops(X, W, a)) <= t.tolerance(X, W, a)).all()\n"
        "    X[2] = 1e12\n"
        "    assert np.isfinite(t.mapped(X, W, a)).all()\n"
        "    for d in (1, 3, 16):\n"
        "        X, signs, radii, a = w.problem(4, d, 9, dtype)\n"
        "        W = w.explicit(signs, radii, d).astype(dtype)\n"
        "        out = w.mapped(X, signs, radii, a)\n"
        "        assert np.abs(out - t.loops(X, W, a)).max() <= 1e3 * np.finfo(dtype).eps\n"
    )
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros(3)}, "two dimensions"),
        ({"X": np.zeros((5, 4))}, "frequencies must have shape"),
        ({"amplitudes": np.zeros(3)}, "frequencies must have shape"),
        ({"amplitudes": np.zeros(2, np.float32)}, "amplitudes must be of the type of out"),
        ({"out": np.zeros((5, 2))}, "out must have shape"),
        ({"out": np.zeros((5, 4), int)}, "float32 or float64"),
        ({"out": np.broadcast_to(0.0, (5, 4))}, "writable"),
        ({"amplitudes": np.zeros((2, 2))}, "amplitudes must have one dimension"),
        ({"n_threads": 0}, "n_threads must be"),
    ],
)
def test_errors_name_the_parameter(change, message):
    good = {"X": np.zeros((5, 3)), "frequencies": np.zeros((2, 3)), "amplitudes": np.zeros(2), "out": np.zeros((5, 4))}
    with pytest.raises(ValueError, match=message):
        trig_map(**(good | change))
