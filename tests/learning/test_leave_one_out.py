"""Errors of left-out rows, against models that were really fitted without them."""

from typing import Any

import numpy as np
import pytest

from krein.kernels import DeltaGaussian, Gaussian, Laplacian
from krein.learning import leave_one_out
from krein.learning.leave_one_out import (
    left_out_model,
    path_errors,
    path_errors_at,
    path_errors_near,
    path_errors_of_sections,
)
from krein.learning.sums import NormalSums
from krein.rows.equal import merge_rows

LAMS = np.array([1e-4, 1e-2, 1.0])


def problem(weight=None, n=30, repeat=False):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    if repeat:
        X[n // 2 :] = X[: n - n // 2]
    Y = np.stack([np.sin(X[:, 0]), X[:, 1] ** 2], axis=1) + 0.1 * rng.normal(size=(n, 2))
    return X, Y, weight


def weighted_ridge(X, Y, weight, lam_total, kernel, *, intercept, at):
    """Straight from the definition: minimize the weighted squares plus lam_total ‖f‖², an unpenalized constant apart."""
    K, n = kernel(X), X.shape[0]
    W = np.diag(weight)
    design = np.hstack([K, np.ones((n, 1))]) if intercept else K
    penalty = np.zeros((design.shape[1],) * 2)
    penalty[:n, :n] = lam_total * K
    solution = np.linalg.lstsq(design.T @ W @ design + penalty, design.T @ W @ Y, rcond=None)[0]
    k = kernel(at, X)
    return (np.hstack([k, np.ones((at.shape[0], 1))]) if intercept else k) @ solution


def error_by_leaving_out(X, Y, weight, lam, kernel, *, intercept, one_copy):
    total, squares = weight.sum(), 0.0
    for i in range(X.shape[0]):
        less = weight.copy()
        less[i] -= 1.0 if one_copy else weight[i]
        present = less > 0.0
        fit = weighted_ridge(X[present], Y[present], less[present], total * lam, kernel, intercept=intercept, at=X[[i]])
        squares += weight[i] * np.square(Y[i] - fit[0]).sum()
    mean = weight @ Y / total
    return squares / (weight @ np.square(Y - mean).sum(axis=1))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["plain", "copies", "weights"])
def test_features_of_landmarks_are_those_of_models_fitted_without_the_row(kind, intercept):
    rng = np.random.default_rng(1)
    weights = {"plain": np.ones(30), "copies": rng.integers(1, 4, 30).astype(float), "weights": rng.uniform(0.5, 2, 30)}
    X, Y, _ = problem()
    rows = merge_rows(X, Y, weights[kind])
    kernel, landmarks = Laplacian(2.0), rows.X[:9]

    def low_rank(A, B=None):
        inner = np.linalg.inv(kernel(landmarks))
        return kernel(A, landmarks) @ inner @ kernel(A if B is None else B, landmarks).T

    found = path_errors_of_sections(kernel(rows.X, landmarks), rows, LAMS, intercept=intercept)
    assert not found.indefinite
    for lam, error in zip(LAMS, found.errors, strict=True):
        expected = error_by_leaving_out(
            X, Y, weights[kind], lam, low_rank, intercept=intercept, one_copy=kind == "copies"
        )
        np.testing.assert_allclose(error, expected, rtol=1e-6)


@pytest.mark.parametrize("regularizer", ["hilbert", "krein"])
def test_with_all_rows_as_landmarks_the_problem_is_exact(regularizer):
    X, Y, _ = problem()
    rows = merge_rows(np.concatenate([X, X[:5]]), np.concatenate([Y, Y[:5] + 0.3]), None)  # copies whose targets differ
    gram = DeltaGaussian(1.0, 3.0)(rows.X) if regularizer == "krein" else Laplacian(2.0)(rows.X)
    found = path_errors_of_sections(gram, rows, LAMS, regularizer=regularizer)
    exact = path_errors(gram, rows, LAMS, regularizer=regularizer)
    assert found.indefinite == exact.indefinite
    known = np.isfinite(found.errors)  # near a singular system nothing is said
    assert known.any()
    np.testing.assert_allclose(found.errors[known], exact.errors[known], rtol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["plain", "copies", "weights"])
