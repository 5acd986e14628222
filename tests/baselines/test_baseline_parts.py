"""The arrays behind the maps: sign matrices, series, mixtures, shares of columns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from baseline_maps import rows

from krein._core.directions import hadamard_order
from krein.baselines import LeverageNystroem, RandomMaclaurin, SphericalRandomFeatures
from krein.baselines.allocation import plan_degrees, published_degrees
from krein.baselines.double_mixture import FrequencyMixture, split_by_eigenvalues
from krein.baselines.fourier import FourierColumns, systematic_choice
from krein.baselines.leverage import leverage_scores
from krein.baselines.products import draw_signs
from krein.baselines.series import PowerSeries, candidate_series
from krein.baselines.spherical import PositiveMixture, fit_clipped_gaussians, fit_positive_mixture
from krein.kernels import (
    NTK,
    ArcCosine,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Sigmoid,
    SphericalPolynomial,
    ThinPlate,
)

U = np.linspace(-1.0, 1.0, 41)


def on_sphere(kernel, u):
    return kernel.radial(np.sqrt(2.0 - 2.0 * u))


@pytest.mark.parametrize("dim", [1, 2, 3, 8, 13])
def test_hadamard_signs_are_signs_and_orthogonal_in_blocks(dim):
    signs = draw_signs(dim, 40, np.random.default_rng(0), hadamard=True)
    assert set(np.unique(signs)) <= {-1.0, 1.0}
    size = hadamard_order(dim)
    if dim == size:
        block = signs[:, :size]
        np.testing.assert_array_equal(block.T @ block, dim * np.eye(dim))


@pytest.mark.parametrize(
    "kernel", [SphericalPolynomial(2, 5), SphericalPolynomial(3, 2) - 2 * SphericalPolynomial(2, 1)]
)
def test_polynomials_have_their_own_series(kernel):
    (series,) = candidate_series(kernel)
    np.testing.assert_allclose(series(U), on_sphere(kernel, U), atol=1e-12)
    assert series.error < 1e-12


@pytest.mark.parametrize("kernel", [Gaussian(0.8), DeltaGaussian(1.0, 10.0), ArcCosine(0), ArcCosine(1), NTK()])
def test_known_series_are_maclaurin_series(kernel):
    series = candidate_series(kernel)[-1]
    inner = np.linspace(-0.5, 0.5, 21)  # there the terms beyond degree 24 are below 2^-24
    np.testing.assert_allclose(series(inner), on_sphere(kernel, inner), rtol=0, atol=1e-8)
    errors = [candidate.error for candidate in candidate_series(kernel)]
    assert errors[-1] <= errors[0]


@pytest.mark.parametrize("kernel", [Sigmoid(1.0, -0.5), Sigmoid(4.0, 0.0), NTK(depth=3), Laplacian(1.0)])
def test_other_series_are_within_their_error(kernel):
    """Sigmoid(4, 0) has poles at |u| = π/8, so its Maclaurin series diverges; the fitted polynomial does not care."""
    found = candidate_series(kernel)
    assert found
    for series in found:
        gap = np.abs(series(U) - on_sphere(kernel, U)).max()
        assert gap <= 1.1 * series.error + 1e-9


def test_a_kernel_far_from_every_polynomial_is_refused():
    narrow = Laplacian(1e-3)
    with pytest.raises(ValueError, match=r"RandomMaclaurin needs a kernel within 10 %.*KreinNystroem"):
        RandomMaclaurin(kernel=narrow).fit(rows())


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("width", [2, 3, 10, 57, 400])
def test_shares_of_columns_are_unbiased_and_add_up(published, width):
    coefficients = np.array([0.3, 0.4, 0.0, -0.2, 1e-3, 1e-9])
    variances = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0])
    sums = np.zeros(6)
    replicates = 300
    for seed in range(replicates):
        rng = np.random.default_rng(seed)
        if published:
            plan = published_degrees(coefficients, variances, width, rng)
        else:
            plan = plan_degrees(coefficients, variances, width, 4, rng)
        assert plan.degrees.size + (4 if plan.exact_degree == 1 else 0) == width
        assert (np.diff(plan.degrees) <= 0).all()
        np.add.at(sums, plan.degrees, plan.amplitudes**2)
        sums[1] += plan.linear_amplitude**2
    mean = sums / replicates
    # A term of weight c drawn with probability q per column has weight c/(Dq) or 0; q is at least 2^-6 for the geometric
    # law and at least in proportion to its own size for the others.
    largest = (64.0 if published else np.sqrt(16.0) * 2.0 + 1.0) * np.abs(coefficients).sum()
    tolerance = largest * math.sqrt(math.log(2 * 6 / 1e-6) / (2 * replicates))
    assert np.abs(mean - np.abs(coefficients)).max() <= tolerance
    if width == 400 and not published:
        np.testing.assert_allclose(mean[[1, 3]], np.abs(coefficients)[[1, 3]], rtol=1e-9)


@pytest.mark.parametrize("fit", [fit_positive_mixture, fit_clipped_gaussians])
@pytest.mark.parametrize("dim", [1, 3, 16, 200])
def test_positive_mixture_recovers_a_gaussian(dim, fit):
    mixture = fit(Gaussian(0.9), dim, 2.0)
    z = np.linspace(0.0, 2.0, 50)
    np.testing.assert_allclose(mixture.evaluate(z), Gaussian(0.9).radial(z), atol=1e-3)
    assert abs(mixture.mass - 1.0) < 1e-3


@pytest.mark.parametrize("dim", [3, 8, 54])
@pytest.mark.parametrize("p", [2, 3, 7])
def test_all_positive_measures_are_nearer_than_clipped_sums_of_gaussians(dim, p):
    kernel = SphericalPolynomial(2, p)
    radial, gaussian = fit_positive_mixture(kernel, dim, 2.0), fit_clipped_gaussians(kernel, dim, 2.0)
    assert radial.error <= gaussian.error * (1 + 1e-3) + 1e-9
    assert gaussian.error < 2 * radial.error + 1e-3  # and ten Gaussians come near
    z = np.linspace(0.0, 2.0, 2001)
    for mixture in (radial, gaussian):
        rms = math.sqrt(np.mean((mixture.evaluate(z) - kernel.radial(z)) ** 2))
        assert abs(rms - mixture.error) <= 0.02 * mixture.error + 1e-4


def test_mixture_is_fitted_once():
    kernel = SphericalPolynomial(2.5, 4)
    fit_positive_mixture.cache_clear()
    first = SphericalRandomFeatures(kernel=kernel, random_state=0).fit(rows())
    second = SphericalRandomFeatures(kernel=kernel, random_state=1).fit(rows(seed=5))
    assert second.mixture_ is first.mixture_
    assert (fit_positive_mixture.cache_info().misses, fit_positive_mixture.cache_info().hits) == (1, 1)


def test_a_kernel_without_positive_part_gives_zero_features_and_a_warning():
    f = SphericalRandomFeatures(kernel=DeltaGaussian(1.0, 10.0), n_components=6)
    with pytest.warns(UserWarning, match="positive measure nearest .* is zero"):
        Z = f.fit_transform(rows())
    assert not Z.any()


def test_other_radii_for_kernels_off_the_sphere():
    X = 3.0 * rows()
    f = SphericalRandomFeatures(kernel=Gaussian(2.0), n_components=4000, random_state=0).fit(X)
    assert f.mixture_.error < 1e-3
    given = SphericalRandomFeatures(kernel=ThinPlate() + Gaussian(1.0), n_components=10, radius=1.0).fit(X)
    assert given.transform(X).shape == (80, 10)


def test_split_by_eigenvalues():
    A = np.random.default_rng(0).normal(size=(8, 8))
    A = A + A.T
    positive, negative = split_by_eigenvalues(A)
    np.testing.assert_allclose(positive - negative, A, atol=1e-12)
    for part in (positive, negative):
        assert np.linalg.eigvalsh(part).min() > -1e-12
    assert split_by_eigenvalues(A @ A)[1] is None


@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_systematic_draws_have_their_shares(count):
    weights = np.array([0.5, 0.0, 3.0, 1.5])
    drawn = systematic_choice(weights, count, np.random.default_rng(count))
    assert drawn.shape == (count,)
    counts = np.bincount(drawn, minlength=4)
    assert np.abs(counts - count * weights / weights.sum()).max() <= 1.0 + 1e-9
    assert counts[1] == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FourierColumns(np.zeros((2, 3)), np.zeros(3), 1.0), "phases must not be more than frequencies"),
        (lambda: FourierColumns(np.zeros((3, 3)), np.zeros(1), -1.0), "mass must not be negative"),
        (lambda: FourierColumns(np.full((3, 3), np.nan), np.zeros(1), 1.0), "frequencies must be finite"),
        (lambda: PositiveMixture(3, np.ones(2), np.ones(3), 0.0), "scales and masses must go together"),
        (lambda: PositiveMixture(3, np.ones(2), -np.ones(2), 0.0), "must not be negative"),
        (
            lambda: FrequencyMixture(1.0, np.ones(2), np.ones((3, 2)), np.ones((3, 2))),
            r"means must have shape \(2, any\)",
        ),
        (lambda: FrequencyMixture(1.0, np.ones(2), np.ones((2, 2)), np.ones((2, 3))), "variances must have shape"),
        (
            lambda: FrequencyMixture(1.0, np.ones(2), np.ones((2, 2)), -np.ones((2, 2))),
            "no negative weight or variance",
        ),
        (lambda: PowerSeries(np.ones((2, 2)), 0.0), "coefficients must have shape"),
    ],
)
def test_parts_that_do_not_fit_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("worst", [np.inf, np.nan])
def test_variances_that_overflow_still_divide_the_columns(worst):
    series, variances = np.array([1.0, 2.0, 1.0]), np.array([0.0, 1e200, worst])
    plan = plan_degrees(series, variances, 50, 40, np.random.default_rng(0))
    assert plan.degrees.size + (40 if plan.exact_degree == 1 else 0) == 50
    assert np.isfinite(plan.amplitudes).all()


def test_leverage_scores_are_those_of_the_matrix_of_absolute_eigenvalues():
    """With every row a pivot nothing is approximated: the diagonal of |K| (|K| + λ I)⁻¹ with λ the eigenvalue after the last."""
    kernel, X, count = DeltaGaussian(1.0, 10.0), rows(60, 4), 12
    values, vectors = np.linalg.eigh(kernel(X))
    sizes = np.abs(values)
    ridge = np.sort(sizes)[::-1][count]
    expected = np.square(vectors) @ (sizes / (sizes + ridge))
    found = leverage_scores(kernel, X, count, np.random.default_rng(0))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_landmarks_by_leverage_are_training_rows():
    X = rows(400, 4)
    f = LeverageNystroem(DeltaGaussian(1.0, 10.0), 16, random_state=0).fit(X)
    exact = DeltaGaussian(1.0, 10.0)(X)
    landmarks = [row for row in X if np.abs(f.approximate(row[None], X) - exact[(row == X).all(axis=1)]).max() < 1e-8]
    assert len(landmarks) >= 16  # at a landmark the approximation is exact
