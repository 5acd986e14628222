"""One generic test class for all samplers, on measures with atoms and with densities; then what is special to each."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import krein
from helpers import empirical_bernstein_tolerance, frozen, unit_vectors
from krein._core.directions import independent_directions, orthogonal_directions
from krein.features.waves import hadamard_frequencies
from krein.kernels import (
    Cauchy,
    DeltaGaussian,
    Gaussian,
    GeodesicGaussian,
    Kernel,
    Laplacian,
    Log,
    Matern,
    Multiquadric,
    Sigmoid,
    SphericalPolynomial,
    ThinPlate,
)
from krein.kernels.laws import ChiLaw
from krein.measures import LawPart, SignedMeasure, omega
from krein.sampling import (
    ALLOCATIONS,
    SAMPLERS,
    Frequencies,
    Hadamard,
    Importance,
    Leverage,
    MonteCarlo,
    Orthogonal,
    QuasiMonteCarlo,
    Rejection,
    Sampler,
    Structure,
    allocate,
    as_sampler,
)

DIM = 8
ROWS = frozen(unit_vectors(np.random.default_rng(5), 20, DIM))


def law(scale: float, dim: int = DIM, mass: float = 1.0) -> LawPart:
    part = krein.signed_measure(mass * Gaussian(scale), dim, method="closed_form").positive
    assert isinstance(part, LawPart)
    return part


def of_mass_one(kernel: Kernel) -> SignedMeasure:
    mass = krein.signed_measure(kernel, DIM, method="closed_form").mass
    return krein.signed_measure(kernel / mass, DIM, method="closed_form")


MEASURES = {
    "atoms": SignedMeasure.from_atoms(DIM, np.array([0.5, 1.5, 2.5, 4.0]), np.array([-0.2, 0.5, 0.3, -0.1]) / 1.1),
    "jordan densities": of_mass_one(DeltaGaussian(1.0, 4.0)),
    "overlapping laws": SignedMeasure(DIM, law(1.0, mass=2 / 3), law(0.7, mass=1 / 3)),
    "one sign": of_mass_one(Gaussian(1.0)),
    "other sign": of_mass_one(-1.0 * Gaussian(1.0)),
}

# Settings whose estimate has a bound worth using: with λ the bound of the leverage sampler is (1 + 1/λ)·M.
INSTANCES: dict[str, Sampler] = {name: cls() for name, cls in SAMPLERS.items()} | {
    "leverage": Leverage(ridge=1.0),
    "rejection": Rejection(400),
    "orthogonal": Orthogonal(share=False),
    "orthogonal, shared": Orthogonal(share=True),
}


def works(sampler: Sampler, measure: SignedMeasure) -> bool:
    return not (sampler.needs_density and measure is MEASURES["atoms"])


def bound(sampler: Sampler, measure: SignedMeasure) -> float:
    """What Σ|a_j| cannot exceed."""
    if isinstance(sampler, Leverage):
        return 1.001 * (1 + 1 / sampler.ridge) * measure.mass
    if isinstance(sampler, Importance):
        return sum(heaviest(part) for part in (measure.positive, measure.negative) if part.mass > 0)
    return measure.mass


def heaviest(part) -> float:
    """Largest ratio of a part's density to that of its surrogate, on all but 1e-12 of the latter."""
    r = np.linspace(1e-3, 9 * matched(part), 20_001)
    return float(np.max(density(part, r) / ChiLaw(DIM, 1.0 / matched(part)).pdf(r)))


def density(part, r: np.ndarray) -> np.ndarray:
    return part.mass * part.law.pdf(r) if isinstance(part, LawPart) else part.density(r)


def matched(part) -> float:
    return math.sqrt(part.second_moment / part.mass / DIM)


