"""A target instead of a width: what is chosen, that it is kept, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

import krein
from helpers import frozen
from krein.features import FeatureRecipe, fit_map
from krein.features.width_search import WidthSearch, WidthTrial
from krein.kernels import NTK, DeltaGaussian, Kernel, Laplacian, SphericalPolynomial

DIM = 4
ROWS = frozen(np.random.default_rng(0).standard_normal((3000, DIM)) / 2)
NEW = frozen(np.random.default_rng(1).standard_normal((400, DIM)) / 2)
SMOOTH = DeltaGaussian(1.0, 4.0)


def searched(kernel: Kernel, error: float, seed: int = 0, rows: np.ndarray = ROWS, **options):
    recipe = FeatureRecipe(kernel, "auto", error=error, **options)
    return fit_map(recipe, np.asarray(rows), np.random.default_rng(seed))


def error_of(map_, kernel: Kernel) -> float:
    Z, K = map_(np.asarray(NEW)), kernel(NEW)
    return float(np.linalg.norm((Z * map_.signature) @ Z.T - K) / np.linalg.norm(K))


@pytest.mark.filterwarnings("ignore:.* rows lie farther")
@pytest.mark.parametrize("kernel", [SMOOTH, NTK()], ids=str)
@pytest.mark.parametrize("target", [0.1, 0.01])
def test_the_target_is_kept_on_new_rows(kernel, target):
    """500 rows choose: their error and that of 400 others differ by some ten percent."""
    map_ = searched(kernel, target)
    assert map_.search.met
    assert map_.search.target == target
    assert error_of(map_, kernel) <= 1.4 * target


@pytest.mark.filterwarnings("ignore:.* rows lie farther")
def test_smaller_targets_are_wider_and_not_wasteful():
    widths = [searched(SMOOTH, target).signature.size for target in (0.3, 0.03, 0.003)]
    assert widths == sorted(set(widths))
    values = np.sort(np.abs(np.linalg.eigvalsh(SMOOTH(ROWS[:800]))))[::-1]
    for target, width in zip((0.3, 0.03, 0.003), widths, strict=True):
        left = np.sqrt(np.maximum(1 - np.cumsum(values**2) / np.sum(values**2), 0.0))
        least = int(np.flatnonzero(left <= target)[0]) + 1  # that any map needs
        assert width <= 1.5 * least + 2


def test_the_trials_are_what_they_say():
    map_ = searched(NTK(), 0.004)
    search = map_.search
    chosen = search.trials[search.chosen]
    assert chosen.n_components == map_.signature.size == map_.rank
    sizes = [one.n_columns for one in search.trials if one.weights == "projected"]
    assert sizes == sorted(set(sizes))
    assert search.n_evaluations == sum(one.n_evaluations for one in search.trials) > 0
    table = str(search).splitlines()
    assert len(table) == len(search.trials) + 1
    assert [line.endswith("<-") for line in table[1:]].index(True) == search.chosen


def test_kinds_that_are_asked_for():
    for weights in ("calibrated", "projected"):
        map_ = searched(SMOOTH, 0.02, weights=weights)
        assert {one.weights for one in map_.search.trials} == {weights}
        assert map_.feature_map.plain == (weights == "calibrated")
        assert map_.search.met


def test_the_cheapest_kind_of_that_width():
    """The head of a polynomial is all of it, so that columns as they are will do."""
    kernel = SphericalPolynomial(2.0, 1)  # 1 + 4 columns
    assert searched(kernel, 1e-6).signature.size <= DIM + 1
    search = searched(SMOOTH, 0.02).search
    plain = [one for one in search.trials if one.weights == "calibrated"]
    projected = min(one.n_components for one in search.trials if one.error <= 0.02)
    assert all(one.n_components == projected for one in plain)


def test_out_of_reach():
    """The best that was found, and a warning that says how good it is."""
    rows = ROWS[:400]
    with pytest.warns(
        UserWarning, match=r"error=1e-07 is out of reach for Laplacian.* the best map found has \d+ columns"
    ) as caught:
        features = krein.SignedFourierFeatures(Laplacian(0.3), "auto", error=1e-7, random_state=0).fit(rows)
    assert caught[0].filename == __file__
    search = features.width_search_
    assert not search.met
    assert search.trials[search.chosen].error == min(one.error for one in search.trials)


def test_no_worse_than_a_width_that_is_given():
    """Sequences of four letters, most as far apart as any: sections are ahead at 32 columns, and far behind at 128 and more."""
    letters = np.random.default_rng(3).integers(0, 4, (900, 30))
    rows = (letters[:, :, None] == np.arange(3)).reshape(900, 90).astype(float)
    map_ = searched(NTK(), 0.005, rows=rows)
    given = fit_map(FeatureRecipe(NTK(), 256, weights="projected"), rows, np.random.default_rng(0))
    assert not map_.search.met
    assert map_.error_estimate <= 1.05 * given.error_estimate
    assert map_.search.trials[map_.search.chosen].n_components > 512


def test_too_few_rows_to_hold_any_out():
    with pytest.raises(
        ValueError, match="n_components='auto' needs at least 24 rows, some of them to hold out, got 20"
    ):
        searched(NTK(), 0.1, rows=ROWS[:20])
    assert searched(NTK(), 0.3, rows=ROWS[:24]).signature.size >= 1


def test_the_estimator_saves_what_it_found(tmp_path):
    features = krein.SignedFourierFeatures(SMOOTH, "auto", error=0.05, random_state=0).fit(ROWS[:500])
    assert features.n_components_ == features.signature_.size == features.transform(ROWS[:3]).shape[1]
    features.save(tmp_path / "map")
    loaded = krein.load_model(tmp_path / "map")
    assert loaded.width_search_ == features.width_search_
    np.testing.assert_array_equal(loaded.transform(ROWS[:9]), features.transform(ROWS[:9]))
    assert krein.SignedFourierFeatures(SMOOTH, 16, random_state=0).fit(ROWS[:500]).width_search_ is None


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: WidthTrial("magic", 5, 0, 5, 0.1), ValueError),
        (lambda: WidthTrial("projected", 0, 0, 5, 0.1), ValueError),
        (lambda: WidthTrial("projected", 5, -1, 5, 0.1), ValueError),
        (lambda: WidthTrial("projected", 5, 0, 5, float("nan")), ValueError),
        (lambda: WidthSearch(0.1, (), 0), ValueError),
        (lambda: WidthSearch(0.1, (WidthTrial("projected", 5, 0, 5, 0.1),), 1), ValueError),
        (lambda: WidthSearch(-0.1, (WidthTrial("projected", 5, 0, 5, 0.1),), 0), ValueError),
    ],
)
def test_records_are_checked(make, error):
    with pytest.raises(error):
        make()
