"""Comparison of models on the user's data: contenders, cross-validation that can be interrupted, a table and a page."""

from krein.experiments.side_by_side.contenders import Contender, choose_contenders, table_contenders
from krein.experiments.side_by_side.folds import compare_models, score_folds
from krein.experiments.side_by_side.kept_comparison import KeptComparison
from krein.experiments.side_by_side.matrices import compare
from krein.experiments.side_by_side.matrix_contenders import matrix_contenders
from krein.experiments.side_by_side.model_comparison import ModelComparison, Summary
from krein.experiments.side_by_side.scores import FoldScore, ScoreFile

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
