"""What learners do with a feature map and a long table: fit it on a bounded sample, then pass over the rows in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from krein._core.rows import row_blocks
from krein.estimators.learners.targets import Targets
from krein.learning.ledger import RidgeLedger
from krein.learning.rows import row_keys

__all__ = [
    "FEATURE_ROWS",
    "LinearMap",
    "block_length",
    "distinct_rows",
    "enter_rows",
    "feature_sample",
    "fit_features",
    "float_block",
    "is_pairwise",
    "transform_block",
]

FEATURE_ROWS = 50_000  # rows a feature map is fitted on: enough for every map here, and 22 MB at 54 columns
_BLOCK_BYTES = 2**26  # one float64 block of features; more gains no speed, see benchmarks/learners.py


def block_length(n_components: int) -> int:
    """Rows per block, so that a float64 block of features takes 64 MiB."""
    return int(np.clip(_BLOCK_BYTES // (8 * max(1, n_components)), 256, 65_536))


def fit_features(features: Any, sample: Any, random_state: Any) -> Any:
    """A fitted clone of `features`, or of the default map; an error if it has no signature.

    Parameters
    ----------
    features : transformer or None
    sample : array or CSR matrix of shape (n_rows, n_features)
    random_state : as in scikit-learn
        For the default map only; a map that is passed in has its own.
    """
    if features is None:
        from krein.estimators.maps.fourier import SignedFourierFeatures  # late: a user of another map does not need it

        fitted = SignedFourierFeatures(random_state=random_state)
    else:
        fitted = clone(features)
    fitted.fit(sample)
    try:
        fitted.signature_  # noqa: B018
    except AttributeError as error:
        raise TypeError(
            f"features must be a map with a signature, but {type(fitted).__name__} has no signature_ after fit; use "
            "krein.SignedFourierFeatures, krein.KreinNystroem or a map of krein.baselines"
        ) from error
    return fitted


def is_pairwise(features: Any) -> bool:
    """Whether the map takes similarities to the training rows rather than the rows."""
    return features is not None and bool(get_tags(features).input_tags.pairwise)


def feature_sample(X: Any, weight: np.ndarray | None, features: Any) -> Any:
    """The rows to fit a feature map on: distinct ones of positive weight, at most `FEATURE_ROWS`, chosen by row key.

    Distinct and in a fixed order, so that a row of weight 2, two equal rows and rows in another order give the same map.
    """
    if is_pairwise(features):
        return float_block(X, 0)
    n_rows = X.shape[0]
    rows: Any = slice(None)
    if n_rows > FEATURE_ROWS:
        rows = np.sort(np.argpartition(row_keys(np.arange(n_rows)), FEATURE_ROWS)[:FEATURE_ROWS])
    sample = float_block(X[rows], 0)
    if weight is not None:
        sample = sample[np.flatnonzero(weight[rows] > 0)]
    return distinct_rows(sample)


def distinct_rows(X: Any) -> Any:
    """The distinct rows of X in an order that does not depend on theirs, and that has no order to it either."""
    if sp.issparse(X):
        X = sp.csr_array(X)
        X.sum_duplicates()
        cuts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        content = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in cuts]
        first: dict[tuple[bytes, bytes], int] = {}
        for i, row in enumerate(content):
            first.setdefault(row, i)
        found = np.array([first[row] for row in sorted(first)])
        return X[found[np.argsort(row_keys(np.arange(found.size)))]]
    X = np.ascontiguousarray(X)
    if not X.shape[1]:
        return X
    rows = X.view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel()
    found = np.unique(rows, return_index=True)[1]
    return X[found[np.argsort(row_keys(np.arange(found.size)))]]


def float_block(X: Any, start: int) -> Any:
    """A block of rows as float32 or float64, checked to be finite; `start` is the number of its first row."""
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    sparse = sp.issparse(X)
    if not np.isfinite(X.data if sparse else X).all():
        finite = np.isfinite(X.toarray() if sparse else X).all(axis=1)
        raise ValueError(
            f"Input X contains NaN or infinity, first in row {start + int(np.flatnonzero(~finite)[0])}; impute or drop "
            "such rows"
        )
    return X


def transform_block(features: Any, X: Any) -> np.ndarray:
    """Features of a block as a plain array, whatever output container is configured."""
    Z = features.transform(X)
    return Z if isinstance(Z, np.ndarray) else np.asarray(Z)


class LinearMap:
    """Rows to values of a linear model on their features: the part of a fitted model that travels to workers.

    Parameters
    ----------
    features : a fitted feature map
    coef : ndarray of shape (n_outputs, n_components)
    intercept : ndarray of shape (n_outputs,)
    """

    def __init__(self, features: Any, coef: np.ndarray, intercept: np.ndarray) -> None:
        self.features, self.coef, self.intercept = features, coef, intercept

    def __call__(self, X: Any) -> np.ndarray:
        """Values of shape (n_rows, n_outputs), float64, without ever holding the features of all rows."""
        out = np.empty((X.shape[0], self.coef.shape[0]))
        for rows in row_blocks(X.shape[0], block_length(self.coef.shape[1])):
            Z = transform_block(self.features, float_block(X[rows], rows.start))
            np.matmul(Z, self.coef.T, out=out[rows])
        out += self.intercept
        return out


def enter_rows(
    ledger: RidgeLedger,
    targets: Targets,
    features: Any,
    start: int,
    X: Any,
    y: np.ndarray,
    weight: np.ndarray | None,
) -> None:
    """Pass over rows ``start, start + 1, …`` block by block, and enter each block into the ledger."""
    for rows in row_blocks(X.shape[0], block_length(features.signature_.shape[0])):
        here = start + rows.start
        block, labels = float_block(X[rows], here), y[rows]
        w = None if weight is None else weight[rows]
        numbers = np.arange(here, start + rows.stop)
        if w is not None and not w.all():  # rows of weight zero are as if they were not there
            present = np.flatnonzero(w)
            block, labels, w, numbers = block[present], labels[present], w[present], numbers[present]
            ledger.rows += rows.stop - rows.start - present.size
        if block.shape[0]:
            codes = targets.code(labels)
            beside = (block, codes, np.ones(block.shape[0]) if w is None else w)
            ledger.add(numbers, transform_block(features, block), targets.expand(codes), w, beside=beside)
