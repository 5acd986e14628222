"""The catalog of data sets: where each comes from, how to read it, and how to check its contents."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

__all__ = ["CATALOG", "Arrays", "Entry", "content_digest", "find", "names"]

Arrays = dict[str, np.ndarray]

# Folders of the official files
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"


@dataclass(frozen=True)
class Entry:
    """One data set of the catalog.

    Its arrays are ``X, y`` if the source has no split into training and test rows, else
    ``X_train, y_train, X_test, y_test``.

    Parameters
    ----------
    name : str
    urls : tuple of str
        Official files, in the order in which ``read`` takes them.
    read : callable
        Paths of the official files to arrays.
    digest : str
        `content_digest` of the arrays.
    file_sha256 : str
        Of the ``.npz`` file that this project distributes: a quick test, without reading the arrays for the digest.
    split_sizes : tuple of int or None
        Training and test rows to draw, or None if the source has a split.
    description, source : str
        What the rows are, and whom to credit.
    positive : tuple of int, default=()
        Classes against all others in the binary version, where the literature has one besides the stored classes.
    binary : bool, default=False
        Whether the paper's task is the binary version.
    binary_rows : str, default=""
        Packaged file with the numbers of training and test rows of the binary version, if it has its own.
    """

    name: str
    urls: tuple[str, ...]
    read: Callable[[Sequence[Path]], Arrays]
    digest: str
    file_sha256: str
    split_sizes: tuple[int, int] | None
    description: str
    source: str
    positive: tuple[int, ...] = ()
    binary: bool = False
    binary_rows: str = ""


def _read_letter(files: Sequence[Path]) -> Arrays:
    row = np.dtype([("y", "S1"), ("X", np.uint8, (16,))])
    table = np.loadtxt(files[0], row, delimiter=",", ndmin=1, comments=None, encoding="ascii")
    letters = np.ascontiguousarray(table["y"]).view(np.uint8)
    return {"X": np.ascontiguousarray(table["X"]), "y": letters - np.uint8(ord("A"))}


def _read_covtype(files: Sequence[Path]) -> Arrays:
    table = np.loadtxt(files[0], np.int16, delimiter=",", ndmin=2, comments=None, encoding="ascii")
    return {"X": table[:, :-1], "y": table[:, -1].astype(np.uint8)}


def _read_libsvm(files: Sequence[Path], *, n_features: int) -> Arrays:
    """The last file has the test rows, those before it the training rows."""
    from sklearn.datasets import load_svmlight_file

    parts = [load_svmlight_file(str(file), n_features=n_features, dtype=np.float32, zero_based=False) for file in files]
    X, y = [X.toarray() for X, _ in parts], [y.astype(np.int8) for _, y in parts]
    return {"X_train": np.concatenate(X[:-1]), "y_train": np.concatenate(y[:-1]), "X_test": X[-1], "y_test": y[-1]}


_ENTRIES = (
    Entry(
        name="letter",
        urls=(f"{_UCI}/letter-recognition/letter-recognition.data",),
        read=_read_letter,
        digest="2d44c24fa05178d47630270558845f68e20ad67c6d22bbecb67d51435e4e5de1",
        file_sha256="5a45dd55978866b3333c95bb6af21c81727f838a9a21ca057649277e992e41b1",
        split_sizes=(12_000, 6_000),
        positive=tuple(range(13)),
        binary_rows="letter_binary.npz",
        description=(
            "Letter recognition: 20,000 distorted images of the 26 capital letters, each as 16 integers from 0 to 15; "
            "y is 0 for A to 25 for Z. The paper gives 12,000 training and 6,000 test rows and no number of classes: with 26 "
            "classes they are drawn at random; in the binary version, A to M (+1) against N to Z (-1), they are those of the "
            "public code of one of its authors. 1,332 rows repeat another row and its label."
        ),
        source="UCI Machine Learning Repository, Letter Recognition (D. J. Slate, 1991), CC BY 4.0",
    ),
    Entry(
        name="ijcnn1",
        urls=(f"{_LIBSVM}/ijcnn1.tr.bz2", f"{_LIBSVM}/ijcnn1.val.bz2", f"{_LIBSVM}/ijcnn1.t.bz2"),
        read=partial(_read_libsvm, n_features=22),
        digest="f9e22cb458b16bf25cf1fb39c433135afc379f3d2b0862d13a1d960a85e4c7c9",
        file_sha256="7d761a512ada02e3998444a8ed332f1c0d0b377e9941c41ed0b84a71b1d68900",
        split_sizes=None,
        description=(
            "Misfires of a combustion engine, in the winner's coding: 10 indicators and 12 reals; y is +1 (10 %) or -1. "
            "49,990 training rows (LIBSVM's ijcnn1.tr, then ijcnn1.val) and 91,701 test rows, as given."
        ),
        source="LIBSVM Data, binary section (D. Prokhorov, IJCNN 2001 challenge; coded by C.-C. Chang and C.-J. Lin)",
    ),
    Entry(
        name="covtype",
        urls=(f"{_UCI}/covtype/covtype.data.gz",),
        read=_read_covtype,
        digest="af5059cfe519b39a250cdffd848fe2ec56143ebe42e1349bd3dcd28343fd37cb",
        file_sha256="4bc6ab9d005b454f15c9d671e45869425d88d0d2cdb660be721166bfa4eedb4f",
        split_sizes=(290_506, 290_506),
        positive=(2,),
        binary=True,
        description=(
            "Forest cover type of 581,012 patches of 30 m by 30 m: 10 integers and 44 indicators, 7 classes. In the binary "
            "version, which the paper uses, y is +1 for class 2 (49 %) and -1 for the others; else y is 1 to 7. "
            "Split at random into halves, since the order of the file is not random."
        ),
        source=(
            "UCI Machine Learning Repository, Covertype, CC BY 4.0; "
            "copyright Jock A. Blackard and Colorado State University (1998)"
        ),
    ),
    Entry(
        name="cod_rna",
        urls=(f"{_LIBSVM}/cod-rna", f"{_LIBSVM}/cod-rna.t"),
        read=partial(_read_libsvm, n_features=8),
        digest="5675274359e2fa0a50e5e863bf18e165e4bd9a83ca647af5b3dd3ab47c1863ae",
        file_sha256="5a421a068ee193bc1eff3298f5bf73fc11797773db90a65cac8e00836ff6c2c6",
        split_sizes=None,
        description=(
            "Detection of non-coding RNA: 8 reals on very different scales; y is +1 (one third) or -1. 59,535 training rows "
            "as in the paper. The test rows are the 271,617 of LIBSVM's cod-rna.t, not the 157,413 of cod-rna.r that the "
            "paper reports on, so accuracies are on other rows than the paper's. 4,700 test rows have an X that also occurs "
            "in training."
        ),
        source="LIBSVM Data, binary section (A. V. Uzilov, J. M. Keegan, D. H. Mathews, 2006)",
    ),
)

CATALOG = {entry.name: entry for entry in _ENTRIES}  # by name, in the order of the paper's Table 1


def names() -> tuple[str, ...]:
    """Names that :func:`krein.datasets.load` takes, in the order of the paper's Table 1.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> names()
    ('letter', 'ijcnn1', 'covtype', 'cod_rna')
    """
    return tuple(CATALOG)


def find(name: str) -> Entry:
    """The entry of that name; capitals and hyphens are ignored, so the paper's ``cod-RNA`` is found.

    Examples
    --------
    >>> find("cod-RNA").name
    'cod_rna'
    >>> find("leter")
    Traceback (most recent call last):
    ValueError: unknown data set 'leter', did you mean 'letter'? Known: letter, ijcnn1, covtype, cod_rna
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, one of {', '.join(CATALOG)}, got {name!r}")
    plain = name.strip().lower().replace("-", "_")
    if plain in CATALOG:
        return CATALOG[plain]
    close = difflib.get_close_matches(plain, CATALOG, n=1)
    hint = f", did you mean {close[0]!r}?" if close else "."
    raise ValueError(f"unknown data set {name!r}{hint} Known: {', '.join(CATALOG)}")


def content_digest(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over the names, dtypes, shapes and values of some arrays.

    Two files with the same digest hold the same data, be they text or binary, compressed or not: that is what makes a
    download checkable although the official sources publish no checksums.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [2.0, 3.0]])
    >>> content_digest({"X": X}) == content_digest({"X": np.asfortranarray(X)})
    True
    >>> content_digest({"X": X}) == content_digest({"X": X.astype(np.float32)})
    False
    """
    sha = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        little = array.dtype.newbyteorder("<")
        plain = np.ascontiguousarray(array, dtype=little)
        if plain.dtype.kind == "f":
            plain = plain + little.type(0)  # −0 + 0 = +0
        sha.update(f"{name} {little.str} {plain.shape}\n".encode())
        sha.update(plain.astype(little, copy=False).tobytes())
    return sha.hexdigest()
