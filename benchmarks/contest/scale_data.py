"""Large sets: the rows in one fixed random order, the first 70 % to fit on, raw columns in float32."""

from __future__ import annotations

import numpy as np

from contest.keel import load_keel
from contest.protocol import Split
from krein import datasets

__all__ = ["SETS", "load_scale"]

SETS = ("covtype", "cod_rna", "ijcnn1", "letter", "magic")
_SHARE = 0.7
_COVTYPE = 500_000, 50_000  # rows to fit on, from the front, and to test on, from the end


def load_scale(name: str, most_train: int | None = None, most_test: int | None = None) -> Split:
    """Rows of one set.

    Parameters
    ----------
    name : str
        One of `SETS`.
    most_train, most_test : int, default=None
        Only so many of the first rows of each part.

    Returns
    -------
    Split
    """
    if name not in SETS:
        raise ValueError(f"there is no large set {name!r}; known: {', '.join(SETS)}")
    X, y = load_keel(name) if name == "magic" else datasets.load(name, split=False, binary=False)
    order = np.random.default_rng(0).permutation(len(y))
    n_train = int(_SHARE * len(y))
    train, test = order[:n_train], order[n_train:]
    if name == "covtype":
        train, test = order[: _COVTYPE[0]], order[-_COVTYPE[1] :]
    train, test = train[:most_train], test[:most_test]
    X = np.asarray(X)
    return Split(X[train].astype(np.float32), y[train], X[test].astype(np.float32), y[test])
