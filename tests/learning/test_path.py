"""The path of three regularisers against dense solves, duals, brute-force leave-one-out and an SVD of Z."""

import numpy as np
import pytest
from scipy import linalg

from krein.learning import (
    NormalSums,
    ridge_path,
    signed_components,
    solve_definite,
)
from krein.learning.folds import fold_scores, ranked_folds
from krein.learning.leave_one_out import loo_scores, spectrum_scores
from krein.learning.path import dual_problem
from krein.learning.ridge_choice import gcv_scores, held_out_scores

REGULARIZERS = [("hilbert", 1.0), ("two", 0.05), ("two", 30.0), ("krein", 1.0)]


def penalty_of(signature, regularizer, ratio):
    if regularizer == "krein":
        return signature
    return np.where(signature > 0, 1.0, ratio)


@pytest.fixture(scope="module", params=["tall", "wide"])
def problem(request):
    rng = np.random.default_rng(1)
    n, width = (60, 12) if request.param == "tall" else (15, 24)
    Z = rng.normal(size=(n, width)) * np.geomspace(1.0, 1e-2, width)
    Y = rng.normal(size=(n, 2))
    signature = np.where(np.arange(width) % 3 == 1, -1.0, 1.0)
    return Z, Y, signature


@pytest.mark.parametrize(("regularizer", "ratio"), REGULARIZERS)
@pytest.mark.parametrize("mu", [1e-3, 0.3, 20.0])
def test_primal_equals_dual(problem, regularizer, ratio, mu):
    Z, Y, J = problem
    penalty = penalty_of(J, regularizer, ratio)
    path = ridge_path(Z.T @ Z, J, regularizer, ratio)
    w = path.coefficients(Z.T @ Y, mu)
    dual = (Z / penalty).T @ np.linalg.solve((Z / penalty) @ Z.T + mu * np.eye(len(Z)), Y)
    np.testing.assert_allclose(w, dual, rtol=1e-8, atol=1e-9)
    new = np.random.default_rng(2).normal(size=(30, Z.shape[1]))
    np.testing.assert_allclose(new @ w, new @ dual, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("regularizer", "ratio"), REGULARIZERS[:3])