def test_leave_one_out_is_that_of_models_fitted_without_the_row(kind, intercept):
    rng = np.random.default_rng(1)
    weights = {"plain": np.ones(30), "copies": rng.integers(1, 4, 30).astype(float), "weights": rng.uniform(0.5, 2, 30)}
    X, Y, _ = problem()
    rows = merge_rows(X, Y, weights[kind])
    kernel = Laplacian(2.0)  # a smooth kernel would leave the reference few digits
    found = path_errors(kernel(rows.X), rows, LAMS, intercept=intercept)
    for lam, error in zip(LAMS, found.errors, strict=True):
        expected = error_by_leaving_out(
            X, Y, weights[kind], lam, kernel, intercept=intercept, one_copy=kind == "copies"
        )
        np.testing.assert_allclose(error, expected, rtol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_equal_rows_with_different_targets_count_each(intercept):
    X, Y, _ = problem(repeat=True)
    rows = merge_rows(X, Y)
    assert len(rows) == 15
    kernel = Laplacian(2.0)  # a smooth kernel would leave the reference few digits
    found = path_errors(kernel(rows.X), rows, LAMS, intercept=intercept)
    for lam, error in zip(LAMS, found.errors, strict=True):
        expected = error_by_leaving_out(X, Y, np.ones(30), lam, kernel, intercept=intercept, one_copy=True)
        np.testing.assert_allclose(error, expected, rtol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("repeat", [True, False])
def test_a_cholesky_factor_gives_the_same_errors(repeat, intercept):
    X, Y, _ = problem(repeat=repeat)
    rows = merge_rows(X, Y, np.random.default_rng(2).integers(1, 4, 30).astype(float))
    gram = Gaussian(2.0)(rows.X)
    whole = path_errors(gram, rows, [*LAMS, 1e-8], intercept=intercept)
    found = path_errors_at(gram, rows, whole.lams, intercept=intercept)
    # single precision where μ is far above its rounding of the matrix, double precision where it is not
    rounding = 4.0 * np.finfo(np.float32).eps * len(rows) * rows.weight.max() / (rows.total * LAMS)
    np.testing.assert_array_less(np.abs(found.errors[:3] / whole.errors[:3] - 1.0), rounding)
    np.testing.assert_allclose(found.errors[3], whole.errors[3], rtol=1e-5)


def test_the_last_rows_alone_are_left_out(monkeypatch):
    monkeypatch.setattr(leave_one_out, "_LEFT_OUT", 7)
    X, Y, _ = problem()
    rows = merge_rows(X, Y)
    gram = Gaussian(2.0)(rows.X)
    bordered = np.block([[gram + 30 * LAMS[0] * np.eye(30), np.ones((30, 1))], [np.ones((1, 30)), np.zeros((1, 1))]])
    inverse = np.linalg.inv(bordered)
    residual = (inverse[:30, :30] @ rows.Y) / np.diagonal(inverse)[:30, None]
    expected = np.square(residual[-7:]).sum() / 7 / rows.variance
    np.testing.assert_allclose(path_errors_at(gram, rows, LAMS[:1]).errors, expected, rtol=1e-4)


@pytest.mark.parametrize("start", [1e-6, 3e-4, 0.3])
def test_a_walk_ends_where_neighbors_are_worse(start):
    X, Y, _ = problem(n=80)
    rows = merge_rows(X, Y)
    gram = Laplacian(2.0)(rows.X)
    found = path_errors_near(gram, rows, start, steps=30)
    best = int(found.errors.argmin())
    around = path_errors_at(gram, rows, found.lams[best] * np.array([10**-0.5, 1.0, 10**0.5])).errors
    assert around[1] <= 1.0002 * min(around[0], around[2])
    np.testing.assert_allclose(found.errors, path_errors(gram, rows, found.lams).errors, rtol=1e-6)
    assert len(path_errors_near(gram, rows, start, steps=3).lams) <= 3


def test_a_matrix_that_is_not_definite_has_no_cholesky_error():
    X, Y, _ = problem()
    rows = merge_rows(X, Y)
    assert np.isinf(path_errors_at(-Gaussian(2.0)(rows.X), rows, LAMS[:1]).errors).all()


def test_an_indefinite_kernel_is_scored_by_folds():
    X, Y, _ = problem(n=60)
    rows = merge_rows(X, Y)
    gram = DeltaGaussian(0.5, 3.0)(rows.X)
    found = path_errors(gram, rows, LAMS)
    assert found.indefinite
    assert not path_errors(Gaussian(1.0)(rows.X), rows, LAMS).indefinite
    # what |K| of all rows says of its own rows is better than what folds say
    values, vectors = np.linalg.eigh(gram)
    flipped = (vectors * np.abs(values)) @ vectors.T
    assert path_errors(flipped, rows, LAMS).errors[0] < found.errors[0]


def test_weights_are_copies_and_order_does_not_matter():
    X, Y, _ = problem()
    copies = np.random.default_rng(5).integers(0, 3, 30)
    shuffled = np.random.default_rng(6).permutation(int(copies.sum()))
    by_weight = merge_rows(X, Y, copies.astype(float))
    by_copy = merge_rows(np.repeat(X, copies, axis=0)[shuffled], np.repeat(Y, copies, axis=0)[shuffled])
    np.testing.assert_array_equal(by_weight.X, by_copy.X)
    np.testing.assert_array_equal(by_weight.weight, by_copy.weight)
    np.testing.assert_array_equal(by_weight.left_out, by_copy.left_out)
    np.testing.assert_allclose(by_weight.Y, by_copy.Y)
    np.testing.assert_allclose(by_weight.scatter, by_copy.scatter, atol=1e-12)
    assert by_weight.variance == pytest.approx(by_copy.variance)


def test_no_weight_is_nothing_to_learn_from():
    with pytest.raises(ValueError, match="sample_weight is zero for all rows"):
        merge_rows(np.ones((2, 1)), np.ones((2, 1)), np.zeros(2))


class _Identity:
    @property
    def signature(self) -> np.ndarray:
        return np.array([1.0, 1.0, -1.0, 1.0])

    def __call__(self, X: Any) -> np.ndarray:
        return np.asarray(X)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_left_out_is_a_fit_without_the_row(intercept: bool, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(30, 4)) + 1.0, rng.normal(size=(30, 2))
    w = rng.uniform(0.5, 2.0, size=30) if weighted else np.ones(30)
    plus, minus = 0.05, 0.2
    penalty = w.sum() * np.where(_Identity().signature > 0, plus, minus)

    def solved(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = np.average(Z[rows], axis=0, weights=w[rows]) if intercept else np.zeros(4)
        y_mean = np.average(y[rows], axis=0, weights=w[rows]) if intercept else np.zeros(2)
        C = (Z[rows] - mean) * w[rows, None]
        coef = np.linalg.solve(C.T @ (Z[rows] - mean) + np.diag(penalty), C.T @ (y[rows] - y_mean))
        return coef.T, y_mean - mean @ coef

    sums = NormalSums(None if intercept else np.zeros(4), np.zeros(2))
    sums.add(Z, y, w if weighted else None)
    coef, constant = solved(np.arange(30))
    model = left_out_model(_Identity(), sums.centered(intercept=intercept), (plus, minus), coef, constant)
    got = model(Z, y, w if weighted else None)
    for i in range(30):
        coef, constant = solved(np.delete(np.arange(30), i))
        np.testing.assert_allclose(got[i], coef @ Z[i] + constant, rtol=1e-8)


def test_a_system_that_is_singular_but_for_rounding() -> None:
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.normal(size=(50, 1)), 4, axis=1)
    y = rng.normal(size=(50, 1))
    sums = NormalSums(None, np.zeros(1))
    sums.add(Z, y)
    model = left_out_model(_Identity(), sums.centered(), (1e-30, 1e-30), np.zeros((1, 4)), np.zeros(1))
    assert np.isfinite(model(Z, y)).all()
