"""The Walsh–Hadamard transform and the structured features against the explicit matrices."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from krein._core.directions import hadamard_order
from krein.features.waves import hadamard_frequencies, hadamard_trig_map, trig_map

DTYPES = [np.float32, np.float64]
DIMS = [1, 2, 3, 5, 16, 22, 100]


def problem(n, d, s, dtype, seed=0):
    """Rows of about unit length, signs, radii and amplitudes of either sign."""
    rng = np.random.default_rng(seed)
    p = hadamard_order(d)
    X = rng.standard_normal((n, d)) / np.sqrt(d)
    signs = rng.choice(np.array([-1, 1], np.int8), (-(-s // p), 3, p))
    return X.astype(dtype), signs, rng.uniform(0.5, 4, s).astype(dtype), rng.standard_normal(s).astype(dtype)


def mapped(X, signs, radii, amplitudes, **options):
    out = np.full((X.shape[0], 2 * len(radii)), np.nan, radii.dtype)
    return hadamard_trig_map(X, signs, radii, amplitudes, out, **options)


def explicit(signs, radii, dim):
    """The frequencies by products of matrices."""
    p = signs.shape[2]
    H = scipy.linalg.hadamard(p).astype(float)
    blocks = [H @ np.diag(b[2]) @ H @ np.diag(b[1]) @ H @ np.diag(b[0]) / p**1.5 for b in signs.astype(float)]
    return np.sqrt(p / dim) * radii[:, None] * np.vstack(blocks)[: len(radii), :dim]


@pytest.mark.parametrize("dim", DIMS)
def test_frequencies_are_the_product_of_matrices(dim):
    _, signs, radii, _ = problem(0, dim, 3 * dim, np.float64)
    frequencies = hadamard_frequencies(signs, radii, dim)
    np.testing.assert_allclose(frequencies, explicit(signs, radii, dim), atol=1e-13)
    assert hadamard_frequencies(signs, radii.astype(np.float32), dim).dtype == np.float32


def test_frequencies_of_a_block_are_orthogonal_and_have_their_radii_when_nothing_is_cut():
    _, signs, radii, _ = problem(0, 32, 32, np.float64)
    frequencies = hadamard_frequencies(signs, radii, 32)
    np.testing.assert_allclose(frequencies @ frequencies.T, np.diag(radii**2), atol=1e-12)


@pytest.mark.parametrize("dim", [3, 5, 11])
def test_squared_norms_have_the_right_mean_when_coordinates_are_cut(dim):
    # Over all p rows of a block the squares of a column of an orthogonal matrix add up to one, so the mean over a block
    # is exact for every choice of signs, not only on average.
    p = hadamard_order(dim)
    _, signs, _, _ = problem(0, dim, p, np.float64)
    frequencies = hadamard_frequencies(signs, np.full(p, 1.7), dim)
    assert np.isclose((frequencies**2).sum(1).mean(), 1.7**2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", DIMS)
def test_map_equals_the_dense_map_with_explicit_frequencies(dim, dtype):
    X, signs, radii, amplitudes = problem(45, dim, 2 * dim + 1, dtype)
    out = mapped(X, signs, radii, amplitudes)
    W = hadamard_frequencies(signs, radii.astype(float), dim)
    dense = trig_map(X.astype(float), W, amplitudes.astype(float), np.empty(out.shape))
    assert out.dtype == dtype
    # Each of the 3 log₂ p stages and the cosine adds a rounding; arguments are no larger than √(p/d) r ‖x‖ < 32 or so.
    assert np.abs(out - dense).max() <= 32 * (3 * 8 + 4) * np.finfo(dtype).eps * np.abs(amplitudes).max()


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 40),
    d=st.integers(1, 70),
    s=st.integers(1, 150),
    dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 2**16),
)
def test_map_of_any_shape(n, d, s, dtype, seed):
    X, signs, radii, amplitudes = problem(n, d, s, dtype, seed)
    t = X.astype(float) @ explicit(signs, radii.astype(float), d).T
    expected = np.hstack([amplitudes * np.cos(t), amplitudes * np.sin(t)])
    assert np.abs(mapped(X, signs, radii, amplitudes) - expected).max() <= 2000 * np.finfo(dtype).eps


def test_signs_of_any_type_and_sparse_rows_and_other_layouts():
    X, signs, radii, amplitudes = problem(50, 11, 40, np.float64)
    expected = mapped(X, signs, radii, amplitudes)
    np.testing.assert_array_equal(mapped(X, signs.astype(np.float32), radii, amplitudes), expected)
    np.testing.assert_array_equal(mapped(scipy.sparse.csr_array(X), signs, radii, amplitudes), expected)
    np.testing.assert_array_equal(mapped(scipy.sparse.coo_array(X), signs, radii, amplitudes), expected)
    np.testing.assert_array_equal(mapped(np.asfortranarray(X), signs, radii, amplitudes), expected)
    wide = np.full((50, 100), 7.0)
    hadamard_trig_map(X, signs, radii, amplitudes, wide[:, 5:85])
    np.testing.assert_array_equal(wide[:, 5:85], expected)
    assert (np.delete(wide, np.s_[5:85], 1) == 7).all()
    np.testing.assert_array_equal(
        hadamard_trig_map(X, signs, radii, amplitudes, np.empty((50, 80), order="F")), expected
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_do_not_depend_on_threads_or_chunks(dtype):
    X, signs, radii, amplitudes = problem(900, 22, 100, dtype)
    whole = mapped(X, signs, radii, amplitudes, n_threads=1)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(mapped(X, signs, radii, amplitudes, n_threads=n_threads), whole)
    for chunk in (1, 7, 128):
        pieces = [mapped(X[lo : lo + chunk], signs, radii, amplitudes) for lo in range(0, 900, chunk)]
        np.testing.assert_array_equal(np.vstack(pieces), whole)


@pytest.mark.parametrize("dtype", DTYPES)
def test_nan_and_large_arguments(dtype):
    X, signs, radii, amplitudes = problem(40, 5, 30, dtype)
    clean = mapped(X, signs, radii, amplitudes)
    X[3, 2], X[17, 0] = np.nan, np.inf
    X[20] = 1e9
    out = mapped(X, signs, radii, amplitudes)
    assert np.isnan(out[[3, 17]]).all()
    np.testing.assert_array_equal(np.delete(out, [3, 17, 20], 0), np.delete(clean, [3, 17, 20], 0))
    assert (np.abs(out[20]) <= np.tile(np.abs(amplitudes), 2) * (1 + 2 * np.finfo(dtype).eps)).all()


@pytest.mark.parametrize(("n", "s"), [(0, 6), (4, 0)])
def test_empty(n, s):
    X, signs, radii, amplitudes = problem(n, 5, s, np.float64)
    assert mapped(X, signs, radii, amplitudes).shape == (n, 2 * s)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros(3)}, "two dimensions"),
        ({"X": np.zeros((5, 9))}, "signs must have shape"),
        ({"signs": np.ones((1, 2, 8))}, "signs must have shape"),
        ({"signs": np.ones((0, 3, 8))}, "use 1 blocks"),
        ({"radii": np.ones(3)}, "same shape"),
        ({"radii": np.ones((2, 2)), "amplitudes": np.ones((2, 2))}, "one dimension"),
        ({"radii": np.ones(99), "amplitudes": np.ones(99)}, "use 13 blocks"),
        ({"radii": np.ones(2, np.float32)}, "radii must be of the type of out"),
        ({"out": np.ones((5, 3))}, "out must have shape"),
    ],
)
def test_errors_name_the_parameter(change, message):
    good = {
        "X": np.zeros((5, 7)),
        "signs": np.ones((1, 3, 8)),
        "radii": np.ones(2),
        "amplitudes": np.ones(2),
        "out": np.ones((5, 4)),
    }
    with pytest.raises(ValueError, match=message):
        hadamard_trig_map(**(good | change))
