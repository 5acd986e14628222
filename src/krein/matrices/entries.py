"""What the entries of a square matrix say before any eigenvalue: missing, infinite, asymmetric, sizes, triangle inequalities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.rows import row_blocks
from krein.similarities.matrix_checks import asymmetry_tolerance

__all__ = ["EntryScan", "TriangleCheck", "as_square", "check_triangles", "in_range", "scan_entries"]

_ALL = 150  # objects up to which all triples are looked at
_DRAWN = 300_000  # triples drawn otherwise
_SLACK = 1e-9  # of the longest side: less is rounding
_SAFE_POWER = 60  # of ten: fourth powers of entries, summed over a matrix, are floats
_STRIPE = 256  # rows looked at together with the columns of the same numbers: 40 MiB of 20,000 columns


@final
@dataclass(frozen=True)
class EntryScan:
    r"""What one pass over a matrix found.

    Parameters
    ----------
    n_objects : int
    n_missing, n_infinite : int
        Entries that are NaN, and that are infinite.
    first_bad : (int, int) or None
        The first of them.
    largest : float
        Size of the largest finite entry.
    smallest : float
        The smallest finite entry.
    largest_gap : float
        Largest :math:`|K_{ij} - K_{ji}|`.
    gap_at : (int, int)
        Where it is.
    asymmetry : float
        :math:`\|K - K^\top\|_F / \|K + K^\top\|_F`: 0 for a symmetric matrix, 1 where the halves have nothing in common.
    precision : float
        Relative spacing of the numbers the matrix is held in.
    """

    n_objects: int
    n_missing: int
    n_infinite: int
    first_bad: tuple[int, int] | None
    largest: float
    smallest: float
    largest_gap: float
    gap_at: tuple[int, int]
    asymmetry: float
    precision: float

    @property
    def complete(self) -> bool:
        """Whether all entries are finite."""
        return self.first_bad is None

    @property
    def symmetric(self) -> bool:
        """Whether the two halves differ by no more than rounding."""
        kind = np.float32 if self.precision > np.finfo(np.float64).eps else np.float64
        return self.largest_gap <= asymmetry_tolerance(kind) * self.largest


def as_square(matrix: Any, name: str, way_out: str = "") -> np.ndarray:
    """A square array of real numbers that may be NaN or infinite; float32 and float64 are not copied."""
    array = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
        raise ValueError(
            f"{name} must be a square matrix, a row and a column for each object, got shape {array.shape}{way_out}"
        )
    if array.dtype.kind not in "fiub":
        try:
            array = array.astype(np.float64, casting="safe" if array.dtype.kind == "c" else "unsafe")
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}") from error
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def in_range(matrix: np.ndarray) -> tuple[np.ndarray, float]:
    """The matrix, divided by a power of ten where squares of its entries would leave the range of floats, and that power.

    Examples
    --------
    >>> in_range(np.array([[2e200]]))
    (array([[2.]]), 1e+200)
    """
    finite = (block[np.isfinite(block)] for block in (matrix[rows] for rows in row_blocks(matrix.shape[0], _STRIPE)))
    largest = max(max(float(block.max(initial=0.0)), -float(block.min(initial=0.0))) for block in finite)
    power = 0 if largest == 0.0 else int(np.clip(np.floor(np.log10(largest)), -300, 300))
    if abs(power) <= _SAFE_POWER:
        return matrix, 1.0
    return matrix.astype(np.float64) / 10.0**power, 10.0**power


def scan_entries(matrix: np.ndarray) -> EntryScan:
    """Look at every entry once, in stripes, so that nothing of the size of the matrix is made.

    Examples
    --------
    >>> import numpy as np
    >>> scan = scan_entries(np.array([[1.0, 0.5], [np.nan, 1.0]]))
    >>> scan.n_missing, scan.first_bad
    (1, (1, 0))
    """
    n = matrix.shape[0]
    missing = infinite = 0
    first: tuple[int, int] | None = None
    largest, smallest = 0.0, np.inf
    gap, at = 0.0, (0, 0)
    skew = even = 0.0
    for rows in row_blocks(n, _STRIPE):
        block = matrix[rows]
        if not np.isfinite(block).all():
            bad = ~np.isfinite(block)
            nan = int(np.count_nonzero(np.isnan(block)))
            missing, infinite = missing + nan, infinite + int(np.count_nonzero(bad)) - nan
            if first is None:
                where = np.argwhere(bad)[0]
                first = (rows.start + int(where[0]), int(where[1]))
            block = np.where(bad, 0.0, block)
        largest = max(largest, float(block.max()), -float(block.min()))
        smallest = min(smallest, float(block.min()))
        if first is not None:  # what follows would say nothing
            continue
        across = matrix[:, rows].T
        difference = np.subtract(block, across, dtype=np.float64)
        skew += float(np.vdot(difference, difference))
        np.abs(difference, out=difference)
        if difference.max() > gap:
            i, j = divmod(int(difference.argmax()), n)
            gap, at = float(difference[i, j]), (rows.start + i, j)
        total = np.add(block, across, dtype=np.float64, out=difference)
        even += float(np.vdot(total, total))
    return EntryScan(
        n_objects=n,
        n_missing=missing,
        n_infinite=infinite,
        first_bad=first,
        largest=largest,
        smallest=smallest,
        largest_gap=gap,
        gap_at=at,
        asymmetry=float(np.sqrt(skew / even)) if even > 0.0 else (1.0 if skew > 0.0 else 0.0),
        precision=float(np.finfo(matrix.dtype).eps),
    )


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
