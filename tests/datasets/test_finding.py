"""The four places a data set may come from, in their order, and what each does with a wrong file."""

import builtins
import bz2
import dataclasses
import errno
import functools
import gzip
import shutil
import warnings
from importlib import resources

import numpy as np
import pytest

from krein.datasets import DatasetError, cache_folder
from krein.datasets.catalog import CATALOG, content_digest
from krein.datasets.finding import find_arrays, read_npz, write_npz

pooch = pytest.importorskip("pooch")

LETTER = resources.files("krein.datasets") / "data" / "letter.npz"
TRAIN = b"-1 1:0.5 3:2\n+1 2:0.25\n"
MORE = b"+1 1:1\n"
TEST = b"+1 3:-0.125\n-1 1:1 2:2 3:3\n"


def arrays_of(train, test):
    labels = [int(line.split()[0]) for line in train.splitlines()], [int(line.split()[0]) for line in test.splitlines()]
    X = [np.zeros((len(y), 3), np.float32) for y in labels]
    for rows, text in zip(X, (train, test), strict=True):
        for i, line in enumerate(text.splitlines()):
            for field in line.split()[1:]:
                rows[i, int(field.split(b":")[0]) - 1] = float(field.split(b":")[1])
    y = [np.array(one, np.int8) for one in labels]
    return {"X_train": X[0], "y_train": y[0], "X_test": X[1], "y_test": y[1]}


def libsvm_entry(site, test=TEST):
    """A made-up data set of three small files, in the manner of ijcnn1."""
    return dataclasses.replace(
        CATALOG["ijcnn1"],
        name="tiny",
        urls=(site.url("tiny.tr.bz2"), site.url("tiny.val.gz"), site.url("tiny.t")),
        read=functools.partial(CATALOG["ijcnn1"].read.func, n_features=3),
        digest=content_digest(arrays_of(TRAIN + MORE, test)),
        file_sha256="0" * 64,
    )


@pytest.fixture
def served(site):
    site.files |= {"tiny.tr.bz2": bz2.compress(TRAIN), "tiny.val.gz": gzip.compress(MORE), "tiny.t": TEST}
    return site


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_download_is_read_checked_and_stored(served, cache):
    entry = libsvm_entry(served)
    arrays = find_arrays(entry)
    np.testing.assert_array_equal(arrays["X_train"], np.array([[0.5, 0, 2], [0, 0.25, 0], [1, 0, 0]], np.float32))
    np.testing.assert_array_equal(arrays["y_train"], [-1, 1, 1])
    np.testing.assert_array_equal(arrays["X_test"], np.array([[0, 0, -0.125], [1, 2, 3]], np.float32))
    assert names_in(cache) == ["tiny.npz"]
    assert content_digest(find_arrays(entry)) == entry.digest
    assert len(served.requests) == 3  # the second time it was in the cache


def test_letter_as_uci_has_it_gives_the_packaged_arrays(tmp_path):
    arrays = read_npz(LETTER)
    rows = np.column_stack([arrays["y"], arrays["X"]]).tolist()
    text = "".join(f"{chr(ord('A') + label)},{','.join(map(str, row))}\n" for label, *row in rows)
    (tmp_path / "letter-recognition.data").write_text(text)
    read = CATALOG["letter"].read([tmp_path / "letter-recognition.data"])
    assert content_digest(read) == CATALOG["letter"].digest


@pytest.mark.parametrize("fault", ["cut", "busy"])
def test_a_bad_line_is_tried_again(served, cache, fault):
    served.cuts["tiny.t"] = [9] if fault == "cut" else []
    served.statuses["tiny.t"] = [503, 503] if fault == "busy" else []
    entry = libsvm_entry(served)
    assert content_digest(find_arrays(entry)) == entry.digest
    assert served.requests.count("tiny.t") == (2 if fault == "cut" else 3)