def test_cholesky_equals_path(problem, regularizer, ratio):
    Z, Y, J = problem
    penalty = penalty_of(J, regularizer, ratio)
    direct = solve_definite(Z.T @ Z, 0.01 * penalty, Z.T @ Y)
    np.testing.assert_allclose(
        ridge_path(Z.T @ Z, J, regularizer, ratio).coefficients(Z.T @ Y, 0.01), direct, rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize(("regularizer", "ratio"), REGULARIZERS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", ["none", "counts", "real"])
def test_leave_one_out_is_what_leaving_one_out_gives(problem, regularizer, ratio, intercept, weights):
    Z, Y, J = problem
    n = len(Z)
    rng = np.random.default_rng(3)
    weight = {"none": None, "counts": rng.integers(1, 4, n) * 1.0, "real": rng.uniform(0.5, 2.0, n)}[weights]
    shift = Z.mean(axis=0) if intercept else np.zeros(Z.shape[1])
    sums = NormalSums(shift, np.zeros(2))
    sums.add(Z, Y, weight)
    centered = sums.centered(intercept=intercept)
    path = ridge_path(centered.gram, J, regularizer, ratio)
    mu = np.array([0.05, 1.0, 8.0])
    found = loo_scores(path, centered, mu, Z, Y, weight)
    w = np.ones(n) if weight is None else weight
    for m, score in zip(mu, found, strict=True):
        total = 0.0
        for i in range(n):
            left = w.copy()
            left[i] = w[i] - 1.0 if weights == "counts" else 0.0
            z_mean = np.average(Z, axis=0, weights=left) if intercept else np.zeros(Z.shape[1])
            y_mean = np.average(Y, axis=0, weights=left) if intercept else np.zeros(2)
            A, B = Z - z_mean, Y - y_mean
            system = (A.T * left) @ A + m * np.diag(penalty_of(J, regularizer, ratio))
            coef = np.linalg.solve(system, (A.T * left) @ B)
            total += w[i] * np.square(Y[i] - y_mean - (Z[i] - z_mean) @ coef).sum()
        assert score == pytest.approx(total / w.sum(), rel=1e-7)


def test_leave_one_out_says_when_it_cannot_tell():
    Z = np.eye(4)
    sums = NormalSums(np.zeros(4), np.zeros(1))
    sums.add(Z, np.ones((4, 1)))
    centered = sums.centered(intercept=False)
    path = ridge_path(centered.gram, np.ones(4), "hilbert")
    scores = loo_scores(path, centered, np.array([1e-14, 1.0]), Z, np.ones((4, 1)))
    assert np.isinf(scores[0])
    assert np.isfinite(scores[1])


@pytest.mark.parametrize(("regularizer", "ratio"), REGULARIZERS)
def test_gcv_from_sums_equals_gcv_from_rows(problem, regularizer, ratio):
    Z, Y, J = problem
    sums = NormalSums(Z[0], Y[0])
    sums.add(Z, Y)
    centered = sums.centered()
    mu = np.array([0.5, 5.0])
    found = gcv_scores(ridge_path(centered.gram, J, regularizer, ratio), centered, mu)
    A, B = Z - Z.mean(axis=0), Y - Y.mean(axis=0)
    n = len(Z)
    for m, score in zip(mu, found, strict=True):
        hat = A @ np.linalg.solve(A.T @ A + m * np.diag(penalty_of(J, regularizer, ratio)), A.T)
        free = 1.0 - (np.trace(hat) + 1.0) / n
        expected = np.square(B - hat @ B).sum() / n / free**2 if free > 0 else np.inf
        assert score == pytest.approx(expected, rel=1e-8)


def test_held_out_error_from_sums_equals_error_on_rows():
    rng = np.random.default_rng(5)
    Z, Y, V, U = (
        rng.normal(size=(40, 5)),
        rng.normal(size=(40, 2)),
        rng.normal(size=(9, 5)) + 1,
        rng.normal(size=(9, 2)),
    )
    sums, held = NormalSums(Z[0], Y[0]), NormalSums(Z[0], Y[0])
    sums.add(Z, Y)
    held.add(V, U)
    w = rng.normal(size=(5, 2))
    expected = np.square(U - Y.mean(axis=0) - (V - Z.mean(axis=0)) @ w).sum(axis=1).mean()
    assert held_out_scores([w], sums.centered(), held.centered())[0] == pytest.approx(expected, rel=1e-12)


def test_signed_components_are_eigenpairs_of_the_indefinite_matrix(problem):
    Z, _, J = problem
    found = signed_components(Z.T @ Z, J)
    K = (Z * J) @ Z.T
    values = linalg.eigvalsh(K)
    values = values[np.argsort(-np.abs(values))][: found.values.size]
    np.testing.assert_allclose(found.values, values, rtol=1e-7, atol=1e-12)
    V = Z @ found.basis
    np.testing.assert_allclose(V.T @ V, np.eye(found.values.size), atol=1e-8)
    np.testing.assert_allclose(K @ V, V * found.values, atol=1e-8)
    np.testing.assert_allclose(J[:, None] * (Z.T @ V), found.lift, atol=1e-8)


def test_clearance_finds_singular_systems_and_the_way_out():
    Z = np.diag([1.0, 2.0, 3.0])
    J = np.array([1.0, -1.0, 1.0])  # eigenvalues of Z J Zᵀ: 1, -4, 9
    path = ridge_path(Z.T @ Z, J, "krein")
    assert path.clearance(4.0) == pytest.approx(0.0, abs=1e-14)
    assert path.clearance(1.0) == pytest.approx(2.0)
    better = path.clear_of_singularity(4.0)
    assert path.clearance(better) >= 0.1
    assert better == pytest.approx(4.0, rel=0.15)


def test_solution_is_accurate_where_the_regularisation_is_tiny():
    """Columns of very different size and λ = 1e-11, against an SVD of Z, which does not square the condition."""
    rng = np.random.default_rng(7)
    n, width = 3000, 300
    left, _ = np.linalg.qr(rng.normal(size=(n, width)))
    right, _ = np.linalg.qr(rng.normal(size=(width, width)))
    singular = np.sqrt(n) * np.geomspace(1.0, 1e-7, width)
    Z = (left * singular) @ right.T
    Y = np.sign(rng.normal(size=(n, 3)))
    U, s, _ = linalg.svd(Z, full_matrices=False)
    mu = n * 1e-11
    expected = (U * (s**2 / (s**2 + mu))) @ (U.T @ Y)
    sums = NormalSums(np.zeros(width), np.zeros(3))
    for rows in np.split(np.arange(n), 4):
        sums.add(Z[rows], Y[rows])
    centered = sums.centered(intercept=False)
    path = ridge_path(centered.gram, np.ones(width), "hilbert")
    first = path.lift @ ((1.0 / (path.values + mu))[:, None] * (path.basis.T @ centered.cross))
    for w in (path.coefficients(centered.cross, mu), solve_definite(centered.gram, np.full(width, mu), centered.cross)):
        assert np.abs(Z @ w - expected).max() < 1e-5
        assert np.abs(Z @ w - expected).max() <= np.abs(Z @ first - expected).max()


@pytest.mark.parametrize("regularizer", ["hilbert", "two", "krein"])
@pytest.mark.parametrize("center", [False, True])
def test_dual_leave_one_out_is_what_leaving_one_out_gives(regularizer, center):
    rng = np.random.default_rng(11)
    A = rng.normal(size=(14, 14))
    K, y = A + A.T, rng.normal(size=(14, 1))
    mu, ratio = 6.3, 0.2
    problem = dual_problem(K, regularizer, ratio, center=center)
    # leave rows out of the regularised kernel, whose decomposition is that of all rows
    C = np.eye(14) if problem.carry is None else problem.carry
    regularised = K @ C
    total = 0.0
    for i in range(14):
        keep = np.delete(np.arange(14), i)
        inside, cross = regularised[np.ix_(keep, keep)], regularised[i, keep]
        if center:
            ones = np.ones((13, 1))
            system = np.block([[inside + mu * np.eye(13), ones], [ones.T, np.zeros((1, 1))]])
            solution = np.linalg.solve(system, np.append(y[keep, 0], 0.0))
            prediction = cross @ solution[:-1] + solution[-1]
        else:
            prediction = cross @ np.linalg.solve(inside + mu * np.eye(13), y[keep, 0])
        total += (y[i, 0] - prediction) ** 2
    assert spectrum_scores(problem, y, np.array([mu]))[0] == pytest.approx(total / 14, rel=1e-8)


def test_fold_scores_are_errors_on_rows_not_decomposed():
    rng = np.random.default_rng(13)
    X = rng.normal(size=(20, 2))
    K = X @ X.T - 0.5 * np.exp(-np.square(X[:, None] - X[None]).sum(axis=-1))
    y = rng.normal(size=(20, 1))
    lam = np.array([0.01, 1.0])
    expected, splits = np.zeros(2), list(ranked_folds(K, y, np.ones(20)))
    for a, b in splits:
        values, vectors = np.linalg.eigh(K[np.ix_(a, a)])
        flipped, back = (vectors * np.abs(values)) @ vectors.T, (vectors * np.sign(values)) @ vectors.T
        for i, m in enumerate(lam * a.size):
            alpha = back @ np.linalg.solve(flipped + m * np.eye(a.size), y[a])
            expected[i] += np.square(y[b] - K[np.ix_(b, a)] @ alpha).sum() / sum(held.size for _, held in splits)
    found = fold_scores(K, y, lam, "hilbert", center=False)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("n", [7, 40, 400])
def test_folds_do_not_hang_on_the_order_of_rows_or_the_unit_of_the_matrix(n):
    rng = np.random.default_rng(1)
    X, y, weight = rng.normal(size=(n, 3)), np.sign(rng.normal(size=(n, 1))), rng.uniform(0.5, 2.0, n)
    K, order = np.exp(-np.square(X[:, None] - X[None]).sum(axis=-1)), rng.permutation(n)
    splits = list(ranked_folds(K, y, weight))
    again = list(ranked_folds(4.0 * K[np.ix_(order, order)], y[order], weight[order]))
    for (a, b), (c, d) in zip(splits, again, strict=True):
        assert set(a) == set(order[c])
        assert set(b) == set(order[d])
        assert not set(a) & set(b)
    held = np.bincount(np.concatenate([b for _, b in splits]), minlength=n)
    assert (held == held[0]).all()  # each row is held out as often as any other
