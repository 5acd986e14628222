"""The user's own function: taken at its word where it is well-formed, refused with a remedy where not."""

from __future__ import annotations

import numpy as np
import pytest

from krein.kernels import Radial


def ramp(z: np.ndarray) -> np.ndarray:
    return 1.0 - z / 2.0


def test_it_is_the_function() -> None:
    k = Radial(ramp)
    np.testing.assert_array_equal(k.radial([0.0, 1.0]), [1.0, 0.5])
    assert k.domain == "euclidean"
    assert Radial(ramp, "sphere").domain == "sphere"
    assert repr(Radial(ramp, domain="sphere", normalize=False)) == "Radial(ramp, domain='sphere', normalize=False)"
    assert Radial(ramp) == Radial(ramp)
    assert Radial(ramp) != Radial(ramp, domain="sphere")
    assert Radial(ramp, domain="sphere") != Radial(ramp, domain="sphere", normalize=False)


def test_a_function_that_writes_into_its_argument_does_no_harm() -> None:
    def careless(z: np.ndarray) -> np.ndarray:
        z *= -1.0
        return np.exp(z, out=z)

    z = np.array([0.0, 1.0])
    np.testing.assert_allclose(Radial(careless).radial(z), np.exp([0.0, -1.0]))
    np.testing.assert_array_equal(z, [0.0, 1.0])


def test_integers_and_booleans_become_floats() -> None:
    assert Radial(lambda z: z < 1).radial([0.5, 2.0]).dtype == np.float64


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (lambda z: 1.0, ValueError, r"one value per distance.*np.vectorize"),
        (lambda z: np.ones(3), ValueError, r"shape \(2,\) in, \(3,\) out"),
        (lambda z: z[:, None], ValueError, "one value per distance"),
        (lambda z: z + 1j, TypeError, r"complex.*take \.real"),
        (lambda z: np.full(z.shape, np.nan), ValueError, r"NaN or infinity, first at z = 0"),
        (lambda z: np.divide(1.0, z, out=np.full(z.shape, np.inf), where=z > 0), ValueError, "define its limit there"),
        (lambda z: np.full(z.shape, "x"), TypeError, "not numbers"),
        (lambda z: None, ValueError, "one value per distance"),
    ],
)
def test_malformed_functions(function, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Radial(function).radial([0.0, 1.0])
    with pytest.raises(error, match=words.replace(r"shape \(2,\) in, \(3,\) out", "one value per distance")):
        Radial(function)(np.array([[0.0], [1.0]]))


def test_malformed_arguments() -> None:
    with pytest.raises(TypeError, match="must be callable"):
        Radial(3.0)
    with pytest.raises(ValueError, match="one of 'euclidean', 'sphere'"):
        Radial(ramp, domain="torus")
    with pytest.raises(TypeError, match="normalize must be True or False"):
        Radial(ramp, normalize=1)
