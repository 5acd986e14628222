"""``krein.diagnose``: one function for kernels, matrices of similarities, and matrices of distances."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from krein._core.checks import real, truth_value
from krein.kernels import Kernel, parse_kernel
from krein.learning.folds import N_FOLDS, score_negative_part
from krein.matrices import check_kind
from krein.matrices.entries import EntryScan, TriangleCheck, as_square, check_triangles, in_range, scan_entries
from krein.matrices.matrix_diagnosis import MatrixDiagnosis, PartScores
from krein.matrices.matrix_operator import SymmetricOperator, symmetrized
from krein.matrices.matrix_spectrum import MatrixSpectrum, NoiseBand, matrix_spectrum, noise_band
from krein.matrices.noise_or_signal import (
    Concentration,
    Replication,
    concentration_of_negative_part,
    replicate_negative_part,
)
from krein.measures import Diagnosis
from krein.measures import diagnose as diagnose_kernel
from krein.rows.targets import are_quantities, target_columns

__all__ = ["diagnose"]

_SCORED = 800  # objects that cross-validation uses at most
_SHAPED = 8  # negative eigenvalues that have a shape to compare with a semicircle
_ROUNDED = 1e-12  # asymmetry below which the halves are not averaged
_MOSTLY = 0.35  # share of negative directions found again, above which the negative part is signal and not a mixture


@overload
def diagnose(kernel: Kernel, dim: int) -> Diagnosis: ...


@overload
def diagnose(
    kernel: Any,
    dim: None = None,
    *,
    distance: bool | None = None,
    y: Any = None,
    noise: float | None = None,
    random_state: int = 0,
) -> MatrixDiagnosis: ...


def diagnose(
    kernel: Any,
    dim: int | None = None,
    *,
    distance: bool | None = None,
    y: Any = None,
    noise: float | None = None,
    random_state: int = 0,
) -> Diagnosis | MatrixDiagnosis:
    r"""Diagnose a kernel, a matrix of similarities or a matrix of distances, and advise what to do with it.

    For a kernel, three answers: whether its measure on :math:`\mathbb{R}^d` is finite, whether it is a difference of two
    positive definite kernels and which (:meth:`~krein.measures.Diagnosis.decomposition` evaluates them), and whether it is positive
    definite. For a matrix: which
    entries are missing or asymmetric, its signature, the size of its negative part, and whether that part is noise or signal.

    Parameters
    ----------
    kernel : Kernel, str or array of shape (n_objects, n_objects)
        A kernel of :mod:`krein.kernels` or its name, or the matrix.
    dim : int, default=None
        Dimension of the data, for a kernel.
    distance : bool or None, default=None
        Whether the entries of the matrix are distances. Their spectrum is that of :math:`-\tfrac12 H D^2 H`, which has
        negative eigenvalues unless the distances are Euclidean. None: they are similarities, and a matrix that looks like
        distances, with zeros on its diagonal and no negative entry, is refused.
    y : array-like of shape (n_objects,), default=None
        Labels or numbers to predict: predictions with and without the negative part are compared by cross-validation.
    noise : float, default=None
        Standard deviation of the entries' errors, if it is known: :math:`1/(2\sqrt{\text{shots}})` at most for a quantum kernel.
        Negative eigenvalues of at most :math:`2\sqrt{n}` times it then count as noise.
    random_state : int, default=0
        Seed of the halves, the folds and the Lanczos iteration.

    Returns
    -------
    Diagnosis or MatrixDiagnosis

    Notes
    -----
    Noise and signal are distinguished without knowing the size of the noise: negative directions found in one half of the objects
    are extended to the other half, where directions of noise are not negative. Halves of few objects may miss a signal. Up to 200
    objects the directions that the negative part occupies are therefore counted as well: independent noise with the same sum of
    negative eigenvalues fills a known number of directions, and signal fills fewer. If neither test decides, and predictions of
    ``y`` are not better with the negative part, the verdict is ``"undecided"``. Up to 1,500 objects all eigenvalues are computed;
    for more, both ends and the density of the spectrum are estimated from 40 products with blocks of 8 vectors, and no further
    array of the size of the matrix is allocated if it is symmetric.

    Examples
    --------
    >>> import krein
    >>> from krein.kernels import SphericalPolynomial
    >>> krein.diagnose(SphericalPolynomial(a=2, p=2), dim=16).finite
    False

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> krein.diagnose(X @ X.T).verdict
    'positive'
    >>> krein.diagnose(np.tanh(X @ X.T - 1.0)).verdict
    'signal'
    """
    if isinstance(kernel, (str, type)) or (callable(kernel) and not hasattr(kernel, "__array__")):
        return _of_kernel(kernel, dim)
    if dim is not None:
        raise ValueError(f"dim is for kernels, and {type(kernel).__name__} is taken as a matrix; leave dim out")
    kind = None if distance is None else truth_value(distance, "distance")
    return _of_matrix(kernel, kind, y, noise, np.random.default_rng(random_state))


def _of_kernel(kernel: Any, dim: int | None) -> Diagnosis:
    if dim is None:
        raise ValueError(
            "dim must be given for a kernel, the number of columns of the data: krein.diagnose('ntk', dim=16)"
        )
    return diagnose_kernel(parse_kernel(kernel) if isinstance(kernel, str) else kernel, dim)


def _of_matrix(given: Any, kind: bool | None, y: Any, noise: float | None, rng: np.random.Generator) -> MatrixDiagnosis:
    distance = bool(kind)
    way_out = "; the similarities of objects are krein.Similarity(function)(objects)" if not distance else ""
    matrix = as_square(given, "the matrix of distances" if distance else "the matrix of similarities", way_out)
    if noise is not None and real(noise, "noise") < 0.0:
        raise ValueError(f"noise must be a standard deviation, 0 or more, got {noise!r}")
    matrix, unit = in_range(matrix)
    scan = scan_entries(matrix)
    if not scan.complete:
        return _incomplete(scan, distance)
    if kind is not False:
        check_kind(
            matrix,
            distance=distance,
            way_out="diagnose similarities without distance=True"
            if distance
            else "diagnose distances with distance=True, and similarities that have zeros there with distance=False",
        )
    split_rng, lanczos_rng, triangle_rng, fold_rng, noise_rng = rng.spawn(5)
    if scan.asymmetry >= _ROUNDED:
        matrix = symmetrized(matrix, distance)
    operator = SymmetricOperator(matrix, distance)
    triangles = check_triangles(matrix, triangle_rng) if distance else None
    spectrum = matrix_spectrum(operator, scan.largest**2 if distance else scan.largest, scan.precision, lanczos_rng)
    band = noise_band(spectrum, scan.n_objects, None if noise is None else float(noise) / unit)
    replication = concentration = None
    if spectrum.values[0] < -spectrum.rounding:
        replication = replicate_negative_part(operator, spectrum.rounding, split_rng)
        if replication is None or not replication.found_again:
            concentration = concentration_of_negative_part(operator, spectrum.rounding, noise_rng)
    verdict, reasons = _verdict(spectrum, band, replication, concentration)
    labels = None if y is None else np.asarray(y).ravel()
    scores = None if labels is None else _scores(operator, labels, fold_rng)
    if scores is not None and verdict == "undecided" and scores.difference > 0:
        verdict = "signal"
    if scores is not None and verdict != "positive":
        reasons = (*reasons, _score_words(scores))
    advice = _advice(verdict, distance, scan, triangles, scores)
    return MatrixDiagnosis(
        distance, scan, verdict, reasons, advice, spectrum, band, replication, triangles, scores, labels, unit
    )


def _verdict(
    spectrum: MatrixSpectrum,
    band: NoiseBand | None,
    replication: Replication | None,
    concentration: Concentration | None,
) -> tuple[str, tuple[str, ...]]:
    """Noise or signal, and why. A given noise level decides first, then replication, then the shape of the spectrum."""
    if spectrum.values[0] >= -spectrum.rounding or band is None:
        return "positive", (
            f"the smallest eigenvalue, {spectrum.values[0]:.2g}, is not below -{spectrum.rounding:.2g}, the rounding of the "
            "entries",
        )
    reasons = [_band_words(spectrum, band), _again_words(replication)]
    if band.given and band.n_beyond == 0.0:
        return "noise", tuple(reasons)
    if replication is not None and replication.found_again:
        return ("signal" if replication.share > _MOSTLY else "mixed"), tuple(reasons)
    if band.given:
        return ("signal" if replication is None else "mixed"), tuple(reasons)
    if concentration is not None:
        reasons.append(_concentration_words(concentration))
        return concentration.verdict, tuple(reasons)
    if replication is not None:
        return "noise", tuple(reasons)
    few = spectrum.signature[2] < _SHAPED
    return ("undecided" if few or band.n_beyond > 0.0 else "noise"), tuple(reasons)


def _band_words(spectrum: MatrixSpectrum, band: NoiseBand) -> str:
    inside = f"the most negative eigenvalue is {spectrum.values[0]:.3g}; "
    if band.given:
        inside += f"the given noise of {band.noise:.3g} in the entries makes a band of ±{band.radius:.3g}"
    else:
        inside += f"noise with the same median of negative eigenvalues, {band.noise:.3g} per entry, would end at {band.radius:.3g}"
    return inside + f", with {round(band.n_beyond):,} eigenvalues beyond"


def _again_words(replication: Replication | None) -> str:
    if replication is None:
        return "too few objects or too few negative eigenvalues to look for the same directions in two halves"
    return (
        f"of {replication.n_directions} negative directions of one half of the objects, "
        f"{100 * max(0.0, replication.share):.0f} % are found in the other half (chance: up to {100 * replication.least:.0f} %)"
    )


def _concentration_words(found: Concentration) -> str:
    says = {
        "signal": "so it is not independent noise",
        "noise": "so it may well be noise",
        "undecided": "which cannot be distinguished from noise with so few objects",
    }[found.verdict]
    return (
        f"the negative part fills {found.directions:.2g} directions, and noise with the same sum of eigenvalues would fill "
        f"{found.expected:.2g} ± {found.spread:.1g}, {says}"
    )


def _scores(operator: SymmetricOperator, y: np.ndarray, rng: np.random.Generator) -> PartScores:
    n = operator.n_objects
    if y.shape != (n,):
        raise ValueError(f"y must have one entry for each of {n} objects, got {y.size}")
    if n < N_FOLDS:
        raise ValueError(f"y is predicted by {N_FOLDS} folds, which needs as many objects, got {n}; leave y out")
    numbers = are_quantities(y)
    some = np.sort(rng.choice(n, size=min(n, _SCORED), replace=False))
    if numbers and not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity; diagnose the objects that have a target")
    targets = target_columns(y[some])
    if not numbers and targets.shape[1] < 2:
        raise ValueError(f"y must have at least 2 classes, got only {np.unique(y[some]).tolist()}")
    return score_negative_part(operator.dense(some), targets, rng, labels=not numbers)


def _score_words(scores: PartScores) -> str:
    return {
        1: "predictions of y are better with the negative part, by more than chance",
        0: "predictions of y are as good with the negative part as without it, to the accuracy of cross-validation",
        -1: "predictions of y are worse with the negative part, by more than chance",
    }[scores.difference]


def _incomplete(scan: EntryScan, distance: bool) -> MatrixDiagnosis:
    share = (scan.n_missing + scan.n_infinite) / scan.n_objects**2
    reason = f"{100 * share:.3g} % of the entries are missing or infinite, so there is no spectrum"
    advice = (
        "compute the missing entries, or drop objects until none is missing; a similarity of exp(-d) turns an infinite "
        "distance into 0"
        if distance
        else "compute the missing entries, or drop objects until none is missing"
    )
    return MatrixDiagnosis(distance, scan, "incomplete", (reason,), (advice,))


def _advice(
    verdict: str, distance: bool, scan: EntryScan, triangles: TriangleCheck | None, scores: PartScores | None
) -> tuple[str, ...]:
    found = []
    if not scan.symmetric:
        found.append(
            "decide what the asymmetry means: average both directions with symmetrize='average', or find the bug"
        )
    if distance and triangles is not None and triangles.example is not None:
        found.append("no index or method that relies on the triangle inequality is safe with these distances")
    gain = 0 if scores is None else scores.difference
    if verdict == "positive":
        found.append(
            "the distances are Euclidean: use any method for points or inner products, such as classical scaling"
            if distance
            else "use any kernel method with the matrix unchanged: SVC(kernel='precomputed'), KernelRidge, Gaussian processes"
        )
    elif gain > 0:
        found.append(
            "keep the negative part: KreinSVC, KreinRidge or ExactKreinSVC; krein.compare(K, y) shows the margin"
        )
    elif gain < 0 or verdict == "noise":
        found.append(
            "drop the negative part: SpectrumCorrection('clip') before SVC(kernel='precomputed'); Kreĭn learners work too, but "
            "gain nothing"
        )
    elif scores is not None:
        found.append("use whichever is simpler: clipping and Kreĭn learners predict y equally well here")
    elif verdict == "undecided":
        found.append("with labels, diagnose(K, y=y) or krein.compare(K, y) tells whether the negative part helps")
    else:
        found.append(
            "clipping would lose structure: Kreĭn learners keep it, and krein.compare(K, y) tells whether that helps predict y"
        )
    if distance and verdict != "positive":
        found.append(
            "KreinMDS embeds the objects with a sign for each axis; DistanceKernel turns distances into similarities"
        )
    return tuple(found)
