"""`SignedFourierFeatures`: the scikit-learn contract, its promises on memory, threads and warnings, and bad input."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import krein
from helpers import frozen, unit_vectors
from krein import MeasureRecipe, SignedFourierFeatures
from krein.features.feature_recipe import WEIGHTS
from krein.kernels import NTK, DeltaGaussian, Gaussian, Laplacian, Multiquadric, Radial, Sigmoid, SphericalPolynomial
from krein.sampling import SAMPLERS, Orthogonal, Rejection

rng_ = np.random.default_rng(0)
DIM = 6
SPACE = frozen(rng_.standard_normal((400, DIM)))
SPHERE = frozen(unit_vectors(rng_, 400, DIM))
POSITIVE = frozen(np.abs(SPHERE))
FRESH = frozen(rng_.standard_normal((100, DIM)))
QUICK = MeasureRecipe(head_degree=1, tol=0.02)


def features(**parameters) -> SignedFourierFeatures:
    """A fixed head and tolerance: one linear program, where the choice among them is not what is tested."""
    quick = {"n_components": 64, "kernel": DeltaGaussian(1.0, 3.0), "measure": QUICK, "random_state": 0}
    return SignedFourierFeatures(**quick | parameters)


def automatic(**parameters) -> SignedFourierFeatures:
    return SignedFourierFeatures(**{"n_components": 64, "random_state": 0} | parameters)


def relative(estimate: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(estimate - exact) / np.linalg.norm(exact))


def refused(estimator) -> dict[str, str]:
    """Checks that set n_components to 1, where a tolerance that was asked for cannot be met; by default it is not asked for."""
    if estimator.measure == "auto":
        return {}
    names = ("dont_overwrite_parameters", "methods_sample_order_invariance", "methods_subset_invariance")
    names += ("fit2d_1sample", "fit2d_1feature", "fit2d_predict1d")
    return {f"check_{name}": "one column has no room for a frequency, which this tolerance needs" for name in names}


# The default as it is; other weights with one linear program for each fit, as there are a hundred fits.
@parametrize_with_checks(
    [
        SignedFourierFeatures(),
        *(
            features(n_components=20, measure=QUICK.with_params(head_degree=0), weights=weights)
            for weights in WEIGHTS[-1:]
        ),
    ],
    expected_failed_checks=refused,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


class TestContract:
    @pytest.mark.parametrize("weights", WEIGHTS)
    @pytest.mark.parametrize("kernel", [DeltaGaussian(1.0, 3.0), Multiquadric(), NTK(), Sigmoid(1.0, -0.5)], ids=str)
    def test_width_signature_and_approximation(self, kernel, weights):
        X = POSITIVE if kernel.domain == "sphere" else SPACE
        f = automatic(kernel=kernel, weights=weights).fit(X)
        Z = f.transform(X)
        assert Z.shape == (400, 64)
        assert set(f.signature_) <= {-1.0, 1.0}
        np.testing.assert_allclose((Z * f.signature_) @ Z.T, f.approximate(X), atol=1e-12)
        np.testing.assert_allclose(f.approximate(X, X[:7]), f.approximate(X)[:, :7], atol=1e-12)
        error = relative(f.approximate(X), kernel(X))
        assert error < 0.25
        assert 0.2 * error < f.error_estimate_ < 5 * error

    def test_clone_pickle_and_refit(self):
        f = features(kernel=NTK(), sampler=Orthogonal(share=False)).fit(POSITIVE)
        Z = f.transform(POSITIVE)
        copy = clone(f)
        assert copy.kernel == NTK()
        assert not hasattr(copy, "signature_")
        np.testing.assert_array_equal(copy.fit(POSITIVE).transform(POSITIVE), Z)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(f)).transform(POSITIVE), Z)  # noqa: S301  # our own bytes
        np.testing.assert_array_equal(f.set_params(n_components=32).fit(POSITIVE).signature_.shape, (32,))

    def test_grid_search_over_kernels_and_widths(self):
        X, y = SPACE, (np.linalg.norm(SPACE, axis=1) > 1.8).astype(int)
        pipe = Pipeline([("scale", StandardScaler()), ("map", features(n_components=16)), ("learn", RidgeClassifier())])
        kernels = [Gaussian(1.0), DeltaGaussian(0.5, 3.0)]
        grid = {"map__kernel": kernels, "map__n_components": [12, 32]}
        search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(X, y)
        assert search.best_params_["map__kernel"] in kernels
        assert search.best_score_ > 0.75

    def test_pandas(self):
        frame = pd.DataFrame(SPACE, columns=list("abcdef"), index=np.arange(400) + 1000)
        f = features(weights="unbiased").fit(frame)
        assert list(f.feature_names_in_) == list("abcdef")
        names = f.get_feature_names_out()
        assert names.shape == (64,)
        assert len(set(names)) == 64
        out = f.set_output(transform="pandas").transform(frame)
        assert list(out.columns) == list(names)
        assert list(out.index) == list(frame.index)
        np.testing.assert_array_equal(out.to_numpy(), f.set_output(transform="default").transform(frame))
        for name, sign in zip(names, f.signature_, strict=True):
            assert name.endswith("-" if sign < 0 else "+")
            assert name.startswith(("head", "cos", "sin", "zero"))

    def test_names_of_projected_columns(self):
        f = features(weights="projected", kernel=NTK(), n_components=16).fit(POSITIVE)
        names = f.get_feature_names_out()
        assert len(set(names)) == 16

    def test_same_seed_same_features(self):
        first, second, third = (features(random_state=seed).fit(SPACE) for seed in (1, 1, 2))
        np.testing.assert_array_equal(first.transform(SPACE), second.transform(SPACE))
        assert not np.array_equal(first.transform(SPACE), third.transform(SPACE))

    @pytest.mark.parametrize("weights", WEIGHTS)
    def test_float32(self, weights):
        f = features(weights=weights).fit(SPACE)
        Z = f.transform(SPACE.astype(np.float32))
        assert Z.dtype == np.float32
        np.testing.assert_allclose(Z, f.transform(SPACE), atol=2e-3)
        single = features(weights=weights).fit(SPACE.astype(np.float32))
        assert single.fit_transform(SPACE.astype(np.float32)).dtype == np.float32
        assert single.approximate(SPACE.astype(np.float32)).dtype == np.float32

    @pytest.mark.parametrize("weights", WEIGHTS)
    @pytest.mark.parametrize("kernel", [DeltaGaussian(1.0, 3.0), NTK()], ids=str)
    def test_sparse(self, kernel, weights):
        X = np.abs(SPACE) * (np.random.default_rng(1).random(SPACE.shape) < 0.6)
        X = X[np.linalg.norm(X, axis=1) > 0]
        f, dense = (features(kernel=kernel, weights=weights).fit(rows) for rows in (sp.csr_matrix(X), X))
        np.testing.assert_allclose(f.transform(sp.csr_array(X)), dense.transform(X), atol=1e-9)
        np.testing.assert_allclose(f.transform(sp.csc_matrix(X)), dense.transform(X), atol=1e-9)

    def test_sparse_with_entries_given_twice(self):
        """A matrix may hold an entry as a sum of two; the length of the row is that of the sum."""
        f = features(kernel=NTK()).fit(POSITIVE)
        row = sp.csr_matrix((np.array([1.0, 2.0, 1.0]), np.array([0, 0, 3]), np.array([0, 3])), shape=(1, DIM))
        assert not row.has_canonical_format
        np.testing.assert_allclose(
            f.transform(row), f.transform(np.array([[3.0, 0.0, 0.0, 1.0, 0.0, 0.0]])), atol=1e-12
        )
        assert row.nnz == 3  # the caller's matrix is left alone

    def test_integers_and_lists(self):
        X = np.random.default_rng(0).integers(0, 5, size=(60, 3))
        f = features(n_components=16).fit(X)
        np.testing.assert_array_equal(f.transform(X.tolist()), f.transform(X.astype(float)))

    @pytest.mark.parametrize("sampler", [*SAMPLERS, Orthogonal(share=True), Rejection(1000, 5.0)], ids=str)
    @pytest.mark.parametrize("weights", ["unbiased", "calibrated"])
    def test_every_sampler(self, sampler, weights):
        """The error promised is kept on fresh rows; features that are all zero would have an error of 1."""
        f = features(sampler=sampler, weights=weights, kernel=DeltaGaussian(1.0, 3.0), n_components=128).fit(SPACE)
        assert f.transform(SPACE).shape == (400, 128)
        assert f.error_estimate_ < 0.35
        assert relative(f.approximate(FRESH), f.kernel_(FRESH)) < 2 * f.error_estimate_

    def test_hadamard_in_transform(self):
        """The fast transform of the structure gives what the explicit vectors give."""
        f = features(sampler="hadamard", kernel=NTK(), weights="unbiased").fit(POSITIVE)
        assert f.feature_map_.frequencies.structure is not None
        s, X = len(f.feature_map_.frequencies), POSITIVE[:20]
        angles = X @ f.feature_map_.frequencies.vectors.T
        expected = np.cos(angles) * np.sqrt(np.abs(f.feature_map_.wave_weights))
        first = f.feature_map_.basis.n_columns
        np.testing.assert_allclose(f.transform(X)[:, first : first + s], expected, atol=1e-10)


class TestScale:
    def test_across_processes_and_threads(self):
        code = (
            "import numpy as np, krein\n"
            "X = np.abs(np.random.default_rng(0).standard_normal((3000, 6)))\n"
            "settings = dict(n_components=40, measure=krein.MeasureRecipe(head_degree=1, tol=0.02), random_state=0)\n"
            "f = krein.SignedFourierFeatures(kernel=krein.kernels.NTK(), **settings).fit(X)\n"
            "print(repr(float(f.transform(X).sum())), repr(float(np.abs(f.feature_map_.column_weights).sum())))"
        )
        seen = []
        for threads in ("1", "2"):
            env = os.environ | {
                "NUMBA_NUM_THREADS": threads,
                "OPENBLAS_NUM_THREADS": threads,
                "OMP_NUM_THREADS": threads,
            }
            done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
            seen.append([float(x) for x in done.stdout.split()])
        np.testing.assert_allclose(seen[0], seen[1], rtol=1e-9)

    @pytest.mark.parametrize("weights", ["unbiased", "projected"])
    def test_memory_mapped(self, tmp_path, weights):
        """Fit copies a sample only, transform needs the output and 64 MiB."""
        path, shape = tmp_path / "rows.npy", (200_000, 32)
        whole = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
        whole[:] = np.random.default_rng(0).random(shape, dtype=np.float32)
        whole.flush()
        X = np.load(path, mmap_mode="r")  # 25 MB
        f = features(kernel=NTK(), weights=weights, n_components=48, oversampling=2)
        f.fit(X[:3000])  # compiles and imports
        f.transform(X[:3000])
        tracemalloc.start()
        f.fit(X)
        fit_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        Z = f.transform(X)
        peak = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        assert peak <= Z.nbytes + (64 << 20)
        if weights == "unbiased":
            assert fit_peak < 20 << 20

    def test_memory_with_a_head_of_products(self):
        recipe = MeasureRecipe(head_degree=2, tol=0.02)
        f = features(kernel=SphericalPolynomial(2, 3), n_components=600, measure=recipe, weights="unbiased")
        X = np.random.default_rng(0).random((60_000, 24)).astype(np.float32)
        f.fit(X[:500])
        f.transform(X[:500])
        tracemalloc.start()
        Z = f.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak <= Z.nbytes + (64 << 20)

    def test_threads(self):
        f = features(kernel=NTK(), weights="projected").fit(POSITIVE)
        parts = [np.ascontiguousarray(POSITIVE[i : i + 50]) for i in range(0, 400, 50)] * 4
        expected = [f.transform(part) for part in parts]
        with ThreadPoolExecutor(4) as pool:
            for one, other in zip(pool.map(f.transform, parts), expected, strict=True):
                np.testing.assert_array_equal(one, other)

    def test_transform_changes_nothing(self):
        f = features().fit(SPACE)
        before = pickle.dumps(f)
        f.transform(FRESH[:10] * 0.1)
        assert pickle.dumps(f) == before

    def test_blocks_are_the_whole(self, monkeypatch):
        f = features(kernel=NTK()).fit(SPHERE)
        whole = f.transform(SPHERE)
        monkeypatch.setattr("krein.features.fitted_map._BLOCK_BYTES", 7 * DIM * 8)
        monkeypatch.setattr("krein.features.fitted_map.plain_map", lambda *_: None)
        np.testing.assert_allclose(f.transform(SPHERE), whole, atol=1e-13)
        np.testing.assert_allclose(f.transform(sp.csr_matrix(SPHERE)), whole, atol=1e-13)


class TestRegion:
    def test_radius_rules(self):
        assert features(kernel=NTK()).fit(SPHERE).region_.radius == 2.0
        assert features(kernel=NTK()).fit(POSITIVE).region_.radius == pytest.approx(math.sqrt(2))
        diameter = max(np.linalg.norm(SPACE - x, axis=1).max() for x in SPACE)
        assert features().fit(SPACE).region_.radius == pytest.approx(1.1 * diameter)
        assert features(radius=17.0).fit(SPACE).measure_.radius == 17.0
        with pytest.raises(ValueError, match="distances on the unit sphere are at most 2, got radius=3"):
            features(kernel=NTK(), radius=3).fit(SPHERE)

    def test_a_radius_smaller_than_the_data_warns_in_fit(self):
        with pytest.warns(
            UserWarning, match=r"training rows are up to .* apart, farther than radius=1: .*radius='auto'"
        ):
            features(radius=1.0).fit(SPACE)
        with pytest.warns(UserWarning, match=r"farther than radius=1\.2"):
            features(kernel=NTK(), radius=1.2).fit(SPHERE)

    def test_refitted_weights_keep_the_linear_head_at_small_widths(self):
        few = {"kernel": DeltaGaussian(1.0, 10.0), "n_components": 2 * DIM, "random_state": 0}
        assert SignedFourierFeatures(**few).fit(POSITIVE).measure_.head.degree == 1
        errors = {}
        for degree in (0, "auto"):
            f = SignedFourierFeatures(**few, measure=MeasureRecipe(head_degree=degree)).fit(POSITIVE[:300])
            exact = f.kernel_(POSITIVE[300:])
            errors[degree] = np.linalg.norm(f.approximate(POSITIVE[300:]) - exact)
        assert errors["auto"] <= errors[0]

    def test_normalize(self):
        scaled = SPACE / np.linalg.norm(SPACE, axis=1, keepdims=True)
        by_kernel = features(kernel=NTK()).fit(SPACE)
        np.testing.assert_allclose(by_kernel.transform(SPACE), features(kernel=NTK()).fit(scaled).transform(scaled))
        asked = features(kernel=Gaussian(1.0), normalize=True).fit(SPACE)
        assert asked.region_.sphere
        assert relative(asked.approximate(SPACE), Gaussian(1.0)(scaled)) < 0.1
        with pytest.raises(ValueError, match=r"row 0 of X has length .*normalize=False"):
            features(kernel=NTK(), normalize=False).fit(SPACE)
        with pytest.raises(ValueError, match=r"row 0 of X has length .*normalize=False"):
            features(kernel=NTK(normalize=False)).fit(SPACE)
        features(kernel=NTK(), normalize=False).fit(scaled)
        with pytest.raises(ValueError, match="normalize must be 'auto', True or False, got 'yes'"):
            features(normalize="yes").fit(SPACE)

    def test_negative_entries(self):
        f = features(kernel=NTK()).fit(POSITIVE)
        with pytest.warns(UserWarning, match=r"2 of 5 rows have a negative entry.*use radius=2"):
            f.transform(np.vstack([POSITIVE[:3], -POSITIVE[:2]]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            f.transform(POSITIVE)
            features(kernel=NTK(), radius=2.0).fit(POSITIVE).transform(-POSITIVE)

    def test_far_rows(self):
        f = features().fit(SPACE)
        with pytest.warns(
            UserWarning, match=r"1 of 3 rows lie farther from the training rows' center than .*larger radius"
        ):
            f.transform(np.vstack([SPACE[:2], 100 + SPACE[:1]]))

    def test_unit_rows_by_chance(self):
        f = features(kernel=Gaussian(1.0)).fit(SPHERE)
        assert f.region_.found
        assert relative(f.approximate(SPHERE), Gaussian(1.0)(SPHERE)) < 0.1
        with pytest.warns(UserWarning, match=r"5 of 5 rows do not have unit length"):
            f.transform(3 * SPHERE[:5])

    def test_unit_rows_by_chance_without_negative_entries(self):
        f = features(kernel=Gaussian(1.0)).fit(POSITIVE)
        with pytest.warns(UserWarning, match=r"5 of 5 rows .* have a negative entry.*radius=2"):
            f.transform(-POSITIVE[:5])


class TestMeasure:
    @pytest.mark.parametrize("degree", [-1, 0, 1, 2])
    @pytest.mark.parametrize("weights", ["calibrated", "unbiased"])
    def test_head_degree(self, degree, weights):
        recipe = MeasureRecipe(head_degree=degree)
        f = automatic(kernel=DeltaGaussian(1.0, 3.0), measure=recipe, weights=weights).fit(SPACE)
        assert f.feature_map_.basis.degree == degree
        assert f.transform(SPACE).shape[1] == 64

    def test_tol(self):
        loose, tight = (
            features(kernel=NTK(), measure=QUICK.with_params(tol=tol), weights="unbiased").fit(POSITIVE).measure_
            for tol in (0.05, 1e-3)
        )
        assert tight.bias < 1.1e-3 < loose.bias < 0.06
        assert tight.mass > loose.mass

    def test_algorithm_1_as_printed(self):
        """Spherical polynomial, rejection from the truncated Fourier transform, half of the frequencies each."""
        f = features(
            kernel=SphericalPolynomial(2, 2),
            sampler=Rejection(allocation="equal"),
            weights="unbiased",
            n_components=256,
        ).fit(POSITIVE)
        assert "truncated at r = 10" in f.measure_.note
        assert f.feature_map_.basis.n_columns == 0
        lengths = np.linalg.norm(f.feature_map_.frequencies.vectors, axis=1)
        assert lengths.max() <= 10.0
        assert np.count_nonzero(f.signature_ > 0) == 128
        five = features(kernel=SphericalPolynomial(2, 2), sampler=Rejection(1000, 5.0), weights="unbiased").fit(
            POSITIVE
        )
        assert np.linalg.norm(five.feature_map_.frequencies.vectors, axis=1).max() <= 5.0

    def test_fourier_of_a_kernel_with_a_known_law_is_that_law(self):
        fourier = MeasureRecipe(method="fourier")
        f = features(kernel=DeltaGaussian(1.0, 3.0), measure=fourier, weights="unbiased").fit(SPACE)
        closed = krein.signed_measure(DeltaGaussian(1.0, 3.0), DIM, method="closed_form")
        assert f.measure_.mass == pytest.approx(closed.mass)
        cut = f.set_params(measure__truncate=1.0).fit(SPACE)
        assert np.linalg.norm(cut.feature_map_.frequencies.vectors, axis=1).max() <= 1.0 + 1e-9

    def test_infinite_mass_is_refused(self):
        with pytest.raises(ValueError, match="infinite mass"):
            features(kernel=SphericalPolynomial(2, 2), measure=MeasureRecipe(method="fourier")).fit(
                np.abs(np.random.default_rng(0).random((50, 16)))
            )

    def test_waves_where_the_whole_sphere_has_no_measure(self):
        """Infinite slope at antipodal points leaves unbiased features with a head only; fitted weights do better."""
        kernel, rows = NTK(), unit_vectors(np.random.default_rng(0), 1500, DIM)
        unbiased, calibrated = (
            automatic(kernel=kernel, n_components=256, weights=weights).fit(rows[300:])
            for weights in ("unbiased", "calibrated")
        )
        exact = kernel(rows[:300])
        assert relative(calibrated.approximate(rows[:300]), exact) < 0.9 * relative(
            unbiased.approximate(rows[:300]), exact
        )

    def test_heavy_tails(self):
        """The tail search of calibration must not turn a fit into an error."""
        f = automatic(kernel=NTK(), n_components=19).fit(unit_vectors(np.random.default_rng(0), 300, 16))
        assert f.transform(unit_vectors(np.random.default_rng(1), 400, 16)).shape == (400, 19)


class TestBadInput:
    @pytest.mark.parametrize("wrong", [np.nan, np.inf])
    def test_not_finite(self, wrong):
        X = SPACE.copy()
        X[3, 1] = wrong
        for call in (features().fit, features().fit(SPACE).transform):
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                call(X)

    def test_empty(self):
        for X in (np.empty((0, 3)), np.empty((5, 0))):
            with pytest.raises(ValueError, match="minimum of 1 is required"):
                features().fit(X)
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            features().fit(SPACE).transform(np.empty((0, DIM)))

    def test_text(self):
        with pytest.raises(ValueError, match=r"could not convert|dtype"):
            features().fit(np.array([["a", "b"], ["c", "d"]]))

    @pytest.mark.parametrize("weights", WEIGHTS)
    @pytest.mark.parametrize("kernel", [DeltaGaussian(1.0, 3.0), NTK()], ids=str)
    def test_few_rows_and_columns(self, kernel, weights):
        for shape in ((1, 3), (2, 3), (30, 1), (1, 1)):
            X = 1.0 + np.random.default_rng(0).random(shape)
            f = features(kernel=kernel, weights=weights, n_components=12).fit(X)
            assert np.isfinite(f.transform(X)).all()
            assert np.isfinite(f.error_estimate_)
            np.testing.assert_allclose(f.approximate(X), kernel(X), atol=0.3)

    def test_equal_rows(self):
        f = features(kernel=Gaussian(1.0)).fit(np.full((60, 3), 2.5))
        np.testing.assert_allclose(f.approximate(np.full((5, 3), 2.5)), 1.0, atol=1e-6)

    def test_zero_row_on_the_sphere(self):
        X = np.vstack([SPACE] * 20)
        X[7654] = 0
        with pytest.raises(ValueError, match="row 7654 of X is zero"):
            features(kernel=NTK()).fit(SPACE).transform(X)
        with pytest.raises(ValueError, match="row 7654 of the sparse matrix X is zero"):
            features(kernel=NTK()).fit(SPACE).transform(sp.csr_matrix(X))

    def test_zero_row_in_a_later_block(self, monkeypatch):
        f = features(kernel=NTK()).fit(SPACE)
        monkeypatch.setattr("krein.features.fitted_map._BLOCK_BYTES", 100 * DIM * 8)
        X = SPACE.copy()
        X[333] = 0
        with pytest.raises(ValueError, match="row 333 of X is zero"):
            f.transform(X)

    def test_zero_row_in_the_sample_of_fit(self):
        """The number is that of the row in X, not in the sample."""
        X = np.vstack([SPACE] * 20)
        X[5001:] = 0
        with pytest.raises(ValueError, match=r"row 50\d\d of X is zero"):
            features(kernel=NTK()).fit(X)
        with pytest.raises(ValueError, match=r"row 50\d\d of the sparse matrix X is zero"):
            features(kernel=NTK()).fit(sp.csr_matrix(X))

    def test_other_width(self):
        with pytest.raises(ValueError, match="X has 3 features, but SignedFourierFeatures is expecting 6"):
            features().fit(SPACE).transform(SPACE[:, :3])

    def test_not_fitted(self):
        for call in (features().transform, features().approximate):
            with pytest.raises(Exception, match="not fitted"):
                call(SPACE)

    @pytest.mark.parametrize(
        ("value", "error"),
        [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError), ("8", ValueError)],
    )
    def test_n_components(self, value, error):
        with pytest.raises(error, match="n_components must be"):
            features(n_components=value).fit(SPACE)

    @pytest.mark.parametrize("degree", ["auto", -1, 0, 1, 2])
    @pytest.mark.parametrize("weights", WEIGHTS)
    def test_tiny_widths_fit_or_name_the_least(self, weights, degree):
        """Every width either works or says how many columns are needed, and that many work."""
        for width in (1, 2, 3):
            recipe = MeasureRecipe(head_degree=degree)
            f = automatic(kernel=DeltaGaussian(1.0, 3.0), n_components=width, weights=weights, measure=recipe)
            least = {"auto": 1, -1: 2, 0: 1, 1: DIM + 2, 2: 3 + 2 * DIM + DIM * (DIM + 1) // 2}[degree]
            if width >= least:
                assert f.fit(SPACE).transform(SPACE).shape == (400, width)
                continue
            with pytest.raises(
                ValueError, match=f"n_components must be at least {least} .*got {width}; use {least} or more"
            ):
                f.fit(SPACE)

    @pytest.mark.parametrize("width", range(7, 11))
    @pytest.mark.parametrize("kernel", [DeltaGaussian(1.0, 3.0), NTK()], ids=str)
    def test_widths_around_the_head(self, kernel, width):
        f = automatic(kernel=kernel, n_components=width).fit(SPACE)
        assert f.transform(SPACE).shape == (400, width)
        assert np.isfinite(f.error_estimate_)

    @pytest.mark.parametrize("method", ["closed_form", "least_mass"])
    def test_no_room_for_a_frequency(self, method):
        with pytest.raises(ValueError, match=r"at least|two frequencies"):
            features(n_components=1, measure=MeasureRecipe(method, -1, 1e-3)).fit(SPACE)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"sampler": "sobol"}, "monte_carlo, rejection, .*leverage"),
            ({"sampler": Orthogonal}, "monte_carlo, rejection, .*leverage"),
            ({"weights": "best"}, "weights must be one of 'auto', 'calibrated', 'unbiased', 'projected', got 'best'"),
            ({"weights": None}, "weights must be one of 'auto', 'calibrated', 'unbiased', 'projected', got None"),
            ({"measure": "magic"}, r"measure must be 'auto' or a krein.MeasureRecipe, got 'magic'"),
            ({"measure": 1e-3}, r"measure must be 'auto' or a krein.MeasureRecipe, got 0.001"),
            ({"radius": -1.0}, "radius must be positive, got -1.0"),
            ({"radius": math.nan}, "radius must be finite"),
            ({"radius": math.inf}, "radius must be finite"),
            ({"radius": [1.0]}, "radius must be a real number"),
            ({"radius": True}, "radius must be a real number"),
            ({"radius": "large"}, "radius must be 'auto' or a positive number, got 'large'"),
            ({"radius": -1.0, "measure": MeasureRecipe("closed_form")}, "radius must be positive"),
            ({"normalize": 1}, "normalize must be True or False, got 1"),
            ({"oversampling": 0}, "oversampling must be at least 1"),
            (
                {"oversampling": "x", "weights": "projected"},
                "oversampling must be 'auto' or a positive integer, got 'x'",
            ),
            ({"error": 0.0}, "error must be positive, got 0.0"),
            ({"n_components": "auto", "weights": "unbiased"}, "weights must be 'auto', 'calibrated' or 'projected'"),
            ({"dictionary": "words"}, "dictionary must be one of 'auto', 'waves', 'landmarks', got 'words'"),
            ({"oversampling": 1.5, "weights": "projected"}, "oversampling must be an integer"),
            (
                {"sampler": "rejection", "measure": MeasureRecipe("least_mass", tol=0.1)},
                "needs a measure with a density",
            ),
        ],
        ids=str,
    )
    def test_parameters(self, parameters, message):
        with pytest.raises((TypeError, ValueError), match=message):
            features(**parameters).fit(SPACE)

    @pytest.mark.parametrize("kernel", ["euclidean", lambda z: z, NTK, 3])
    def test_not_a_kernel(self, kernel):
        with pytest.raises(TypeError, match=r"kernel must be (a kernel|an instance)"):
            features(kernel=kernel).fit(SPACE)

    @pytest.mark.parametrize(
        ("function", "error", "message"),
        [
            (lambda z: np.log(z), ValueError, "NaN or infinity, first at z = 0"),
            (lambda z: 1.0, ValueError, "one value per distance"),
            (lambda z: z + 1j, TypeError, "complex"),
            (lambda z: np.full(z.shape, "a"), TypeError, "not numbers"),
        ],
    )
    def test_radial_that_returns_garbage(self, function, error, message):
        with np.errstate(all="ignore"), pytest.raises(error, match=message):
            features(kernel=Radial(function)).fit(SPACE)

    def test_zero_kernel(self):
        f = features(kernel=0.0 * Gaussian(1.0)).fit(SPACE)
        np.testing.assert_allclose(f.approximate(SPACE), 0.0, atol=1e-9)

    def test_huge_rows_are_refused_in_words(self):
        with pytest.raises(ValueError, match=r"radius|too (large|far)"):
            features().fit(SPACE * 1e200)

    def test_pipeline_on_rows_of_a_frame(self):
        frame = pd.DataFrame(SPACE, columns=list("abcdef"))
        Z = make_pipeline(StandardScaler(), features()).fit_transform(frame)
        assert Z.shape == (400, 64)


class TestExact:
    """A map approximates the kernel it was asked for: a polynomial that is its own head is had to rounding, at every width."""

    @pytest.mark.parametrize("sign", ["positive", "mixed"])
    @pytest.mark.parametrize("recipe", ["auto", MeasureRecipe(head_degree=2)], ids=["auto", "degree 2"])
    @pytest.mark.parametrize("width", [28, 29, 64, 140, 512])
    def test_at_every_width(self, width, recipe, sign):
        X = np.random.default_rng(0).standard_normal((500, DIM))
        X = np.abs(X) if sign == "positive" else X
        for weights in ("calibrated", "projected"):
            f = automatic(kernel=SphericalPolynomial(2, 2), n_components=width, measure=recipe, weights=weights)
            Z = f.fit_transform(X[:400])
            assert relative(f.approximate(X[400:]), f.kernel_(X[400:])) <= 1e-9
            assert f.error_estimate_ <= 1e-9
            assert f.measure_.head.degree == 2
            assert f.rank_ == 28  # 1 + 6 + 21: constant, coordinates, products
            np.testing.assert_array_equal(Z[:, 28:], 0.0)
            assert (np.abs(Z[:, :28]).max(axis=0) > 0).all()
            names = f.get_feature_names_out()
            assert list(names[28:]) == [f"zero{i}+" for i in range(width - 28)]
            assert not any(name.startswith("zero") for name in names[:28])

    @pytest.mark.parametrize("width", [28, 64, 140, 512])
    def test_unbiased(self, width):
        """The search for a measure is exact to the rounding of its solver."""
        f = automatic(kernel=SphericalPolynomial(2, 2), n_components=width, weights="unbiased").fit(POSITIVE)
        assert relative(f.approximate(POSITIVE), f.kernel_(POSITIVE)) <= 1e-9

    def test_float32(self):
        f = automatic(kernel=SphericalPolynomial(2, 2), n_components=140).fit(POSITIVE.astype(np.float32))
        assert relative(f.approximate(POSITIVE.astype(np.float32)), f.kernel_(POSITIVE)) < 1e-6

    def test_a_projection_needs_no_more_columns_than_the_rank(self):
        """On the sphere 1 = Σ x_i², so that 27 of the 28 columns are enough."""
        f = automatic(kernel=SphericalPolynomial(2, 2), n_components=40, weights="projected")
        narrow = clone(f).set_params(n_components=27).fit(SPHERE)
        assert relative(narrow.approximate(SPHERE), narrow.kernel_(SPHERE)) < 1e-9


class TestParametersOfParts:
    """Kernels, measures and samplers are frozen; the estimator replaces them."""

    def test_measure(self):
        f = SignedFourierFeatures().set_params(measure__head_degree=1, measure__tol=0.1)
        assert f.measure == MeasureRecipe(head_degree=1, tol=0.1)
        assert f.get_params()["measure__tol"] == 0.1
        before = f.measure
        f.set_params(measure__tol=0.2)
        assert before.tol == 0.1
        assert f.measure.tol == 0.2

    def test_the_object_and_its_parameters_together(self):
        f = SignedFourierFeatures().set_params(sampler__interval=5.0, sampler="rejection", sampler__allocation="equal")
        assert f.sampler == Rejection(interval=5.0, allocation="equal")
        assert SignedFourierFeatures().set_params(sampler__allocation="neyman").sampler == Orthogonal(
            allocation="neyman"
        )

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"measure__tolerance": 1.0}, r"^MeasureRecipe\(.* has no parameter 'tolerance'; its par"),
            ({"measure__tol": -1.0}, r"tol must be positive"),
            ({"metric__tol": 1.0}, r"Invalid parameter 'metric'"),
            ({"weights__tol": 1.0}, r"."),
        ],
    )
    def test_wrong_names_and_values(self, parameters, message):
        f = SignedFourierFeatures()
        with pytest.raises((ValueError, AttributeError), match=message):
            f.set_params(n_components=3, **parameters)

    def test_grid_search_reaches_the_measure(self):
        X, y = SPACE, (np.linalg.norm(SPACE, axis=1) > 1.8).astype(int)
        pipe = Pipeline([("map", SignedFourierFeatures(n_components=16, random_state=0)), ("learn", RidgeClassifier())])
        grid = {"map__measure__head_degree": [0, 1], "map__sampler__allocation": ["mass", "equal"]}
        search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(X, y)
        assert search.best_estimator_["map"].measure.head_degree in (0, 1)
        assert search.best_estimator_["map"].sampler.allocation in ("mass", "equal")

    def test_clone(self):
        f = features(measure=QUICK, sampler=Orthogonal(allocation="neyman"))
        copy = clone(f)
        assert copy.measure == QUICK
        assert copy.sampler == Orthogonal(allocation="neyman")


class TestLoaded:
    """`load_model` asks whether what it read fits together."""

    def test_whole(self):
        features().fit(SPACE)._check_loaded()
        features()._check_loaded()

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("signature_", np.ones(3), "64 output columns and 3 signs"),
            ("signature_", np.full(64, 2.0), r"\+1 and -1"),
            ("signature_", np.ones((64, 1)), r"\+1 and -1"),
            ("_n_features_out", 63, "63 output columns"),
            ("n_features_in_", 5, "rows of 6 columns, but the model 5"),
            ("map_", None, "needs its map_"),
            ("kernel_", "ntk", "kernel_"),
        ],
    )
    def test_parts_that_do_not_fit(self, name, value, message):
        f = features().fit(SPACE)
        setattr(f, name, value)
        with pytest.raises(ValueError, match=message):
            f._check_loaded()

    def test_signs_of_another_map(self):
        f = features().fit(SPACE)
        f.signature_ = -f.signature_
        with pytest.raises(ValueError, match="not that of the map"):
            f._check_loaded()


@pytest.mark.parametrize("seed", range(3))
def test_projections_reach_as_far_as_the_data(seed):
    """In one dimension a single row beyond those that a projection was fitted to could make it useless."""
    X = np.random.default_rng(0).normal(size=(300, 1))
    f = SignedFourierFeatures(kernel=Laplacian(1.0), n_components=6, weights="projected", random_state=seed).fit(X)
    exact = Laplacian(1.0)(X)
    assert np.linalg.norm(f.approximate(X) - exact) < 0.3 * np.linalg.norm(exact)
