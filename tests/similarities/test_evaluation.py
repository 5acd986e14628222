"""The engine: how functions are called, what goes wrong and where, processes, caches, progress, Ctrl-C."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

from krein import ExactKreinRidge, KreinNystroem, KreinRidge, Similarity, SimilarityCache
from krein._core.errors import SimilarityError
from krein._core.threads import n_threads, quiet_blas
from krein.similarities import as_objects
from krein.similarities.cache import content_key

WORDS = [f"word{i % 7}{'ab' * (i % 5)}{i}" for i in range(120)]
Y = np.array([len(word) for word in WORDS], dtype=float)


def overlap(a, b):
    return len(set(a) & set(b)) / (1.0 + abs(len(a) - len(b)))


def overlaps(A, B):
    return np.array([[overlap(a, b) for b in B] for a in A])


def slow(a, b):
    time.sleep(0.002)
    return overlap(a, b)


def block(function, left=WORDS[:9], right=WORDS[:4], **options):
    return Similarity(function, **options)(left, right)


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_how_a_function_is_called_is_found_out(size):
    expected = overlaps(WORDS[:size], WORDS[:4])
    np.testing.assert_array_equal(block(overlap, WORDS[:size]), expected)
    np.testing.assert_array_equal(block(overlaps, WORDS[:size]), expected)


def test_a_function_of_sequences_that_gives_no_matrix_for_one_by_one():
    """It is known by what it gives for some objects, as long as it takes no two objects."""

    def gram(A, B):
        A, B = np.array(A), np.array(B)
        if A.ndim != 2 or B.ndim != 2:
            raise ValueError("XA must be a 2-dimensional array")
        return np.squeeze(A @ B.T)

    rows = list(np.random.default_rng(0).normal(size=(9, 3)))
    np.testing.assert_allclose(block(gram, rows, rows[:4]), np.array(rows) @ np.array(rows[:4]).T)


def test_an_error_of_a_function_that_takes_neither_says_what_both_gave():
    def flat(a, b):
        raise ValueError("expected a 2-dimensional array")

    with pytest.raises(
        SimilarityError, match=r"objects 0 and 0 could not be computed.*two lists.*2-dimensional.*call='blocks'"
    ):
        block(flat)


@pytest.mark.parametrize("columns", [1, 2, 3, 9, 32])
@pytest.mark.parametrize("pair", [lambda x, y: x @ y, lambda x, y: float(np.exp(-np.abs(x - y).sum()))])
def test_a_function_of_two_rows_is_not_taken_for_one_of_two_matrices(columns, pair):
    """A product of two vectors takes two matrices as well, where the shapes happen to fit, and means another thing."""
    X = np.random.default_rng(0).normal(size=(40, columns))
    expected = np.array([[pair(x, y) for y in X] for x in X])
    found = KreinNystroem(pair, 40, eigenvalue_tol=1e-13).fit(X)
    np.testing.assert_allclose(found.approximate(X), expected, atol=1e-6)


def test_what_a_function_may_return():
    X = np.random.default_rng(0).normal(size=(9, 3))
    for function in (lambda A, B: sp.csr_array(A @ B.T), lambda A, B: (A @ B.T).tolist()):
        np.testing.assert_allclose(block(function, X, X[:4]), X @ X[:4].T)
    for dtype, kept in ((np.float16, np.float32), (np.float32, np.float32), (int, np.float64), (bool, np.float64)):
        assert block(lambda A, B, d=dtype: (A @ B.T).astype(d), X, X[:4]).dtype == kept
    for number in (1, True, np.float32(1.0), np.int8(1), np.array(1.0)):
        np.testing.assert_array_equal(block(lambda a, b, n=number: n, call="pairs"), 1.0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "objects 0 and 0 could not be computed: it returned nan"),
        (np.inf, "it returned inf"),
        (1.0 + 1.0j, "one real number, got \\(1\\+1j\\) of type complex"),
        ("1.0", "one real number, got '1.0' of type str"),
        (None, "one real number, got None"),
        (np.ones(2), r"one real number, got an array of shape \(2,\)"),
        ([1.0], r"one real number, got an array of shape \(1,\)"),
    ],
)
def test_what_a_function_of_two_objects_may_not_return(value, message):
    with pytest.raises(SimilarityError, match=message):
        block(lambda a, b: value, call="pairs")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: np.ones((len(A), len(B))) + 1j, "real numbers, got an array of dtype complex128"),
        (lambda A, B: np.full((len(A), len(B)), "a"), "real numbers, got an array of dtype <U1"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "returned nan for pair"),
        (lambda A, B: np.ones((len(A), len(B) + 1)), "must return one value per pair"),
    ],
)
def test_what_a_function_of_two_sequences_may_not_return(function, message):
    with pytest.raises(SimilarityError, match=message):
        block(function, call="blocks")


def fails_late(broken_at):
    """A function that raises at its n-th call, and a list of what it was called with."""
    seen = []

    def function(a, b):
        if broken_at and len(seen) + 1 == broken_at[0]:
            raise RuntimeError("no such alignment")
        seen.append((a, b))
        return overlap(a, b)

    return function, seen


@pytest.mark.parametrize("stored", ["memory", "file"])
def test_an_error_names_its_pair_and_a_cache_keeps_what_was_computed(tmp_path, stored):
    broken = [5000]
    function, seen = fails_late(broken)
    cache = SimilarityCache() if stored == "memory" else tmp_path / "values"
    model = ExactKreinRidge(Similarity(function, call="pairs", cache=cache), lam=0.1)
    with pytest.raises(SimilarityError, match="RuntimeError: no such alignment") as caught:
        model.fit(WORDS, Y)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert "4,999 values were computed before" in str(caught.value)
    broken.clear()
    before = len(seen)
    model.fit(WORDS, Y)
    total = len(WORDS) * (len(WORDS) + 1) // 2 + 32 * 31 // 2
    assert model.n_evaluations_ == len(seen) - before == total - 4999
    assert len(set(seen)) == len(seen)
    again = ExactKreinRidge(Similarity(function, call="pairs", cache=cache), lam=0.1).fit(WORDS, Y)
    assert again.n_evaluations_ == 0
    plain = ExactKreinRidge(overlap, lam=0.1).fit(WORDS, Y)
    np.testing.assert_allclose(again.predict(WORDS[:5]), plain.predict(WORDS[:5]), atol=1e-9)


def test_the_pair_that_failed_is_named():
    def function(a, b):
        if (a, b) == (WORDS[17], WORDS[3]):
            raise ZeroDivisionError("odd pair")
        return overlap(a, b)

    with pytest.raises(SimilarityError, match="objects 17 and 3 could not be computed: ZeroDivisionError: odd pair"):
        block(function, WORDS[:30], WORDS[:5], call="pairs")


def test_ctrl_c_keeps_what_was_computed():
    cache = SimilarityCache()

    def function(a, b):
        if len(seen) == 300:
            raise KeyboardInterrupt
        seen.append((a, b))
        return overlap(a, b)

    seen: list[tuple[str, str]] = []
    model = KreinNystroem(Similarity(function, call="pairs", cache=cache), 10, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(WORDS)
    assert len(cache) == 300
    assert not hasattr(model, "map_")


@pytest.mark.parametrize("function", [overlap, overlaps])
@pytest.mark.parametrize("known", [0, 1, 500, 10**6])
def test_a_cache_changes_nothing_but_the_number_of_evaluations(known, function):
    plain = KreinNystroem(function, 20, random_state=0).fit(WORDS)
    cache = SimilarityCache()
    KreinNystroem(Similarity(function, cache=cache), 20, random_state=0).fit(WORDS)
    for pair in [*cache._values][known:]:
        del cache._values[pair]
    again = KreinNystroem(Similarity(function, cache=cache), 20, random_state=0).fit(WORDS)
    assert again.landmarks_ == plain.landmarks_
    np.testing.assert_array_equal(again.transform(WORDS), plain.transform(WORDS))
    assert (again.n_evaluations_ == 0) == (known == 10**6)
    assert again.n_evaluations_ <= 21 * len(WORDS)


def test_folds_and_candidates_share_a_cache():
    from sklearn.model_selection import GridSearchCV

    function, seen = fails_late([])
    features = KreinNystroem(Similarity(function, call="pairs", cache=SimilarityCache()), 8, random_state=0)
    GridSearchCV(KreinRidge(features), {"lam": [0.1, 1.0]}, cv=3).fit(WORDS, Y)
    assert len(set(seen)) == len(seen)


def test_processes_give_the_same_values_and_errors():
    one = KreinNystroem(Similarity(slow, call="pairs"), 6, random_state=0).fit(WORDS)
    two = KreinNystroem(Similarity(slow, call="pairs", n_jobs=2), 6, random_state=0).fit(WORDS)
    assert one.n_evaluations_ == two.n_evaluations_
    np.testing.assert_array_equal(one.transform(WORDS), two.transform(WORDS))

    def breaks(a, b):
        time.sleep(0.002)
        if a == WORDS[77]:
            raise LookupError("77")
        return overlap(a, b)

    with pytest.raises(SimilarityError, match=r"objects 77 and \d+ could not be computed: LookupError: 77"):
        KreinNystroem(Similarity(breaks, call="pairs", n_jobs=2), 6, random_state=0).fit(WORDS)


def test_what_cannot_be_sent_to_another_process_says_so():
    class Unsendable(str):
        def __reduce__(self):
            raise TypeError("cannot be sent")

    objects = [Unsendable(word) for word in WORDS]
    with pytest.raises(SimilarityError, match=r"PicklingError.*use n_jobs=1"):
        KreinNystroem(Similarity(slow, call="pairs", n_jobs=2), 6, random_state=0).fit(objects)
    assert KreinNystroem(Similarity(overlap, call="pairs"), 6, random_state=0).fit(objects).rank_


def test_progress_is_shown_on_request(capsys):
    KreinNystroem(Similarity(overlap, verbose=True), 6, random_state=0).fit(WORDS)
    told = capsys.readouterr().err
    assert told.count(" evaluations, ") >= 5
    assert f"of {7 * len(WORDS)}" in told
    KreinNystroem(overlap, 6, random_state=0).fit(WORDS)
    assert not capsys.readouterr().err


@pytest.mark.parametrize("blocks", [False, True])
def test_asymmetry_is_an_error_or_averaged(blocks):
    def lopsided(a, b):
        return overlap(a, b) + (0.25 if len(a) > len(b) else 0.0)

    def lopsided_blocks(A, B):
        return np.array([[lopsided(a, b) for b in B] for a in A])

    function = lopsided_blocks if blocks else lopsided
    with pytest.raises(ValueError, match=r"must be symmetric, but entries \(\d+, \d+\).*symmetrize='average'"):
        ExactKreinRidge(function).fit(WORDS, Y)
    with pytest.raises(ValueError, match="symmetrize must be one of"):
        KreinNystroem(Similarity(function, symmetrize="yes")).fit(WORDS)
    both = lopsided_blocks(WORDS, WORDS)
    features = KreinNystroem(Similarity(function, symmetrize="average"), 120, eigenvalue_tol=1e-13).fit(WORDS)
    np.testing.assert_allclose(features.approximate(WORDS), (both + both.T) / 2, atol=1e-6)
    few = KreinNystroem(Similarity(function, symmetrize="average"), 10, random_state=0).fit(WORDS)
    assert few.n_evaluations_ <= 2 * 11 * len(WORDS)


def test_a_cache_knows_objects_by_their_contents(tmp_path):
    same = [("a", "a"), (np.arange(3.0), np.arange(3.0)), ({"a": 1, "b": [2]}, {"b": [2], "a": 1}), ({1, 2}, {2, 1})]
    for one, other in same:
        assert content_key(one) == content_key(other)
    different = [
        "a",
        "b",
        "",
        b"a1",
        1,
        1.0,
        None,
        [1],
        (1,),
        ["a", "b"],
        ["ab"],
        [["a"], "b"],
        {"a": 1},
        {"a": 2},
        {1},
    ]
    different += [np.arange(3), np.arange(3.0), np.arange(3.0).reshape(1, 3), [np.arange(3.0)]]
    assert len({content_key(value) for value in different}) == len(different)
    with pytest.raises(TypeError, match=r"cannot read those of a generator.*key="):
        content_key(one for one in WORDS)
    cache = SimilarityCache(key=lambda value: value.name)
    assert cache.keys_of(as_objects([type("Named", (), {"name": "x"})()])) == [content_key("x")]
    for wrong in (3, ["file"]):
        with pytest.raises(TypeError, match="cache must be a path"):
            KreinNystroem(Similarity(overlap, cache=wrong), 3).fit(WORDS)
    (tmp_path / "other").write_text("something else, which is not ours")
    with pytest.raises(ValueError, match="not a cache of similarities"):
        SimilarityCache(tmp_path / "other")


def test_a_cache_that_was_tampered_with(tmp_path):
    """Values that are no numbers are computed anew; what is no regular file is refused, and nothing waits for it."""
    path = tmp_path / "pairs"
    KreinNystroem(Similarity(overlap, cache=path), 5, random_state=0).fit(WORDS[:20])
    expected = KreinNystroem(overlap, 5, random_state=0).fit(WORDS[:20]).transform(WORDS[:20])
    data = bytearray(path.read_bytes())
    data[-8:] = np.array(np.inf).tobytes()
    data[-48:-40] = np.array(np.nan).tobytes()
    path.write_bytes(bytes(data))
    again = KreinNystroem(Similarity(overlap, cache=path), 5, random_state=0).fit(WORDS[:20])
    np.testing.assert_array_equal(again.transform(WORDS[:20]), expected)
    os.mkfifo(tmp_path / "pipe")
    for odd in (tmp_path / "pipe", os.devnull, tmp_path):
        with pytest.raises(OSError, match="it is a"):
            SimilarityCache(odd)


def test_a_cache_file_that_ends_within_a_record_is_read_up_to_there(tmp_path):
    path = tmp_path / "values"
    KreinNystroem(Similarity(overlap, cache=path), 5, random_state=0).fit(WORDS)
    whole = len(SimilarityCache(path))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 7)
    assert len(SimilarityCache(path)) == whole - 1
    again = KreinNystroem(Similarity(overlap, cache=path), 5, random_state=0).fit(WORDS)
    assert again.n_evaluations_ == 1
    assert len(SimilarityCache(path)) == whole


def test_the_users_function_has_the_callers_blas_threads():
    """A fit is quiet, and the function of a user is no part of it."""
    seen = []

    def product(A, B):
        seen.append(max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))
        return A @ B.T

    before = max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
    X = np.ones((4, 3))
    with quiet_blas():
        expected = min(n_threads(), before)
        block(product, X, X, call="blocks")
    assert seen == [expected]


def test_a_cache_without_a_name_is_refused():
    with pytest.raises(ValueError, match="cache must be the path of a file"):
        Similarity(overlap, cache="")(WORDS[:3])
