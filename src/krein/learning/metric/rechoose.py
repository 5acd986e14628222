"""A choice of kernel, scale and λ made again in a learned metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from krein.learning.metric.learn import learn_metric
from krein.learning.tuning.choice import Choice
from krein.rows.equal import MergedRows

__all__ = ["in_learned_metric"]


def in_learned_metric(choice: Choice, rows: MergedRows, choose_again: Callable[[MergedRows], Choice]) -> Choice:
    """The same choice, or one in a metric that proved better on rows that had no part in it.

    Leave-one-out errors in a learned metric are too small, as the metric has seen the rows that are left out; they only decide
    between kernels, scales and λ there.
    """
    if not isinstance(rows.X, np.ndarray):
        raise ValueError("metric='learned' needs dense rows; use metric='none' for sparse ones")
    flat = choice.placement.lifted(None)
    metric = learn_metric(replace(rows, X=flat(rows.X)))
    if metric.directions is None:
        return replace(choice, metric=metric)
    turned = flat.followed_by(metric.directions)
    found = choose_again(replace(rows, X=turned(rows.X)))
    return replace(found, placement=turned.lifted(found.placement.lift), metric=metric)
