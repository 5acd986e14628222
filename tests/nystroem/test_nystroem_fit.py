"""The fit as a plain function: what the fitted map is, that threads do not matter, and what its parts must be."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from helpers import frozen
from krein.kernels import DeltaGaussian, Gaussian
from krein.nystroem import FittedNystroem, NystroemRecipe, fit_nystroem
from krein.similarities import KernelSimilarity, PrecomputedSimilarity, Similarity

KERNEL = DeltaGaussian(1.0, 10.0)
X = frozen(np.random.default_rng(0).normal(size=(300, 4)))


def fit(rows=X, width=40, similarity=None, seed=0, **options) -> FittedNystroem:
    similarity = KernelSimilarity(KERNEL) if similarity is None else similarity
    return fit_nystroem(similarity, rows, NystroemRecipe(width, **options), np.random.default_rng(seed)).map


def test_columns_beyond_the_rank_are_zero_and_cost_no_product():
    fitted = fit(X[:7], width=512)
    assert fitted.rank == 7
    assert fitted.root.shape == (7, 7)
    Z = fitted(X)
    assert Z.shape == (300, 512)
    assert not Z[:, 7:].any()
    np.testing.assert_allclose((Z[:7] * fitted.signature) @ Z[:7].T, KERNEL(X[:7]), atol=1e-7)


@pytest.mark.parametrize("rows", [X, X.astype(np.float32), sp.csr_array(X)], ids=["float64", "float32", "csr"])
def test_type_in_type_out(rows):
    fitted = fit(rows)
    Z = fitted(rows)
    assert isinstance(Z, np.ndarray)
    assert Z.dtype == rows.dtype
    assert fitted.root.dtype == rows.dtype
    assert np.linalg.norm((Z * fitted.signature) @ Z.T - KERNEL(X)) < 0.2 * np.linalg.norm(KERNEL(X))


def test_a_callable_in_single_precision_is_cut_as_single_precision():
    def single(A, B):
        return KERNEL(A, B).astype(np.float32)

    smooth = X[:, :2]  # in two dimensions the eigenvalues fall below any cut
    assert fit(smooth, similarity=Similarity(single), width=200).eigenvalue_tol >= 1e-6
    assert fit(smooth, width=200).eigenvalue_tol < 1e-6


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_all_eigenvalues_far_above_rounding_are_kept(dtype):
    kernel = KernelSimilarity(Gaussian(0.7))
    rows = X.astype(dtype)
    whole = fit(rows, similarity=kernel, landmarks="uniform")
    assert whole.rank == 40
    assert whole.eigenvalues[-1] > whole.eigenvalue_tol * whole.eigenvalues[0]
    exact, Z = Gaussian(0.7)(X), whole(rows)
    errors = [np.linalg.norm(exact - Z @ Z.T)]
    for cut in (0.3, 0.1, 0.03):
        fewer = fit(rows, similarity=kernel, landmarks="uniform", eigenvalue_tol=cut)
        Z = fewer(rows)
        errors.append(np.linalg.norm(exact - Z @ Z.T))
    assert errors[0] < min(errors[1:])  # of a positive kernel every cut leaves more


def test_blocks_of_any_size_give_the_same(monkeypatch):
    by_function = Similarity(lambda A, B: KERNEL(A, B))
    whole = [fit()(X), fit(similarity=by_function)(X)]
    monkeypatch.setattr("krein.nystroem.fitted_nystroem._LEAST_ROWS", 11)
    monkeypatch.setattr("krein.nystroem.fitted_nystroem._PAIRS", 1)
    monkeypatch.setattr("krein.nystroem.fitted_nystroem._CALLED_PAIRS", 40 * 35)
    for before, after in zip(whole, [fit()(X), fit(similarity=by_function)(X)], strict=True):
        # rounding of the kernel's values, times the largest entry of the root
        np.testing.assert_allclose(after, before, atol=1e-8)


OPTIONS = [{"landmarks": rule} for rule in ("pivoted", "uniform", "kmeans")] + [{"oversampling": 3}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blas_threads_do_not_change_a_bit(options, dtype):
    rows = np.random.default_rng(1).normal(size=(3000, 6)).astype(dtype)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fitted = fit(rows, width=150, **options)
            found.append((fitted.landmarks, fitted.root, fitted.signature, fitted(rows)))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


SCRIPT = """
import hashlib, numpy as np
from krein.kernels import NTK
from krein.similarities import KernelSimilarity
from krein.nystroem import NystroemRecipe, fit_nystroem
X = np.random.default_rng(0).normal(size=(2500, 8))
for rule in ("kmeans", "pivoted"):
    fitted = fit_nystroem(KernelSimilarity(NTK()), X, NystroemRecipe(100, rule), np.random.default_rng(0))
    print(hashlib.sha256(fitted.map(X).tobytes()).hexdigest())
"""


def test_the_environment_of_threads_does_not_change_a_bit():
    outputs = []
    for threads in ("1", "2"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=600, env=environment
        )
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].split()) == 2


def test_parts_that_do_not_fit():
    good = fit(width=5)
    for change, message in (
        ({"similarity": KERNEL}, "similarity must be a source of blocks"),
        ({"landmarks": np.arange(5)}, "landmarks must be rows"),
        ({"landmarks": good.landmarks[:3]}, "a row for each of 3 landmarks"),
        ({"landmarks": good.landmarks.astype(int)}, "rows of floats"),
        ({"root": good.root.astype(int)}, "matrix of floats"),
        ({"root": np.full_like(good.root, np.nan)}, "must be finite"),
        ({"signature": good.signature[:2]}, "signature must hold ±1"),
        ({"signature": 0.5 * good.signature}, "signature must hold ±1"),
        ({"eigenvalues": np.ones((2, 2))}, "must be finite"),
        ({"eigenvalue_tol": 2.0}, "eigenvalue_tol must be"),
        ({"similarity": PrecomputedSimilarity(), "landmarks": np.array([-1, 0, 1, 2, 3])}, "indices from 0 on"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(good, **change)
