"""Ridge on the whole matrix: the solution is that of the λ that was chosen."""

from __future__ import annotations

import numpy as np
import pytest

from krein._core.errors import SingularSystemError
from krein.kernels import DeltaGaussian
from krein.learning import exact_ridge
from krein.learning.exact_ridge import fit_exact_ridge


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(40, 2))
    return DeltaGaussian(0.5, 3.0)(X), np.sin(2.0 * X)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("regularizer", ["hilbert", "two", "krein"])
def test_the_solution_is_that_of_the_lambda_chosen(problem, regularizer, intercept):
    gram, targets = problem
    found = fit_exact_ridge(gram, targets, regularizer=regularizer, intercept=intercept)
    again = fit_exact_ridge(
        gram, targets, regularizer=regularizer, intercept=intercept, candidates=np.array([found.lam])
    )
    assert again.lam == found.lam
    np.testing.assert_array_equal(again.dual, found.dual)
    np.testing.assert_array_equal(again.offset, found.offset)


def test_a_late_ratio_may_bring_back_an_early_one(problem, monkeypatch):
    """Scores within a thousandth count as equal and the strongest λ wins, so the choice is made when all are known.

    By the scores of the first ratio (2, 0.02) wins, with the second (4, 4), and with the third only (1, 0.01) is left.
    """
    gram, targets = problem
    candidates = np.array([[2.0, 0.02], [1.0, 0.01], [4.0, 4.0], [0.005, 0.5]])
    scores = {0.01: [1.0, 0.9992], 1.0: [0.9995], 100.0: [0.9984]}
    monkeypatch.setattr(exact_ridge, "fold_scores", lambda g, t, lam, r, ratio, **_: np.array(scores[ratio]))
    found = fit_exact_ridge(gram, targets, regularizer="two", candidates=candidates)
    assert found.lam == (1.0, 0.01)
    alone = fit_exact_ridge(gram, targets, regularizer="two", candidates=candidates[1:2])
    np.testing.assert_array_equal(found.dual, alone.dual)


def test_small_ratios_are_compared_too(problem):
    candidates = np.array([[1e-3, 1e-16], [1.0, 1e-13], [1.0, 1e2]])
    assert fit_exact_ridge(*problem, regularizer="two", candidates=candidates).lam in map(tuple, candidates.tolist())


def test_pairs_are_as_strong_as_their_product(problem, monkeypatch):
    monkeypatch.setattr(exact_ridge, "fold_scores", lambda g, t, lam, r, ratio, **_: np.ones(lam.size))
    assert fit_exact_ridge(*problem, regularizer="two", candidates=np.array([[1.0, 0.01], [0.5, 50.0]])).lam == (
        0.5,
        50.0,
    )


def test_a_singular_system_is_refused_and_never_chosen():
    gram = np.diag([1.0, -0.4, 2.0, 3.0])
    targets = np.arange(4.0)[:, None]
    with pytest.raises(SingularSystemError, match=r"singular at lam=0\.1"):
        fit_exact_ridge(gram, targets, regularizer="krein", candidates=np.array([[0.1, 0.1]]), intercept=False)
    two = np.array([[0.1, 0.1], [0.2, 0.2]])
    assert fit_exact_ridge(gram, targets, regularizer="krein", candidates=two, intercept=False).lam == (0.2, 0.2)


def test_a_matrix_of_zeros_predicts_the_mean():
    found = fit_exact_ridge(np.zeros((5, 5)), np.arange(5.0)[:, None], regularizer="hilbert")
    np.testing.assert_allclose(found.offset, 2.0)


@pytest.mark.parametrize("regularizer", ["hilbert", "two", "krein"])
@pytest.mark.parametrize("size", [1e-290, 1e-310, 1e-322])
@pytest.mark.filterwarnings("error")
def test_a_matrix_that_is_nearly_zero_predicts_the_mean(regularizer, size):
    """Before: λ became zero, and was divided by."""
    gram = size * np.array([[9.0, -4.0, 1.0], [-4.0, 2.0, 0.0], [1.0, 0.0, -1.0]])
    found = fit_exact_ridge(gram, np.array([[1.0], [0.0], [2.0]]), regularizer=regularizer)
    np.testing.assert_allclose(gram @ found.dual + found.offset, 1.0, rtol=1e-12)


def test_coefficients_beyond_floats_are_refused():
    targets, smallest = np.array([[8e299], [3e298]]), np.full((1, 2), 1e-13)
    with pytest.raises(ValueError, match=r"coefficients for y, which reaches 8e\+299"):
        fit_exact_ridge(np.zeros((2, 2)), targets, regularizer="hilbert", candidates=smallest)
