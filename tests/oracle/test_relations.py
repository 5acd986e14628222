"""Relations that every learner and map keeps, and those that one does not keep yet: strict, so that a mended one is seen here."""

import numpy as np
import pytest
from sklearn.base import is_regressor

import krein
from fuzz.oracle import RELATIONS, Opinion, judge
from fuzz.subjects import estimators
from fuzz.tables import draw_sample
from fuzz.trial import Case
from krein.kernels import DeltaGaussian

FOURIER = krein.SignedFourierFeatures(DeltaGaussian(1.0, 4.0), 64, random_state=0)
NYSTROEM = krein.KreinNystroem(DeltaGaussian(1.0, 4.0), 16, random_state=0)
CASES = {
    "ridge": ("KreinRidge", {}),
    "ridge, features": ("KreinRidge", {"solver": "features"}),
    "ridge, local": ("KreinRidge", {"solver": "local"}),
    "ridge, Fourier": ("KreinRidge", {"features": FOURIER}),
    "ridge, Nyström": ("KreinRidge", {"features": NYSTROEM}),
    "classifier": ("KreinRidgeClassifier", {}),
    "machine": ("KreinSVC", {}),
    "machine, Fourier": ("KreinSVC", {"features": FOURIER}),
    "logistic": ("KreinLogistic", {}),
    "logistic, Nyström": ("KreinLogistic", {"features": NYSTROEM}),
    "components": ("KreinPCA", {"n_components": 4}),
    "chosen features": ("TunedFeatures", {}),
    "exact ridge": ("ExactKreinRidge", {}),
    "exact ridge, two strengths": ("ExactKreinRidge", {"regularizer": "two"}),
    "exact machine": ("ExactKreinSVC", {}),
    "Fourier": ("SignedFourierFeatures", {}),
    "Nyström": ("KreinNystroem", {"n_components": 16}),
}
SAMPLE = 1  # 60 x 3
OTHER = {
    ("ridge", "order of columns"): 13,
    ("classifier", "order of columns"): 13,
}  # 250 x 9: more than a first round has
KNOWN: dict[tuple[str, str], str] = {}  # what is not kept yet, and why


def case_of(name: str, sample: int) -> Case:
    cls, arguments = CASES[name]
    numbers = is_regressor(estimators()[cls]())
    return Case(cls, arguments, draw_sample(np.random.default_rng(sample), numbers=numbers), sample)


def pairs():
    for name in CASES:
        for relation in RELATIONS:
            case = case_of(name, OTHER.get((name, relation.name), SAMPLE))
            if relation.applies(case):
                reason = KNOWN.get((name, relation.name))
                marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
                yield pytest.param(case, relation, marks=marks, id=f"{name}: {relation.name}")


@pytest.mark.parametrize(("case", "relation"), list(pairs()))
def test_two_ways_to_the_same_numbers(case, relation):
    verdict = judge(case, relation)
    assert verdict.kind != "failure", verdict.text


def test_a_wrong_learner_is_found(monkeypatch):
    """One that shrinks what it predicts when there are weights: a thousandth is seen, and told as small as it can be."""

    class Shrinking(krein.ExactKreinRidge):
        def fit(self, X, y, sample_weight=None):
            self.shrink_ = 1.0 if sample_weight is None else 1.001
            return super().fit(X, y, sample_weight)

        def predict(self, X):
            return super().predict(X) / self.shrink_

    monkeypatch.setattr("fuzz.oracle.estimators", lambda: {"ExactKreinRidge": Shrinking})
    verdict = Opinion(3, "ExactKreinRidge", "weights are copies").run()
    assert verdict.kind == "failure"
    assert "weights are copies: not the same, by" in verdict.text
    assert "ExactKreinRidge(" in verdict.snippet
