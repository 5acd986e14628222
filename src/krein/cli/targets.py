"""What the target column of a table is: classes or quantities."""

from typing import Literal

import numpy as np

from krein._core.checks import one_of
from krein.files.tables import TableChunks

__all__ = ["task_of"]

Kind = Literal["label", "number"]
Task = Literal["classification", "regression"]
_TASKS = ("auto", "classification", "regression")
_MANY_LABELS = 100  # distinct whole numbers in the first chunk from which on they are taken for quantities


def task_of(chunks: TableChunks, task: str) -> tuple[Kind, Task]:
    """What the target column is read as, and the task."""
    one_of(task, "task", _TASKS)
    if task == "classification":
        return "label", "classification"
    if task == "regression":
        return "number", "regression"
    _, labels = next(iter(chunks))
    text = labels.dtype.kind in "US"
    if text and all(_is_number(label) for label in np.unique(labels)):
        return "number", "regression"
    whole = labels.dtype.kind in "biu" or (labels.dtype.kind == "f" and bool((labels == np.floor(labels)).all()))
    if (text or whole) and (text or np.unique(labels).size <= _MANY_LABELS):
        return "label", "classification"
    return "number", "regression"


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True
