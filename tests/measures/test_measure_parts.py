"""Radial parts: one generic class of tests over a list of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from krein.kernels import Cauchy, Gaussian, Laplacian, Matern
from krein.measures import Atoms, Density, LawPart, RadialPart, omega
from krein.measures.radial_parts import NO_MASS


def bump(r: np.ndarray) -> np.ndarray:
    return np.sin(np.asarray(r)) ** 2


def law_part(kernel, dim: int, total: float = 1.0) -> LawPart:
    return LawPart(kernel.radius_law(dim), kernel.radial, total)


ATOMS = Atoms(np.array([2.0, 0.5, 3.0]), np.array([1.0, 0.25, 2.0]))
DENSITY = Density(bump, np.linspace(0.0, np.pi, 9))
GAP = Density(bump, np.linspace(0.0, 2 * np.pi, 17), np.arange(16) % 3 != 1)

PARTS: dict[str, RadialPart] = {
    "atoms": ATOMS,
    "one atom at zero": Atoms(np.zeros(1), np.ones(1)),
    "density": DENSITY,
    "density with gaps": GAP,
    "gaussian": law_part(Gaussian(0.7), 3),
    "laplacian": law_part(Laplacian(1.0), 3, 2.0),
    "cauchy": law_part(Cauchy(2.0), 3, 0.1),
    "matern scaled": law_part(Matern(1.0, 2.5), 3, 4.0),
}
U = np.array([0.0, 1e-6, 0.01, 0.2, 0.4999, 0.77, 0.95, 0.9999])


@pytest.mark.parametrize("name", PARTS)
class TestEveryPart:
    def test_cdf_rises_from_zero_to_one(self, name: str) -> None:
        part = PARTS[name]
        r = np.concatenate([np.linspace(0.0, 20.0, 400), [1e3, 1e9, 1e15]])
        values = part.cdf(r)
        assert (np.diff(values) >= -1e-15).all()
        assert float(part.cdf(-1.0) if isinstance(part, Atoms | Density) else 0.0) == 0.0
        assert values[-1] == pytest.approx(1.0, abs=1e-12)

    def test_ppf_is_the_generalised_inverse(self, name: str) -> None:
        part = PARTS[name]
        r = part.ppf(U)
        assert (np.diff(r) >= 0).all()
        assert (part.cdf(r) >= U - 1e-10).all()
        # A little below the quantile, less than u of the mass lies.
        below = np.maximum(r - 1e-6 * (1 + r), 0.0)
        later = r > 1e-5
        assert (part.cdf(below)[later] <= U[later] + 1e-10).all()

    def test_mean_of_quantiles_is_the_transform(self, name: str) -> None:
        """∫ Ω_d(rz) ρ(dr) = mass · ∫₀¹ Ω_d(z ppf(u)) du, midpoint rule."""
        part = PARTS[name]
        u = (np.arange(5_000) + 0.5) / 5_000
        r = part.ppf(u)
        for z in (0.0, 0.4, 1.3):
            mean = part.mass * float(np.mean(omega(3, r * z)))
            assert float(part.evaluate(np.array(z), 3)) == pytest.approx(mean, abs=2e-4 * part.mass)

    def test_evaluate_keeps_shape(self, name: str) -> None:
        part = PARTS[name]
        assert part.evaluate(np.ones((2, 3)), 3).shape == (2, 3)
        assert np.ndim(part.evaluate(0.5, 3)) == 0
        assert float(part.evaluate(0.0, 3)) == pytest.approx(part.mass, rel=1e-9)

    def test_second_moment(self, name: str) -> None:
        part = PARTS[name]
        few, many = (part.mass * float(np.mean(part.ppf((np.arange(n) + 0.5) / n) ** 2)) for n in (300, 30_000))
        if name == "laplacian":  # P(R > r) falls as 1/r: the mean of n quantiles squared grows as n
            assert part.second_moment == np.inf
            assert many > 50 * few
        else:
            assert many == pytest.approx(part.second_moment, rel=1e-2)


class TestDensity:
    def test_mass_and_cdf_are_integrals(self) -> None:
        assert DENSITY.mass == pytest.approx(np.pi / 2, rel=1e-12)
        for r in (0.3, 1.1, 2.9):
            exact = integrate.quad(bump, 0, r)[0] / (np.pi / 2)
            assert float(DENSITY.cdf(r)) == pytest.approx(exact, abs=3e-4)  # a cubic per panel, eight panels

    def test_gaps_carry_no_mass(self) -> None:
        low, high = GAP.edges[1], GAP.edges[2]
        assert not GAP.marked[1]
        assert float(GAP.cdf(low)) == pytest.approx(float(GAP.cdf(0.5 * (low + high))), abs=1e-15)
        r = GAP.ppf(np.linspace(0, 1, 5001))
        assert not ((r > low + 1e-9) & (r < high - 1e-9)).any()

    def test_transform_by_quadrature(self) -> None:
        exact = integrate.quad(lambda r: float(omega(4, 1.7 * r)) * bump(r), 0, np.pi)[0]
        assert float(DENSITY.evaluate(1.7, 4)) == pytest.approx(exact, abs=1e-12)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((bump, np.array([0.0])), "at least two finite radii"),
            ((bump, np.array([0.0, np.inf])), "at least two finite radii"),
            ((bump, np.array([-1.0, 1.0])), "radii ≥ 0"),
            ((bump, np.array([0.0, 2.0, 1.0])), "edges must increase"),
            ((bump, np.array([0.0, 1.0, 2.0]), np.array([True])), "marked must pick"),
            ((bump, np.array([0.0, 1.0]), np.array([False])), "marked must pick"),
            ((np.cos, np.array([0.0, 1.0, 3.0])), "non-negative.*sign changes"),
            ((lambda r: r * np.nan, np.array([0.0, 1.0])), "finite and non-negative"),
            ((np.zeros_like, np.array([0.0, 1.0])), "no mass"),
        ],
    )
    def test_bad_input(self, arguments: tuple, words: str) -> None:
        with pytest.raises(ValueError, match=words):
            Density(*arguments)


class TestAtoms:
    def test_sorted_copied_and_read_only(self) -> None:
        radii = np.array([3.0, 1.0])
        atoms = Atoms(radii, np.array([1.0, 2.0]))
        radii[0] = 7.0
        np.testing.assert_array_equal(atoms.radii, [1.0, 3.0])
        np.testing.assert_array_equal(atoms.weights, [2.0, 1.0])
        with pytest.raises(ValueError, match="read-only"):
            atoms.radii[0] = 5.0

    def test_cdf_and_ppf_by_hand(self) -> None:
        np.testing.assert_allclose(
            ATOMS.cdf([0.0, 0.5, 1.9, 2.0, 2.9, 3.0]), np.array([0, 0.25, 0.25, 1.25, 1.25, 3.25]) / 3.25
        )
        np.testing.assert_array_equal(ATOMS.ppf([0.0, 0.05, 0.1, 0.38, 0.39, 1.0]), [0.5, 0.5, 2.0, 2.0, 3.0, 3.0])

    @pytest.mark.parametrize(
        ("radii", "weights"),
        [
            *(([1.0], [0.0]), ([1.0], [-1.0]), ([-1.0], [1.0]), ([np.nan], [1.0]), ([1.0], [np.inf])),
            *(([1.0, 2.0], [1.0]), ([[1.0]], [[1.0]])),
        ],
    )
    def test_bad_input(self, radii, weights) -> None:
        with pytest.raises(ValueError, match="radii"):
            Atoms(np.array(radii), np.array(weights))

    def test_nothing_to_draw(self) -> None:
        assert NO_MASS.mass == 0.0
        assert NO_MASS.second_moment == 0.0
        np.testing.assert_array_equal(NO_MASS.evaluate(np.ones(3), 5), np.zeros(3))
        with pytest.raises(ValueError, match="empty part"):
            NO_MASS.ppf(0.5)
        with pytest.raises(ValueError, match="empty part"):
            NO_MASS.cdf(0.5)


@pytest.mark.parametrize("total", [0.0, -1.0, np.nan, np.inf])
def test_a_law_has_positive_mass(total: float) -> None:
    with pytest.raises(ValueError, match="total must be"):
        law_part(Gaussian(), 3, total)
