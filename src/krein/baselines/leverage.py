"""Nyström features on landmarks drawn by leverage scores, as the paper compares with."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy import linalg

from krein._core.checks import check_shape, positive_integer
from krein.baselines.base import BaselineMap
from krein.kernels import DeltaGaussian, Kernel
from krein.nystroem import FittedNystroem, NystroemRecipe, fit_nystroem
from krein.similarities import as_similarity

__all__ = ["LeverageNystroem", "leverage_scores"]

_POOL, _POOL_PER_LANDMARK = 2000, 8  # rows with scores: at least so many, and so many for each landmark
_PIVOTS = 256  # rows that scores are computed from: at least so many, and one for each landmark
_FLOOR = 1e-10  # of the largest eigenvalue: smaller ones are rounding
_LEAST = 1e-300  # so that a score of 0 has a logarithm


@final
class LeverageNystroem(BaselineMap):
    r"""Nyström features that keep the signs of the eigenvalues, on landmarks drawn in proportion to their leverage.

    .. math:: \ell_i = \bigl[\,|K|\,(|K| + \lambda I)^{-1}\bigr]_{ii}

    Parameters
    ----------
    kernel : Kernel, default=None
        Any kernel. ``None`` is ``DeltaGaussian()``.
    n_components : int, default=512
        Number of output columns, and of landmarks.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        Signs of the eigenvalues.
    map_ : FittedNystroem
    kernel_ : Kernel
    n_features_in_ : int

    Notes
    -----
    :math:`|K|` has the absolute eigenvalues of K [1]_. The scores are those of its Nyström approximation from rows drawn
    uniformly, and :math:`\lambda` is the eigenvalue after the last one that is wanted. Landmarks are drawn without
    replacement. For better landmarks see :class:`krein.KreinNystroem`.

    References
    ----------
    .. [1] D. Oglic and T. Gärtner. "Scalable learning in reproducing kernel Kreĭn spaces". ICML, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.baselines import LeverageNystroem
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> LeverageNystroem(n_components=32, random_state=0).fit(X).transform(X).shape
    (100, 32)
    """

    map_: FittedNystroem

    def __init__(self, kernel: Kernel | None = None, n_components: int = 512, *, random_state: Any = None) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def default_kernel(self) -> Kernel:
        return DeltaGaussian()

    def _fit(self, X: Any, kernel: Kernel, rng: np.random.Generator) -> None:
        width = positive_integer(self.n_components, "n_components")
        count = min(width, X.shape[0])
        pool_rng, race_rng, fit_rng = rng.spawn(3)
        size = min(X.shape[0], max(_POOL, _POOL_PER_LANDMARK * count))
        pool = np.sort(pool_rng.choice(X.shape[0], size=size, replace=False))
        scores = leverage_scores(kernel, X[pool], count, pool_rng)
        # the largest of log score + Gumbel noise are a sample without replacement, in proportion to the scores
        races = np.log(np.maximum(scores, _LEAST)) + race_rng.gumbel(size=size)
        landmarks = X[np.sort(pool[np.argsort(-races, kind="stable")[:count]])]
        self.map_ = fit_nystroem(as_similarity(kernel), X, NystroemRecipe(width, landmarks), fit_rng).map
        self.signature_ = self.map_.signature

    def _map(self, X: Any) -> np.ndarray:
        return self.map_(X)

    def _check_loaded(self) -> None:
        check_shape(self.signature_, "signature_", (self.n_components,))


def leverage_scores(kernel: Kernel, X: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    """Approximate ridge leverage scores of some rows, between 0 and 1, for so many landmarks."""
    pivots = X[np.sort(rng.choice(X.shape[0], size=min(X.shape[0], max(_PIVOTS, count)), replace=False))]
    values, vectors = linalg.eigh(np.asarray(kernel(pivots), dtype=np.float64))
    kept = np.abs(values) > _FLOOR * np.abs(values).max(initial=0.0)
    if not kept.any():
        return np.ones(X.shape[0])
    features = np.asarray(kernel(X, pivots), dtype=np.float64) @ (vectors[:, kept] / np.sqrt(np.abs(values[kept])))
    left, sizes, _ = linalg.svd(features, full_matrices=False)
    spectrum = np.square(sizes)
    ridge = spectrum[count] if count < spectrum.size else _FLOOR * spectrum[0]
    return np.asarray(np.square(left) @ (spectrum / (spectrum + max(ridge, _FLOOR * spectrum[0]))))
