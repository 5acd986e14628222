"""The machine of `krein.ExactKreinSVC`: LibSVM on the flipped matrix, and the choice of its cost on held-out objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from sklearn.svm import SVC

from krein.learning.folds import ranked_folds
from krein.nystroem import signed_spectrum
from krein.nystroem.spectrum import SignedSpectrum
from krein.show.progress import report

__all__ = ["FlippedMachine", "bounded", "chosen_cost"]

_CACHE = 500  # megabytes that LibSVM may keep of the kernel matrix
# before LibSVM gives up with a warning: costs that no machine can meet would keep it busy for ever
_LEAST_ITERATIONS = 10**6
_FACTOR = 1e9
_USUAL = 100.0  # C for a matrix whose eigenvalues have a mean size of one; noise in the labels wants less, a narrow kernel more
_OTHERS = (1.0, 10.0, 1000.0)
_MOST = 800  # objects that take part in the choice


@final
@dataclass(frozen=True, eq=False)
class FlippedMachine:
    """A machine on some objects; a row of weight w stands for w equal rows."""

    machine: SVC
    spectrum: SignedSpectrum
    root: np.ndarray

    @classmethod
    def fit(
        cls, matrix: np.ndarray, labels: np.ndarray, weight: np.ndarray, factor: np.ndarray, C: float, tol: float
    ) -> FlippedMachine:
        """Solve for objects of these weights, whose classes have these factors of C."""
        # a row of weight 2 is two rows of the matrix: its spectrum is that of the matrix scaled by the roots
        root = np.sqrt(weight)
        return cls._of(signed_spectrum(matrix * np.multiply.outer(root, root)), root, labels, factor * weight, C, tol)

    @classmethod
    def _of(
        cls, spectrum: SignedSpectrum, root: np.ndarray, labels: np.ndarray, cost: np.ndarray, C: float, tol: float
    ) -> FlippedMachine:
        iterations = max(_LEAST_ITERATIONS, 100 * labels.size)
        machine = SVC(C=C, kernel="precomputed", tol=tol, cache_size=_CACHE, max_iter=iterations)
        machine.fit(spectrum.flipped() / np.multiply.outer(root, root), labels, cost)
        return cls(machine, spectrum, root)

    @property
    def carry(self) -> np.ndarray:
        """What similarities to the training objects are multiplied with to be those to the support vectors after the flip."""
        support = self.machine.support_
        return np.asarray(self.root[:, None] * self.spectrum.flip_of(support) / self.root[support])

    def right(self, block: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Which of some objects, given by their similarities to the training objects, are in the class that is predicted."""
        flipped = np.zeros(block.shape)  # LibSVM reads the columns of support vectors only
        flipped[:, self.machine.support_] = block @ self.carry
        return np.asarray(self.machine.predict(flipped) == labels)


def bounded(weight: np.ndarray) -> np.ndarray:
    """Weights within a factor of the median beyond which a price is infinite or nothing, as LibSVM's numbers go."""
    middle = float(np.median(weight))
    return np.asarray(np.clip(weight, middle / _FACTOR, middle * _FACTOR))


def chosen_cost(
    matrix: np.ndarray, labels: np.ndarray, weight: np.ndarray, factor: np.ndarray, tol: float
) -> tuple[float, np.ndarray, np.ndarray]:
    r"""C, the values tried, and the accuracy of each on held-out objects.

    All are in units of the mean size of the eigenvalues. The usual one is left only for a gain of more than its standard error.
    """
    if labels.size > _MOST:  # of each class, from its edge to its middle
        density = np.round(matrix @ weight / (np.abs(matrix).max() * weight.sum() or 1.0), 9)
        some = np.sort(np.lexsort((density, labels))[np.arange(_MOST) * labels.size // _MOST])
        matrix, labels, weight, factor = matrix[np.ix_(some, some)], labels[some], weight[some], factor[some]
    n = labels.size
    unit = float(np.abs(np.linalg.eigvalsh(matrix)).mean()) or 1.0
    costs = np.array([_USUAL, *_OTHERS]) / unit
    counts = np.zeros(n)
    right = np.zeros((costs.size, n))
    classes = np.unique(labels)
    folds = ranked_folds(matrix, (labels[:, None] == classes).astype(np.float64), weight)
    splits = [(inside, outside) for inside, outside in folds if np.unique(labels[inside]).size == classes.size]
    for done, (inside, outside) in enumerate(splits, 1):
        root = np.sqrt(weight[inside])
        spectrum = signed_spectrum(matrix[np.ix_(inside, inside)] * np.multiply.outer(root, root))
        counts[outside] += 1.0
        for i, C in enumerate(costs):
            fitted = FlippedMachine._of(spectrum, root, labels[inside], factor[inside] * weight[inside], C, tol)
            right[i, outside] += fitted.right(matrix[np.ix_(outside, inside)], labels[outside])
        report("folds", done, len(splits))
    seen = counts > 0.0
    if not seen.any():
        return float(costs[0]), costs, np.full(costs.size, np.nan)
    share = weight[seen] / weight[seen].sum()
    accuracy = right[:, seen] / counts[seen]
    gains = accuracy - accuracy[0]
    mean = gains @ share
    error = np.sqrt(np.square((gains - mean[:, None]) * share).sum(axis=1))
    clear = mean - error
    best = int(clear.argmax()) if clear.max() > 0.0 else 0
    return float(costs[best]), costs, accuracy @ share
