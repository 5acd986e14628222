"""A data set for users: named, split, of a floating type, with its source."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Literal, overload

import numpy as np

from krein._core.checks import integer, truth_value
from krein.datasets.catalog import Arrays, Entry, find
from krein.datasets.finding import find_arrays

__all__ = ["Dataset", "load"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Training and test rows of one data set, with its description and source.

    Parameters
    ----------
    name : str
    X_train : ndarray of shape (n_train, n_features)
    y_train : ndarray of shape (n_train,)
    X_test : ndarray of shape (n_test, n_features)
    y_test : ndarray of shape (n_test,)
        All four are read-only; those passed in writable are copied.
    description : str
        What the rows and labels are, and how the split differs from the paper's, if it does.
    source : str
        Whom to credit.
    """

    name: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    description: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        for key in ("X_train", "y_train", "X_test", "y_test"):
            array = np.asarray(getattr(self, key))
            if array.flags.writeable:
                array = array.copy()
                array.setflags(write=False)
            object.__setattr__(self, key, array)
        for part in ("train", "test"):
            X, y = getattr(self, f"X_{part}"), getattr(self, f"y_{part}")
            if X.ndim != 2 or y.shape != X.shape[:1]:
                raise ValueError(
                    f"X_{part} must be a matrix and y_{part} a vector with a label per row, got {X.shape} and {y.shape}"
                )
        if self.X_train.shape[1] != self.X_test.shape[1]:
            raise ValueError(
                "X_train and X_test must have the same columns, "
                f"got {self.X_train.shape[1]} and {self.X_test.shape[1]} of them"
            )

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X_train.shape[1])

    @property
    def classes(self) -> np.ndarray:
        """Distinct training labels, ascending."""
        return np.unique(self.y_train)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}: {len(self.X_train):,} training and {len(self.X_test):,} test rows, "
            f"{self.n_features} features, {len(self.classes)} classes)"
        )


@overload
def load(name: str, split: Literal[True] = True, seed: int = 0, *, binary: bool | None = None) -> Dataset: ...
@overload
def load(
    name: str, split: Literal[False], seed: int = 0, *, binary: bool | None = None
) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def load(
    name: str, split: bool, seed: int = 0, *, binary: bool | None = None
) -> Dataset | tuple[np.ndarray, np.ndarray]: ...
def load(
    name: str, split: bool = True, seed: int = 0, *, binary: bool | None = None
) -> Dataset | tuple[np.ndarray, np.ndarray]:
    """One of the four data sets of the paper.

    It is taken from the first of these places that has it: ``NAME.npz`` in the folder named by the environment variable
    ``KREIN_DATA``; the package itself (letter only); the cache (``KREIN_CACHE``, or the usual place of the operating system);
    the official source on the internet. A download is checked against a digest of its contents, and needs the extra
    ``krein[data]``. Values are unscaled; see :func:`~krein.datasets.minmax_unit`.

    Parameters
    ----------
    name : {"letter", "ijcnn1", "covtype", "cod_rna"}
    split : bool, default=True
        Whether to return training and test rows in the sizes of the paper's Table 1, or all rows together.

        ======== ========= ========= =========================================================================
        name     training  test      split
        ======== ========= ========= =========================================================================
        letter   12,000    6,000     drawn without replacement from 20,000 rows; if ``binary``, those of the public code of
                                     one of the paper's authors
        ijcnn1   49,990    91,701    given
        covtype  290,506   290,506   random halves
        cod_rna  59,535    271,617   given; the paper's 157,413 test rows (LIBSVM's ``cod-rna.r``) are other
                                     rows than these, which are LIBSVM's ``cod-rna.t``
        ======== ========= ========= =========================================================================
    seed : int, default=0
        Random seed of the drawn splits. A given split does not depend on it.
    binary : bool or None, default=None
        For covtype, whether labels are +1 for class 2 and −1 for the other six, or the classes 1 to 7 as stored; for letter,
        whether they are +1 for A to M and −1 for N to Z, or 0 to 25. None means binary for covtype, as stored for the others.
        ijcnn1 and cod_rna have no other version.

    Returns
    -------
    Dataset
        If ``split``. Its arrays are read-only.
    (X, y) : tuple of ndarray of shapes (n_samples, n_features) and (n_samples,)
        If not ``split``: all rows in the order of the source, training rows before test rows, in arrays that may be changed.

    In both cases X is float32, in which every stored value is exact, and y is int64.

    Raises
    ------
    DatasetError
        If the data set is found nowhere, or a file does not have the expected contents.

    Examples
    --------
    >>> from krein import datasets
    >>> data = datasets.load("letter")
    >>> data
    Dataset('letter': 12,000 training and 6,000 test rows, 16 features, 26 classes)
    >>> X_train, X_test = datasets.minmax_unit(data.X_train, data.X_test)
    >>> X, y = datasets.load("letter", split=False)
    >>> X.shape, X.dtype, "".join(chr(ord("A") + label) for label in y[:5])
    ((20000, 16), dtype('float32'), 'TIDNG')
    """
    entry = find(name)
    seed = integer(seed, "seed", least=0)
    split = truth_value(split, "split")
    binary = entry.binary if binary is None else truth_value(binary, "binary")
    positive = entry.positive if binary else ()
    arrays = find_arrays(entry)
    if not split:
        return _all_rows(arrays, positive)
    X_train, y_train, X_test, y_test = _split_rows(entry, arrays, seed, binary)
    return Dataset(
        name=entry.name,
        X_train=_frozen(_as_features(X_train)),
        y_train=_frozen(_as_labels(y_train, positive)),
        X_test=_frozen(_as_features(X_test)),
        y_test=_frozen(_as_labels(y_test, positive)),
        description=entry.description,
        source=entry.source,
    )


def _split_rows(
    entry: Entry, arrays: Arrays, seed: int, binary: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    if entry.split_sizes is None:
        return arrays["X_train"], arrays["y_train"], arrays["X_test"], arrays["y_test"]
    X, y = arrays["X"], arrays["y"]
    if binary and entry.binary_rows:
        with (resources.files("krein.datasets") / "data" / entry.binary_rows).open("rb") as file:
            rows = np.load(file)
            train, test = rows["train"], rows["test"]
    else:
        n_train, n_test = entry.split_sizes
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:n_train], order[n_train : n_train + n_test]
    return X[train], y[train], X[test], y[test]


def _all_rows(arrays: Arrays, positive: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    if "X" in arrays:
        return _as_features(arrays["X"]), _as_labels(arrays["y"], positive)
    X = np.concatenate([arrays["X_train"], arrays["X_test"]])
    y = np.concatenate([arrays["y_train"], arrays["y_test"]])
    return _as_features(X), _as_labels(y, positive)


def _as_features(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(X, dtype=np.float32)


def _as_labels(y: np.ndarray, positive: tuple[int, ...]) -> np.ndarray:
    # a small unsigned type would make -y and 2*y wrap around
    y = y.astype(np.int64)
    return np.where(np.isin(y, positive), 1, -1) if positive else y


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
