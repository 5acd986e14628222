"""Matrices and labels from files."""

from __future__ import annotations

import numpy as np
import pytest

from krein._core.errors import TableError
from krein.files.matrices import read_labels, read_matrix

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


def test_refusals(tmp_path):
    np.savez(tmp_path / "two.npz", K=K, L=K)
    np.save(tmp_path / "pickle.npy", np.array([{}, {}], dtype=object))
    np.save(tmp_path / "long.npy", np.ones((2, 3)))
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 nothing")
    (tmp_path / "words.csv").write_text("a,b\nc,d\n")
    for name, message in (
        ("two.npz", r"but has 2 \(K, L\)"),
        ("pickle.npy", "cannot read"),
        ("long.npy", "but has none"),
        ("broken.npz", "cannot read"),
        ("words.csv", "must hold real numbers"),
        ("none.npy", "No such file"),
        ("k.mat", "format of"),
    ):
        with pytest.raises(TableError, match=message):
            read_matrix(tmp_path / name)
    with pytest.raises(TableError, match="one label for each of 5 objects"):
        read_labels(tmp_path / "words.csv", 5)
