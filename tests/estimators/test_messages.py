"""What learners, maps and functions say to the mistakes that people make: where it is, and what to do."""

import numpy as np
import pytest

import krein
from krein import (
    DistanceKernel,
    ExactKreinRidge,
    ExactKreinSVC,
    KreinLogistic,
    KreinNystroem,
    KreinPCA,
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    SignedFourierFeatures,
    TunedFeatures,
)
from krein.kernels import Gaussian

pd = pytest.importorskip("pandas")

N = 12
X = np.random.default_rng(0).normal(size=(N, 2))
NUMBERS = X[:, 0]
LABELS = np.arange(N) % 2
FRAME = pd.DataFrame(X, columns=["a", "b"])
D = np.abs(NUMBERS[:, None] - NUMBERS)
DATES = pd.date_range("2020-01-01", periods=N)

LEARNERS = {
    KreinRidge: NUMBERS,
    ExactKreinRidge: NUMBERS,
    KreinRidgeClassifier: LABELS,
    KreinSVC: LABELS,
    KreinLogistic: LABELS,
    ExactKreinSVC: LABELS,
}
EVERYBODY = {**LEARNERS, KreinPCA: None, KreinNystroem: None, SignedFourierFeatures: None, TunedFeatures: None}

# rows that are not rows of numbers, and what is said of them
ROWS = {
    "a column of text": (FRAME.assign(city="Ulm"), r"column 'city' of dtype .*'Ulm'.*encode text"),
    "a column of categories": (
        FRAME.assign(c=pd.Categorical(["u"] * N)),
        r"column 'c' of dtype category.*'u'.*encode text",
    ),
    "a column of dates": (
        FRAME.assign(d=DATES),
        r"column 'd' of dtype datetime64.*turn dates into numbers, such as days",
    ),
    "a column of periods": (
        FRAME.assign(p=DATES.to_period("M")),
        r"column 'p' of dtype period.*turn dates into numbers",
    ),
    "a column of durations": (FRAME.assign(d=DATES - DATES[0]), r"column 'd' of dtype timedelta64.*turn dates"),
    "a missing cell": (FRAME.mask(FRAME.index.to_numpy()[:, None] == [[-1, 3]]), r"NaN.*row 3, column 'b'; impute"),
    "a missing number of pandas": (
        FRAME.assign(i=pd.array([1, None] * 6, dtype="Int64")),
        r"row 1, column 'i'; impute",
    ),
    "complex numbers": (X + 1j, r"Complex data not supported, got complex128; pass np.real"),
    "dates": (np.tile(DATES.to_numpy()[:, None], 2), r"got datetime64.*turn dates"),
    "durations": (np.tile((DATES - DATES[0]).to_numpy()[:, None], 2), r"got timedelta64.*turn dates"),
    "a mask": (np.ma.masked_array(X, mask=X.max() == X), r"hides 1 of its entries.*fill them, as X\.filled"),
    "an array of text": (np.full((N, 1), "ant"), r"row 0, column 0:.*'ant'.*kernel='levenshtein'"),
    "text": (["ant", "bee"] * 6, r"rows of numbers, got strings; name a distance.*'levenshtein'"),
    "sets": ([{"a"}, {"b"}] * 6, r"objects of type set; name a distance.*'jaccard' for sets"),
    "series of many lengths": (
        [np.ones(3 + i % 2) for i in range(N)],
        r"one length, got objects of type ndarray; .*'dtw' for series",
    ),
    "series of two channels": (
        np.ones((N, 2, 5)),
        r"shape \(12, 2, 5\); .* such as 'msm', or .*reshape\(len\(X\), -1\)",
    ),
    "a vector": (NUMBERS, r"shape \(12,\)\. Reshape your data: X\.reshape\(-1, 1\)"),
}


@pytest.mark.parametrize("given", ROWS)
@pytest.mark.parametrize("cls", EVERYBODY)
def test_rows_that_are_none(cls, given):
    rows, sentence = ROWS[given]
    if cls is KreinNystroem and given in ("sets", "series of many lengths"):
        pytest.skip("objects are what it is for: it asks for a kernel")
    with pytest.raises((TypeError, ValueError), match=sentence) as told:
        cls().fit(rows, *([] if EVERYBODY[cls] is None else [EVERYBODY[cls]]))
    assert len(str(told.value)) < 400


