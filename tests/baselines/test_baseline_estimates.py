r"""Each random map against the function it is an unbiased estimate of.

All tolerances are Bernstein's: if N independent terms have variance at most V and lie within b of their mean, their average is
off by more than :math:`\sqrt{2 V L/N} + 2bL/3N`, :math:`L = \log(2m/p)`, in one of m checks with probability at most p. They
fall as :math:`D^{-1/2}`, and so must the error. Columns of a Hadamard or Haar block depend on each other; there a block is one
term, with the variance of a single column as a bound.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from baseline_maps import rows

from krein.baselines import (
    ArcCosineFeatures,
    DoubleGaussianMixture,
    InnerPolynomial,
    Ramp,
    RandomMaclaurin,
    SphericalRandomFeatures,
    TensorizedRandomProjection,
    TensorSketch,
)
from krein.baselines.products import monomial_variances
from krein.kernels import NTK, ArcCosine, DeltaGaussian, Gaussian, Sigmoid, SphericalPolynomial

FALSE_FAIL = 1e-6
WIDTHS = [2**10, 2**13, 2**16]
DIM = 3


def bernstein(variance: float, reach: float, terms: float, checks: int) -> float:
    log = math.log(2 * checks / FALSE_FAIL)
    return math.sqrt(2 * variance * log / terms) + 2 * reach * log / (3 * terms)


def largest_error(f, X, exact):
    return float(np.abs(f.approximate(X) - exact).max())


def product_bounds(X: np.ndarray, degree: int) -> tuple[float, float]:
    """Largest variance and size of one product of sign projections over all pairs of rows."""
    everyone = np.vstack([X, X])  # so that pairs of a row with itself are among them
    variances, _ = monomial_variances(everyone, degree)
    return float(variances[degree].max()), float(np.abs(X).sum(axis=1).max() ** (2 * degree))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("edition", ["modern", "published"])
def test_tensorized_random_projection(width, edition):
    X, k = rows(12, DIM), SphericalPolynomial(2, 2)
    f = TensorizedRandomProjection(kernel=k, n_components=width, edition=edition, random_state=1).fit(X)
    longer = np.hstack([X, np.ones((12, 1))]) / math.sqrt(2)
    variance, reach = product_bounds(longer, 2)
    terms = width / (2 * (DIM + 1) if edition == "modern" else 1)
    tolerance = bernstein(variance, reach, terms, 144)
    assert largest_error(f, X, k(X)) <= tolerance
    if width == WIDTHS[-1]:
        assert tolerance < 0.2  # a fifth of k(x, x) would be seen


@pytest.mark.parametrize("edition", ["modern", "published"])
@pytest.mark.parametrize("kernel", [SphericalPolynomial(2, 3), Sigmoid(1.0, -0.5)])
def test_random_maclaurin(edition, kernel):
    width = WIDTHS[1]
    X = rows(12, DIM)
    f = RandomMaclaurin(kernel=kernel, n_components=width, edition=edition, random_state=2).fit(X)
    polynomial = np.polynomial.polynomial.polyval(X @ X.T, f.coefficients_)
    assert np.abs(polynomial - kernel(X)).max() <= 1.001 * f.series_error_ + 1e-12
    # The columns of each degree are blocks of their own, with a common weight; a column may also have drawn its degree.
    tolerance = 0.0
    for degree in np.flatnonzero(f.coefficients_):
        size = abs(f.coefficients_[degree])
        count = int(np.count_nonzero(f.degrees_ == degree))
        assert count > 0
        exact = degree == 0
        variance, reach = product_bounds(X, int(degree))
        terms = max(1.0, (count - 4) / 4)  # whole blocks
        tolerance += 0.0 if exact else bernstein(size**2 * variance, size * reach, terms, 144 * 4)
    if edition == "published":  # the numbers of columns are random: Hoeffding for the weights
        sizes = np.abs(f.coefficients_)
        law = 0.5 ** (np.arange(sizes.size) + 1.0)
        tolerance += float((sizes / law).max()) * math.sqrt(2 * math.log(2 * 144 / FALSE_FAIL) / (width - DIM - 1))
    assert largest_error(f, X, polynomial) <= tolerance


def test_tensor_sketch_is_unbiased_over_all_signs():
    """Given the places, the mean over all signs is the kernel: a deterministic truth, for any seed."""
    X, k = rows(6, 2), SphericalPolynomial(2, 2)
    f = TensorSketch(kernel=k, n_components=4, random_state=3).fit(X)
    sizes = [np.abs(sketch.data) for sketch in f._sketches]
    patterns = list(itertools.product([-1.0, 1.0], repeat=3))
    total = np.zeros((6, 6))
    for first, second in itertools.product(patterns, repeat=2):
        f._sketches[0].data[:], f._sketches[1].data[:] = sizes[0] * first, sizes[1] * second
        total += f.approximate(X)
    np.testing.assert_allclose(total / len(patterns) ** 2, k(X), rtol=0, atol=1e-12)


def test_tensor_sketch_is_exact_where_nothing_collides():
    """Degree 1: places are drawn without replacement, so inner products are kept to the last bit."""
    X, k = rows(10, 5), SphericalPolynomial(2, 1)
    f = TensorSketch(kernel=k, n_components=6, random_state=4).fit(X)
    np.testing.assert_allclose(f.approximate(X), k(X), rtol=0, atol=1e-14)


def test_tensor_sketch_of_many_columns_takes_the_other_way_to_the_same_place(monkeypatch):
    X = rows(10, 8)
    f = TensorSketch(kernel=SphericalPolynomial(3, 3), n_components=30, random_state=5).fit(X)
    by_product = f.transform(X)
    monkeypatch.setattr("krein.baselines.tensor_sketch._SMALL_DIM", 0)
    np.testing.assert_allclose(f.transform(X), by_product, rtol=0, atol=1e-12)


def test_tensor_sketch_error_falls_with_the_width():
    """Chebyshev: Var ≤ 3^p ‖x‖^2p ‖y‖^2p / D for p = 2, averaged over independent replicates."""
    X, k, replicates = rows(12, DIM), SphericalPolynomial(2, 2), 400
    for width in (2**4, 2**7, 2**10):
        mean = np.mean(
            [
                TensorSketch(kernel=k, n_components=width, random_state=seed).fit(X).approximate(X)
                for seed in range(replicates)
            ],
            axis=0,
        )
        # Each estimate lies within (‖x‖₁‖y‖₁)^p ≤ 16 of the kernel; collisions have probability O(1/width).
        assert np.abs(mean - k(X)).max() <= bernstein(9.0 / width, 16.0, replicates, 144)


@pytest.mark.parametrize("width", [*WIDTHS, 2**12 + 1])
@pytest.mark.parametrize("edition", ["modern", "published"])
@pytest.mark.parametrize(
    ("kernel", "constant"), [(SphericalPolynomial(2, 3), 0.0), (Gaussian(0.7), 0.0), (DeltaGaussian(1.0, 10.0), 1.0)]
)
def test_spherical_random_features(width, edition, kernel, constant):
    X = rows(12, DIM)
    f = SphericalRandomFeatures(kernel, width, edition=edition, constant=constant, random_state=6).fit(X)
    z = np.linalg.norm(X[:, None] - X[None], axis=2)
    mass, atoms = f.mixture_.mass, f.mixture_.masses.size
    terms = (width - bool(constant)) / (1 if edition == "published" else 2)
    # Systematic sampling gets each atom's share to within one frequency; a column with a random phase has twice the variance.
    tolerance = bernstein(2 * mass**2, 2 * mass, terms, 144) + mass * (atoms + 2) / terms
    assert largest_error(f, X, f.mixture_.evaluate(z) - constant) <= tolerance


@pytest.mark.parametrize("width", WIDTHS)
def test_double_gaussian_mixture(width):
    X = rows(60, DIM)
    f = DoubleGaussianMixture(n_components=width, random_state=7).fit(X)
    offsets = (X[:12, None] - X[None, :12]).reshape(-1, DIM)
    expected, tolerance = np.zeros(144), 0.0
    for part, sign in ((f.positive_, 1.0), (f.negative_, -1.0)):
        expected += sign * part.evaluate(offsets)
        terms = np.count_nonzero(f.signature_ == sign) / 2
        tolerance += bernstein(part.mass**2, 2 * part.mass, terms, 288) + part.mass * (part.weights.size + 2) / terms
    assert largest_error(f, X[:12], expected.reshape(12, 12)) <= tolerance


def test_double_gaussian_mixture_finds_both_parts():
    """The difference of two Gaussians on a subset: better than no features by far, though biased."""
    X, k = rows(200, 4), DeltaGaussian(0.3, 3.0)
    f = DoubleGaussianMixture(kernel=k, n_components=2**12, random_state=0).fit(X)
    assert np.linalg.norm(f.approximate(X) - k(X)) < 0.5 * np.linalg.norm(k(X))
    assert {1.0, -1.0} == set(f.signature_)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kernel", [ArcCosine(0), ArcCosine(1), NTK(), Ramp()])
def test_arc_cosine_features(width, kernel):
    X = rows(12, DIM)
    f = ArcCosineFeatures(kernel=kernel, n_components=width, random_state=8).fit(X)
    tolerance = 0.0
    for units, reach in ((f.n_steps_, 2.0), (f.n_ramps_, 2.0 * DIM)):  # 2 θθ' and 2 (w·x)₊(w·y)₊ with |w|² = d
        if units:
            tolerance += bernstein(reach**2 / 4, reach, units / DIM, 144)  # Popoviciu
    assert largest_error(f, X, kernel(X)) <= tolerance


def test_exact_parts_of_arc_cosine_features():
    """The split leaves nothing to chance at x = y for the steps, and little elsewhere."""
    X = rows(20, DIM)
    f = ArcCosineFeatures(kernel=ArcCosine(0), n_components=50, random_state=0).fit(X)
    np.testing.assert_allclose(np.diagonal(f.approximate(X)), 1.0, rtol=0, atol=1e-12)
    opposite = f.approximate(X, -X)
    np.testing.assert_allclose(np.diagonal(opposite), 0.0, rtol=0, atol=1e-12)


def test_inner_product_kernels_agree_with_the_spherical_ones_on_unit_vectors():
    X, Y = rows(9), rows(8, seed=1)
    np.testing.assert_allclose(InnerPolynomial(0.5, 0.5, 3)(X, Y), SphericalPolynomial(2, 3)(X, Y), atol=1e-12)
    np.testing.assert_allclose(Ramp()(X, Y), ArcCosine(1)(X, Y), atol=1e-9)
    with pytest.raises(ValueError, match="not of the distance"):
        SphericalRandomFeatures(kernel=InnerPolynomial()).fit(X)
