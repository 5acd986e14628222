r"""Dictionaries for ``weights="projected"``: their columns, and the best signed combinations of them on a sample of rows.

On rows Y take :math:`C(Y) = QR`, :math:`R = U\Sigma V^T`, the Kreĭn Gram matrix :math:`(QU)^T k(Y, Y)\,QU = W\Lambda W^T`, and
map x to :math:`C(x)\,V\Sigma^{-1}W|\Lambda|^{1/2}` with signature sign Λ, the largest :math:`|\Lambda|` first: the first columns of
a decomposition are the best map of any smaller width. The matrix :math:`C^TC` is never formed, as it has half the digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from krein._core.representatives import Columns, cluster_centers, pivoted_rows
from krein._core.rows import row_norms
from krein._core.staircase import as_staircase
from krein._core.threads import blas_threads
from krein.features.draw import Drawn, draw_map
from krein.features.feature_map import FeatureMap, SectionColumns
from krein.features.feature_recipe import FeatureRecipe, projection_rows
from krein.features.head import head_basis
from krein.features.held_out import CHECK_COLUMNS, Gram, first_nearly_best, held_out_gram, upper_error
from krein.features.region import FitTask
from krein.features.sections import compiled_gram
from krein.kernels import Kernel
from krein.measures import Head, SignedMeasure
from krein.sampling import Frequencies

__all__ = [
    "Decomposed",
    "decompose",
    "DRAWN_COLUMNS",
    "PILOT_WIDTH",
    "draw_dictionary",
    "landmark_rows",
    "choose_kind",
    "drawn_columns",
]

TRUNCATIONS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-11)  # of the largest singular value, the coarsest first
_LEVEL = 3e-6  # of the largest singular value: what is smaller is lost in the rounding of its square
_ROWS_PER_BLOCK = 1024  # of the kernel matrix: 64 MiB of it at 8,192 rows
_PASSES = 3  # of Lloyd's algorithm: from there on the error changes by a percent or so
_ROWS_PER_LANDMARK = 20  # that it stands for, or among which it is sought; with fewer, pivots miss rare kinds of rows
_LEAST_ROWS_PER_COLUMN = 4  # fewer rows than this, and fewer columns are drawn; but as many as are kept, where possible
_MANY = 400  # landmarks of a smooth kernel: what as many leave unexplained are rare rows, for which no center of a cluster stands
_NEAR = 1e-3  # of the rows' reach: a distance at which it shows whether a kernel is smooth
# A kernel falls over two distances by so many times what it falls by over one: four if smooth, two with a kink
_SMOOTH = 3.0
_SHORTEST = 1e-6  # of a mean of unit vectors, below which it has no direction to speak of
PILOT_WIDTH = 64  # columns kept by the small fits; what is ahead there is ahead, or hardly behind, at larger widths


@final
@dataclass(frozen=True, eq=False)
class Decomposed:
    """A dictionary whose combinations are sorted: the first of them are the best map of any width.

    Parameters
    ----------
    wide : FeatureMap
        The dictionary.
    matrix : ndarray of shape (n_columns, rank)
        Its columns times this are features.
    signs : ndarray of shape (rank,)
    truncation : float
        Singular values below this part of the largest were dropped.
    checked : ndarray of shape (n_check, rank)
        Features of the rows that chose the truncation.
    exact : ndarray of shape (n_check, at most n_check)
        Their kernel matrix, see `krein.features.held_out.held_out_gram`.
    """

    wide: FeatureMap
    matrix: np.ndarray
    signs: np.ndarray
    truncation: float
    checked: np.ndarray
    exact: np.ndarray

    @property
    def rank(self) -> int:
        """How many directions there are."""
        return int(self.signs.size)

    def feature_map(self, width: int) -> FeatureMap:
        """The best map of some width; columns that there are no directions for are zero. Those of one sign are in no order."""
        missing = max(width - self.rank, 0)
        matrix, signs = self.matrix[:, :width], self.signs[:width]
        if self.wide.sections is not None:  # in double precision; in single a rotation of waves would cost digits
            with blas_threads(float(matrix.size) * matrix.shape[1]):
                matrix, signs = as_staircase(matrix, signs)
        matrix = np.pad(matrix, ((0, 0), (0, missing)))
        signs = np.pad(signs, (0, missing), constant_values=1.0)
        return replace(self.wide, projection=matrix, projected_signature=signs)

    def error(self, width: int) -> float:
        """Relative error of the map of some width on the rows that chose the truncation."""
        return float(np.linalg.norm(self._left(width))) / (float(np.linalg.norm(self.exact)) or 1.0)

    def upper_error(self, width: int) -> float:
        """The same with two standard errors added, see `krein.features.held_out.upper_error`."""
        return upper_error(self._left(width), self.exact)

    def _left(self, width: int) -> np.ndarray:
        """What the map of some width leaves of the kernel matrix."""
        features = self.checked[:, :width]
        others = features[: self.exact.shape[1]] * self.signs[:width]
        return np.asarray(self.exact - features @ others.T)


def decompose(
    wides: Sequence[FeatureMap],
    fit_rows: np.ndarray,
    check_rows: np.ndarray,
    gram: Gram,
    check_columns: int = CHECK_COLUMNS,
) -> list[Decomposed]:
    """Sort the combinations of some dictionaries, all on the same rows, so that the kernel matrix is computed once.

    Of truncations with nearly equal errors the coarsest is taken, see `krein.features.held_out`.
    """
    landmarks = [wide.sections.landmarks for wide in wides if wide.sections is not None]
    fit_rows = np.concatenate([fit_rows, *landmarks])
    spans = [_Span.of(wide.columns(fit_rows)) for wide in wides]
    middles = _krein_matrices([span.basis for span in spans], fit_rows, gram)
    exact = held_out_gram(check_rows, gram, check_columns)
    found = []
    for wide, span, middle in zip(wides, spans, middles, strict=True):
        checked = wide.columns(check_rows) @ span.whitened
        rank, truncation = _best_rank(span, middle, checked, exact)
        with blas_threads(4.0 * rank**3):
            spectrum, rotation = np.linalg.eigh(middle[:rank, :rank])
        order = np.argsort(-np.abs(spectrum), kind="stable")
        turn = rotation[:, order] * np.sqrt(np.abs(spectrum[order]))
        signs = np.where(spectrum[order] < 0, -1.0, 1.0)
        with blas_threads(float(rank) ** 2 * wide.n_columns):
            matrix = span.whitened[:, :rank] @ turn
        found.append(Decomposed(wide, matrix, signs, truncation, checked[:, :rank] @ turn, exact))
    return found


@final
@dataclass(frozen=True, eq=False)
class _Span:
    """Orthonormal directions of some columns, ``columns @ whitened``, those of the largest singular values first."""

    basis: np.ndarray
    whitened: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray) -> _Span:
        """Eigenvectors of :math:`C^TC`, in levels: what is small beside the first is lost in the rounding of squares, so it is
        orthogonalized against it and taken apart anew. Far cheaper than an SVD of C, and as accurate."""
        rows, count = columns.shape
        basis, whitened, values = np.empty((rows, 0)), np.empty((count, 0)), np.empty(0)
        left, combined = columns, np.eye(count)  # left = columns @ combined
        with blas_threads(float(count) ** 2 * rows):
            while left.shape[1]:
                squares, vectors = np.linalg.eigh(left.T @ left)
                sizes = np.sqrt(np.maximum(squares[::-1], 0.0))
                kept = int(
                    np.count_nonzero(sizes > max(_LEVEL * sizes[0], TRUNCATIONS[-1] * max(values[:1], default=0.0)))
                )
                if not kept:
                    break
                turned = combined @ (vectors[:, ::-1][:, :kept] / sizes[:kept])
                directions = columns @ turned  # with the rounding that features have
                inverse, _ = lapack.dtrtri(linalg.cholesky(directions.T @ directions, check_finite=False))
                turned, directions = turned @ inverse, directions @ inverse
                combined = combined @ vectors[:, : count - kept]
                left = columns @ combined
                shares = directions.T @ left
                left, combined = left - directions @ shares, combined - turned @ shares
                basis, whitened = np.hstack([basis, directions]), np.hstack([whitened, turned])
                values, count = np.append(values, sizes[:kept]), count - kept
        return cls(basis, whitened, values)


def _best_rank(span: _Span, middle: np.ndarray, checked: np.ndarray, exact: np.ndarray) -> tuple[int, float]:
    """How many directions to keep. They are sorted, so all truncations are compared before any direction is rotated."""
    kept = [int(np.count_nonzero(span.values > truncation * span.values[:1])) for truncation in TRUNCATIONS]
    others, size = checked[: exact.shape[1]], float(np.linalg.norm(exact)) or 1.0

    def error(rank: int) -> float:
        weighted = middle[:rank, :rank] @ others[:, :rank].T
        return float(np.linalg.norm(checked[:, :rank] @ weighted - exact)) / size

    ranks = sorted(set(kept))
    rank = ranks[first_nearly_best([error(rank) for rank in ranks])]
    return rank, TRUNCATIONS[kept.index(rank)]


def _krein_matrices(bases: Sequence[np.ndarray], rows: np.ndarray, gram: Gram) -> list[np.ndarray]:
    """Qᵀ k(Y, Y) Q for each basis Q: each pair of rows once, and k(Y, Y) never held whole."""
    totals = [np.zeros((basis.shape[1],) * 2) for basis in bases]
    for start in range(0, rows.shape[0], _ROWS_PER_BLOCK):
        block = slice(start, start + _ROWS_PER_BLOCK)
        exact = gram(rows[block], rows[start:])
        exact[:, : exact.shape[0]] *= 0.5  # pairs within the block are met from both sides
        for basis, total in zip(bases, totals, strict=True):
            with blas_threads(float(exact.size) * basis.shape[1]):
                total += basis[block].T @ (exact @ basis[start:])
    return [total + total.T for total in totals]


# Columns drawn for each that is kept, by the kind of dictionary, the plainest first: a wave costs less than a section. Fewer
# sections will do, as their spectrum falls with the kernel's. They have no head beside them: a linear column that is zero but on a
# rare kind of row has hardly a row to fit its weights. A mixture of both gained nothing but on rows like the rest: its linear
# columns and waves go astray on rare kinds of rows.
DRAWN_COLUMNS = {"waves": 4, "landmarks": 2}


def drawn_columns(recipe: FeatureRecipe, kind: str) -> int:
    """Columns drawn for each that is kept, as the recipe has it or by default."""
    return DRAWN_COLUMNS[kind] if recipe.oversampling == "auto" else int(recipe.oversampling)


def draw_dictionary(task: FitTask, kind: str, width: int, pool: np.ndarray, rng: np.random.Generator) -> Drawn:
    """The columns of a dictionary that is to be compressed to some width."""
    recipe, sample, region = task.recipe, task.sample, task.region
    wave_rng, landmark_rng = rng.spawn(2)
    per_column = drawn_columns(recipe, kind)
    n_fit = min(projection_rows(width, per_column), len(pool))
    total = max(min(per_column * width, n_fit // _LEAST_ROWS_PER_COLUMN), width)
    if kind == "waves":
        drawn = draw_map(recipe, sample, region, total, wave_rng)
        return replace(drawn, feature_map=replace(drawn.feature_map, padding=0), exact=False)
    count = min(total, n_fit)
    stood_for = pool[-max(_ROWS_PER_LANDMARK * count, n_fit) :]
    if count >= _MANY and _is_smooth(recipe.kernel, pool):
        pivots = pivoted_rows(_SectionPivots(recipe.kernel, stood_for), count, landmark_rng)
        landmarks = stood_for[np.sort(pivots)]
    else:
        landmarks = landmark_rows(stood_for, count, landmark_rng, sphere=region.sphere)
    sections = SectionColumns(recipe.kernel, landmarks)
    basis = head_basis(Head(()), sample.dim, sphere=region.sphere, center=region.center, scale=region.scale)
    nothing = Frequencies(np.empty((0, sample.dim)), np.empty(0))
    return Drawn(SignedMeasure(sample.dim), FeatureMap(basis, nothing, basis.weights, np.empty(0), sections=sections))


def landmark_rows(rows: np.ndarray, count: int, rng: np.random.Generator, *, sphere: bool) -> np.ndarray:
    """Points that stand for some rows: centers of clusters, of unit length on the sphere."""
    centers = cluster_centers(rows, count, rng, passes=_PASSES)
    if not sphere:
        return centers
    lengths = row_norms(centers)
    astray = lengths < _SHORTEST  # the mean of opposite rows: any of the rows will do
    centers[astray], lengths[astray] = rows[0], row_norms(rows[:1])
    return np.asarray(centers / lengths[:, None])


def _is_smooth(kernel: Kernel, rows: np.ndarray) -> bool:
    """Whether a kernel falls with the square of small distances."""
    near = _NEAR * float(row_norms(rows - rows.mean(axis=0)).max(initial=0.0))
    at_zero, once, twice = kernel.radial(np.array([0.0, near, 2.0 * near]))
    return bool(abs(twice - at_zero) > _SMOOTH * abs(once - at_zero))


@final
class _SectionPivots(Columns):
    """The kernel matrix of placed rows, of which some columns are computed."""

    def __init__(self, kernel: Kernel, rows: np.ndarray) -> None:
        self.n_rows, self.rows = len(rows), rows
        self._at_zero, self._gram = float(kernel.radial(np.zeros(1))[0]), compiled_gram(kernel, rows)

    def diagonal(self) -> np.ndarray:
        return np.full(self.n_rows, self._at_zero)

    def among(self, chosen: np.ndarray) -> np.ndarray:
        return self._gram(self.rows[chosen], self.rows[chosen])

    def take(self, chosen: np.ndarray) -> np.ndarray:
        return self._gram(self.rows, self.rows[chosen])


def choose_kind(task: FitTask, width: int, pool: np.ndarray, check_rows: np.ndarray, rng: np.random.Generator) -> str:
    """What was asked for, or what does best on held-out rows at a small width."""
    if task.recipe.dictionary != "auto":
        return task.recipe.dictionary
    width, kinds = min(width, PILOT_WIDTH), list(DRAWN_COLUMNS)
    wides = [draw_dictionary(task, kind, width, pool, rng).feature_map for kind in kinds]
    found = decompose(wides, pool[-projection_rows(width) :], check_rows, task.gram)
    return kinds[first_nearly_best([one.error(width) for one in found])]
