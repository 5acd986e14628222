r"""Is a negative part of few objects noise or signal? Whether it sits in fewer directions than noise of its size would fill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from krein._core.threads import quiet_blas
from krein.matrices.matrix_operator import SymmetricOperator
from krein.nystroem.spectrum import signed_spectrum

__all__ = ["MOST_CONCENTRATED", "Concentration", "concentration_of_negative_part"]

MOST_CONCENTRATED = 200  # objects up to which this is looked at: of more, halves tell
_DRAWS = 40  # of noise, from which mean and standard deviation are taken
_TUNED_DRAWS = 4  # of them set its size
_HALVINGS = 12  # of the interval in which that size lies
_DEVIATIONS = 4.0  # standard deviations below the mean of noise that are no noise
_DOUBTFUL = 2.0  # standard deviations below which it may or may not be


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
    if n > MOST_CONCENTRATED:
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
