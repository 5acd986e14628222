"""What model files hold of the estimators: their tags and their learned attributes, which are part of the file format."""

from __future__ import annotations

from krein.estimators.learners.exact import ExactKreinRidge, ExactKreinSVC
from krein.estimators.learners.pca import KreinPCA
from krein.estimators.learners.ridge import KreinRidge, KreinRidgeClassifier
from krein.estimators.learners.svm import KreinSVC
from krein.estimators.maps.fourier import SignedFourierFeatures
from krein.estimators.maps.nystroem import KreinNystroem
from krein.estimators.maps.scaled import ScaledFeatures
from krein.files.registry import register

__all__: list[str] = []

_RIDGE = ("features_", "coef_", "intercept_", "lam_", "lams_", "scores_", "n_rows_")
_EXACT = ("similarity_", "X_fit_", "dual_coef_", "intercept_")
_MAP = ("kernel_", "signature_", "map_")

register("krein.ridge", learned=_RIDGE, unbounded=("scores_",))(KreinRidge)
register("krein.ridge-classifier", learned=(*_RIDGE, "classes_"), unbounded=("scores_",))(KreinRidgeClassifier)
register("krein.svc", learned=("features_", "classes_", "coef_", "intercept_", "C_", "cv_scores_", "n_iter_"))(KreinSVC)
register("krein.pca", learned=("features_", "eigenvalues_", "signature_", "components_", "mean_"))(KreinPCA)
register("krein.exact-ridge", learned=(*_EXACT, "lam_"))(ExactKreinRidge)
register("krein.exact-svc", learned=(*_EXACT, "classes_", "n_negative_", "carry_", "support_", "n_support_"))(
    ExactKreinSVC
)
register(
    "krein.signed-fourier-features",
    learned=_MAP,
)(SignedFourierFeatures)
register("krein.nystroem", learned=_MAP)(KreinNystroem)
# a constant column has infinite width, so that it becomes 0
register("krein.scaled-features", learned=("features_", "signature_", "low_", "width_"), unbounded=("width_",))(
    ScaledFeatures
)
