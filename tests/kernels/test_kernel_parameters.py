"""Parameters by name: read, changed, cloned, and reached by a grid search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV

from catalog import KERNELS
from krein import SignedFourierFeatures
from krein.baselines import InnerPolynomial, Ramp
from krein.kernels import (
    NTK,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Kernel,
    Laplacian,
    Matern,
    Radial,
    Sigmoid,
    SphericalPolynomial,
    ThinPlate,
)


@pytest.mark.parametrize("kernel", [*KERNELS, InnerPolynomial(), Ramp(), NTK(normalize=False)], ids=repr)
class TestEveryKernel:
    def test_goes_round(self, kernel: Kernel) -> None:
        for deep in (True, False):
            assert kernel.with_params(**kernel.get_params(deep)) == kernel
        assert kernel.with_params() == kernel
        assert not hasattr(kernel, "set_params")  # an owner that went on with the same object would change nothing

    def test_shallow_parameters_are_among_the_deep_ones(self, kernel: Kernel) -> None:
        deep = kernel.get_params()
        assert all(deep[name] == value for name, value in kernel.get_params(deep=False).items())
        assert all("__" in name for name in set(deep) - set(kernel.get_params(deep=False)))

    def test_clones_of_a_value_are_the_value(self, kernel: Kernel) -> None:
        assert clone(kernel) is kernel
        features = SignedFourierFeatures(kernel=kernel)
        assert clone(features).kernel is kernel

    def test_names_that_are_none(self, kernel: Kernel) -> None:
        with pytest.raises(ValueError, match="has no parameter 'width'; its parameters are "):
            kernel.with_params(width=1.0)
        with pytest.raises(ValueError, match="has no parameter 'width'"):
            kernel.with_params(width__a=1.0)


def test_plain_parameters() -> None:
    assert Matern(2.0, 0.5).get_params() == {"scale": 2.0, "nu": 0.5}
    assert SphericalPolynomial(2, 3, normalize=False).get_params() == {"a": 2.0, "p": 3, "normalize": False}
    assert ThinPlate().get_params() == {}
    kernel = Radial(np.cos, "sphere", normalize=False)
    assert kernel.get_params() == {"function": np.cos, "domain": "sphere", "normalize": False}
    assert kernel.with_params(function=np.sin) == Radial(np.sin, "sphere", normalize=False)
    before = DeltaGaussian(1.0, 10.0)
    assert before.with_params(a=2.0) == DeltaGaussian(2.0, 10.0)
    assert before == DeltaGaussian(1.0, 10.0)


def test_parameters_of_sums_products_and_scaled_kernels() -> None:
    total = 2.0 * Gaussian(1.0) - Laplacian(0.5)
    assert total.get_params() == {
        "c0": 2.0,
        "k0": Gaussian(1.0),
        "k0__scale": 1.0,
        "c1": -1.0,
        "k1": Laplacian(0.5),
        "k1__scale": 0.5,
    }
    assert total.with_params(c1=3, k0__scale=4.0) == 2 * Gaussian(4.0) + 3 * Laplacian(0.5)
    assert total.with_params(k1=Gaussian(1.0)) == Gaussian(1.0)
    assert total.with_params(k1=Matern(1.0), k1__nu=0.5) == 2 * Gaussian(1.0) - Matern(1.0, 0.5)
    assert total.with_params(c0=0.0) == -Laplacian(0.5)
    product = Gaussian(1.0) * Cauchy(2.0)
    assert set(product.get_params()) == {"k0", "k0__scale", "k1", "k1__scale"}
    assert product.with_params(k1__scale=5.0) == Gaussian(1.0) * Cauchy(5.0)
    assert product.with_params(k1=Gaussian(1.0)) == Gaussian(1.0) * Gaussian(1.0)
    mixed = 3.0 * product - ThinPlate().scaled(2.0)
    assert mixed.with_params(k0__k0__scale=7.0, k1__scale=4.0) == (
        3.0 * Gaussian(7.0) * Cauchy(2.0) - ThinPlate().scaled(4.0)
    )
    assert ThinPlate().scaled(2.0).with_params(scale=1.0) == ThinPlate()
    assert ThinPlate().scaled(2.0).with_params(kernel=Gaussian(1.0)) == Gaussian(2.0)


def test_values_are_checked_as_by_the_constructor() -> None:
    with pytest.raises(ValueError, match="scale must be positive"):
        Gaussian().with_params(scale=0.0)
    with pytest.raises(ValueError, match="needs a < b"):
        DeltaGaussian().with_params(a=20.0)
    with pytest.raises(ValueError, match="a must not be 0"):
        Sigmoid().with_params(a=0.0)
    total = Gaussian() + Cauchy()
    with pytest.raises(TypeError, match="k0 must be a kernel"):
        total.with_params(k0=1.0)
    with pytest.raises(TypeError, match="c1 must be a real number"):
        total.with_params(c1="1")
    with pytest.raises(TypeError, match="k1 must be a kernel"):
        (Gaussian() * Cauchy()).with_params(k1=None)
    with pytest.raises(TypeError, match="kernel must be a kernel"):
        ThinPlate().scaled(2.0).with_params(kernel=2.0)
    with pytest.raises(ValueError, match=r"'scale' of Gaussian\(scale=1.0\) is 1.0 and has no parameters"):
        Gaussian().with_params(scale__a=1.0)


class Smoother(RegressorMixin, BaseEstimator):
    """A weighted mean of the targets, as an owner of a kernel has to be: what is frozen is replaced."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def set_params(self, **params: Any) -> Smoother:
        inner = {key.removeprefix("kernel__"): params.pop(key) for key in list(params) if key.startswith("kernel__")}
        super().set_params(**params)
        self.kernel = self.kernel.with_params(**inner)
        return self

    def fit(self, X: np.ndarray, y: np.ndarray) -> Smoother:
        self.X_, self.y_ = X, y
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        weights = self.kernel(X, self.X_)
        return weights @ self.y_ / weights.sum(axis=1)


def test_a_grid_search_reaches_a_kernel(rng: np.random.Generator) -> None:
    X = np.linspace(0.0, 6.0, 120)[:, None]
    y = np.sin(3 * X[:, 0])
    order = rng.permutation(120)
    owner = Smoother(Gaussian(1.0) * Cauchy(50.0))
    search = GridSearchCV(owner, {"kernel__k0__scale": [10.0, 3.0, 0.1, 1.0]}, cv=3).fit(X[order], y[order])
    assert search.best_params_ == {"kernel__k0__scale": 0.1}
    assert search.best_estimator_.kernel == Gaussian(0.1) * Cauchy(50.0)
    assert owner.kernel == Gaussian(1.0) * Cauchy(50.0)
    assert owner.get_params()["kernel__k1__scale"] == 50.0


def test_kernels_of_estimators_show_their_parameters() -> None:
    params = SignedFourierFeatures(kernel=DeltaGaussian(2.0, 3.0)).get_params()
    assert (params["kernel__a"], params["kernel__b"]) == (2.0, 3.0)
