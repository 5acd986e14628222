"""KreinRidge and KreinRidgeClassifier: exactness, streams, weights, labels, bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from krein.estimators.learners.exact import ExactKreinRidge
from krein.estimators.learners.ridge import KreinRidge, KreinRidgeClassifier
from krein.estimators.maps.fourier import SignedFourierFeatures
from krein.estimators.maps.nystroem import KreinNystroem
from krein.kernels import Cauchy, DeltaGaussian
from krein.learning import SingularSystemError
from krein.rows.sample import row_keys
from standin_map import CosineMap

REGULARIZERS = ["hilbert", "two", "krein"]


@parametrize_with_checks(
    [
        KreinRidge(),
        KreinRidgeClassifier(),
        KreinRidge(CosineMap(), regularizer="two"),
        KreinRidgeClassifier(CosineMap(), regularizer="krein", selection="gcv"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 3))
    y = np.cos(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=400)
    X.setflags(write=False)
    y.setflags(write=False)
    return X, y


@pytest.fixture(scope="module")
def labelled(rows):
    X, y = rows
    return X, np.array(["low", "middle", "top class"])[np.digitize(y, [0.2, 0.8])]


def dual_prediction(Z, Z_new, y, penalty, mu):
    A, y_mean = Z - Z.mean(axis=0), y.mean(axis=0)
    alpha = np.linalg.solve((A / penalty) @ A.T + mu * np.eye(len(A)), y - y_mean)
    return (Z_new - Z.mean(axis=0)) / penalty @ (A.T @ alpha) + y_mean


@pytest.mark.parametrize(("regularizer", "lam"), [("hilbert", 1e-4), ("two", (1e-4, 3e-3)), ("krein", 1e-4)])
def test_primal_equals_dual_on_the_same_features(rows, regularizer, lam):
    X, y = rows
    model = KreinRidge(CosineMap(), regularizer=regularizer, lam=lam).fit(X[:300], y[:300])
    Z, Z_new = model.features_(X[:300]), model.features_(X[300:])
    signature = model.features_.signature
    plus, minus = lam if regularizer == "two" else (lam, lam)
    penalty = signature if regularizer == "krein" else np.where(signature > 0, 1.0, minus / plus)
    expected = dual_prediction(Z, Z_new, y[:300], penalty, 300 * plus)
    np.testing.assert_allclose(model.predict(X[300:]), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("regularizer", "lam"), [("hilbert", 1e-3), ("two", (1e-3, 5e-3)), ("krein", 1e-3)])
def test_full_rank_exact_features_give_the_exact_reference(rows, regularizer, lam, intercept):
    X, y = rows
    X, X_new, y = X[:60], X[60:90], y[:60]
    kernel = DeltaGaussian(0.3, 1.5)
    exact = ExactKreinRidge(kernel, regularizer=regularizer, lam=lam, fit_intercept=intercept).fit(X, y)
    features = KreinNystroem(kernel=kernel, n_components=60, landmarks=X, eigenvalue_tol=1e-13)
    model = KreinRidge(features, regularizer=regularizer, lam=lam, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(model.predict(X_new), exact.predict(X_new), rtol=0, atol=1e-8)


@pytest.mark.parametrize("selection", ["loo", "validation", "gcv"])
@pytest.mark.parametrize("regularizer", REGULARIZERS)
def test_every_way_of_choosing_comes_near_the_best_on_new_rows(rows, selection, regularizer):
    X, y = rows
    model = KreinRidge(CosineMap(), selection=selection, regularizer=regularizer).fit(X[:250], y[:250])
    found = np.square(model.predict(X[250:]) - y[250:]).mean()
    errors = []
    for lam in model.lams_:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)
            one = KreinRidge(CosineMap(), regularizer=regularizer, lam=tuple(lam) if regularizer == "two" else lam)
            errors.append(np.square(one.fit(X[:250], y[:250]).predict(X[250:]) - y[250:]).mean())
    assert found < 1.3 * min(errors)
    assert model.scores_.shape == (len(model.lams_),)


def test_leave_one_out_of_the_estimator_is_brute_force(rows):
    X, y = rows
    X, y = X[:40], y[:40]
    lams = np.array([1e-4, 1e-2])
    model = KreinRidge(CosineMap(), lam=lams).fit(X, y)
    for lam, score in zip(lams, model.scores_, strict=True):
        left_out = [
            # μ = n λ is held fixed when a row is left out
            KreinRidge(CosineMap(), lam=lam * 40 / 39).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0]
            for i in range(40)
        ]
        assert score == pytest.approx(np.square(y - left_out).mean(), rel=1e-7)


def test_leave_one_out_on_a_sample_of_rows(rows):
    X, y = rows
    lams = np.geomspace(1e-6, 1.0, 7)
    model = KreinRidge(CosineMap(), loo_rows=100, lam=lams).fit(X, y)
    kept = np.flatnonzero(row_keys(np.arange(400)) <= np.sort(row_keys(np.arange(400)))[99])
    Z = model.features_(X)
    A, b = Z - Z.mean(axis=0), y - y.mean()
    for lam, score in zip(lams, model.scores_, strict=True):
        # the residuals of all 400 rows by the hat matrix, of which the score averages those of the 100 rows kept
        hat = A @ np.linalg.solve(A.T @ A + 400 * lam * np.eye(40), A.T) + 1 / 400
        residual = (y - y.mean() - (hat - 1 / 400) @ b) / (1.0 - np.diagonal(hat))
        assert score == pytest.approx(np.square(residual[kept]).mean(), rel=1e-8)
    # λ is the strongest whose score on those rows is the best but for a thousandth
    assert model.lam_ == lams[model.scores_ <= 1.001 * model.scores_.min()].max()


@pytest.mark.parametrize("selection", ["loo", "validation", "gcv"])
def test_streams_give_what_fit_gives(labelled, monkeypatch, selection):
    X, y = labelled
    weight = np.random.default_rng(3).integers(0, 3, 400).astype(float)
    whole = KreinRidgeClassifier(CosineMap(), selection=selection).fit(X, y, weight)
    parts = [(X[a : a + 70], y[a : a + 70], weight[a : a + 70]) for a in range(0, 400, 70)]
    listed = KreinRidgeClassifier(CosineMap(), selection=selection).fit_chunks(parts)
    once = KreinRidgeClassifier(CosineMap(), selection=selection).fit_chunks(iter(parts))
    grown = KreinRidgeClassifier(CosineMap(), selection=selection)
    for part in parts:
        grown.partial_fit(part[0], part[1], sample_weight=part[2])
    monkeypatch.setattr("krein.rows.blocks._BLOCK_BYTES", 1)
    small_blocks = KreinRidgeClassifier(CosineMap(), selection=selection).fit(X, y, weight)
    for model in (listed, once, grown, small_blocks):
        np.testing.assert_array_equal(model.classes_, whole.classes_)
        assert model.n_rows_ == 400
        assert model.lam_ == pytest.approx(whole.lam_, rel=1e-6)
        np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=0, atol=1e-6)


def test_a_class_may_turn_up_in_the_last_chunk(labelled):
    X, y = labelled
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    cut = np.flatnonzero(y != y[0])[0] + 5
    whole = KreinRidgeClassifier(CosineMap(), lam=1e-3).fit(X, y)
    chunks = KreinRidgeClassifier(CosineMap(), lam=1e-3).fit_chunks([(X[:cut], y[:cut]), (X[cut:], y[cut:])])
    np.testing.assert_array_equal(chunks.classes_, ["low", "middle", "top class"])
    np.testing.assert_allclose(chunks.decision_function(X), whole.decision_function(X), rtol=0, atol=1e-8)
    first = KreinRidgeClassifier(CosineMap(), lam=1e-3).partial_fit(
        X[:50], y[:50], classes=["low", "middle", "top class"]
    )
    assert first.coef_.shape == (3, 40)
    with pytest.raises(ValueError, match="'other'"):
        first.partial_fit(X[:2], ["low", "other"])


@pytest.mark.parametrize("intercept", [False, True])
def test_classifier_is_ridge_on_plus_and_minus_one(labelled, intercept):
    X, y = labelled
    classifier = KreinRidgeClassifier(CosineMap(), lam=1e-3, fit_intercept=intercept).fit(X, y)
    targets = np.where(y[:, None] == classifier.classes_, 1.0, -1.0)
    regression = KreinRidge(CosineMap(), lam=1e-3, fit_intercept=intercept).fit(X, targets)
    np.testing.assert_allclose(classifier.decision_function(X), regression.predict(X), rtol=0, atol=1e-9)
    two = KreinRidgeClassifier(CosineMap(), lam=1e-3, fit_intercept=intercept).fit(X, y == "low")
    np.testing.assert_allclose(two.decision_function(X), regression.predict(X)[:, 0], rtol=0, atol=1e-9)
    assert classifier.score(X, y) > 0.7


def test_weights_by_ratio(rows):
    X, y = rows
    weight = np.random.default_rng(5).uniform(0.1, 3.0, 400)
    one = KreinRidge(CosineMap()).fit(X, y, weight)
    other = KreinRidge(CosineMap()).fit(X, y, weight / weight.sum())
    assert other.lam_ == pytest.approx(one.lam_)
    np.testing.assert_allclose(other.predict(X), one.predict(X), rtol=0, atol=1e-7)


def test_memory_maps_integers_sparse_and_float32(rows, tmp_path):
    X, y = rows
    whole = KreinRidge(CosineMap(), lam=1e-3).fit(X, y)
    np.save(tmp_path / "X.npy", X)
    mapped = KreinRidge(CosineMap(), lam=1e-3).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    np.testing.assert_allclose(mapped.predict(X), whole.predict(X), atol=1e-9)
    csr = KreinRidge(CosineMap(), lam=1e-3).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(csr.predict(sparse.csr_array(X)), whole.predict(X), atol=1e-9)
    single = KreinRidge(CosineMap(), lam=1e-3).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.predict(X.astype(np.float32)), whole.predict(X), atol=1e-3)
    integers = (X * 10).astype(np.int16)
    np.testing.assert_allclose(
        KreinRidge(CosineMap(), lam=1e-3).fit(integers, y).predict(integers),
        KreinRidge(CosineMap(), lam=1e-3).fit(integers.astype(float), y).predict(integers),
        atol=1e-9,
    )


def test_precomputed_similarities_through_nystroem(rows):
    X, y = rows
    kernel = DeltaGaussian(0.3, 1.5)
    K, K_new = kernel(X[:80]), kernel(X[80:120], X[:80])
    features = KreinNystroem(kernel="precomputed", n_components=80, landmarks=np.arange(80), eigenvalue_tol=1e-13)
    model = KreinRidge(features, lam=1e-3).fit(K, y[:80])
    exact = ExactKreinRidge("precomputed", lam=1e-3).fit(K, y[:80])
    np.testing.assert_allclose(model.predict(K_new), exact.predict(K_new), rtol=0, atol=1e-8)


class TestBadInput:
    def test_labels_with_nan(self, rows):
        X, _ = rows
        y = np.repeat([0.0, 1.0], 200)
        y[17] = np.nan
        with pytest.raises(ValueError, match="NaN, first in row 17"):
            KreinRidgeClassifier(CosineMap()).fit(X, y)
        with pytest.raises(ValueError, match="first in row 17"):
            KreinRidge(CosineMap()).fit(X, y)
        labels = np.array(["a", "b"] * 200, dtype=object)
        labels[3] = None
        with pytest.raises(ValueError, match="NaN, first in row 3"):
            KreinRidgeClassifier(CosineMap()).fit(X, labels)

    def test_one_class(self, rows):
        X, _ = rows
        with pytest.raises(ValueError, match=r"at least 2 classes.*'a'"):
            KreinRidgeClassifier(CosineMap()).fit(X, ["a"] * 400)

    def test_weights(self, rows):
        X, y = rows
        with pytest.raises(ValueError, match="zero for all rows"):
            KreinRidge(CosineMap()).fit(X, y, np.zeros(400))
        with pytest.raises(ValueError, match=r"-1.0 in row 2"):
            KreinRidge(CosineMap()).fit(X, y, np.r_[1.0, 1.0, -1.0, np.ones(397)])

    @pytest.mark.parametrize("lam", [0.0, -1.0, np.nan, [1.0, 0.0], "big", ()])
    @pytest.mark.parametrize("regularizer", REGULARIZERS)
    def test_lambda(self, rows, lam, regularizer):
        with pytest.raises(ValueError, match="lam must be"):
            KreinRidge(CosineMap(), lam=lam, regularizer=regularizer).fit(*rows)

    @pytest.mark.parametrize("model", [KreinRidge, KreinRidgeClassifier])
    def test_features_that_are_no_map(self, model):
        with pytest.raises(
            TypeError, match="features must be a feature map with a signature or None, got 3 of type int"
        ):
            model(features=3).fit(np.eye(4), [0, 1, 0, 1])

    def test_names(self, rows):
        with pytest.raises(ValueError, match="regularizer must be one of 'hilbert', 'two', 'krein'"):
            KreinRidge(CosineMap(), regularizer="banach").fit(*rows)
        with pytest.raises(ValueError, match="'loo', 'validation', 'gcv'"):
            KreinRidge(CosineMap(), selection="luck").fit(*rows)
        with pytest.raises(TypeError, match="StandardScaler has no signature_"):
            KreinRidge(StandardScaler()).fit(*rows)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("features", 3),
            ("features", CosineMap),
            ("loo_rows", 2.5),
            ("loo_rows", 0),
            ("fit_intercept", "yes"),
            ("validation_fraction", 1.0),
            ("validation_fraction", None),
        ],
    )
    def test_errors_name_the_parameter(self, rows, name, value):
        with pytest.raises((TypeError, ValueError), match=f"^{name} must be"):
            KreinRidge(**{"features": CosineMap(), name: value}).fit(*rows)

    def test_singular_and_nearly_singular_krein_systems(self, rows):
        X, y = rows
        features = CosineMap().fit(X)
        Z = features.transform(X)
        Z = Z - Z.mean(axis=0)
        lowest = np.linalg.eigvalsh((Z * features.signature_) @ Z.T)[0]
        assert lowest < 0
        with pytest.raises(SingularSystemError, match=r"singular at lam=.*lam=.* avoids it"):
            KreinRidge(CosineMap(), regularizer="krein", lam=-lowest / 400).fit(X, y)
        with pytest.warns(LinAlgWarning, match=r"nearly singular at lam=.*lam=(.*) avoids it") as caught:
            KreinRidge(CosineMap(), regularizer="krein", lam=-lowest / 400 * (1 + 1e-5)).fit(X, y)
        better = float(str(caught[0].message).split("lam=")[2].split()[0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            KreinRidge(CosineMap(), regularizer="krein", lam=better).fit(X, y)

    def test_row_of_nan_is_named(self, rows):
        X, y = rows
        X = X.copy()
        X[321, 1] = np.nan
        with pytest.raises(ValueError, match="row 321"):
            KreinRidge(CosineMap()).fit(X, y)

    def test_no_chunks(self):
        with pytest.raises(ValueError, match="chunks is empty"):
            KreinRidge(CosineMap()).fit_chunks([])


def test_one_row_that_no_feature_tells_from_nothing():
    features = SignedFourierFeatures(Cauchy(1.0), 16, random_state=0)
    model = KreinRidge(features, regularizer="krein").fit([[2e31]], [-0.5])
    assert model.predict([[2e31]]) == pytest.approx(-0.5)
