"""A learned metric: the average outer product of a first model's gradients."""

from krein.learning.metric.gradients import GradientProducts, kernel_gradients, wave_gradients
from krein.learning.metric.learn import METRIC_ROWS, learn_metric
from krein.learning.metric.learned import LearnedMetric, MetricTrial

__all__ = [
    "METRIC_ROWS",
    "GradientProducts",
    "LearnedMetric",
    "MetricTrial",
    "kernel_gradients",
    "learn_metric",
    "wave_gradients",
]
