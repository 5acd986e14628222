"""Calibrated weights against least squares on all pairs, one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import unit_vectors
from krein.features import FeatureMap, calibrate, head_basis, held_out_gram, relative_error
from krein.features.calibration import RIDGES, NormalEquations, RowPairs, _with_weights, own_weights
from krein.features.held_out import EQUAL, MARGIN, relative_to
from krein.kernels import NTK, DeltaGaussian, Gaussian, Sigmoid
from krein.measures import Head, SignedMeasure
from krein.sampling import Orthogonal

DIM = 4
MEASURE = SignedMeasure.from_atoms(DIM, np.array([1.0, 2.0, 3.5]), np.array([0.5, -0.7, 0.2]))


def a_map(*, sphere: bool, degree: int, n: int = 6, padding: int = 0) -> FeatureMap:
    basis = head_basis(Head((0.4, -0.2, 0.05)[: degree + 1]), DIM, sphere=sphere, center=np.full(DIM, 0.1), scale=1.5)
    drawn = Orthogonal().sample(MEASURE, n, np.random.default_rng(0))
    return FeatureMap(basis, drawn, basis.weights, drawn.weights, padding=padding)


def pairwise_design(m: FeatureMap, X: np.ndarray, partners: int) -> np.ndarray:
    """One row for each pair of a row and one of the first rows, one column for each weight, by loops."""
    head = np.empty((len(X), m.basis.n_columns))
    m.basis.write(X, np.ones(m.basis.n_columns), head)
    rows = []
    for i, x in enumerate(X):
        for j, y in enumerate(X[:partners]):
            if m.basis.sphere:
                first = [head[i, c] * head[j, c] for c in range(m.basis.n_columns)]
            else:
                first = [float(np.sum((x - y) ** 2)) ** q for q in range(m.basis.degree + 1)]
            rows.append([*first, *(float(np.cos(w @ (x - y))) for w in m.frequencies.vectors)])
    return np.array(rows)


@pytest.mark.parametrize("partners", [5, 14])
@pytest.mark.parametrize("ridge", [1e-2, 1e-5])
@pytest.mark.parametrize("degree", [-1, 0, 1, 2])
@pytest.mark.parametrize("sphere", [True, False])
def test_is_ridge_regression_on_all_pairs(sphere, degree, ridge, partners, rng):
    m = a_map(sphere=sphere, degree=degree, padding=1)
    X = unit_vectors(rng, 14, DIM) if sphere else rng.standard_normal((14, DIM))
    exact = (Sigmoid(1.0, -0.5) if sphere else DeltaGaussian(1.0, 3.0))(X, X[:partners])
    design = pairwise_design(m, X, partners)
    prior = np.concatenate([m.head_weights if sphere else m.basis.coefficients, m.wave_weights])
    # min ‖K − A w‖² + ridge Σ_c ‖A_c‖² (w_c − prior_c)², as an ordinary least squares problem with more rows
    pull = np.sqrt(ridge) * np.linalg.norm(design, axis=0)
    taller = np.vstack([design, np.diag(pull)])
    target = np.concatenate([exact.ravel(), pull * prior])
    pairs = RowPairs.of(m, X, exact)
    np.testing.assert_array_equal(own_weights(m), prior)
    found = NormalEquations.of(pairs, prior).solve(ridge)
    # its gradient is zero, to the rounding of sums over all pairs and of a factorization
    size = np.linalg.norm(taller)
    rounding = len(target) * np.finfo(float).eps * size * (size * np.linalg.norm(found) + np.linalg.norm(target))
    assert np.linalg.norm(taller.T @ (taller @ found - target)) <= rounding
    least = np.linalg.svd(taller, compute_uv=False)[-1]
    assert rounding < 1e-3 * least**2 * np.linalg.norm(found)  # a thousandth of the weights would be seen
    np.testing.assert_allclose(pairs.estimate(found).ravel(), design @ found, atol=1e-12)


@pytest.mark.parametrize("kernel", [DeltaGaussian(1.0, 3.0), Gaussian(0.7), NTK()], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_never_worse_than_unbiased_where_it_was_chosen(kernel, seed):
    rng = np.random.default_rng(seed)
    sphere = kernel.domain == "sphere"
    m = a_map(sphere=sphere, degree=seed % 3)
    fit, check = (unit_vectors(rng, n, DIM) if sphere else rng.standard_normal((n, DIM)) for n in (40, 20))
    exact = kernel(check)
    result = calibrate(m, fit, check, kernel.gram)
    assert result.error <= relative_error(m, check, exact)
    assert result.error == pytest.approx(relative_error(result.feature_map, check, exact))
    assert result.ridge in (*RIDGES, np.inf)
    assert result.feature_map.n_outputs == m.n_outputs


def test_falls_back_to_unbiased(rng):
    """Fitted to rows that lie elsewhere, the weights are worse, and are not taken."""
    kernel = Gaussian(1.0)
    measure = SignedMeasure.from_atoms(DIM, np.array([1e-3]), np.array([1.0]))
    drawn = Orthogonal().sample(measure, 4, rng)
    basis = head_basis(Head(), DIM, sphere=False)
    m = FeatureMap(basis, drawn, basis.weights, drawn.weights)
    near, far = 1e-6 * rng.standard_normal((20, DIM)), 100.0 * rng.standard_normal((20, DIM))
    result = calibrate(m, far, near, kernel.gram)
    assert result.ridge == np.inf
    assert result.feature_map is m


@pytest.mark.parametrize("kernel", [DeltaGaussian(1.0, 3.0), NTK()], ids=str)
def test_the_strongest_ridge_of_those_that_are_nearly_best(kernel, rng, monkeypatch):
    """Changes in the last digits of an error, as another processor makes them, do not change the choice."""
    sphere = kernel.domain == "sphere"
    m = a_map(sphere=sphere, degree=1, n=20)
    fit, check = (unit_vectors(rng, n, DIM) if sphere else rng.standard_normal((n, DIM)) for n in (300, 60))
    chosen = calibrate(m, fit, check, kernel.gram)
    errors = {np.inf: relative_error(m, check, kernel.gram(check))}
    system = NormalEquations.of(RowPairs.of(m, fit, kernel.gram(fit, fit[:128])), own_weights(m))
    for ridge in RIDGES:
        errors[ridge] = relative_error(_with_weights(m, system.solve(ridge)), check, kernel.gram(check))
    bound = (1 + MARGIN) * min(errors.values()) + EQUAL
    assert chosen.ridge == max(ridge for ridge, error in errors.items() if error <= bound)
    for seed in range(5):
        noise = np.random.default_rng(seed)
        monkeypatch.setattr(
            "krein.features.calibration.relative_to",
            lambda *args, noise=noise: relative_to(*args) * (1 + 1e-12 * noise.standard_normal()),
        )
        assert calibrate(m, fit, check, kernel.gram).ridge == chosen.ridge


def test_exact_kernel_is_recovered(rng):
    """A kernel that is a combination of the columns is found whatever the weights to start from; its signs too."""
    m = a_map(sphere=True, degree=1)
    true = rng.standard_normal(len(m.frequencies))
    wave = m.frequencies

    def gram(X, Y=None):
        Y = X if Y is None else Y
        return np.stack([np.cos((x - Y) @ wave.vectors.T) @ true for x in X])

    fit, check = unit_vectors(rng, 200, DIM), unit_vectors(rng, 50, DIM)
    result = calibrate(m, fit, check, gram)
    assert result.error < 1e-4
    assert set(np.sign(result.feature_map.wave_weights)) == {-1.0, 1.0}
    np.testing.assert_allclose(result.feature_map.wave_weights, true, atol=1e-2)


def test_off_the_sphere_the_head_stays_a_polynomial_of_distances(rng):
    """Moving all rows together leaves the calibrated estimate as it is."""
    kernel = DeltaGaussian(1.0, 3.0)
    fit, check = rng.standard_normal((80, DIM)), rng.standard_normal((30, DIM))
    result = calibrate(a_map(sphere=False, degree=2), fit, check, kernel.gram).feature_map
    Z, moved = (result.columns(check + shift) for shift in (0.0, 0.5))
    np.testing.assert_allclose((Z * result.signature) @ Z.T, (moved * result.signature) @ moved.T, atol=1e-9)
    assert result.basis.coefficients != (0.4, -0.2, 0.05)


def test_nothing_to_fit(rng):
    basis = head_basis(Head(), DIM, sphere=True)
    drawn = Orthogonal().sample(MEASURE, 0, rng)
    m = FeatureMap(basis, drawn, basis.weights, drawn.weights, padding=1)
    X = unit_vectors(rng, 10, DIM)
    assert calibrate(m, X, X, NTK().gram).feature_map is m


def test_zero_kernel_has_an_absolute_error(rng):
    m = a_map(sphere=True, degree=0)
    X = unit_vectors(rng, 10, DIM)
    Z = m.columns(X)
    assert relative_error(m, X, np.zeros((10, 10))) == pytest.approx(np.linalg.norm((Z * m.signature) @ Z.T))


@pytest.mark.parametrize("seed", range(5))
def test_some_columns_judge_as_the_whole_matrix_does(seed):
    """Squared errors are means over pairs with the same share of equal rows: 128 of 512 columns differ by a few parts in ten."""
    rng = np.random.default_rng(seed)
    m, X, kernel = a_map(sphere=True, degree=1), unit_vectors(rng, 512, DIM), NTK()
    part, whole = held_out_gram(X, kernel.gram), kernel.gram(X)
    assert part.shape == (512, 128)
    np.testing.assert_array_equal(part, kernel.gram(X, X[:128]))
    assert relative_error(m, X, part) == pytest.approx(relative_error(m, X, whole), rel=0.2)
