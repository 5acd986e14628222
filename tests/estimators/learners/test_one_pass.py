"""Each row is checked once and turned into features once; what fails leaves no trace; λ does not hang on the dtype."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from counting_map import CountingMap
from krein.estimators.learners.pca import KreinPCA
from krein.estimators.learners.ridge import KreinRidge, KreinRidgeClassifier
from krein.estimators.learners.svm import KreinSVC
from krein.estimators.maps.fourier import SignedFourierFeatures
from krein.estimators.maps.nystroem import KreinNystroem
from krein.estimators.maps.tuned import TunedFeatures
from krein.kernels import NTK, DeltaGaussian
from krein.learning import model as model_room
from krein.learning.kernel_model import KernelModel
from krein.learning.leaves.local import LocalModel
from krein.learning.limits import default_width
from krein.learning.ridge_sums import RidgeSums
from krein.learning.tuning.placement import Placement
from krein.rows import blocks, look, source
from standin_map import CosineMap


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 3))
    y = np.cos(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=3000)
    return X, y


LEARNERS = {
    "ridge": KreinRidge(CountingMap()),
    "validation": KreinRidge(CountingMap(), selection="validation"),
    "classifier": KreinRidgeClassifier(CountingMap()),
    "svc": KreinSVC(CountingMap()),
    "pca": KreinPCA(CountingMap()),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("limit", [50_000, 1000])
def test_every_row_is_transformed_once_and_checked_once(rows, name, limit, monkeypatch):
    X, y = rows
    checked = []
    whole = blocks.finite_rows

    def finite_rows(X, start):
        checked.append(np.arange(start, start + len(X)) if isinstance(start, int) else start)
        return whole(X, start)

    monkeypatch.setattr(source, "finite_rows", finite_rows)
    monkeypatch.setattr(look, "FEATURE_ROWS", limit)
    CountingMap.reset()
    clone(LEARNERS[name]).fit(X, y if name in ("ridge", "validation") else y > 0.5)
    assert CountingMap.rows == 3000
    assert all(CountingMap.told_finite)
    times = np.bincount(np.concatenate(checked), minlength=3000)
    if limit > 3000:
        assert (times == 1).all()
    else:  # a longer table is not read from end to end before the map is fitted: its sample is checked by itself
        assert times.min() == 1
        assert times.max() == 2
        assert np.count_nonzero(times == 2) == limit


def placements_of(model):
    """Where a model places rows: once, or for its global model and for its leaves."""
    if isinstance(model, LocalModel):
        return [model.local.placement, *placements_of(model.trend)]
    return [model.placement if isinstance(model, KernelModel) else model.features.placement]


@pytest.mark.parametrize("learner", [KreinRidge, KreinRidgeClassifier, KreinSVC], ids=lambda one: one.__name__)
@pytest.mark.parametrize("solver", ["exact", "local", "features"])
def test_with_nothing_set_a_row_is_checked_once_and_placed_once_in_the_model(rows, learner, solver, monkeypatch):
    """With the map and the placement that the data chose, none of them a stand-in; the fit counts the rows it keeps."""
    if (learner, solver) == (KreinSVC, "local"):
        pytest.skip("there is no such solver")
    X, y = rows[0][:900], rows[1][:900]
    y = y if learner is KreinRidge else y > 0.5
    checked, placed = [], {}

    def finite_rows(X, start):
        checked.append(X.shape[0])
        return whole(X, start)

    def place(self, X):
        placed.setdefault(id(self), []).append(X.shape[0])
        return placing(self, X)

    whole, placing = blocks.finite_rows, Placement.__call__
    for home in (source, model_room):
        monkeypatch.setattr(home, "finite_rows", finite_rows)
    monkeypatch.setattr(Placement, "__call__", place)
    model = learner(solver=solver, random_state=0).fit(X, y)
    assert sum(checked) == 900
    checked.clear()
    placed.clear()
    predict = model.predict if learner is KreinRidge else model.decision_function
    predict(X[:700])
    assert sum(checked) == 700
    # leaves that add nothing to the global model, or leave nothing of it, have no use for the other placement
    times = [sum(placed.get(id(one), [])) for one in placements_of(model.model_)]
    assert set(times) <= {0, 700}
    assert 700 <= sum(map(sum, placed.values())) == sum(times)


def test_rows_kept_for_leave_one_out_are_transformed_again_only_if_their_features_are_large(rows, monkeypatch):
    X, y = rows
    whole = KreinRidge(CountingMap()).fit(X, y)
    monkeypatch.setattr("krein.learning.ridge_sums._KEPT_BYTES", 8 * 40 * 2999)
    CountingMap.reset()
    again = KreinRidge(CountingMap()).fit(X, y)
    assert CountingMap.rows == 6000
    np.testing.assert_array_equal(again.coef_, whole.coef_)
    CountingMap.reset()
    KreinRidge(CountingMap(), loo_rows=500).fit(X, y)
    assert CountingMap.rows == 3000


def test_features_of_the_default_width_are_small_enough_to_be_kept():
    assert RidgeSums.features_fit(KreinRidge().loo_rows, default_width(10**9))
    assert KreinRidgeClassifier().loo_rows == KreinRidge().loo_rows


def test_a_stream_transforms_new_rows_only(rows):
    X, y = rows
    model = KreinRidge(CountingMap()).partial_fit(X[:1000], y[:1000])
    CountingMap.reset()
    model.partial_fit(X[1000:1200], y[1000:1200])
    assert CountingMap.rows == 200
    CountingMap.reset()
    KreinRidge(CountingMap()).fit_chunks([(X[:2000], y[:2000]), (X[2000:], y[2000:])])
    assert CountingMap.rows == 3000


def state_of(model):
    """Everything that predicting, counting and learning on depend on."""
    arrays = {name: np.copy(value) for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    arrays |= {
        "rows": model.n_rows_,
        "sums": model._fitted.sums.rows,
        "gram": model._fitted.sums.everything().centered().gram,
    }
    return arrays


@pytest.mark.parametrize("bad", ["row", "target", "weight", "label", "width"])
@pytest.mark.parametrize("selection", ["loo", "validation", "gcv"])
def test_a_call_to_partial_fit_that_fails_leaves_no_trace(rows, monkeypatch, selection, bad):
    X, y = rows
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 1)  # blocks of 256 rows
    labels = np.array(["low", "middle", "top"])[np.digitize(y, [0.2, 0.8])]
    learner = KreinRidgeClassifier(CosineMap(), selection=selection, lam=np.geomspace(1e-6, 1e-1, 11))
    never, model = clone(learner), clone(learner)
    for one in (never, model):
        one.partial_fit(X[:1000], labels[:1000])
    before, names = state_of(model), set(vars(model))
    X_bad, labels_bad, weight = X[1000:2000].copy(), labels[1000:2000].astype(object), np.ones(1000)
    labels_bad[:300] = "new"  # a class of blocks that were entered before the last one failed
    if bad == "row":
        X_bad[-1, 2] = np.nan
    elif bad == "target":
        labels_bad[-1] = None
    elif bad == "weight":
        weight[-1] = np.inf
    elif bad == "label":
        labels_bad = labels_bad[:-1]
    else:
        X_bad = X_bad[:, :2]
    with pytest.raises(ValueError):
        model.partial_fit(X_bad, labels_bad, sample_weight=weight)
    after = state_of(model)
    assert set(vars(model)) == names
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)
    for one in (never, model):
        one.partial_fit(X[2000:], labels[2000:])
    assert model.n_rows_ == never.n_rows_ == 2000
    np.testing.assert_array_equal(model.classes_, never.classes_)
    np.testing.assert_array_equal(model.coef_, never.coef_)
    np.testing.assert_array_equal(model.intercept_, never.intercept_)


def test_a_first_call_that_fails_leaves_no_trace_either(rows, monkeypatch):
    X, y = rows
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 1)
    model = KreinRidge(CosineMap())
    X_bad = np.ones((600, 2))
    X_bad[-1] = np.nan
    with pytest.raises(ValueError, match="row 599"):
        model.partial_fit(X_bad, y[:600])
    assert vars(model) == vars(KreinRidge(model.kernel))
    model.partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, KreinRidge(CosineMap()).partial_fit(X, y).coef_)


def test_a_map_that_refuses_a_late_row_leaves_no_trace(rows, monkeypatch):
    X, y = rows
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 1)
    model = KreinRidge(SignedFourierFeatures(kernel=NTK(), n_components=32, random_state=0), lam=1e-3)
    model.partial_fit(X[:600], y[:600])
    zero = X[600:1200].copy()
    zero[-1] = 0.0  # no direction, and the kernel lives on the sphere
    coef = model.coef_.copy()
    with pytest.raises(ValueError, match="zero"):
        model.partial_fit(zero, y[600:1200])
    assert model.n_rows_ == model._fitted.sums.rows == 600
    np.testing.assert_array_equal(model.coef_, coef)


def _fail(*args, **kwargs):
    raise MemoryError("no room")


@pytest.mark.parametrize(
    ("model", "last_step"),
    [
        (KreinRidgeClassifier(KreinNystroem(n_components=8)), "krein.learning.ridge.solve_ridge"),
        (KreinSVC(KreinNystroem(n_components=8)), "krein.learning.newton.learn.fit_features"),
        (KreinPCA(KreinNystroem(n_components=8)), "krein.estimators.learners.pca.principal_axes"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_a_model_that_cannot_be_fitted_again_stays_as_it_was(rows, model, last_step, monkeypatch):
    X, y = rows[0][:300], rows[1][:300] > 0
    predict = model.fit(X, y).transform if hasattr(model, "transform") else model.fit(X, y).decision_function
    before = predict(X)
    monkeypatch.setattr(last_step, _fail)
    with pytest.raises(MemoryError):
        model.fit(2.0 * X, y)
    np.testing.assert_array_equal(predict(X), before)


def test_partial_fit_after_a_fit_that_failed(rows):
    X, y = rows[0][:300], rows[1][:300]
    model = KreinRidgeClassifier(CosineMap())
    with pytest.raises(ValueError, match="at least 2 classes"):
        model.fit(X, np.zeros(300))
    assert model.partial_fit(X, y > 0).n_rows_ == 300


def test_a_choice_needs_what_was_set_aside_for_it(rows):
    X, y = rows[0][:300], rows[1][:300]
    for selection in ("loo", "validation"):
        model = KreinRidge(CosineMap(), selection="gcv").fit(X, y)
        lam = model.lam_
        with pytest.raises(ValueError, match=rf"selection='{selection}' needs rows.*fit a new model"):
            model.set_params(selection=selection).partial_fit(X, y)
        assert model.lam_ == lam


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_the_number_of_targets_cannot_change(rows, first, second):
    X = rows[0][:300]
    targets = [X[:, 0], X[:, :2]]
    message = f"y has {second} targets for each row, but earlier rows had {first}"
    with pytest.raises(ValueError, match=message):
        KreinRidge(CosineMap()).fit_chunks([(X, targets[first - 1]), (X, targets[second - 1])])
    model = KreinRidge(CosineMap()).partial_fit(X, targets[first - 1])
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, targets[second - 1])


@pytest.mark.parametrize("classify", [False, True])
def test_single_and_double_precision_choose_the_same_lambda(rows, classify):
    """Rounding keeps the order of the rows, so that both fit the same map; scores then differ by far less than the margin."""
    X, y = rows
    learner = KreinRidgeClassifier if classify else KreinRidge
    targets = y > 0.5 if classify else y
    features = SignedFourierFeatures(kernel=DeltaGaussian(0.5, 2.0), n_components=64, random_state=0)
    double = learner(features).fit(X, targets)
    single = learner(features).fit(X.astype(np.float32), targets)
    assert single.lam_ == pytest.approx(double.lam_, rel=1e-4)
    # float32 features have an error of 1e-6 of their size and λ is 1e-13 of it at least: predictions keep a few digits
    np.testing.assert_allclose(single.predict(X), double.predict(X), rtol=0, atol=0.01)


@pytest.mark.parametrize("learner", [KreinRidge(), KreinRidgeClassifier()])
def test_a_loaded_model_whose_parts_do_not_fit_is_refused(rows, learner):
    X, y = rows
    targets = np.digitize(y, [0.2, 0.8])
    model = clone(learner).set_params(features=CosineMap(), lam=1e-3).fit(X, targets)
    model._check_loaded()
    learner._check_loaded()
    for name, part in (
        ("coef_", replace(model.model_, coef=model.model_.coef[:, 1:])),
        ("coef_", replace(model.model_, coef=np.full_like(model.model_.coef, np.nan))),
        ("intercept_", replace(model.model_, intercept=np.zeros(7))),
    ):
        broken = clone(model).fit(X, targets)
        broken.model_ = part
        with pytest.raises(ValueError, match=name):
            broken._check_loaded()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scaling", ["minmax", "standard"])
def test_columns_are_scaled_by_all_rows_although_the_map_sees_a_sample(rows, scaling, weighted, monkeypatch):
    X, y = rows
    weight = np.random.default_rng(1).integers(0, 3, 3000).astype(float) if weighted else np.ones(3000)
    monkeypatch.setattr(look, "FEATURE_ROWS", 50)
    learner = KreinRidge(TunedFeatures(None, scaling=scaling, features=CosineMap()), lam=1e-3)
    chunks = [(X[a : a + 700], y[a : a + 700], weight[a : a + 700]) for a in range(0, 3000, 700)]
    present = X[weight > 0]
    mean = np.average(X, axis=0, weights=weight)
    low, width = {
        "minmax": (present.min(axis=0), np.ptp(present, axis=0)),
        "standard": (mean, np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))),
    }[scaling]
    for model in (clone(learner).fit(X, y, weight), clone(learner).fit_chunks(chunks)):
        np.testing.assert_allclose(model.features_.placement.shift, low, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(model.features_.placement.scale, 1.0 / width, rtol=1e-12)


def test_a_value_beyond_the_sample_but_within_the_data_is_not_clipped(rows, monkeypatch):
    X, y = rows
    monkeypatch.setattr(look, "FEATURE_ROWS", 50)
    X = X.copy()
    # the two rows of greatest value, which the 50 sampled rows do not reach
    X[17, 0], X[2500, 0] = 40.0, 50.0
    scaled = TunedFeatures(None, scaling="minmax", features=CosineMap())
    for model in (
        KreinRidge(scaled, lam=1e-6).fit(X, y),
        KreinRidge(scaled, lam=1e-6).fit_chunks([(X[:1500], y[:1500]), (X[1500:], y[1500:])]),
        KreinRidgeClassifier(scaled).fit(X, y > 0.5),
        KreinSVC(scaled).fit(X, y > 0.5),
        KreinPCA(scaled).fit(X),
    ):
        placement = model.features_.placement
        assert placement.shift[0] + 1.0 / placement.scale[0] == pytest.approx(50.0, rel=1e-12)
        near, far = model.features_(X[[17, 2500]])
        assert np.abs(near - far).max() > 1e-3
