"""What a machine cannot hold is refused before it is begun."""

import numpy as np
import pytest

import krein
from krein.kernels import Gaussian


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (lambda X, y: krein.KreinRidge(solver="exact").fit(X, y), r"exact problem of 600 rows .* use solver='local'"),
        (
            lambda X, y: krein.ExactKreinRidge(Gaussian(1.0)).fit(X, y),
            "kernel matrix of 600 rows .* learner with features",
        ),
        (lambda X, y: Gaussian(1.0)(np.vstack([X] * 2)), "kernel matrix of 1,200 × 1,200 numbers takes 0.0 GB"),
    ],
)
def test_more_than_is_installed(fit, words, monkeypatch, rng):
    monkeypatch.setattr("krein._core.memory._installed", lambda: 8.0 * 600**2 * 2.5)
    X = rng.normal(size=(600, 2))
    with pytest.raises(ValueError, match=words):
        fit(X, X[:, 0])
