"""Matrices and labels from files."""

from __future__ import annotations

import warnings
import zipfile

import numpy as np
import pytest

from krein._core.errors import TableError
from krein.files.matrices import read_labels, read_matrix
from krein.files.tables import open_table

K = np.array([[1.0, 0.5], [0.5, 1.0]])


def test_every_format(tmp_path):
    np.save(tmp_path / "k.npy", K)
    np.savez(tmp_path / "k.npz", K=K, y=np.array(["a", "b"]))
    np.savetxt(tmp_path / "k.csv", K, delimiter=",")
    np.savetxt(tmp_path / "k.txt", K)
    for name in ("k.npy", "k.npz", "k.csv", "k.txt"):
        np.testing.assert_array_equal(read_matrix(tmp_path / name), K)
    assert read_labels(tmp_path / "k.npz", 2).tolist() == ["a", "b"]
    (tmp_path / "y.txt").write_text("cat\ndog\n")
    assert read_labels(tmp_path / "y.txt", 2).tolist() == ["cat", "dog"]
    (tmp_path / "y.txt").write_text("cat dog\n")
    assert read_labels(tmp_path / "y.txt", 2).tolist() == ["cat", "dog"]


@pytest.mark.parametrize("names", [None, ["ann", "bob", "cy"], [10, 20, 30]])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_what_pandas_writes(tmp_path, names, header, index, ending):
    """Names of rows and columns are no part of the matrix, and a header is no label."""
    pandas = pytest.importorskip("pandas")
    values = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.125], [0.25, 0.125, 2.0]])
    sep = "," if ending == ".csv" else "\t"
    path = tmp_path / f"K{ending}"
    pandas.DataFrame(values, index=names, columns=names).to_csv(path, index=index, header=header, sep=sep)
    np.testing.assert_array_equal(read_matrix(path), values)
    for labels in (["x", "y", "x"], [0, 1, 0], ["a, b", "c", "a, b"]):
        for name in ("kind", None):
            series = pandas.Series(labels, index=names, name=name)
            series.to_csv(tmp_path / "y.csv", index=index, header=header)
            assert read_labels(tmp_path / "y.csv", 3).tolist() == labels


def test_parquet_and_what_r_writes(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame(K, columns=["a", "b"], index=["a", "b"]).to_parquet(tmp_path / "K.parquet")
    np.testing.assert_array_equal(read_matrix(tmp_path / "K.parquet"), K)
    pandas.DataFrame({"y": ["u", "v"]}).to_parquet(tmp_path / "y.parquet")
    assert read_labels(tmp_path / "y.parquet", 2).tolist() == ["u", "v"]
    (tmp_path / "K.txt").write_text('"a" "b"\n"a" 1 0.5\n"b" 0.5 1\n')
    np.testing.assert_array_equal(read_matrix(tmp_path / "K.txt"), K)


def test_two_members_of_one_name(tmp_path):
    """Which of them is meant nobody can say."""
    with zipfile.ZipFile(tmp_path / "k.npz", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for matrix in (K, 2 * K):
            with archive.open("K.npy", "w") as member:
                np.lib.format.write_array(member, matrix)
    with pytest.raises(TableError, match="two arrays of one name"):
        read_matrix(tmp_path / "k.npz")
    with pytest.raises(TableError, match="two arrays named 'K'"):
        open_table(tmp_path / "k.npz")


def test_refusals(tmp_path):
    np.savez(tmp_path / "two.npz", K=K, L=K)
    np.save(tmp_path / "pickle.npy", np.array([{}, {}], dtype=object))
    np.save(tmp_path / "long.npy", np.ones((2, 3)))
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 nothing")
    np.save(tmp_path / "complex.npy", K * 1j)
    (tmp_path / "words.csv").write_text("a,b\nc,d\n")
    (tmp_path / "empty.csv").write_text("\n")
    (tmp_path / "latin.csv").write_bytes(b"\xe9,1\n1,2\n")
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    for name, message in (
        ("two.npz", r"but has 2 \(K, L\)"),
        ("pickle.npy", "cannot read"),
        ("long.npy", "but has none"),
        ("broken.npz", "cannot read"),
        ("complex.npy", "must hold real numbers, got dtype complex128"),
        ("words.csv", "must hold real numbers"),
        ("empty.csv", "is empty"),
        ("latin.csv", "cannot read .*latin.csv: 'utf-8' codec"),
        ("ragged.csv", "but has none"),
        ("none.csv", "No such file"),
        ("none.npy", "No such file"),
        ("k.mat", "format of"),
    ):
        with pytest.raises(TableError, match=message):
            read_matrix(tmp_path / name)
    with pytest.raises(TableError, match="one label for each of 5 objects"):
        read_labels(tmp_path / "words.csv", 5)
