"""The choice of a kernel from the data."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from krein.kernels import Cauchy, DeltaGaussian, Gaussian, Laplacian, ThinPlate
from krein.learning.leave_one_out import path_errors_at
from krein.learning.tuning import rounds
from krein.learning.tuning.choice import choose
from krein.rows.equal import merge_rows


def wave(frequency, n=200, d=1, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, d))
    return X, np.sin(frequency * X[:, :1]) + noise * rng.normal(size=(n, 1))


def test_a_fast_wave_wants_a_short_scale_and_a_slow_one_a_long_scale():
    slow = choose(merge_rows(*wave(2.0)), kernels=[Gaussian()])
    fast = choose(merge_rows(*wave(40.0)), kernels=[Gaussian()])
    assert fast.kernel.scale <= 0.25 * slow.kernel.scale
    assert max(slow.trials[0].error, fast.trials[0].error) < 0.1


def test_a_choice_is_printed_as_kernel_strength_and_table():
    found = choose(merge_rows(*wave(2.0)), kernels=[Gaussian()])
    first, *table = repr(found).splitlines()
    assert first == f"{found.kernel!r}, λ = {found.lam:.1e}"
    assert "\n".join(table) == repr(found.trials)


def test_units_of_columns_and_targets_do_not_matter():
    X, Y = wave(5.0, d=3)
    one = choose(merge_rows(X, Y))
    other = choose(merge_rows(X * [1e-3, 1.0, 1e4] + 7.0, 1e6 * Y + 3.0))
    assert one.trials[0].family == other.trials[0].family
    assert one.trials[0].factor == other.trials[0].factor
    assert other.lam == pytest.approx(one.lam, rel=1e-6)


def test_the_order_of_rows_does_not_matter_and_weights_are_copies(monkeypatch):
    monkeypatch.setattr(rounds, "_FIRST_ROWS", 40)
    X, Y = wave(5.0, n=80, d=2)
    copies = np.random.default_rng(1).integers(0, 3, 80)
    shuffled = np.random.default_rng(2).permutation(int(copies.sum()))
    one = choose(merge_rows(X, Y, copies.astype(float)))
    other = choose(merge_rows(np.repeat(X, copies, axis=0)[shuffled], np.repeat(Y, copies, axis=0)[shuffled]))
    assert repr(one.trials) == repr(other.trials)
    assert one.lam == pytest.approx(other.lam, rel=1e-9)


def test_more_rows_are_asked_of_fewer_candidates(monkeypatch):
    monkeypatch.setattr(rounds, "_FIRST_ROWS", 30)
    monkeypatch.setattr(rounds, "_SECOND_ROWS", 60)
    X, Y = wave(5.0, n=250, d=2)
    found = choose(merge_rows(X, Y), most_rows=200)
    counts = Counter(trial.n_rows for trial in found.trials)
    assert list(counts) == [138, 60, 30]  # the largest first; three factors of 138 rows cost as much as one of 200
    assert counts[30] > counts[60] > counts[138] >= 1
    assert [trial.chosen for trial in found.trials].count(True) == 1
    assert found.trials[0].chosen
    assert found.lam == pytest.approx(found.trials[0].lam * (138 / 250) ** 1.5)  # more rows want less
    assert {trial.n_rows for trial in choose(merge_rows(X, Y), most_rows=70).trials} == {30, 70}


def test_the_short_list_has_two_of_a_family_at_most(monkeypatch):
    monkeypatch.setattr(rounds, "_FIRST_ROWS", 30)
    found = choose(merge_rows(*wave(5.0, n=60)), kernels=[Gaussian(), Laplacian(), Cauchy()])
    families = Counter(trial.family for trial in found.trials if trial.n_rows == 60)
    assert families == {"Gaussian": 2, "Laplacian": 2, "Cauchy": 2}


def test_the_last_word_has_the_largest_sample(monkeypatch):
    monkeypatch.setattr(rounds, "_FIRST_ROWS", 30)
    monkeypatch.setattr(rounds, "_SECOND_ROWS", 60)
    rows = merge_rows(*wave(30.0, n=250))
    found = choose(rows, kernels=[Gaussian(), Laplacian()])
    placed = found.placement(rows.X)
    last = rows.head(found.trials[0].n_rows)
    K, lam = found.kernel(placed[: len(last)]), found.trials[0].lam
    again = path_errors_at(K, last, np.array([lam]))
    # Squared distances are rounded by their largest; entries of K off by e change it by n e, beside n λ
    rounding = np.finfo(float).eps * (2.0 * np.abs(placed).max() / found.kernel.scale) ** 2 / lam
    assert rounding < 1e-2
    assert found.trials[0].error == pytest.approx(float(again.errors[0]), rel=rounding)


def test_indefinite_kernels_go_no_further_than_their_spectra(monkeypatch):
    monkeypatch.setattr(rounds, "_FIRST_ROWS", 30)
    monkeypatch.setattr(rounds, "_SECOND_ROWS", 60)
    rows = merge_rows(*wave(5.0, n=120))
    mixed = choose(rows, kernels=[ThinPlate(), Gaussian()])
    assert not mixed.indefinite
    alone = choose(rows, kernels=[ThinPlate()])
    assert alone.indefinite
    assert {trial.criterion for trial in alone.trials if trial.n_rows > 60} == {"folds"}


def test_sparse_rows_and_single_precision_choose_the_same():
    X, Y = wave(5.0, n=60, d=2)
    dense = choose(merge_rows(X, Y), scaling="none")
    sparse = choose(merge_rows(sp.csr_array(X), Y))
    assert sparse.trials[0].error == pytest.approx(dense.trials[0].error, rel=0.2)  # the same rows in another order
    single = choose(merge_rows(X.astype(np.float32), Y), scaling="none")
    assert single.trials[0].family == dense.trials[0].family


def test_given_values_of_lam_are_kept():
    X, Y = wave(5.0, n=60)
    assert choose(merge_rows(X, Y), lams=np.array([0.25])).lam == 0.25
    given = np.geomspace(1e-9, 1.0, 20)
    assert choose(merge_rows(X, Y), lams=given).lam in given


def test_kernels_without_a_scale_are_taken_as_they_are():
    found = choose(merge_rows(*wave(3.0, n=60)), kernels=[ThinPlate()])
    assert found.kernel == ThinPlate()
    assert found.indefinite
    assert found.trials[0].criterion == "folds"


def test_near_equals_go_to_the_first_of_the_portfolio():
    rows = merge_rows(*wave(3.0, n=60))
    found = choose(rows, kernels=[Gaussian(), Gaussian(3.0)])
    assert found.trials[0].error == pytest.approx(found.trials[1].error)
    assert choose(rows, kernels=[Laplacian(), Cauchy()]).trials[0].family in {"Laplacian", "Cauchy"}


def test_targets_without_variance_are_no_error():
    X, _ = wave(3.0, n=20)
    found = choose(merge_rows(X, np.ones((20, 1))))
    assert np.isfinite(found.lam)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_rows_is_no_error(n):
    X, Y = wave(3.0, n=n, d=2)
    assert choose(merge_rows(X, Y)).lam > 0.0


def test_the_table_reads_well():
    found = choose(merge_rows(*wave(3.0, n=50)), kernels=[Gaussian(), DeltaGaussian()])
    text = repr(found.trials)
    assert "kernel" in text.splitlines()[0]
    assert text.count("*") == 1
    shown = found.trials._repr_html_()
    assert shown.count("<tr>") == min(len(found.trials), 12) + 1
    assert shown.count("krein-best") == len(found.trials.titles) + 1  # and the rule that makes them bold


def test_nothing_to_choose_from_is_an_error():
    with pytest.raises(ValueError, match="kernels is empty"):
        choose(merge_rows(*wave(3.0, n=10)), kernels=[])