@pytest.mark.parametrize("sampler", INSTANCES.values(), ids=INSTANCES.keys())
class TestEverySampler:
    """What every sampler in the list does."""

    @pytest.mark.parametrize("name", ["atoms", "jordan densities", "overlapping laws"])
    def test_unbiased(self, sampler, name, rng):
        measure = MEASURES[name]
        if name == "jordan densities" and not sampler.needs_density:
            pytest.skip("the quantiles of a tabulated density are tested with it; inverting it so often takes long")
        if not works(sampler, measure):
            pytest.skip("needs a density")
        z = np.array([0.4, 0.9, 1.5])
        direction = unit_vectors(rng, 1, DIM)
        differences, expected = z[:, None] * direction, measure.tail(z)
        estimates = np.array([sampler.sample(measure, 16, rng, rows=ROWS).evaluate(differences) for _ in range(2500)])
        limit = bound(sampler, measure)
        assert np.abs(estimates).max() <= limit * (1 + 1e-9)
        tol = empirical_bernstein_tolerance(estimates, limit, n_checks=z.size)
        if not isinstance(sampler, Importance | Leverage):  # a larger bound sees less
            # A scale that is wrong by a half and a lost sign would both be seen.
            assert 2 * tol.max() < np.abs(measure.tail(1.5 * z) - expected).max()
            assert 2 * tol.max() < np.abs(measure.majorant(z) - expected).max()
        if isinstance(sampler, Hadamard):
            tol = tol + 1 / (4 * DIM)  # its directions are not uniform, see below
        assert (np.abs(estimates.mean(axis=0) - expected) <= tol).all()

    @pytest.mark.parametrize("name", MEASURES)
    @pytest.mark.parametrize("allocation", ALLOCATIONS)
    def test_shapes_masses_and_signs(self, sampler, name, allocation, rng):
        measure = MEASURES[name]
        if not works(sampler, measure):
            pytest.skip("needs a density")
        drawn = sampler.with_params(allocation=allocation).sample(measure, 21, rng, rows=ROWS)
        assert isinstance(drawn, Frequencies)
        assert len(drawn) == 21
        assert drawn.vectors.shape == (21, DIM)
        assert drawn.weights.shape == (21,)
        assert np.isfinite(drawn.vectors).all()
        assert not drawn.vectors.flags.writeable
        if isinstance(sampler, Importance | Leverage):
            return  # their weights vary
        counts = allocate(measure, 21, allocation)
        assert (np.count_nonzero(drawn.weights > 0), np.count_nonzero(drawn.weights < 0)) == counts
        assert drawn.weights[drawn.weights > 0].sum() == pytest.approx(measure.positive.mass, rel=1e-6)
        assert -drawn.weights[drawn.weights < 0].sum() == pytest.approx(measure.negative.mass, rel=1e-6)
        assert np.abs(drawn.weights).sum() == pytest.approx(measure.mass, rel=1e-6)

    def test_reproducible(self, sampler):
        measure = MEASURES["jordan densities"]
        first, second, third = (
            sampler.sample(measure, 9, np.random.default_rng(seed), rows=ROWS) for seed in (3, 3, 4)
        )
        np.testing.assert_array_equal(first.vectors, second.vectors)
        np.testing.assert_array_equal(first.weights, second.weights)
        assert not np.array_equal(first.vectors, third.vectors)

    @pytest.mark.parametrize("dim", [1, 2, 3, 7, 33])
    def test_every_dimension(self, sampler, dim, rng):
        measure = SignedMeasure(dim, law(1.0, dim), law(2.0, dim))
        drawn = sampler.sample(measure, 10, rng, rows=unit_vectors(rng, 5, dim))
        assert drawn.vectors.shape == (10, dim)
        assert np.isfinite(drawn.vectors).all()
        assert np.isfinite(drawn.weights).all()
        assert (np.linalg.norm(drawn.vectors, axis=1) > 0).all()

    def test_nothing_to_draw(self, sampler, rng):
        assert len(sampler.sample(MEASURES["one sign"], 0, rng, rows=ROWS)) == 0
        empty = sampler.sample(SignedMeasure(DIM), 3, rng)
        np.testing.assert_array_equal(empty.weights, 0.0)
        np.testing.assert_array_equal(empty.evaluate(ROWS), 0.0)

    def test_one_frequency(self, sampler, rng):
        assert len(sampler.sample(MEASURES["one sign"], 1, rng, rows=ROWS)) == 1

    def test_bad_numbers(self, sampler, rng):
        for count, error in ((-1, ValueError), (2.5, TypeError), (True, TypeError), ("3", TypeError)):
            with pytest.raises(error, match="number of frequencies"):
                sampler.sample(MEASURES["one sign"], count, rng, rows=ROWS)

    def test_parameters_by_name(self, sampler):
        """Read as scikit-learn reads them; changed in another object, which its constructor checks."""
        assert sampler.get_params()["allocation"] == "mass"
        assert sampler.with_params(**sampler.get_params()) == sampler
        other = sampler.with_params(allocation="neyman")
        assert other != sampler
        assert other.get_params() == sampler.get_params() | {"allocation": "neyman"}
        assert sampler.allocation == "mass"
        with pytest.raises(ValueError, match=r"'mass', 'neyman', 'equal', got 'fair'"):
            sampler.with_params(allocation="fair")
        with pytest.raises(ValueError, match=r"no parameter 'alocation'; its parameters are allocation"):
            sampler.with_params(alocation="mass")

    def test_numpy_integers(self, sampler, rng):
        assert len(sampler.sample(MEASURES["one sign"], np.int64(4), rng, rows=ROWS)) == 4

    def test_by_name_and_as_itself(self, sampler):
        assert as_sampler(sampler) is sampler