def test_an_interruption_leaves_nothing(served, cache, monkeypatch):
    import requests

    def interrupted(self, *args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(requests.Response, "iter_content", interrupted)
    with pytest.raises(KeyboardInterrupt):
        find_arrays(libsvm_entry(served))
    assert names_in(cache) == []


def test_wrong_file(served, cache):
    served.files["tiny.t"] = b"<!doctype html>\n<p>Please log in to the network</p>"
    entry = libsvm_entry(served)
    with pytest.raises(DatasetError, match=r"(?s)something else: .*KREIN_DATA.*by hand"):
        find_arrays(entry)
    assert names_in(cache) == []
    served.files["tiny.t"] = TEST
    find_arrays(entry)


def test_file_with_other_numbers(served, cache):
    served.files["tiny.t"] = TEST.replace(b"2:2", b"2:2.5")
    entry = libsvm_entry(served)
    with pytest.raises(DatasetError, match=rf"3 \+ 2 rows with digest [0-9a-f]{{12}}, expected {entry.digest[:12]}"):
        find_arrays(entry)
    assert names_in(cache) == []


def test_damaged_compression(served, cache):
    served.files["tiny.tr.bz2"] = served.files["tiny.tr.bz2"][:-9]
    with pytest.raises(DatasetError, match="something else: Compressed file ended"):
        find_arrays(libsvm_entry(served))


def test_file_downloaded_by_hand_is_used(served, cache):
    cache.mkdir()
    (cache / "tiny.t").write_bytes(TEST)
    del served.files["tiny.t"]
    find_arrays(libsvm_entry(served))
    assert "tiny.t" not in served.requests
    assert names_in(cache) == ["tiny.npz", "tiny.t"]


def test_missing_at_the_source(site, cache):
    with pytest.raises(DatasetError, match=r"404.*set KREIN_DATA to a folder that has tiny\.npz, or download by hand"):
        find_arrays(libsvm_entry(site))


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "other"])
def test_corrupt_cache_is_reported_and_replaced(served, cache, damage):
    entry = libsvm_entry(served)
    find_arrays(entry)
    path = cache / "tiny.npz"
    whole = path.read_bytes()
    if damage == "other":
        write_npz(path, {"X": np.zeros(3)})
    else:
        path.write_bytes({"cut": whole[: len(whole) // 2], "empty": b"", "text": b"not an archive"}[damage])
    with pytest.warns(UserWarning, match=r"tiny\.npz .*; it is downloaded again") as caught:
        find_arrays(entry)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find_arrays(entry)
    assert len(served.requests) == 6


def test_cache_that_cannot_be_made(served, cache):
    cache.write_text("a file, where the folder should be")
    with pytest.raises(DatasetError, match=r"Not a directory.*KREIN_CACHE names another"):
        find_arrays(libsvm_entry(served))


def test_full_disk_while_storing(served, cache, monkeypatch):
    def full(file, **arrays):
        file.write(b"PK")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", full)
        with pytest.raises(DatasetError, match=r"No space left.*tiny\.npz.*KREIN_CACHE"):
            find_arrays(libsvm_entry(served))
    assert names_in(cache) == []


def test_user_folder_comes_first(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("KREIN_DATA", str(tmp_path))
    write_npz(tmp_path / "letter.npz", {"X": np.zeros((2, 16), np.uint8), "y": np.zeros(2, np.uint8)})
    expected = CATALOG["letter"].digest[:12]
    with pytest.raises(
        DatasetError, match=rf"letter\.npz does not hold .*: digest .*[0-9a-f]{{12}}, expected {expected}"
    ):
        find_arrays(CATALOG["letter"])


def test_user_folder_with_recompressed_file(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("KREIN_DATA", str(tmp_path))
    arrays = read_npz(LETTER)
    np.savez(tmp_path / "letter.npz", **arrays)
    np.testing.assert_array_equal(find_arrays(CATALOG["letter"])["X"], arrays["X"])


def test_user_folder_with_corrupt_file(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("KREIN_DATA", str(tmp_path))
    (tmp_path / "letter.npz").write_bytes(LETTER.read_bytes()[:5000])
    expected = CATALOG["letter"].file_sha256[:12]
    with pytest.raises(
        DatasetError, match=rf"letter\.npz is not a readable .*sha256 [0-9a-f]{{12}}, expected {expected}"
    ):
        find_arrays(CATALOG["letter"])


def test_user_folder_with_pickle_is_refused(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("KREIN_DATA", str(tmp_path))
    np.savez(tmp_path / "letter.npz", X=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DatasetError, match=r"not a readable \.npz archive of plain arrays"):
        find_arrays(CATALOG["letter"])


def test_user_folder_that_is_missing(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("KREIN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match=r"KREIN_DATA is set to .*nowhere, which is not a folder"):
        find_arrays(CATALOG["letter"])


def test_user_folder_without_the_file_is_passed_over(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("KREIN_DATA", str(tmp_path))
    assert len(find_arrays(CATALOG["letter"])["X"]) == 20_000


def test_cached_file_can_serve_as_user_file(served, cache, tmp_path, monkeypatch):
    entry = libsvm_entry(served)
    find_arrays(entry)
    (tmp_path / "mine").mkdir()
    shutil.copy(cache / "tiny.npz", tmp_path / "mine" / "tiny.npz")
    shutil.rmtree(cache)
    monkeypatch.setenv("KREIN_DATA", str(tmp_path / "mine"))
    assert content_digest(find_arrays(entry)) == entry.digest
    assert not cache.exists()


def test_without_pooch(served, cache, monkeypatch):
    importer = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "pooch":
            raise ImportError("No module named 'pooch'")
        return importer(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    assert len(find_arrays(CATALOG["letter"])["X"]) == 20_000
    with pytest.raises(ImportError, match=r"pip install 'krein\[data\]'"):
        find_arrays(libsvm_entry(served))


def test_cache_folder(cache, monkeypatch):
    assert cache_folder() == cache
    monkeypatch.delenv("KREIN_CACHE")
    assert cache_folder().name == "krein"
