"""A learned metric: the average outer product of a first model's gradients."""

from krein.learning.metric.feature_gradients import FeatureGradients
from krein.learning.metric.gradients import GradientProducts, kernel_gradients, wave_gradients
from krein.learning.metric.learn import METRIC_ROWS, best_placement, learn_metric
from krein.learning.metric.learned import LearnedMetric, MetricTrial

__all__ = [
    "METRIC_ROWS",
    "FeatureGradients",
    "GradientProducts",
    "LearnedMetric",
    "MetricTrial",
    "best_placement",
    "kernel_gradients",
    "learn_metric",
    "wave_gradients",
]