def test_names():
    for name, cls in SAMPLERS.items():
        assert isinstance(as_sampler(name), cls)
    for wrong in ("sobol", None, 3, Orthogonal):
        with pytest.raises(ValueError, match=r"monte_carlo, rejection, .*leverage"):
            as_sampler(wrong)


class TestAllocation:
    def test_rules(self):
        measure = SignedMeasure(DIM, law(1.0, mass=3.0), law(1.0))
        assert allocate(measure, 40) == (30, 10)
        assert allocate(measure, 40, "equal") == (20, 20)
        assert allocate(measure, 40, "neyman") == (30, 10)  # equal spread: by mass

    def test_neyman_follows_the_spread(self):
        """A part whose cosines hardly vary needs few frequencies, whatever its mass."""
        flat = SignedMeasure.from_atoms(DIM, np.array([1e-3, 3.0]), np.array([5.0, -1.0]), radius=2.0)
        assert allocate(flat, 60, "mass") == (50, 10)
        assert allocate(flat, 60, "neyman") == (1, 59)

    def test_neyman_is_the_least_variance(self):
        measure = MEASURES["jordan densities"]
        z = np.linspace(0.0, 3.0, 33)
        spread = []
        for part in (measure.positive, measure.negative):
            mean, second = part.evaluate(z, DIM), (part.mass + part.evaluate(2 * z, DIM)) / 2
            spread.append(part.mass**2 * np.mean(second / part.mass - (mean / part.mass) ** 2))

        def variance(counts):
            return spread[0] / counts[0] + spread[1] / counts[1]

        at_radius = SignedMeasure.jordan(DIM, measure.positive, measure.negative, radius=3.0)
        chosen = allocate(at_radius, 50, "neyman")
        assert variance(chosen) == pytest.approx(min(variance((c, 50 - c)) for c in range(1, 50)), rel=1e-3)

    @pytest.mark.parametrize("n", [3, 4, 5, 21])
    def test_halves_do_not_hang_on_the_last_bit(self, n):
        """Masses that are equal but for rounding get the same numbers, the odd one goes to the positive part."""
        for rule in ("mass", "neyman"):
            for factor in (1 - 1e-15, 1.0, 1 + 1e-15):
                measure = SignedMeasure(DIM, law(1.0, mass=factor), law(1.0))
                assert allocate(measure, n, rule) == ((n + 1) // 2, n // 2)

    def test_each_part_gets_one(self):
        tiny = SignedMeasure(DIM, law(1.0, mass=1e-9), law(2.0))
        assert allocate(tiny, 10) == (1, 9)
        assert allocate(SignedMeasure(DIM, tiny.negative, tiny.positive), 10) == (9, 1)

    def test_one_part(self):
        assert allocate(MEASURES["one sign"], 5) == (5, 0)
        assert allocate(MEASURES["other sign"], 5) == (0, 5)

    def test_errors(self):
        with pytest.raises(ValueError, match="'mass', 'neyman', 'equal', got 'foo'"):
            allocate(MEASURES["one sign"], 5, "foo")
        with pytest.raises(ValueError, match=r"two signs needs at least two frequencies.*got 1"):
            allocate(MEASURES["atoms"], 1)


class TestDirections:
    @pytest.mark.parametrize(("n", "dim"), [(5, 8), (8, 8), (20, 8), (7, 1), (9, 2)])
    def test_orthonormal_in_blocks(self, n, dim, rng):
        q = orthogonal_directions(n, dim, rng)
        assert q.shape == (n, dim)
        for start in range(0, n, dim):
            block = q[start : start + dim]
            np.testing.assert_allclose(block @ block.T, np.eye(len(block)), atol=1e-12)

    @pytest.mark.parametrize("draw", [independent_directions, orthogonal_directions])
    def test_uniform(self, draw, rng):
        """First and second moments of 5,000 blocks; without the sign of R's diagonal the first entry would be one-sided."""
        q = np.stack([draw(4, 4, rng) for _ in range(5000)])
        tol = empirical_bernstein_tolerance(q.reshape(5000, -1), 1.0, n_checks=16)
        assert (np.abs(q.mean(axis=0)).ravel() <= tol).all()
        assert 2 * tol.max() < 0.37  # E|q| in dimension 4 is 0.42
        squares = q.reshape(5000, -1) ** 2
        tol = empirical_bernstein_tolerance(squares - 0.5, 0.5, n_checks=16)
        assert (np.abs(squares.mean(axis=0) - 0.25) <= tol).all()

    def test_none(self, rng):
        assert orthogonal_directions(0, 3, rng).shape == (0, 3)


class TestOrthogonal:
    def test_radii_are_stratified(self, rng):
        """One radius in each of s slices of equal mass, for each part."""
        measure = MEASURES["overlapping laws"]
        for share in (True, False):
            drawn = Orthogonal(share=share).sample(measure, 30, rng)
            for part, sign in ((measure.positive, 1), (measure.negative, -1)):
                u = np.sort(part.cdf(np.linalg.norm(drawn.vectors[np.sign(drawn.weights) == sign], axis=1)))
                np.testing.assert_array_equal(np.floor(u * u.size).astype(int), np.arange(u.size))

    def test_shared_directions(self, rng):
        drawn = Orthogonal(share=True).sample(MEASURES["overlapping laws"], 12, rng)
        up, down = (drawn.vectors[np.sign(drawn.weights) == s] for s in (1, -1))
        up, down = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (up, down))
        assert len(down) < len(up)
        assert (np.abs(down @ up.T - 1.0).min(axis=1) < 1e-12).all()
        assert np.unique(np.argmax(down @ up.T, axis=1)).size == len(down)

    def test_share_by_name(self, rng):
        with pytest.raises(ValueError, match=r"share must be (one of )?'auto', True or False, got 'yes'"):
            Orthogonal(share="yes")
        with pytest.raises(TypeError, match="share must be True or False, got 1"):
            Orthogonal(share=1)
        assert len(Orthogonal(share=True).sample(MEASURES["one sign"], 4, rng)) == 4  # nothing to share with


