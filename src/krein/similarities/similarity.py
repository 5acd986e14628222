"""A similarity of objects, ``krein.Similarity``: how a function is called, made symmetric, shared among processes and kept."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NamedTuple, final

import numpy as np

from krein._core.checks import FrozenParams, one_of, truth_value
from krein._core.processes import n_processes
from krein.kernels import NAMED_KERNELS, DeltaGaussian, Kernel, parse_kernel
from krein.similarities.cache import as_cache
from krein.similarities.direct_source import KernelSimilarity, PrecomputedSimilarity, TrainingMatrix
from krein.similarities.distance_kernel import DistanceKernel, told
from krein.similarities.evaluation import Evaluation
from krein.similarities.matrix_checks import check_symmetric
from krein.similarities.metrics import METRICS, is_metric, prepared
from krein.similarities.objects import Objects, as_objects

__all__ = [
    "BlockSource",
    "Pilot",
    "Similarity",
    "as_similarity",
    "distance_of",
    "is_called",
    "is_precomputed",
    "kernel_of",
]

CALLS = ("auto", "pairs", "blocks")  # how a function is called, in the order in which errors list it
SYMMETRIZE = ("error", "average")  # what to do with asymmetry, in the order in which errors list it

_PILOT = 32  # objects, spread over all, of which all pairs are evaluated in both orders before anything else
_PILOT_TO_FIT = 64  # where the scale of a distance is learned from them
_REPEATED = 0.3  # of all objects: the pairs of so many are less than a tenth of all pairs


@final
@dataclass(frozen=True)
class Similarity(FrozenParams):
    """A similarity of two objects: how it is called, made symmetric, shared among processes and kept is said once, here.

    Every estimator that takes a function of two objects takes a `Similarity` in its place; a function alone is taken as
    ``Similarity(function)``.

    Parameters
    ----------
    function : callable, DistanceKernel or str
        A function of two objects that returns their similarity, or of two sequences of objects that returns the matrix of
        similarities; a `DistanceKernel`; or the name of a distance, taken as ``DistanceKernel(name)``.
    call : {"auto", "pairs", "blocks"}, default="auto"
        Whether the function takes two objects or two sequences of objects. ``"auto"`` calls it with two short sequences and tests
        whether it returns a matrix of the right shape.
    symmetrize : {"error", "average"}, default="error"
        What to do if the similarity of a and b is not that of b and a: raise an error, or take the mean of both at twice the
        cost. For this test up to 32 training objects are compared in both orders, at most a tenth more evaluations.
    n_jobs : int or None, default=None
        Number of processes that share the evaluations; -1 for one per processor, None for 1 unless
        ``joblib.parallel_config`` sets another number. The values do not depend on it.
    cache : str, path, SimilarityCache or None, default=None
        Where to keep values, so that no pair is evaluated again in another fit, or after an error or Ctrl-C. See
        `SimilarityCache`.
    verbose : bool, default=False
        Whether the progress of evaluations is shown.

    Notes
    -----
    A grid search reaches the parameters of a `DistanceKernel` inside as ``kernel__function__power``. Processes, cache and progress
    are not stored in model files.

    Examples
    --------
    >>> from krein import Similarity
    >>> def common(a, b):
    ...     return len(set(a) & set(b))
    >>> Similarity(common, call="pairs")(["ant", "bee"], ["tan", "eel", "cat"])
    array([[3., 0., 2.],
           [0., 1., 0.]])
    """

    function: Any
    call: str = "auto"
    symmetrize: str = "error"
    n_jobs: int | None = None
    cache: Any = None
    verbose: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.function, str):
            object.__setattr__(self, "function", DistanceKernel(self.function))
        function = self.function
        if isinstance(function, DistanceKernel):
            if function.precomputed:
                raise ValueError("precomputed distances are not called: pass DistanceKernel('precomputed') itself")
        elif isinstance(function, Kernel):
            raise ValueError(f"{function!r} is evaluated without being called on pairs: pass the kernel itself")
        elif not callable(function) or isinstance(function, type):
            raise ValueError(f"function must be callable with two objects or two sequences, got {function!r}")
        else:
            _check_takes_two(function)
        one_of(self.call, "call", CALLS)
        one_of(self.symmetrize, "symmetrize", SYMMETRIZE)
        truth_value(self.verbose, "verbose")
        n_processes(self.n_jobs)
        if not isinstance(self.cache, str):  # a file is opened when values are looked up
            as_cache(self.cache)

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """The matrix of similarities.

        Parameters
        ----------
        X : sequence of objects
        Y : sequence of objects, default=None
            If None, X itself; each pair is evaluated once.

        Returns
        -------
        ndarray of shape (len(X), len(Y))
        """
        left = self.place(X)
        return self.training(left).matrix if Y is None else self.block(left, self.place(Y, "Y"))

    @property
    def distance(self) -> DistanceKernel | None:
        """The function of a distance that makes the similarity, where there is one."""
        return self.function if isinstance(self.function, DistanceKernel) else None

    def place(self, X: Any, name: str = "X") -> Objects:
        """Objects as the function is to get them.

        Parameters
        ----------
        X : sequence of objects
        name : str, default="X"
            In messages.

        Returns
        -------
        Objects
        """
        objects = as_objects(X, name)
        metric = None if self.distance is None else self.distance.metric
        return prepared(metric, objects, name) if isinstance(metric, str) else objects

    def similarities(self, values: np.ndarray) -> np.ndarray:
        """Similarities from what the function gave, which is a distance for a `DistanceKernel`.

        Parameters
        ----------
        values : ndarray

        Returns
        -------
        ndarray
        """
        return values if self.distance is None else self.distance.similarity(values)

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        """Similarities of objects with landmarks.

        Parameters
        ----------
        X, landmarks : Objects

        Returns
        -------
        ndarray of shape (n_objects, n_landmarks)
        """
        with self.evaluation(len(X) * len(landmarks)) as evaluation:
            values = evaluation.rectangle(X, landmarks, np.arange(len(X)), np.arange(len(landmarks)))
        values = self.similarities(values)
        return values.astype(np.float32) if evaluation.itemsize == 4 else values

    def training(self, X: Any) -> TrainingMatrix:
        """The matrix of all pairs, each evaluated once, but for the test of symmetry.

        Parameters
        ----------
        X : Objects

        Returns
        -------
        TrainingMatrix
        """
        n = len(X)
        both = min(_PILOT, int(_REPEATED * n))  # are compared in both orders
        with self.evaluation(n * (n + 1) // 2 + both * (both - 1) // 2) as evaluation:
            pilot = self.look(X, evaluation, both)
            values = np.full((n, n), np.nan)
            if self.distance is not None and self.distance.self_value is not None:
                np.fill_diagonal(values, self.distance.self_value)
            values[np.ix_(pilot.numbers, pilot.numbers)] = pilot.values
            evaluation.square(X, np.arange(n), values)
        learned = pilot.similarity
        return TrainingMatrix(learned, X, learned.similarities(values), evaluation.count)

    def evaluation(self, pairs: int) -> Evaluation:
        """A context in which pairs are evaluated.

        Parameters
        ----------
        pairs : int
            So many, or fewer.

        Returns
        -------
        Evaluation
        """
        return Evaluation(self, pairs)

    def look(self, X: Objects, evaluation: Evaluation, most: int) -> Pilot:
        """Compare so many objects with each other in both orders: is it symmetric, what is its scale, and how is it called?

        Parameters
        ----------
        X : Objects
        evaluation : Evaluation
        most : int
            Objects to compare: at most 32, at least 3, and for the scale of a distance some more.

        Returns
        -------
        Pilot
        """
        n, size = len(X), min(_PILOT, max(3, most))
        needs_fit = self.distance is not None and self.distance.needs_fit
        if needs_fit:
            size = min(_PILOT_TO_FIT, max(size, math.isqrt(n)))
        numbers = np.unique(np.linspace(0, n - 1, min(n, size)).astype(int))
        values = evaluation.rectangle(X, X, numbers, numbers, symmetric=False)
        if self.symmetrize == "error":
            single = np.float32 if evaluation.itemsize == 4 else np.float64
            way_out = "use krein.Similarity(function, symmetrize='average') for the mean of both orders"
            check_symmetric(values.astype(single), "the similarity", numbers=numbers, way_out=way_out)
        values = 0.5 * values + 0.5 * values.T
        function = self.function
        if needs_fit:
            function = function.fitted(values[np.triu_indices(numbers.size, 1)])
        learned = replace(self, function=function, call="blocks" if evaluation.takes_blocks else "pairs")
        return Pilot(learned, numbers, values)


class Pilot(NamedTuple):
    """What a first look at some objects found: the similarity with all that was learned, and values in both orders."""

    similarity: Similarity
    numbers: np.ndarray  # of the objects, ascending
    values: np.ndarray  # what the function gave for them, the mean of both orders


BlockSource = Similarity | KernelSimilarity | PrecomputedSimilarity


def _check_takes_two(function: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # many functions in C do not say
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise ValueError(
            f"a similarity is called with two objects, or two sequences of objects, and {name}{signature} cannot be "
            f"({error}); pass a function of two"
        ) from error


def is_called(kernel: Any) -> bool:
    """Whether the parameter ``kernel`` is a similarity of any objects, which is called."""
    if isinstance(kernel, DistanceKernel):
        return not kernel.precomputed
    if isinstance(kernel, str):
        return is_metric(kernel)
    # A class is no function: DeltaGaussian for DeltaGaussian()
    return isinstance(kernel, Similarity) or (callable(kernel) and not isinstance(kernel, type | Kernel))


def is_precomputed(kernel: Any) -> bool:
    """Whether the parameter ``kernel`` says that X is a matrix of similarities, or of distances."""
    if isinstance(kernel, DistanceKernel):
        return kernel.precomputed
    return isinstance(kernel, str) and kernel == "precomputed"


def distance_of(kernel: Any) -> DistanceKernel | None:
    """The function of a distance that the parameter ``kernel`` is or holds."""
    if isinstance(kernel, str) and is_metric(kernel):
        return DistanceKernel(kernel)
    found = kernel.function if isinstance(kernel, Similarity) else kernel
    return found if isinstance(found, DistanceKernel) else None


def kernel_of(similarity: BlockSource) -> Any:
    """What a fitted similarity would be given as ``kernel`` for."""
    if isinstance(similarity, Similarity):
        return similarity.function
    return "precomputed" if similarity.kernel is None else similarity.kernel


def as_kernel(given: Any) -> Kernel:
    """The kernel of vectors that a parameter ``kernel`` stands for.

    Examples
    --------
    >>> as_kernel("gaussian(2)")
    Gaussian(scale=2.0)
    """
    functions = callable(given) and not isinstance(given, type | Kernel)
    source = None if functions else as_similarity(given)
    if not isinstance(source, KernelSimilarity):
        raise TypeError(
            f"kernel must be a kernel of krein.kernels or its name, got {told(given)}; wrap a function of the distance as "
            "krein.kernels.Radial(function); KreinNystroem takes distances and functions of two objects"
        )
    return source.kernel


def as_similarity(given: Any) -> BlockSource:
    """The similarity that a parameter ``kernel`` stands for: the one place that knows all that may be given.

    Parameters
    ----------
    given : Kernel, callable, Similarity, DistanceKernel, str or None
        A kernel of `krein.kernels` or its name ("ntk", "gaussian(2)"), a function of two objects or of two sequences, a
        `Similarity`, a `DistanceKernel`, the name of a distance, "precomputed", or None for ``DeltaGaussian()``.

    Returns
    -------
    BlockSource
        `KernelSimilarity` for kernels, `PrecomputedSimilarity` for matrices, `Similarity` for what is called on objects.

    Examples
    --------
    >>> as_similarity("gaussian"), as_similarity("precomputed")
    (KernelSimilarity(kernel=Gaussian(scale=1.0)), PrecomputedSimilarity(kernel=None))
    """
    if given is None:
        return KernelSimilarity(DeltaGaussian())
    if isinstance(given, Kernel):
        return KernelSimilarity(given)
    if isinstance(given, Similarity):
        return given
    if is_precomputed(given):
        return PrecomputedSimilarity(given if isinstance(given, DistanceKernel) else None)
    if is_called(given):
        return Similarity(given)
    wanted = "kernel must be a kernel or its name, a function of two objects, the name of a distance or 'precomputed'"
    if isinstance(given, str):
        try:
            return KernelSimilarity(parse_kernel(given))
        except ValueError as error:
            known = [*NAMED_KERNELS, *(name for names in METRICS.values() for name in names), "precomputed"]
            close = ["gaussian"] if given == "rbf" else get_close_matches(given, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f": {error}"
            raise ValueError(f"{wanted}, got {given!r}{hint}") from error
    if isinstance(given, type):
        raise TypeError(f"kernel must be an instance, got the class {given.__name__}; write {given.__name__}(...)")
    raise TypeError(f"{wanted}, got {told(given)}")
