"""The transformer: scikit-learn's contract, pipelines, searches, files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import krein
from krein import SpectrumCorrection
from krein.matrices import CORRECTIONS

CHECKED = [SpectrumCorrection(method) for method in ("flip", "shift")]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def similarities(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return np.tanh(X @ X.T - 1.0), (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("method", CORRECTIONS)
def test_before_a_support_vector_machine(method):
    K, y = similarities()
    options = {"diagonal": 1.0} if method == "nearest" else {}
    model = make_pipeline(SpectrumCorrection(method, **options), SVC(kernel="precomputed"))
    assert cross_val_score(model, K, y, cv=4).mean() > 0.8


def test_search_over_methods():
    K, y = similarities()
    model = make_pipeline(SpectrumCorrection(), SVC(kernel="precomputed"))
    search = GridSearchCV(model, {"spectrumcorrection__method": list(CORRECTIONS[:4])}, cv=3).fit(K, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_attributes_names_and_types():
    K, _ = similarities(20)
    model = SpectrumCorrection("flip").fit(K)
    assert model.consistent_
    assert model.eigenvalues_.shape == (20,)
    assert not SpectrumCorrection("shift").fit(K).consistent_
    assert model.get_feature_names_out()[0] == "spectrumcorrection0"
    assert model.transform(K[:3].astype(np.float32)).dtype == np.float32
    assert SpectrumCorrection().fit_transform(K.astype(np.float32)).dtype == np.float32


def test_save_and_load(tmp_path):
    K, _ = similarities(25)
    for method in ("clip", "shift"):
        model = SpectrumCorrection(method).fit(K)
        model.save(tmp_path / "model.krein")
        again = krein.load_model(tmp_path / "model.krein")
        np.testing.assert_array_equal(again.transform(K[:4]), model.transform(K[:4]))
        assert again.get_params() == model.get_params()


def test_refusals():
    K, _ = similarities(12)
    with pytest.raises(ValueError, match="square matrix of similarities"):
        SpectrumCorrection().fit(K[:5])
    with pytest.raises(ValueError, match="must be symmetric"):
        SpectrumCorrection().fit(np.triu(K))
    with pytest.raises(ValueError, match="NaN"):
        SpectrumCorrection().fit(np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match="method must be one of"):
        SpectrumCorrection("mirror").fit(K)
