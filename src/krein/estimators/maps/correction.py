"""Corrections of precomputed similarities for learners that need positive semidefinite ones."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from krein._core.threads import quiet_blas
from krein.estimators.numbers import checked_rows
from krein.files.models import SavableMixin
from krein.matrices import fit_correction
from krein.similarities import PrecomputedSimilarity

__all__ = ["SpectrumCorrection"]


@final
class SpectrumCorrection(SavableMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Make a precomputed matrix of similarities positive semidefinite, and treat new objects accordingly.

    The usual corrections of an indefinite matrix, for use before learners that need a positive semidefinite one, such as
    ``SVC(kernel="precomputed")``. `fit_transform` returns the corrected training matrix, `transform` the corrected rows of new
    objects. A correction of the training matrix alone would train with one kernel and predict with another; here a training
    object that is passed as a new one gets its training row, where that is possible.

    Parameters
    ----------
    method : {"clip", "flip", "shift", "square", "nearest"}, default="clip"
        How :math:`K = U \Lambda U^\top` and a row :math:`k` of similarities of a new object are changed:

        - ``"clip"``: negative eigenvalues to zero, :math:`K\Pi` and :math:`k\,\Pi` with :math:`\Pi = U[\Lambda > 0]U^\top`;
          the nearest positive semidefinite matrix.
        - ``"flip"``: absolute eigenvalues, :math:`\Pi = U\,\mathrm{sign}(\Lambda)\,U^\top`.
        - ``"square"``: :math:`K^2` and :math:`k\,K`; similarities as features.
        - ``"shift"``: :math:`K - \lambda_{\min} I` if :math:`\lambda_{\min} < 0`. **Rows of new objects are unchanged, and no
          consistent mapping exists**: only the similarity of an object with itself grows, which is not in a new row.
        - ``"nearest"``: the nearest positive semidefinite matrix with the given diagonal [1]_,
          :math:`(K + \mathrm{diag}(d))_+`; new rows are projected as by ``"clip"``, on the positive space of that
          matrix. Again, the addition d does not appear in a new row.
    diagonal : "keep", float or None, default="keep"
        For ``"nearest"``: ``"keep"`` for the diagonal of K, one number for all entries (1.0 for correlations and fidelities), or
        None for any diagonal, which is the same as ``"clip"``.

    Attributes
    ----------
    map_ : FittedCorrection
        The fitted correction, as a function of rows.
    eigenvalues_ : ndarray of shape (n_samples,)
        Eigenvalues of the training matrix as given, the largest absolute value first.
    consistent_ : bool
        Whether a training object that is passed as a new one gets its training row.
    n_features_in_ : int

    See Also
    --------
    krein.diagnose : Whether the negative part is noise, which a correction removes, or signal, which a correction loses.

    Notes
    -----
    Time: :math:`O(n^3)` once, for the eigenvalues, and :math:`O(n^2)` per new row. The Kreĭn learners of this library need no
    correction.

    References
    ----------
    .. [1] N. J. Higham. "Computing the nearest correlation matrix: a problem from finance". IMA J. Numer. Anal., 2002.
    .. [2] Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi and L. Cazzanti. "Similarity-based classification: concepts and
       algorithms". JMLR, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from krein import SpectrumCorrection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> K, y = np.tanh(X @ X.T - 1.0), X[:, 0] > 0      # indefinite
    >>> model = make_pipeline(SpectrumCorrection(), SVC(kernel="precomputed"))
    >>> grid = {"spectrumcorrection__method": ["clip", "flip"], "svc__C": [1.0, 10.0]}
    >>> bool(GridSearchCV(model, grid).fit(K, y).best_score_ > 0.9)
    True
    """

    def __init__(self, method: str = "clip", *, diagonal: Any = "keep") -> None:
        self.method = method
        self.diagonal = diagonal

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the correction of a training matrix.

        Parameters
        ----------
        X : array of shape (n_samples, n_samples)
            Similarities between training objects, symmetric.
        y : ignored

        Returns
        -------
        self
        """
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn the correction and return the corrected training matrix.

        Parameters
        ----------
        X : array of shape (n_samples, n_samples)
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_samples), float32 if X is float32, else float64
            Exactly symmetric.
        """
        X = self._learn(X)
        with quiet_blas():
            return self.map_.training(X).astype(X.dtype, copy=False)

    def transform(self, X: Any) -> np.ndarray:
        """Corrected similarities of new objects to the training objects.

        Parameters
        ----------
        X : array of shape (n_new, n_samples)

        Returns
        -------
        ndarray of shape (n_new, n_samples), float32 if X is float32, else float64
        """
        check_is_fitted(self, "map_")
        X = checked_rows(self, X, dtype=[np.float64, np.float32], reset=False)
        return self.map_(X).astype(X.dtype, copy=False)

    @quiet_blas()
    def _learn(self, X: Any) -> np.ndarray:
        X = checked_rows(self, X, dtype=[np.float64, np.float32])
        matrix = PrecomputedSimilarity().settled(X).square(X, None)
        self.map_ = fit_correction(matrix, self.method, diagonal=self.diagonal)
        self._n_features_out = matrix.shape[0]
        return matrix

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Eigenvalues of the training matrix as given."""
        return self.map_.eigenvalues

    @property
    def consistent_(self) -> bool:
        """Whether a training object that is passed as a new one gets its training row."""
        return self.map_.consistent

    def _check_loaded(self) -> None:
        if "map_" in vars(self) and self.map_.eigenvalues.size != self.n_features_in_:
            raise ValueError(
                f"the correction is for {self.map_.eigenvalues.size} objects, but rows have {self.n_features_in_} columns"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
