"""Comparison of models on the user's data: contenders, cross-validation that can be interrupted, a table and a page."""

from krein.comparison.contenders import Contender, choose_contenders, table_contenders
from krein.comparison.folds import compare_models, score_folds
from krein.comparison.kept_comparison import KeptComparison
from krein.comparison.matrices import compare
from krein.comparison.matrix_contenders import matrix_contenders
from krein.comparison.model_comparison import ModelComparison, Summary
from krein.comparison.scores import FoldScore, ScoreFile

__all__ = [
    "compare",
    "matrix_contenders",
    "compare_models",
    "score_folds",
    "Contender",
    "table_contenders",
    "choose_contenders",
    "FoldScore",
    "ScoreFile",
    "KeptComparison",
    "ModelComparison",
    "Summary",
]