class TestHadamard:
    @pytest.mark.parametrize("dim", [1, 2, 3, 5, 16, 22])
    def test_structure_is_the_vectors(self, dim, rng):
        measure = SignedMeasure(dim, law(1.0, dim), law(2.0, dim))
        drawn = Hadamard().sample(measure, 40, rng)
        explicit = hadamard_frequencies(drawn.structure.signs, drawn.structure.radii, dim)
        np.testing.assert_allclose(explicit, drawn.vectors, atol=1e-12 * np.abs(drawn.vectors).max())

    @pytest.mark.parametrize("seed", range(20))
    def test_no_direction_is_lost(self, seed):
        """In dimension 3 the fourth coordinate is cut off, and rows that had no other left would be zero."""
        drawn = Hadamard().sample(
            SignedMeasure.from_atoms(3, np.array([2.0]), np.array([1.0])), 64, np.random.default_rng(seed)
        )
        np.testing.assert_allclose(np.linalg.norm(drawn.vectors, axis=1), 2.0)

    @pytest.mark.parametrize("dim", [16, 64])
    def test_bias_is_of_order_one_over_d(self, dim, rng):
        """Along a random direction, at lengths of the order of √d, where one radius is as sensitive as it gets."""
        r, z = math.sqrt(dim), np.array([0.5, 1.0, 1.5])
        atom = SignedMeasure.from_atoms(dim, np.array([r]), np.array([1.0]))
        differences = z[:, None] * unit_vectors(rng, 1, dim)
        estimates = np.array([Hadamard().sample(atom, dim, rng).evaluate(differences) for _ in range(1500)])
        tol = empirical_bernstein_tolerance(estimates, 1.0, n_checks=3)
        assert (np.abs(estimates.mean(axis=0) - omega(dim, r * z)) <= tol + 1 / dim).all()

    def test_large_dimension_needs_no_dense_hadamard_matrix(self, rng):
        drawn = Hadamard().sample(SignedMeasure.from_atoms(5000, np.array([1.0]), np.array([1.0])), 20, rng)
        np.testing.assert_allclose(drawn.vectors @ drawn.vectors.T, np.eye(20), atol=0.1)


