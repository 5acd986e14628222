"""The first parameter of learners: a kernel or its name, a function, a distance or its name, a matrix, or a feature map."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

import krein
from krein import (
    DistanceKernel,
    KreinLogistic,
    KreinNystroem,
    KreinPCA,
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    Similarity,
    TunedFeatures,
    load_model,
)
from krein.kernels import NTK, Gaussian

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)) * [1.0, 30.0, 0.1]
Y = np.where(np.hypot(X[:, 0], X[:, 1] / 30.0) < 1.1, "in", "out")
WORDS = ["".join(RNG.choice(list("ab" if i % 2 else "cd"), size=5 + i % 3)) for i in range(60)]
KINDS = np.array(["even", "odd"])[np.arange(60) % 2]
CLASSIFIERS = [KreinRidgeClassifier, KreinSVC, KreinLogistic]


def common(a, b):
    return len(set(a) & set(b)) / 4.0


@pytest.mark.parametrize("learner", CLASSIFIERS)
@pytest.mark.parametrize(("name", "kernel"), [("gaussian", Gaussian()), ("ntk", NTK())])
def test_a_kernel_is_tried_at_several_scales_on_scaled_columns(learner, name, kernel):
    """A name is the kernel, and both are what `TunedFeatures` makes of it; the widest column alone decides nothing."""
    by_name, given = learner(name, random_state=0).fit(X, Y), learner(kernel, random_state=0).fit(X, Y)
    tuned = learner(features=TunedFeatures(kernel, random_state=0), random_state=0).fit(X, Y)
    for other in (given, tuned):
        np.testing.assert_array_equal(by_name.decision_function(X), other.decision_function(X))
    assert by_name.solver_ == "exact"
    assert type(by_name.choice_.kernel) is type(kernel)
    assert by_name.choice_.placement.scale.shape == (3,)
    assert cross_val_score(learner(name, random_state=0), X, Y, cv=3).mean() > 0.8
    sizes = {trial.factor for trial in by_name.choice_.trials.trials}
    assert len(sizes) == (5 if name == "gaussian" else 1)


@pytest.mark.parametrize("learner", CLASSIFIERS)
@pytest.mark.parametrize("kernel", ["levenshtein", DistanceKernel("levenshtein"), common, Similarity(common)])
def test_objects_are_learned_from_by_what_compares_two_of_them(learner, kernel):
    model = learner(kernel, random_state=0).fit(WORDS, KINDS)
    assert model.solver_ == "features"
    assert model.score(WORDS, KINDS) > 0.9
    assert model.features_.signature.size == 60  # few objects: all are landmarks
    again = learner(features=KreinNystroem(kernel, 60, random_state=0)).fit(WORDS, KINDS)
    np.testing.assert_allclose(model.decision_function(WORDS), again.decision_function(WORDS), rtol=0, atol=1e-10)
    assert cross_val_score(clone(model), WORDS, KINDS, cv=3).mean() > 0.8


def test_many_objects_are_compared_with_some_of_them():
    numbers = list(np.random.default_rng(1).normal(size=1500))
    seen = []

    def near(a, b):
        seen.append(1)
        return float(np.exp(-abs(a - b)))

    model = KreinRidge(near, random_state=0).fit(numbers, np.sin(numbers))
    width = model.features_.signature.size
    assert width == 1024
    assert len(seen) <= (width + 1) * 1500
    assert model.score(numbers, np.sin(numbers)) > 0.99


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_a_matrix_of_similarities(learner):
    K = Gaussian(1.0)(X / [1.0, 30.0, 0.1])
    model = learner("precomputed", random_state=0).fit(K, Y)
    assert model.score(K, Y) > 0.9
    assert get_tags(model).input_tags.pairwise
    assert cross_val_score(learner("precomputed", random_state=0), K, Y, cv=3).mean() > 0.8
    half = model.fit(K[:60, :60], Y[:60])
    assert half.predict(K[60:, :60]).shape == (60,)


def test_components_of_objects():
    model = KreinPCA("levenshtein", 2, random_state=0).fit(WORDS)
    assert model.transform(WORDS).shape == (60, 2)
    np.testing.assert_array_equal(np.sign(model.eigenvalues_), model.signature_)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), "levenshtein"])
def test_a_model_of_a_given_kernel_is_saved_and_loaded(kernel, tmp_path):
    rows, labels = (X, Y) if isinstance(kernel, Gaussian) else (WORDS, KINDS)
    model = KreinRidgeClassifier(kernel, random_state=0).fit(rows, labels)
    model.save(tmp_path / "m")
    again = load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))


@pytest.mark.parametrize("learner", [*CLASSIFIERS, KreinRidge, KreinPCA])
def test_mistakes_are_told(learner):
    targets = X[:, 0] if learner is KreinRidge else Y
    for kernel, features, error, message in (
        (Gaussian(), KreinNystroem(), TypeError, "kernel and features were both given"),
        (Gaussian, None, TypeError, "got the class Gaussian; write"),
        ("rbf", None, ValueError, "did you mean 'gaussian'"),
        (3, None, TypeError, "kernel must be"),
        (None, 3, TypeError, "features must be"),
        (None, Gaussian(), TypeError, "features must be"),
    ):
        with pytest.raises(error, match=message):
            learner(kernel, features=features).fit(X, targets)


def test_a_map_may_be_given_by_position():
    first = KreinRidge(KreinNystroem(NTK(), 20, random_state=0)).fit(X, X[:, 0])
    second = KreinRidge(features=KreinNystroem(NTK(), 20, random_state=0)).fit(X, X[:, 0])
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    assert krein.KreinRidge().get_params()["kernel"] is None
