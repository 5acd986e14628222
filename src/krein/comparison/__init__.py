"""Comparison of models on the user's data: contenders, cross-validation that can be interrupted, a table and a page."""

from krein.comparison.contenders import Contender, choose_contenders, chosen_by, table_contenders
from krein.comparison.cross_validation import KeptComparison, compare_models, score_folds
from krein.comparison.model_comparison import FoldScore, ModelComparison, Summary
from krein.comparison.object_comparison import compare

__all__ = [
    "Contender",
    "FoldScore",
    "KeptComparison",
    "ModelComparison",
    "Summary",
    "choose_contenders",
    "chosen_by",
    "compare",
    "compare_models",
    "score_folds",
    "table_contenders",
]
