"""Weights of rows and of classes in all learners, and probabilities through scikit-learn's calibration."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV

from certificates import machine_gap, pair_machines
from krein.estimators.learners.exact import ExactKreinRidge, ExactKreinSVC
from krein.estimators.learners.logistic import KreinLogistic
from krein.estimators.learners.ridge import KreinRidgeClassifier
from krein.estimators.learners.svm import KreinSVC
from krein.estimators.maps.nystroem import KreinNystroem
from krein.kernels import DeltaGaussian, Gaussian
from standin_map import CosineMap

CLASSIFIERS = {
    "ridge": lambda **options: KreinRidgeClassifier(CosineMap(), lam=1e-3, **options),
    "svc": lambda **options: KreinSVC(CosineMap(), C=10.0, tol=1e-8, **options),
    "logistic": lambda **options: KreinLogistic(CosineMap(), lam=1e-4, tol=1e-8, **options),
    "exact svc": lambda **options: ExactKreinSVC(DeltaGaussian(0.7, 3.0), C=10.0, tol=1e-6, **options),
}
CHOSEN = {
    "ridge": lambda: KreinRidgeClassifier(random_state=0),
    "svc": lambda: KreinSVC(tol=1e-8, random_state=0),
    "logistic": lambda: KreinLogistic(random_state=0),
    "exact ridge": lambda: ExactKreinRidge(Gaussian(1.0)),
    "exact ridge, indefinite": lambda: ExactKreinRidge(DeltaGaussian(0.7, 3.0), regularizer="two"),
    "exact svc": lambda: ExactKreinSVC(DeltaGaussian(0.7, 3.0)),
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    y = np.digitize(np.hypot(*X.T) + 0.2 * rng.normal(size=160), [0.8, 2.0])
    return X, y, rng.integers(0, 4, 160).astype(float)


def values(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("name", [*CLASSIFIERS, "exact ridge"])
def test_whole_number_weights_are_copies(rows, name):
    X, y, weight = rows
    make = CLASSIFIERS.get(name, lambda: ExactKreinRidge(DeltaGaussian(0.7, 3.0), lam=1e-3))
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(160), weight.astype(int)))
    np.testing.assert_allclose(
        values(make().fit(X, y, weight), X), values(make().fit(X[copies], y[copies]), X), atol=1e-4
    )
    # and it matters
    assert np.abs(values(make().fit(X, y, weight), X) - values(make().fit(X, y), X)).max() > 1e-2


@pytest.mark.parametrize("name", CHOSEN)
def test_copies_choose_as_weights_do(rows, name):
    X, y, weight = rows
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(160), weight.astype(int)))
    one, other = CHOSEN[name]().fit(X, y, weight), CHOSEN[name]().fit(X[copies], y[copies])
    np.testing.assert_allclose(values(one, X), values(other, X), atol=1e-6)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 2: 0.5}])
def test_weights_of_classes_are_weights_of_rows(rows, name, class_weight):
    X, y, _ = rows
    counts = np.bincount(y)
    factors = 160 / (3 * counts) if class_weight == "balanced" else np.array([2.0, 1.0, 0.5])
    one = CLASSIFIERS[name](class_weight=class_weight).fit(X, y)
    if name == "exact svc":  # weights of rows count in the spectrum of an indefinite kernel, prices of errors do not
        other = CLASSIFIERS[name](class_weight={i: float(f) for i, f in enumerate(factors)}).fit(X, y)
    else:
        other = CLASSIFIERS[name]().fit(X, y, factors[y])
    np.testing.assert_allclose(values(one, X), values(other, X), atol=1e-4)
    assert np.abs(values(one, X) - values(CLASSIFIERS[name]().fit(X, y), X)).max() > 1e-2


def test_exact_svc_on_a_positive_kernel_is_that_of_scikit_learn(rows):
    X, y, weight = rows
    kept = weight > 0  # a row of weight zero is not there
    model = ExactKreinSVC(Gaussian(1.0), C=3.0, tol=1e-7, class_weight="balanced").fit(X, y, weight)
    totals = np.bincount(y, weight)
    given = {i: float(f) for i, f in enumerate(weight.sum() / (3 * totals))}
    prices = 3.0 * weight * np.array([given[i] for i in range(3)])[y]
    assert kept[model.support_].all()
    K = Gaussian(1.0)(X)
    for rows_of_both, signs, alpha, intercept in pair_machines(model, y):
        price = prices[rows_of_both]
        gap = machine_gap(K[np.ix_(rows_of_both, rows_of_both)], signs, price, alpha[rows_of_both], intercept)
        assert -1e-9 < gap <= 2.0 * 1e-7 * price.sum()
    assert model.carry_.shape[0] == 160


def test_a_rare_class_is_found_more_often(rows):
    X = rows[0]
    rare = np.hypot(*(X - [1.2, 0.0]).T) < 0.35
    assert 0 < rare.sum() < 16
    for name, make in CLASSIFIERS.items():
        plain, even = (make(class_weight=w).fit(X, rare).predict(X) for w in (None, "balanced"))
        assert even[rare].mean() >= plain[rare].mean(), name
        assert even.sum() >= plain.sum(), name


def test_chunks_and_clusters_weigh_classes_too(rows, monkeypatch):
    X, y, weight = rows
    make = CLASSIFIERS["ridge"]
    chunks = [(X[a : a + 40], y[a : a + 40], weight[a : a + 40]) for a in range(0, 160, 40)]
    for class_weight in ("balanced", {0: 2.0, 2: 0.5}):
        here = make(class_weight=class_weight).fit(X, y, weight).decision_function(X)
        there = make(class_weight=class_weight).fit_chunks(chunks).decision_function(X)
        np.testing.assert_allclose(there, here, atol=1e-8)
        da = pytest.importorskip("dask.array")
        lazy = make(class_weight=class_weight).fit(da.from_array(X, chunks=(50, 2)), y, da.from_array(weight))
        np.testing.assert_allclose(lazy.decision_function(X), here, atol=1e-8)
    model = make(class_weight={0: 2.0, 2: 0.5})
    for part in chunks:
        model.partial_fit(*part[:2], classes=[0, 1, 2], sample_weight=part[2])
    np.testing.assert_allclose(model.decision_function(X), here, atol=1e-8)
    once = make(class_weight={0: 2.0, 2: 0.5}).fit_chunks(iter(chunks))
    np.testing.assert_allclose(once.decision_function(X), here, atol=1e-8)
    with pytest.raises(ValueError, match="all labels at once"):
        make(class_weight="balanced").partial_fit(X, y)
    balanced = make(class_weight="balanced")
    np.testing.assert_allclose(
        balanced.fit_chunks(iter(chunks)).decision_function(X),
        balanced.fit(X, y, weight).decision_function(X),
        atol=1e-8,
    )
    monkeypatch.setattr("krein.rows.look.FEATURE_ROWS", 50)  # of which an iterator keeps no more
    with pytest.raises(ValueError, match="all labels at once"):
        make(class_weight="balanced").fit_chunks(iter(chunks))


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("class_weight", ["even", {7: 1.0}, {0: -1.0}, 3])
def test_bad_weights_of_classes(rows, name, class_weight):
    with pytest.raises((TypeError, ValueError), match=r"^class_weight must"):
        CLASSIFIERS[name](class_weight=class_weight).fit(*rows[:2])


@pytest.mark.parametrize(
    "model",
    [
        ExactKreinSVC("precomputed", C=10.0),
        KreinSVC(KreinNystroem("precomputed", n_components=30, random_state=0), C=10.0),
        KreinRidgeClassifier(KreinNystroem("precomputed", n_components=30, random_state=0), lam=1e-3),
        KreinLogistic(KreinNystroem("precomputed", n_components=30, random_state=0), lam=1e-4),
    ],
    ids=lambda model: type(model).__name__,
)
def test_calibration_of_similarities(rows, model):
    """The tags say that rows are similarities, so folds cut both rows and columns."""
    X, y, weight = rows
    K = DeltaGaussian(0.7, 3.0)(X)
    calibrated = CalibratedClassifierCV(model, ensemble=False, cv=3).fit(K, y, sample_weight=weight + 1.0)
    chances = calibrated.predict_proba(K)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert (calibrated.predict(K) == y).mean() > 0.8


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_calibration_of_rows(rows, name):
    X, y, _ = rows
    calibrated = CalibratedClassifierCV(CLASSIFIERS[name](), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (160, 3)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_of_several_kinds_are_refused(name):
    y = np.array(["a", 0, "b", 1], dtype=object)
    with pytest.raises(ValueError, match="y must have labels of one kind, got int and str"):
        CLASSIFIERS[name]().fit(np.arange(8.0).reshape(4, 2), y)


def test_classes_without_weight_and_weights_without_classes():
    X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
    with pytest.raises(ValueError, match="weight"):
        CLASSIFIERS["ridge"](class_weight="balanced").fit(X, y, np.zeros(4))
    with pytest.raises(TypeError, match="class_weight must be 'balanced', a mapping"):
        CLASSIFIERS["ridge"](class_weight=0.5).partial_fit(X, y)