WEIGHTS = {
    "text": (["a"] * N, r"sample_weight must hold real numbers.*row 0.*'a'.*one number per row"),
    "complex": (np.ones(N) + 1j, r"sample_weight must hold real numbers: Complex.*np\.abs\(sample_weight\)"),
    "dates": (DATES.to_numpy(), r"sample_weight must hold real numbers, got datetime64"),
    "a mapping": ({"a": 1.0}, r"sample_weight\.shape == \(\), expected \(12,\): one weight per row"),
    "negative": (-np.ones(N), r"sample_weight must be finite and not negative, got -1\.0 in row 0"),
    "a mask": (np.ma.masked_array(np.ones(N), mask=LABELS == 1), r"sample_weight hides 6 of its entries"),
}


@pytest.mark.parametrize("given", WEIGHTS)
@pytest.mark.parametrize("cls", LEARNERS)
def test_weights_that_are_none(cls, given):
    weight, sentence = WEIGHTS[given]
    with pytest.raises((TypeError, ValueError), match=sentence):
        cls().fit(X, LEARNERS[cls], sample_weight=weight)


@pytest.mark.parametrize("cls", LEARNERS)
def test_one_weight_is_everybodys(cls):
    np.testing.assert_array_equal(
        cls().fit(X, LEARNERS[cls], sample_weight=2).predict(X),
        cls().fit(X, LEARNERS[cls], sample_weight=[2.0] * N).predict(X),
    )


TARGETS = {
    "text": (["ant", "bee"] * 6, r"y must hold real numbers.*'ant'.*for labels use a classifier"),
    "dates": (DATES, r"y must hold real numbers, got datetime64.*turn dates"),
    "a mask": (np.ma.masked_array(NUMBERS, mask=LABELS == 1), r"y hides 6 of its entries"),
}


@pytest.mark.parametrize("given", TARGETS)
@pytest.mark.parametrize("cls", [KreinRidge, ExactKreinRidge])
def test_targets_that_are_no_numbers(cls, given):
    y, sentence = TARGETS[given]
    with pytest.raises((TypeError, ValueError), match=sentence):
        cls().fit(X, y)


MISTAKES = {
    "a distance for waves": (
        lambda: SignedFourierFeatures("levenshtein").fit(X),
        r"or its name, got 'levenshtein'.*KreinNystroem takes distances",
    ),
    "a number among strings": (
        lambda: ExactKreinSVC("levenshtein").fit([*["ant", "bee"] * 5, "cat", 3], LABELS),
        r"got X with one of type int at place 11; pass a list of strings",
    ),
    "a missing string": (
        lambda: KreinRidgeClassifier("levenshtein").fit([None, *["ant"] * 11], LABELS),
        r"one of type NoneType at place 0; .*without those that are missing",
    ),
    "quantities for classes": (
        lambda: KreinRidgeClassifier().fit(X, NUMBERS),
        r"Unknown label type: continuous, such as .*with a regressor, KreinRidge",
    ),
    "a misspelled kernel": (lambda: SignedFourierFeatures("gausian").fit(X), r"'gausian'; did you mean 'gaussian'\?"),
    "scikit-learn's name": (lambda: ExactKreinSVC("rbf").fit(X, LABELS), r"'rbf'; did you mean 'gaussian'\?"),
    "a class": (lambda: SignedFourierFeatures(Gaussian).fit(X), r"the class Gaussian; write Gaussian\("),
    "rows to compare": (lambda: krein.compare(X, LABELS), r"square.*\(12, 2\); .*such as similarity='euclidean'"),
    "objects to diagnose": (lambda: krein.diagnose(["a", "b"]), r"square.*\(2,\); .*krein\.Similarity\(function\)"),
    "distances to compare": (lambda: krein.compare(D, LABELS), r"as distances have; pass distance=True"),
    "distances to learn": (lambda: ExactKreinSVC("precomputed").fit(D, LABELS), r"DistanceKernel\('precomputed'\)"),
    "similarities as distances": (
        lambda: ExactKreinSVC(DistanceKernel("precomputed")).fit(np.exp(-D), LABELS),
        r"if these are similarities, pass kernel='precomputed'",
    ),
    **{
        f"saving {make().__class__.__name__} unfitted": (lambda make=make: make().save("model"), "call fit, then save")
        for make in (KreinRidge, ExactKreinSVC, KreinNystroem)
    },
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_with_what_to_do(mistake):
    attempt, sentence = MISTAKES[mistake]
    with pytest.raises((TypeError, ValueError), match=sentence):
        attempt()


def test_waves_of_a_kernel_by_name():
    named = SignedFourierFeatures("gaussian(2)", 8, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(named, SignedFourierFeatures(Gaussian(2.0), 8, random_state=0).fit_transform(X))
