"""What every map of the comparison promises, whichever it is."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from baseline_maps import MAPS, make, rows
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from krein._core.threads import thread_limit
from krein.baselines import (
    ArcCosineFeatures,
    DoubleGaussianMixture,
    RandomMaclaurin,
    SphericalRandomFeatures,
    TensorizedRandomProjection,
    TensorSketch,
)
from krein.estimators.maps.nystroem import KreinNystroem
from krein.kernels import NTK, Gaussian, Sigmoid

CHECKED = [
    SphericalRandomFeatures(n_components=12),
    DoubleGaussianMixture(n_components=12, n_subset=50),
    RandomMaclaurin(n_components=12),
    TensorSketch(n_components=12),
    TensorizedRandomProjection(n_components=12),
    ArcCosineFeatures(n_components=12),
    KreinNystroem(n_components=5),
    KreinNystroem(kernel="precomputed", n_components=5),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:n_components=.* is more than the", "ignore:Number of distinct clusters")
@pytest.mark.parametrize("name", MAPS)
class TestContract:
    @pytest.mark.parametrize("width", [1, 2, 7, 40])
    def test_width_is_what_was_asked_for(self, name, width):
        if name == "arc-cosine ntk" and width < 6:
            with pytest.raises(ValueError, match="n_components must be at least 6"):
                make(name, width).fit(rows())
            return
        f = make(name, width).fit(rows())
        assert f.transform(rows(9)).shape == (9, width)
        assert f.signature_.shape == (width,)
        assert set(f.signature_) <= {1.0, -1.0}
        assert len(f.get_feature_names_out()) == width

    def test_approximate_is_the_signed_product(self, name):
        X, Y = rows(10), rows(7, seed=1)
        f = make(name).fit(X)
        Z, V = f.transform(X), f.transform(Y)
        np.testing.assert_allclose(f.approximate(X, Y), (Z * f.signature_) @ V.T, rtol=1e-10, atol=1e-12)

    def test_single_precision_is_kept_and_close_to_double(self, name):
        X = rows(60)
        f = make(name).fit(X)
        single = f.transform(X.astype(np.float32))
        assert single.dtype == np.float32
        if "arc-cosine 0" in name or "ntk" in name:
            return  # steps may fall on the other side of zero
        exact = f.transform(X)
        assert np.linalg.norm(single - exact) <= 1e-2 * np.linalg.norm(exact)

    def test_same_seed_same_features(self, name):
        X = rows(30)
        first, second = (make(name, random_state=3).fit_transform(X) for _ in range(2))
        np.testing.assert_array_equal(first, second)

    def test_sparse_rows_give_the_same_features(self, name):
        X = np.where(np.abs(rows(40)) > 0.2, rows(40), 0.0)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        dense = make(name).fit(X)
        np.testing.assert_allclose(dense.transform(sp.csr_array(X)), dense.transform(X), rtol=1e-9, atol=1e-9)
        assert make(name).fit(sp.csr_array(X)).transform(sp.csr_array(X)).shape == (40, 40)

    def test_clone_and_pickle(self, name):
        X = rows(30)
        f = make(name)
        assert clone(f).get_params() == f.get_params()
        f.fit(X)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(f)).transform(X), f.transform(X))  # noqa: S301  # our own bytes

    def test_features_of_a_row_do_not_depend_on_the_others(self, name):
        f = make(name).fit(rows())
        X = rows(700, seed=2)
        np.testing.assert_allclose(f.transform(X)[650:], f.transform(X[650:]), rtol=1e-9, atol=1e-12)

    def test_negative_multiple_swaps_the_signs(self, name):
        maker, kernel, _ = MAPS[name]
        if maker in (SphericalRandomFeatures, DoubleGaussianMixture):
            pytest.skip("its features are drawn for the kernel at hand, and a negative multiple is another one")
        X = rows(30)
        plain, flipped = make(name).fit(X), make(name, kernel=-2.0 * kernel).fit(X)
        np.testing.assert_allclose(flipped.approximate(X), -2.0 * plain.approximate(X), rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("shape", [(1, 3), (1, 1), (12, 1)])
    def test_one_row_and_one_column(self, name, shape):
        width = 8
        Z = make(name, width).fit_transform(np.ones(shape) * np.sign(np.arange(shape[0]) - 4.5)[:, None])
        assert Z.shape == (shape[0], width)
        assert np.isfinite(Z).all()

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_refuses_values_that_are_not_finite(self, name, bad):
        X = np.array(rows(20))
        X[3, 1] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            make(name).fit(X)
        f = make(name).fit(rows(20))
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            f.transform(X)

    def test_refuses_empty_and_misshapen_input(self, name):
        with pytest.raises(ValueError, match="0 sample"):
            make(name).fit(np.empty((0, 4)))
        with pytest.raises(ValueError, match="0 feature"):
            make(name).fit(np.empty((4, 0)))
        f = make(name).fit(rows())
        with pytest.raises(ValueError, match="features"):
            f.transform(rows(5, dim=4))

    def test_zero_row_on_the_sphere_is_named(self, name):
        _, kernel, _ = MAPS[name]
        if kernel.domain != "sphere":
            pytest.skip("this kernel does not live on the sphere")
        X = np.array(rows(20))
        X[7] = 0.0
        with pytest.raises(ValueError, match="row 7 of X is zero"):
            make(name).fit(X)
        with pytest.raises(ValueError, match="row 7 of the sparse matrix X is zero"):
            make(name).fit(sp.csr_array(X))

    @pytest.mark.parametrize("width", [0, -3])
    def test_refuses_widths_that_are_not_positive(self, name, width):
        with pytest.raises(ValueError, match="n_components must be at least"):
            make(name, width).fit(rows())

    @pytest.mark.parametrize("width", [2.5, "many", True, None])
    def test_refuses_widths_that_are_not_integers(self, name, width):
        with pytest.raises(TypeError, match="n_components must be an integer"):
            make(name, width).fit(rows())

    def test_refuses_what_is_not_a_kernel(self, name):
        with pytest.raises((TypeError, ValueError), match="kernel must be"):
            make(name, kernel=3).fit(rows())

    def test_kernel_and_width_by_position_and_nothing_else(self, name):
        maker, kernel, parameters = MAPS[name]
        if maker is KreinNystroem:
            pytest.skip("not a map of this subpackage")
        f = maker(kernel, 24, random_state=0, **parameters)
        np.testing.assert_array_equal(f.fit_transform(rows(30)), make(name, 24).fit_transform(rows(30)))
        with pytest.raises(TypeError, match="positional"):
            maker(kernel, 24, 0)
        assert maker().n_components == 512

    def test_the_number_of_threads_changes_no_bit(self, name):
        X = rows(3000, dtype=np.float32)
        f = make(name, 200).fit(X[:300])
        with thread_limit(1):
            alone = f.transform(X)
        for threads in (2, 3):
            with thread_limit(threads):
                np.testing.assert_array_equal(f.transform(X), alone)

    def test_parts_of_a_loaded_map_must_fit(self, name):
        f = make(name).fit(rows())
        if isinstance(f, KreinNystroem):
            pytest.skip("not a map of this subpackage")
        f._check_loaded()
        f.signature_ = f.signature_[:-1]
        with pytest.raises(ValueError, match=r"shape|fit each other"):
            f._check_loaded()

    def test_transform_needs_little_more_memory_than_its_output(self, name):
        X = rows(20_000, dim=10, dtype=np.float32)
        f = make(name, 256).fit(X[:500])
        f.transform(X[:500])
        tracemalloc.start()
        try:
            Z = f.transform(X)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert Z.dtype == np.float32
        assert peak <= Z.nbytes + 64 * 2**20


@pytest.mark.parametrize(
    ("refusing", "kernel", "named"),
    [
        (TensorSketch, Sigmoid(), "RandomMaclaurin"),
        (TensorizedRandomProjection, Sigmoid(), "KreinNystroem"),
        (TensorizedRandomProjection, NTK(), "ArcCosineFeatures"),
        (ArcCosineFeatures, NTK(depth=3), "SphericalRandomFeatures"),
        (ArcCosineFeatures, Gaussian(), "DoubleGaussianMixture"),
    ],
)
def test_kernels_a_method_cannot_do_are_refused_with_those_that_can(refusing, kernel, named):
    with pytest.raises(ValueError, match=f"{refusing.__name__} needs.*methods that can.*{named}"):
        refusing(kernel=kernel).fit(rows())


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (RandomMaclaurin(edition="2012"), "edition must be one of 'modern', 'published'"),
        (RandomMaclaurin(kernel=Gaussian()), "scale the rows to unit length"),
        (TensorizedRandomProjection(edition="x"), "edition must be one of"),
        (TensorSketch(edition="x"), "edition must be one of"),
        (DoubleGaussianMixture(edition="x"), "edition must be one of"),
        (SphericalRandomFeatures(edition="cauchy"), "edition must be one of 'modern', 'published'"),
        (SphericalRandomFeatures(constant=-1.0), "constant must not be negative"),
        (SphericalRandomFeatures(radius=-1.0), "radius must be positive"),
        (SphericalRandomFeatures(radius="big"), "radius must be 'auto'"),
        (DoubleGaussianMixture(n_mixture=0), "n_mixture must be at least 1"),
    ],
)
def test_absurd_parameters_are_named(f, message):
    with pytest.raises(ValueError, match=message):
        f.fit(2.0 * rows())


@pytest.mark.parametrize(("dtype", "huge"), [(np.float32, 1e30), (np.float64, 1e150), (np.float64, 1e200)])
@pytest.mark.parametrize("maker", [TensorSketch, TensorizedRandomProjection, RandomMaclaurin, ArcCosineFeatures])
@pytest.mark.parametrize("sparse", [False, True])
def test_finite_rows_give_finite_features_or_are_refused_by_number(maker, dtype, huge, sparse):
    X = np.array(rows(20, dtype=dtype))
    f = maker(n_components=24, random_state=0).fit(X)
    X[7, 1] = huge
    X = sp.csr_array(X) if sparse else X
    for call in (f.transform, lambda X: maker(n_components=24, random_state=0).fit(X).transform(X)):
        if maker is ArcCosineFeatures and huge == 1e150:  # a kernel of the second power bears this
            Z = call(X)
            assert np.isfinite(Z).all()
            assert np.isfinite(Z @ Z.T).all()
        else:
            with pytest.raises(ValueError, match=r"row 7 of X has length 1e\+"):
                call(X)


@pytest.mark.parametrize(("dtype", "huge"), [(np.float32, 1e30), (np.float64, 1e200)])
@pytest.mark.parametrize("maker", [SphericalRandomFeatures, DoubleGaussianMixture])
def test_rows_too_far_apart_are_refused_by_number(maker, dtype, huge):
    X = np.array(rows(20, dtype=dtype))
    f = maker(n_components=24, random_state=0).fit(X)
    X[7, 1] = huge
    for call in (f.transform, maker(n_components=24, random_state=0).fit):
        with pytest.raises(ValueError, match=r"row 7 of X has length 1e\+"):
            call(X)
