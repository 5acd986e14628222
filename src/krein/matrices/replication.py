r"""Is a negative part noise or signal? Negative directions found among half of the objects, looked for among the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from krein._core.threads import quiet_blas
from krein.matrices.matrix_operator import SymmetricOperator
from krein.nystroem.spectrum import signed_spectrum

__all__ = ["Replication", "replicate_negative_part"]

_DIRECTIONS = 10  # negative directions compared at most
_OBJECTS_EACH = 6  # objects of a half needed for each of them, or chance alone makes the spaces overlap
_HALF = 1000  # objects of a half at most
_SPLITS = 4  # of few objects; of many one is enough
_ENOUGH = 2000  # objects that count as many
_DEVIATIONS = 4.0  # standard deviations of chance that a share must exceed
_LEAST_SHARE = 0.1  # of directions found again; less is of no use even if it is not chance


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