class TestQuasiMonteCarlo:
    def test_dimensions_run_out(self, rng):
        far = SignedMeasure.from_atoms(21201, np.array([1.0]), np.array([1.0]))
        with pytest.raises(ValueError, match=r"ends at dimension 21200, got 21201; use 'orthogonal'"):
            QuasiMonteCarlo().sample(far, 2, rng)

    def test_radii_are_well_spread(self, rng):
        """A power of two of scrambled Sobol points has exactly one in each slice, in every coordinate."""
        measure = MEASURES["one sign"]
        drawn = QuasiMonteCarlo().sample(measure, 64, rng)
        u = np.sort(measure.positive.cdf(np.linalg.norm(drawn.vectors, axis=1)))
        np.testing.assert_array_equal(np.floor(u * 64).astype(int), np.arange(64))


class TestRejection:
    """Section 5 of the paper: uniform proposals in an interval, those under the curve are kept."""

    @pytest.mark.parametrize("sampler", [Rejection(), Rejection(1000), Rejection(10_000, 5.0), Rejection(1000, 5.0)])
    def test_as_printed(self, sampler, rng):
        measure = krein.signed_measure(SphericalPolynomial(2, 2), 16, method="fourier", truncate=10.0, sphere=True)
        drawn = sampler.with_params(allocation="equal").sample(measure, 64, rng)
        assert np.linalg.norm(drawn.vectors, axis=1).max() <= sampler.interval
        inside = [
            part.mass * float(part.cdf(np.array(sampler.interval))) for part in (measure.positive, measure.negative)
        ]
        assert drawn.weights[drawn.weights > 0].sum() == pytest.approx(inside[0])
        assert drawn.weights[drawn.weights < 0].sum() == pytest.approx(-inside[1], abs=1e-12)
        if sampler.interval == 5.0:  # the negative arches lie beyond: no frequency is spent on them
            assert inside[1] == 0.0
            assert (drawn.weights > 0).all()

    def test_radii_follow_the_density(self, rng):
        """All accepted radii against the distribution function, by the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart."""
        measure = MEASURES["one sign"]
        drawn = Rejection(200_000, 10.0).sample(measure, 20_000, rng)
        u = np.sort(measure.positive.cdf(np.linalg.norm(drawn.vectors, axis=1)))
        gap = np.abs(u - (np.arange(u.size) + 0.5) / u.size).max()
        tol = math.sqrt(math.log(2 / 1e-6) / (2 * u.size)) + 0.5 / u.size
        assert gap <= tol
        assert 2 * tol < 0.1

    def test_more_asked_for_than_accepted(self, rng):
        drawn = Rejection(proposals=50).sample(MEASURES["one sign"], 400, rng)
        assert np.unique(drawn.vectors.round(12), axis=0).shape[0] == 400  # radii come twice, directions do not
        assert np.unique(np.linalg.norm(drawn.vectors, axis=1).round(9)).size <= 50

    def test_interval_that_misses_the_mass(self, rng):
        wide = krein.signed_measure(Gaussian(0.01), 16, method="closed_form")  # radii about 400
        with pytest.raises(
            ValueError, match=r"only .* of the measure's mass lies at radii up to interval=10; use a larger"
        ):
            Rejection().sample(wide, 8, rng)

    @pytest.mark.parametrize(
        "wrong", [{"proposals": 0}, {"proposals": 2.5}, {"interval": 0}, {"interval": math.inf}, {"interval": "x"}]
    )
    def test_parameters(self, wrong):
        with pytest.raises((TypeError, ValueError), match=f"{next(iter(wrong))} must be"):
            Rejection(**wrong)


