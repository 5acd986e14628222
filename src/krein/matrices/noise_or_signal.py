r"""Is a negative part noise or signal? Directions of one half of the objects looked for in the other, and directions counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from krein._core.threads import quiet_blas
from krein.matrices.matrix_operator import SymmetricOperator
from krein.nystroem.spectrum import signed_spectrum

__all__ = ["Concentration", "Replication", "concentration_of_negative_part", "replicate_negative_part"]

_DEVIATIONS = 4.0  # standard deviations from what noise gives that are no noise

# Directions found again
_DIRECTIONS = 10  # negative directions compared at most
_OBJECTS_EACH = 6  # objects of a half needed for each of them, or chance alone makes the spaces overlap
_HALF = 1000  # objects of a half at most
_SPLITS = 4  # of few objects; of many one is enough
_ENOUGH = 2000  # objects that count as many
_LEAST_SHARE = 0.1  # of directions found again; less is of no use even if it is not chance

# Directions counted
_MOST_CONCENTRATED = 200  # objects up to which this is looked at: of more, halves tell
_DRAWS = 40  # of noise, from which mean and standard deviation are taken
_TUNED_DRAWS = 4  # of them set its size
_HALVINGS = 12  # of the interval in which that size lies
_DOUBTFUL = 2.0  # standard deviations below which it may or may not be


@final
@dataclass(frozen=True)
class Replication:
    r"""How much of the negative space of one half of the objects is found in the other half.

    Parameters
    ----------
    overlap : float
        Mean squared cosine of negative directions carried over from one half with the negative space of the other,
        weighted by eigenvalues; from 0 to 1.
    chance : float
        At most what noise has on average: the dimension of that space over the number of objects.
    n_directions : int
        Negative directions compared.
    n_objects : int
        Of a half.
    """

    overlap: float
    chance: float
    n_directions: int
    n_objects: int

    @property
    def share(self) -> float:
        """The overlap beyond chance, 1 where all directions are found again."""
        return (self.overlap - self.chance) / (1.0 - self.chance)

    @property
    def least(self) -> float:
        """The share below which it is chance, or too little to use."""
        return max(_LEAST_SHARE, _DEVIATIONS * math.sqrt(2.0) / self.n_objects)

    @property
    def found_again(self) -> bool:
        """Whether more was found again than chance gives."""
        return self.share > self.least


def replicate_negative_part(
    operator: SymmetricOperator, rounding: float, rng: np.random.Generator
) -> Replication | None:
    r"""Carry negative directions from half of the objects, A, to the others, B, and see whether they are negative there.

    A negative eigenvector u of :math:`K_{AA}` becomes :math:`w = K_{BA} u` on B, as eigenfunctions of a kernel do. If
    :math:`K` is positive but for independent noise in its entries, the space of :math:`K_{BB}`'s negative eigenvectors, of
    dimension k, takes up no more than the fraction :math:`k / |B|` of w on average, give or take :math:`\sqrt{2} / |B|` over k
    directions. It takes up less where there is signal: negative vectors avoid the strong positive directions of their half, and w,
    which is carried by the similarity, leans towards them. If the negative part belongs to the similarity, w lies in that space.
    No size of noise has to be known.
    """
    n = operator.n_objects
    half = min(n // 2, _HALF)
    most = min(_DIRECTIONS, half // _OBJECTS_EACH)
    if most < 1:
        return None
    overlaps, chances, counts = [], [], []
    for _ in range(_SPLITS if n <= _ENOUGH else 1):
        both = rng.permutation(n)[: 2 * half]
        K = operator.dense(both)
        sides = (np.arange(half), np.arange(half, 2 * half))
        spectra = [signed_spectrum(np.ascontiguousarray(K[np.ix_(rows, rows)])) for rows in sides]
        spaces = []
        for one in spectra:
            negative = np.flatnonzero(one.values < -rounding)[:most]  # the largest absolute values come first
            spaces.append((one.values[negative], one.vectors[:, negative]))
        count = min(len(values) for values, _ in spaces)
        if not count:
            continue
        for here, there in ((0, 1), (1, 0)):
            values, vectors = (part[..., :count] for part in spaces[here])
            with quiet_blas():
                carried = K[np.ix_(sides[there], sides[here])] @ vectors
                inside = spaces[there][1][:, :count].T @ carried
            lengths = np.square(carried).sum(axis=0)
            shares = np.square(inside).sum(axis=0) / np.where(lengths > 0.0, lengths, 1.0)
            overlaps.append(float(np.average(shares, weights=-values)))
            chances.append(count / half)
            counts.append(count)
    if not overlaps:
        return None
    return Replication(float(np.mean(overlaps)), float(np.mean(chances)), max(counts), half)


@final
@dataclass(frozen=True)
class Concentration:
    r"""In how many directions the negative part sits, :math:`(\sum |\lambda_-|)^2 / \sum \lambda_-^2`, and how many noise fills.

    Parameters
    ----------
    directions : float
        Of the matrix.
    expected : float
        Mean over draws of independent noise in the entries that give a positive matrix as large a negative part.
    spread : float
        Standard deviation over those draws.
    """

    directions: float
    expected: float
    spread: float

    @property
    def deviations(self) -> float:
        """Standard deviations by which the directions of noise are more than those found."""
        return (self.expected - self.directions) / self.spread

    @property
    def verdict(self) -> str:
        """Whether it is ``"noise"`` or ``"signal"``; ``"undecided"`` where so few directions could be either.

        Signal is more than four standard deviations from noise. Were the directions of noise normally distributed, with mean and
        deviation known, it would be called signal once in 30,000 times; as both come from 40 draws, once in 6,000. That they are
        has not been measured. Where not even a single direction would be called signal, nothing is called noise.
        """
        if self.deviations > _DEVIATIONS:
            return "signal"
        told = self.deviations < _DOUBTFUL and self.expected - 1.0 > _DEVIATIONS * self.spread
        return "noise" if told else "undecided"


def concentration_of_negative_part(
    operator: SymmetricOperator, rounding: float, rng: np.random.Generator
) -> Concentration | None:
    r"""Compare the concentration of the negative part with that of noise added to the positive part.

    Noise of standard deviation ε is added to the clipped matrix :math:`K_+`, with ε such that negative eigenvalues have the sum
    they have in K. It fills all directions in which :math:`K_+` is small. What was positive before the noise came is smaller
    than :math:`K_+`, which has the positive half of the noise as well, and so leaves more directions to it: if K is positive except
    for noise, it has rather more negative directions than this finds, not fewer.
    """
    n = operator.n_objects
    if n > _MOST_CONCENTRATED:
        return None
    found = signed_spectrum(operator.dense())
    sizes = _negative(found.values, rounding)
    if not sizes.size:
        return None
    clipped = (found.vectors * np.maximum(found.values, 0.0)) @ found.vectors.T
    noise = [_symmetric_noise(n, rng) for _ in range(_DRAWS)]

    def negatives(epsilon: float, draws: list[np.ndarray]) -> list[np.ndarray]:
        with quiet_blas():
            return [_negative(np.linalg.eigvalsh(clipped + epsilon * one), rounding) for one in draws]

    low, high = 0.0, 2.0 * float(sizes.sum())  # noise of the sum of all in each entry is more than enough
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        mean = float(np.mean([one.sum() for one in negatives(middle, noise[:_TUNED_DRAWS])]))
        low, high = (middle, high) if mean < sizes.sum() else (low, middle)
    expected = np.array([_directions(one) for one in negatives(0.5 * (low + high), noise)])
    return Concentration(_directions(sizes), float(expected.mean()), float(expected.std(ddof=1)) or 1.0)


def _negative(values: np.ndarray, rounding: float) -> np.ndarray:
    return -values[values < -rounding]


def _directions(sizes: np.ndarray) -> float:
    return float(sizes.sum() ** 2 / np.square(sizes).sum()) if sizes.size else 0.0


def _symmetric_noise(n: int, rng: np.random.Generator) -> np.ndarray:
    """Independent entries of variance 1 off the diagonal: similarities to oneself are known."""
    upper = np.triu(rng.normal(size=(n, n)), 1)
    return np.asarray(upper + upper.T)
