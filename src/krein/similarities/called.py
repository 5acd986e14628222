"""A similarity of objects that is called, and what the parameter ``kernel`` stands for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from krein._core.checks import one_of
from krein._core.rows import row_blocks
from krein.kernels import DeltaGaussian, Kernel
from krein.similarities.columns import CalledColumns
from krein.similarities.evaluation import Effort, Evaluation
from krein.similarities.object_kernel import FunctionKernel, ObjectKernel
from krein.similarities.objects import Objects, as_objects
from krein.similarities.similarity import (
    SYMMETRIZE,
    KernelSimilarity,
    PrecomputedSimilarity,
    Similarity,
    TrainingMatrix,
)
from krein.similarities.symmetry import symmetric_part

__all__ = ["CALLS", "CallableSimilarity", "as_similarity", "is_called", "is_precomputed", "kernel_of"]

CALLS = ("auto", "pairs", "blocks")  # how a function is called, in the order in which errors list it

_TAKEN = 64  # columns of a whole matrix that are made at a time


@final
@dataclass(frozen=True)
class CallableSimilarity(Similarity):
    """A similarity of objects that is called.

    Parameters
    ----------
    kernel : ObjectKernel
        A callable is taken for one: it takes two objects, or two sequences of objects.
    takes_blocks : bool or None, default=None
        Whether it takes sequences; None if that is to be found out.
    symmetrize : {"error", "average"}, default="error"
        What to do where the value of a pair depends on its order.
    """

    kernel: ObjectKernel
    takes_blocks: bool | None = None
    symmetrize: str = "error"

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, ObjectKernel):
            object.__setattr__(self, "kernel", FunctionKernel(self.kernel))
        if self.takes_blocks is None:
            object.__setattr__(self, "takes_blocks", self.kernel.takes_blocks)
        one_of(self.symmetrize, "symmetrize", SYMMETRIZE)

    def place(self, X: Any, name: str = "X") -> Objects:
        return as_objects(X, name)

    def settled(self, X: Any) -> CallableSimilarity:
        return self  # what there is to check and to learn is, when values are there

    def landmarks(self, X: Any, rows: np.ndarray | None = None) -> Any:
        return X if rows is None else X[rows]

    def square(self, X: Any, landmarks: Any) -> np.ndarray:
        return self.training(landmarks).matrix

    def block(self, X: Any, landmarks: Any, effort: Effort | None = None) -> np.ndarray:
        with self.evaluation(len(X) * len(landmarks), effort) as evaluation:
            values = evaluation.rectangle(X, landmarks, np.arange(len(X)), np.arange(len(landmarks)))
        values = self.kernel.similarity(values)
        return values.astype(np.float32) if evaluation.itemsize == 4 else values

    def training(self, X: Any, effort: Effort | None = None) -> TrainingMatrix:
        n = len(X)
        with self.columns(X, n, effort) as columns:
            for rows in row_blocks(n, _TAKEN):
                columns.take(np.arange(rows.start, rows.stop))
            matrix = symmetric_part(columns.matrix())
        return TrainingMatrix(self.learned(columns), X, matrix, columns.evaluation.count)

    def evaluation(self, pairs: int, effort: Effort | None = None) -> Evaluation:
        """A context in which pairs are evaluated."""
        average = self.symmetrize == "average"
        total = pairs * (2 if average else 1)
        return Evaluation(self.kernel, self.takes_blocks, effort or Effort(), total=total, average=average)

    @contextmanager
    def columns(self, X: Objects, count: int, effort: Effort | None = None) -> Iterator[CalledColumns]:
        """A context with columns of the matrix of training objects, for so many landmarks."""
        with self.evaluation((count + 1) * len(X), effort) as evaluation:
            yield CalledColumns(self.kernel, X, evaluation, count, average=self.symmetrize == "average")

    def learned(self, columns: CalledColumns) -> CallableSimilarity:
        """The similarity with what was found out while columns were made."""
        return replace(self, kernel=columns.kernel, takes_blocks=columns.evaluation.takes_blocks)


def is_called(kernel: Any) -> bool:
    """Whether the parameter ``kernel`` is a similarity of any objects, which is called."""
    if isinstance(kernel, ObjectKernel):
        return not kernel.precomputed
    # A class is no function: DeltaGaussian for DeltaGaussian()
    return callable(kernel) and not isinstance(kernel, type | Kernel)


def is_precomputed(kernel: Any) -> bool:
    """Whether the parameter ``kernel`` says that X is a matrix of similarities, or of distances."""
    return kernel.precomputed if isinstance(kernel, ObjectKernel) else isinstance(kernel, str)


def kernel_of(similarity: Similarity) -> Any:
    """What a fitted similarity would be given as ``kernel`` for."""
    if isinstance(similarity, PrecomputedSimilarity):
        return "precomputed" if similarity.kernel is None else similarity.kernel
    assert isinstance(similarity, KernelSimilarity | CallableSimilarity)
    kernel = similarity.kernel
    return kernel.function if isinstance(kernel, FunctionKernel) else kernel


def as_similarity(kernel: Any, *, call: str = "auto", symmetrize: str = "error") -> Similarity:
    """A similarity from what the parameter ``kernel`` may be."""
    one_of(call, "call", CALLS)
    one_of(symmetrize, "symmetrize", SYMMETRIZE)
    if kernel is None:
        return KernelSimilarity(DeltaGaussian())
    if isinstance(kernel, Kernel):
        return KernelSimilarity(kernel)
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return PrecomputedSimilarity(symmetrize=symmetrize)
        raise ValueError(
            f"kernel must be a kernel of krein.kernels, a callable or 'precomputed', got {kernel!r}; kernels by name come "
            "from krein.kernels.parse_kernel"
        )
    if isinstance(kernel, ObjectKernel) and kernel.precomputed:
        return PrecomputedSimilarity(kernel, symmetrize)
    if is_called(kernel):
        return CallableSimilarity(kernel, {"pairs": False, "blocks": True}.get(call), symmetrize)
    raise TypeError(
        f"kernel must be a kernel of krein.kernels, a callable or 'precomputed', got {kernel!r} of type "
        f"{type(kernel).__name__}"
    )