class TestNeedsDensity:
    @pytest.mark.parametrize("sampler", [Rejection(), Importance()])
    def test_atoms_are_refused_with_the_remedy(self, sampler, rng):
        with pytest.raises(ValueError, match=r"needs a measure with a density.*method='closed_form'.*another sampler"):
            sampler.sample(MEASURES["atoms"], 8, rng)

    @pytest.mark.parametrize("dim", [1, 2, 16])
    @pytest.mark.parametrize("kernel", [Gaussian(1.0) - Laplacian(1.0), 2.0 * Laplacian(0.5) + Gaussian(2.0)])
    def test_sums_of_laws_have_one(self, dim, kernel, rng):
        measure = krein.signed_measure(kernel, dim, method="closed_form")
        for sampler in (Rejection(interval=30.0), Importance()):
            assert np.isfinite(sampler.sample(measure, 8, rng).weights).all()


class TestImportance:
    def test_weights_of_a_gaussian_are_one(self, rng):
        """The surrogate of a Gaussian part is that part."""
        drawn = Importance().sample(SignedMeasure(DIM, law(1.0), law(10.0, mass=0.5)), 30, rng)
        np.testing.assert_allclose(drawn.weights, np.where(drawn.weights > 0, 1 / 20, -0.5 / 10), rtol=1e-10)

    def test_a_narrow_and_a_wide_part(self, rng):
        """The kernel of the paper: one surrogate for both parts would give a few frequencies all the weight."""
        measure = krein.signed_measure(DeltaGaussian(1.0, 10.0), 16, method="closed_form")
        drawn = Importance().sample(measure, 400, rng)
        assert np.abs(drawn.weights).max() < 10 / 400
        assert np.abs(drawn.weights).sum() == pytest.approx(measure.mass, rel=0.1)

    @pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, "a", True])
    def test_parameters(self, scale):
        with pytest.raises((TypeError, ValueError), match="scale must be"):
            Importance(scale)


class TestLeverage:
    def test_needs_rows(self, rng):
        for rows in (None, np.empty((0, DIM))):
            with pytest.raises(ValueError, match=r"needs the data: pass rows.*'orthogonal'"):
                Leverage().sample(MEASURES["atoms"], 8, rng, rows=rows)
        with pytest.raises(ValueError, match=r"the 8 columns.*got shape \(20, 3\)"):
            Leverage().sample(MEASURES["atoms"], 8, rng, rows=ROWS[:, :3])

    @pytest.mark.parametrize("wrong", [{"ridge": 0.0}, {"ridge": math.nan}, {"pool": 0}, {"pool": 1.5}])
    def test_parameters(self, wrong):
        with pytest.raises((TypeError, ValueError), match=f"{next(iter(wrong))} must be"):
            Leverage(**wrong)

    def test_scores_are_ridge_leverages(self, rng):
        """Against the definition, with the matrix of the features and not that of the rows inverted."""
        measure = MEASURES["atoms"]
        pool = Orthogonal(share=False).sample(measure, 12, rng)
        angles = ROWS @ pool.vectors.T
        features = np.hstack([np.cos(angles), np.sin(angles)]) * np.sqrt(np.abs(np.tile(pool.weights, 2)))
        square = features.T @ features
        scores = np.diag(square @ np.linalg.inv(square + len(ROWS) * 1e-3 * np.eye(24)))
        scores = scores[:12] + scores[12:]
        expected = (scores + 1e-3 * scores.mean()) / (1.001 * scores.sum())
        np.testing.assert_allclose(Leverage(1e-3)._leverage(pool, ROWS, measure.mass), expected, rtol=1e-8)

    def test_drawn_weights_are_inverse_probabilities(self):
        """Given the pool, the expectation over the choice is the pool's own estimate: Σ p_j · a_j/(n p_j) · n."""
        measure, sampler = MEASURES["atoms"], Leverage(pool=2)
        drawn = sampler.sample(measure, 10, np.random.default_rng(0), rows=ROWS)
        pool = Orthogonal(share=False).sample(measure, 20, np.random.default_rng(0).spawn(2)[0])
        p = sampler._leverage(pool, ROWS, measure.mass)
        for vector, weight in zip(drawn.vectors, drawn.weights, strict=True):
            j = int(np.argmin(np.linalg.norm(pool.vectors - vector, axis=1)))
            assert weight * 10 * p[j] == pytest.approx(pool.weights[j])


