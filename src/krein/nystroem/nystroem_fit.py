r"""Fitting Nyström features: landmarks, the signed root of their matrix, and what was evaluated on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from krein._core.checks import positive_integer
from krein._core.staircase import Staircase, as_staircase
from krein._core.threads import quiet_blas
from krein.nystroem.candidate_columns import KernelChoice
from krein.nystroem.fitted_nystroem import FittedNystroem, fill_features
from krein.nystroem.landmarks import check_rule, landmark_objects, select_landmarks
from krein.nystroem.spectrum import (
    CLEAR_OF_ROUNDING,
    best_cut,
    check_tol,
    compress_features,
    cut_by_halves,
    positive_root,
    signed_root,
    signed_spectrum,
)
from krein.similarities.direct_source import DirectSource, PrecomputedSimilarity
from krein.similarities.matrix_checks import symmetric_part
from krein.similarities.objects import Objects
from krein.similarities.similarity import BlockSource, Similarity

__all__ = ["NystroemFit", "NystroemRecipe", "fit_nystroem"]

_PAID = 0.7  # of the landmarks: all ordered pairs of so many objects are half the square of all of them
_HELD_OUT = 256  # rows on which truncations are compared
_LEAST_PILOT = 8  # objects of a pilot on which truncations are compared; fewer tell nothing
_COMPRESSION_ROWS = 4  # rows for each landmark on which directions are compared


@final
@dataclass(frozen=True)
class NystroemRecipe:
    """What is to be fitted.

    Parameters
    ----------
    n_components : int, default=512
        Number of output columns. Columns beyond the rank are zero.
    landmarks : {"auto", "pivoted", "kmeans", "uniform"} or landmarks, default="auto"
        As in `select_landmarks` and `landmark_objects`; for a precomputed block of similarities to landmarks only, the numbers
        of the landmarks among the rows or the matrix of their similarities to each other.
    oversampling : int, default=1
        Landmarks for each column.
    eigenvalue_tol : float or "auto", default="auto"
        Relative size of the eigenvalues to drop.
    """

    n_components: int = 512
    landmarks: Any = "auto"
    oversampling: int = 1
    eigenvalue_tol: Any = "auto"

    def __post_init__(self) -> None:
        positive_integer(self.n_components, "n_components")
        positive_integer(self.oversampling, "oversampling")
        check_tol(self.eigenvalue_tol)
        check_rule(self.landmarks)

    @property
    def n_landmarks(self) -> int:
        """Landmarks wanted, unless they are given."""
        return self.n_components * self.oversampling


@final
@dataclass(frozen=True, eq=False)
class NystroemFit:
    """What a fit found.

    Parameters
    ----------
    map : FittedNystroem
    n_evaluations : int
        Similarities computed for it.
    block : ndarray of shape (n_samples, n_landmarks) or None
        Similarities of the training objects to the landmarks, where all of them were computed.
    """

    map: FittedNystroem
    n_evaluations: int
    block: np.ndarray | None = None

    def features(self, X: Any) -> np.ndarray:
        """Features of the training objects, computed from what is known where it is."""
        if self.block is None:
            return self.map(X)
        out = np.zeros((self.block.shape[0], self.map.signature.size), dtype=self.map.root.dtype)
        self.map.multiply(self.block, out)
        return out


class _Found(NamedTuple):
    """Landmarks and the signed root of their matrix, before they are brought to the width that is wanted."""

    similarity: BlockSource
    landmarks: Any
    root: np.ndarray
    signature: np.ndarray
    eigenvalues: np.ndarray
    tol: float
    dtype: np.dtype
    n_evaluations: int
    block: np.ndarray | None = None


def fit_nystroem(
    similarity: BlockSource,
    X: Any,
    recipe: NystroemRecipe,
    rng: np.random.Generator,
    choose: KernelChoice | None = None,
) -> NystroemFit:
    r"""Nyström features that keep the signs of the eigenvalues.

    .. math:: K(L, L) = U \Lambda U^\top, \qquad \phi(x) = k(x, L)\,U |\Lambda|^{-1/2}, \qquad \sigma = \operatorname{sign} \Lambda

    The columns of one sign are turned among themselves, see `krein._core.staircase`. Our own products and decompositions are done
    by one thread for each block, so that the result is the same to the last bit for any number of threads (as far as the
    similarity is).
    """
    X = similarity.place(X)
    landmark_rng, sample_rng = rng.spawn(2)
    if isinstance(similarity, Similarity):
        found = _fit_called(similarity, X, recipe, landmark_rng, sample_rng, choose)
    elif (
        isinstance(similarity, PrecomputedSimilarity)
        and X.shape[0] != X.shape[1]
        and not isinstance(recipe.landmarks, str)
    ):
        found = _from_given_block(similarity, X, recipe, sample_rng)
    else:
        found = _fit_direct(similarity.settled(X), X, recipe, landmark_rng, sample_rng)
    root, signature, count = found.root, found.signature, found.n_evaluations
    with quiet_blas():
        if found.eigenvalues.size > recipe.n_components:
            rows = _some_rows(X, _COMPRESSION_ROWS * root.shape[0], sample_rng)
            if isinstance(found.similarity, Similarity) or found.block is not None:
                assert found.block is not None
                features = found.block[rows] @ root
            else:
                features = np.empty((rows.size, root.shape[1]), dtype=X.dtype)
                stairs = Staircase.of(root.astype(X.dtype), signature)
                fill_features(found.similarity.against(found.landmarks), X[rows], stairs, features)
                count += rows.size * root.shape[0]
            turn, signature = compress_features(features, signature, recipe.n_components)
            root = root @ turn
        root, signature = as_staircase(root, signature)
    padded = np.ones(recipe.n_components)
    padded[: signature.size] = signature
    kept = found.eigenvalues[: recipe.n_components]
    fitted = FittedNystroem(found.similarity, found.landmarks, root.astype(found.dtype), padded, kept, found.tol)
    counted = isinstance(similarity, Similarity) or similarity.has_vectors
    return NystroemFit(fitted, count if counted else 0, found.block)


def _fit_called(
    similarity: Similarity,
    X: Objects,
    recipe: NystroemRecipe,
    landmark_rng: np.random.Generator,
    sample_rng: np.random.Generator,
    choose: KernelChoice | None,
) -> _Found:
    """Where every value is a call."""
    count = min(recipe.n_landmarks, len(X))
    with similarity.evaluation((count + 1) * len(X)) as evaluation:
        pilot = similarity.look(X, evaluation, int(_PAID * count))
        found = landmark_objects(pilot, evaluation, X, recipe.n_landmarks, recipe.landmarks, landmark_rng)
    learned = pilot.similarity
    if choose is not None:
        learned = replace(learned, function=choose(found.block, found.square, found.numbers))
    block = learned.similarities(found.block)
    square = symmetric_part(learned.similarities(found.square))
    spectrum, tol = signed_spectrum(square), check_tol(recipe.eigenvalue_tol)
    if tol is None and pilot.numbers.size >= _LEAST_PILOT:
        left = block[pilot.numbers]
        tol = best_cut(spectrum, left, left, learned.similarities(pilot.values), evaluation.itemsize)
    elif tol is None:
        tol = cut_by_halves(block, square, sample_rng, evaluation.itemsize, _HELD_OUT)
    return _Found(learned, found.objects, *signed_root(spectrum, tol), tol, X.dtype, evaluation.count, block)


def _fit_direct(
    similarity: DirectSource,
    X: Any,
    recipe: NystroemRecipe,
    landmark_rng: np.random.Generator,
    sample_rng: np.random.Generator,
) -> _Found:
    """Where any block can be had."""
    chosen, count = select_landmarks(similarity, X, recipe.n_landmarks, recipe.landmarks, landmark_rng)
    square = similarity.square(X, chosen)
    count += square.shape[0] * (square.shape[0] + 1) // 2
    tol = check_tol(recipe.eigenvalue_tol)
    # a kernel's own values have nothing but rounding to drop, and every eigenvalue well above it lowers the error
    clear = CLEAR_OF_ROUNDING[X.dtype.itemsize] if tol is None and similarity.has_vectors else tol
    positive = None if clear is None else positive_root(square, clear)
    if clear is not None and positive is not None:
        root, eigenvalues = positive
        return _Found(similarity, chosen, root, np.ones(eigenvalues.size), eigenvalues, clear, X.dtype, count)
    spectrum = signed_spectrum(square)
    if tol is None:
        sample = _some_rows(X, _HELD_OUT, sample_rng)
        exact = similarity.square(X, similarity.landmarks(X, sample))
        left = np.empty((sample.size, square.shape[0]), dtype=X.dtype)
        similarity.against(chosen)(X[sample], left)
        count += sample.size * (sample.size + 1) // 2 + left.size
        tol = best_cut(spectrum, left, left, exact, min(X.dtype.itemsize, exact.dtype.itemsize))
    return _Found(similarity, chosen, *signed_root(spectrum, tol), tol, X.dtype, count)


def _from_given_block(
    similarity: PrecomputedSimilarity, X: Any, recipe: NystroemRecipe, rng: np.random.Generator
) -> _Found:
    """Where X holds similarities to landmarks alone, which are given as numbers of rows or with their own matrix."""
    given, count = np.asarray(recipe.landmarks), X.shape[1]
    learned = similarity.learned(X)
    block = learned.block(X, None)
    if given.ndim == 1 and given.dtype.kind in "iu":
        if given.size != count or given.min() < 0 or given.max() >= X.shape[0]:
            raise ValueError(
                f"landmarks must say which of the {X.shape[0]} rows belong to the {count} columns of the block, got "
                f"{given.size} numbers from {given.min()} to {given.max()}"
            )
        among = X[given]
    elif given.shape == (count, count) and given.dtype.kind in "fiub":
        among = given.astype(np.float64)
    else:
        raise ValueError(
            f"landmarks of a block with {count} columns must be {count} numbers of rows, or the matrix of shape "
            f"{(count, count)} of their similarities to each other, got shape {given.shape} and dtype {given.dtype}"
        )
    learned.check(among, "the landmarks' matrix")
    square, tol = symmetric_part(learned.block(among, None)), check_tol(recipe.eigenvalue_tol)
    if tol is None:
        tol = cut_by_halves(block, square, rng, X.dtype.itemsize, _HELD_OUT)
    spectrum = signed_spectrum(square)
    return _Found(learned, np.arange(count), *signed_root(spectrum, tol), tol, X.dtype, 0, block)


def _some_rows(X: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    return np.sort(rng.choice(X.shape[0], size=min(count, X.shape[0]), replace=False))
