"""What model files hold of the estimators: their tags and their learned attributes, which are part of the file format."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from krein.estimators.learners.exact import ExactKreinRidge, ExactKreinSVC
from krein.estimators.learners.logistic import KreinLogistic
from krein.estimators.learners.mds import KreinMDS
from krein.estimators.learners.pca import KreinPCA
from krein.estimators.learners.ridge import KreinRidge, KreinRidgeClassifier
from krein.estimators.learners.svm import KreinSVC
from krein.estimators.maps.base import TransformerMap
from krein.estimators.maps.correction import SpectrumCorrection
from krein.estimators.maps.fourier import SignedFourierFeatures
from krein.estimators.maps.nystroem import KreinNystroem
from krein.estimators.maps.tuned import TunedFeatures
from krein.features import FittedMap, RowMap
from krein.files.registry import SavableMixin, register
from krein.kernels import Kernel
from krein.learning.chosen_features import PlacedMap
from krein.learning.embedding import FittedEmbedding
from krein.learning.leaves.local import LocalPart
from krein.learning.link import Link
from krein.learning.model import Model
from krein.learning.tuning.choice import Choice
from krein.matrices.corrections import FittedCorrection
from krein.nystroem.fitted_nystroem import FittedNystroem
from krein.similarities import BlockSource, Objects

__all__: list[str] = []

_Array, _Rows = np.ndarray, np.ndarray | sp.csr_array
# in files of 0.1 and 0.2, in place of model_
_PARTS = {"features_": SavableMixin | RowMap | None, "coef_": _Array | None, "local_": LocalPart | None}
_RIDGE = {
    **_PARTS,
    "solver_": str | None,
    "choice_": Choice | None,
    "model_": Model | None,
    "intercept_": float | _Array,
    "lam_": float | tuple[float, float],
    "lams_": _Array,
    "scores_": _Array | None,
    "n_rows_": int,
}
_NEWTON = {
    **_PARTS,
    "solver_": str | None,
    "choice_": Choice | None,
    "model_": Model | None,
    "intercept_": _Array,
    "classes_": _Array,
    "n_iter_": int,
}
_SVC = {**_NEWTON, "C_": float, "Cs_": _Array | None, "cv_scores_": _Array | None}
_LOGISTIC = {**_NEWTON, "lam_": float | tuple[float, float], "lams_": _Array, "scores_": _Array | None}
_PCA = {
    "features_": SavableMixin | RowMap,
    "eigenvalues_": _Array,
    "signature_": _Array,
    "components_": _Array,
    "mean_": _Array,
}
_EXACT = {
    "similarity_": BlockSource,
    "X_fit_": _Rows | Objects | None,
    "n_evaluations_": int | None,
    "choice_": Choice | None,
    "dual_coef_": _Array,
    "intercept_": float | _Array,
}
_EXACT_SVC = {
    **_EXACT,
    "classes_": _Array,
    "n_negative_": int,
    "C_": float | None,
    "Cs_": _Array | None,
    "cv_scores_": _Array | None,
    "carry_": _Array,
    "support_": _Array,
    "n_support_": _Array,
}
_FOURIER = {"kernel_": Kernel, "map_": FittedMap, "signature_": _Array}
_NYSTROEM = {"kernel_": Any, "map_": FittedNystroem, "signature_": _Array, "n_evaluations_": int | None}
_TUNED = {
    "choice_": Choice,
    "map_": PlacedMap | None,
    "features_": SavableMixin | None,  # in files of 0.1 and 0.2, in place of map_
    "signature_": _Array,
    "n_components_": int,
    "error_estimate_": float,
}


def _no_calls(given: dict[str, Any]) -> dict[str, Any]:
    """Before 0.2 was released these were parameters of estimators; they are a similarity's now, which has learned them."""
    gone = ("call", "symmetrize", "n_jobs", "cache", "verbose")
    return {name: value for name, value in given.items() if name not in gone}


def _no_optimizer(given: dict[str, Any]) -> dict[str, Any]:
    """Before 0.2 was released LibLinear could be chosen, which solves the same problem."""
    return {name: value for name, value in given.items() if name != "optimizer"}


# how far a fit is, is not learned
_SHOWS = ("verbose",)
# a λ or C that says nothing has an infinite score
register("krein.ridge", unstored=_SHOWS, learned=_RIDGE, unbounded=("scores_",))(KreinRidge)
_CLASSIFIER = {**_RIDGE, "classes_": _Array, "link_": Link | None}
register("krein.ridge-classifier", unstored=_SHOWS, learned=_CLASSIFIER, unbounded=("scores_",))(KreinRidgeClassifier)
register("krein.svc", unstored=_SHOWS, learned=_SVC, unbounded=("cv_scores_",), upgrade=_no_optimizer)(KreinSVC)
register("krein.logistic", unstored=_SHOWS, learned=_LOGISTIC, unbounded=("scores_",))(KreinLogistic)
register("krein.pca", unstored=_SHOWS, learned=_PCA)(KreinPCA)
register(
    "krein.exact-ridge", unstored=_SHOWS, learned={**_EXACT, "lam_": float | tuple[float, float]}, upgrade=_no_calls
)(ExactKreinRidge)
register("krein.exact-svc", unstored=_SHOWS, learned=_EXACT_SVC, unbounded=("cv_scores_",), upgrade=_no_calls)(
    ExactKreinSVC
)
register("krein.signed-fourier-features", learned=_FOURIER)(SignedFourierFeatures)
register("krein.nystroem", learned=_NYSTROEM, upgrade=_no_calls)(KreinNystroem)
# the error of a map that has no kernel of this library is not a number
register("krein.tuned-features", learned=_TUNED, unbounded=("error_estimate_",))(TunedFeatures)
register("transformer-map")(TransformerMap)
register("krein.spectrum-correction", learned={"map_": FittedCorrection})(SpectrumCorrection)
register("krein.mds", learned={"map_": FittedEmbedding, "embedding_": _Array}, upgrade=_no_calls)(KreinMDS)
