"""Triangle inequalities of a matrix of distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

__all__ = ["TriangleCheck", "check_triangles"]

_ALL = 150  # objects up to which all triples are looked at
_DRAWN = 300_000  # triples drawn otherwise
_SLACK = 1e-9  # of the longest side: less is rounding


@final
@dataclass(frozen=True)
class TriangleCheck:
    r"""How often, and by how much, the way over a third object is shorter.

    Parameters
    ----------
    share : float
        Share of the examined triples in which one side is longer than the other two together.
    worst : float
        The largest excess :math:`d(i, j) - d(i, k) - d(k, j)` as a fraction of :math:`d(i, j)`; 0 if there is none.
    example : (int, int, int) or None
        Objects i, j and k of the worst triple.
    exhaustive : bool
        Whether all triples were looked at, or a random sample.
    """

    share: float
    worst: float
    example: tuple[int, int, int] | None
    exhaustive: bool


def check_triangles(distances: np.ndarray, rng: np.random.Generator) -> TriangleCheck:
    """Look at all triples of a few objects, or some hundred thousand random ones of many.

    Examples
    --------
    >>> import numpy as np
    >>> D = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
    >>> check_triangles(D, np.random.default_rng(0))
    TriangleCheck(share=1.0, worst=0.6, example=(0, 2, 1), exhaustive=True)
    """
    n = distances.shape[0]
    if n < 3:
        return TriangleCheck(0.0, 0.0, None, True)
    if n <= _ALL:
        i, j, k = (index.ravel() for index in np.meshgrid(*[np.arange(n)] * 3, indexing="ij", sparse=False))
        different = (i < j) & (j < k)
        i, j, k = i[different], j[different], k[different]
    else:
        i = rng.integers(n, size=_DRAWN)
        j = (i + rng.integers(1, n, size=_DRAWN)) % n
        k = rng.integers(n, size=_DRAWN)
        different = (k != i) & (k != j)
        i, j, k = i[different], j[different], k[different]
    sides = np.stack([distances[i, j], distances[i, k], distances[j, k]]).astype(np.float64)
    longest = sides.max(axis=0)
    excess = 2.0 * longest - sides.sum(axis=0)
    broken = excess > _SLACK * longest
    if not broken.any():
        return TriangleCheck(0.0, 0.0, None, n <= _ALL)
    relative = np.where(broken, excess / np.where(longest > 0.0, longest, 1.0), 0.0)
    worst = int(relative.argmax())
    a, b, c = int(i[worst]), int(j[worst]), int(k[worst])
    example = ((a, b, c), (a, c, b), (b, c, a))[int(sides[:, worst].argmax())]
    return TriangleCheck(float(broken.mean()), float(relative[worst]), example, n <= _ALL)