WHOLE = Hadamard().sample(MEASURES["one sign"], 10, np.random.default_rng(0)).structure


@pytest.mark.parametrize(
    ("vectors", "weights", "structure", "message"),
    [
        (np.zeros((3, 2)), np.zeros(2), None, r"weights must have shape \(3,\), got \(2,\)"),
        (np.zeros(3), np.zeros(3), None, "vectors must have shape"),
        (np.full((3, 2), np.nan), np.zeros(3), None, "vectors must be finite"),
        (np.zeros((3, 2)), np.array([1.0, np.inf, 1.0]), None, "weights must be finite"),
        (np.array([["a", "b"]]), np.zeros(1), None, "could not convert"),
        (np.zeros((9, DIM)), np.zeros(9), WHOLE, "10 and 8"),
        (np.zeros((10, DIM + 1)), np.zeros(10), WHOLE, "diagonals of order 16, got 10 and 8"),
    ],
)
def test_frequencies_fit_together(vectors, weights, structure, message):
    """Model files are rebuilt through the constructor, and the compiled loops trust it."""
    with pytest.raises(ValueError, match=message):
        Frequencies(vectors, weights, structure)


@pytest.mark.parametrize(
    ("signs", "radii"),
    [
        (np.ones((1, 3, 6)), np.ones(4)),
        (np.ones((1, 2, 8)), np.ones(4)),
        (np.zeros((1, 3, 8)), np.ones(4)),
        (np.ones((3, 8)), np.ones(4)),
        (np.ones((1, 3, 8)), np.ones(9)),
        (np.ones((1, 3, 8)), np.array([np.nan])),
    ],
)
def test_structures_fit_together(signs, radii):
    with pytest.raises(ValueError, match=r"signs must be|cannot give|radii must be finite"):
        Structure(signs, radii)


def test_monte_carlo_parts_do_not_depend_on_the_order_of_the_list():
    assert MonteCarlo() == MonteCarlo()
    assert hash(Rejection()) == hash(Rejection(10_000, 10.0))


def _named(scale: float) -> list[Kernel]:
    return [
        *(
            Gaussian(scale),
            Laplacian(scale),
            Matern(scale, 1.5),
            Matern(scale, 0.3),
            Matern(1.0, min(max(scale, 0.05), 1e4)),
            Cauchy(scale),
        ),
        *(
            DeltaGaussian(scale, 2 * scale),
            GeodesicGaussian(scale),
            Sigmoid(scale, 0.0),
            Multiquadric(scale),
            Log(scale),
        ),
        *(ThinPlate().scaled(scale), Gaussian(1.0) - Laplacian(scale), SphericalPolynomial(max(2.0, scale), 2)),
    ]


OWN_WORDS = "^finite$|mass lies at radii|proposals|too heavy for a table|nearer to|not finite on"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "sampler", ["monte_carlo", "rejection", "importance"]
)  # the others draw radii as the first does
@pytest.mark.parametrize("kernel", _named(1e12) + _named(1e-12), ids=repr)
def test_scales_far_from_those_of_the_data(kernel, sampler, rng):
    """Finite features, or an error of our own that says what to change."""
    X = rng.standard_normal((40, 3))
    features = krein.SignedFourierFeatures(kernel, 16, weights="unbiased", sampler=sampler, random_state=0)
    values, said = np.zeros(1), "finite"
    try:
        values = features.fit(X).transform(X)
    except ValueError as error:
        said = str(error)
    assert np.isfinite(values).all()
    assert re.search(OWN_WORDS, said)
