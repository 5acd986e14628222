"""From a kernel to a signed measure that really exists: one function, three methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

from krein._core.checks import FrozenParams, integer, one_of, param, positive_real, truth_value, unless_auto
from krein._core.errors import OutOfReachError
from krein.kernels import Kernel
from krein.measures.closed_form import closed_terms, jordan_of_laws
from krein.measures.error_prediction import ALLOCATIONS, Outlook, check_width, frequencies_for_width
from krein.measures.fourier_transform import extended_measure
from krein.measures.harmonics import check_dim
from krein.measures.search.least_mass import least_mass, least_mass_for_width
from krein.measures.search.policy import POLICY
from krein.measures.search.program import Problem, Work
from krein.measures.signed import SignedMeasure, head_columns

__all__ = ["METHODS", "MeasureRecipe", "as_measure_recipe", "check_kernel", "signed_measure"]

METHODS = ("auto", "closed_form", "fourier", "least_mass")
_DEGREE = partial(integer, least=-1, most=2, why=" (-1 is no head)")
_DEFAULT_TOL = 1e-3  # of sup|k|, when neither a tolerance nor a width is given: below the error of a thousand features
_DEFAULT_FREQUENCIES = 256  # to weigh bias against variance with, when no width is given: that of 512 columns
_FAR = 3.0  # times the tolerance: with a bias beyond, a closed form, which has none, is the better measure
_SETTLED = 5  # times a head's columns: from that width on, heads below degree 1 are not worth a try
_FREE = 50  # times a head's columns: from that width on it takes 2 % of the frequencies at most, and no lower one is worth a try


@final
@dataclass(frozen=True)
class MeasureRecipe(FrozenParams):
    r"""How a feature map finds its signed measure.

    Parameters
    ----------
    method : {"auto", "closed_form", "fourier", "least_mass"}, default="auto"
        How the measure is found; see :func:`krein.signed_measure`. ``"auto"`` is least mass; if the sampler needs a density, it
        is the closed form or, without one, the truncated Fourier transform.
    head_degree : {-1, 0, 1, 2} or "auto", default="auto"
        Degree in :math:`z^2` of the exact head, −1 for none. ``"auto"`` is the largest degree that leaves columns for waves or
        needs no waves; with unbiased weights it is the degree of least predicted error at the width.
    tol : float or "auto", default="auto"
        Tolerance of the measure. ``"auto"`` with unbiased weights minimizes the predicted error at the width; weights that
        are refitted need only some waves besides the head, from a measure that does not depend on the data.
    truncate : float, default=None
        Radius at which ``method="fourier"`` cuts the measure. None cuts it only for samplers that need a density: at the
        interval of the rejection sampler, otherwise at 10, as in the paper.

    Examples
    --------
    >>> import krein
    >>> krein.MeasureRecipe(head_degree=1, tol=1e-2)
    MeasureRecipe(method='auto', head_degree=1, tol=0.01, truncate=None)
    >>> krein.SignedFourierFeatures().set_params(measure__head_degree=1).measure.head_degree
    1
    """

    method: str = param("auto", partial(one_of, choices=METHODS))
    head_degree: int | str = param("auto", partial(unless_auto, _DEGREE, otherwise=" or -1 (no head), 0, 1 or 2"))
    tol: float | str = param("auto", partial(unless_auto, positive_real, otherwise=" or a positive number"))
    truncate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.truncate is not None:
            positive_real(self.truncate, "truncate")
            if self.method != "fourier":
                raise ValueError(
                    f"truncate cuts the Fourier transform and goes with method='fourier' only, got method={self.method!r}"
                )


def signed_measure(
    kernel: Kernel,
    dim: int,
    radius: float | None = None,
    method: str = "auto",
    head_degree: int | str = 1,
    tol: float | str = "auto",
    *,
    n_components: int | None = None,
    truncate: float | None = None,
    sphere: bool | None = None,
    distances: Any = None,
    orthogonal: bool = False,
    allocation: str = "mass",
) -> SignedMeasure:
    r"""A signed measure whose transform is the kernel, exactly or on the range of distances of the data.

    Parameters
    ----------
    kernel : Kernel
        From :mod:`krein.kernels`.
    dim : int
        Number of columns of the data.
    radius : float, default=None
        Largest distance R of the data. None means all distances if that is possible (closed forms), and 2 on the sphere.
    method : {"auto", "closed_form", "fourier", "least_mass"}, default="auto"
        ``"closed_form"``: Jordan parts of a signed sum of classical spectra. ``"fourier"``: Algorithm 1 of the paper, the
        Fourier transform of the kernel extended by zero; an error if its mass is infinite. ``"least_mass"``: the linear
        program on [0, R]. ``"auto"``: the closed form if there is one and no radius is given, or if its predicted error is
        not worse; else least mass.
    head_degree : {-1, 0, 1, 2} or "auto", default=1
        Degree in :math:`z^2` of the exact polynomial head (least mass only). ``"auto"``: the degree of least predicted error at
        ``n_components``, which must be given.
    tol : float or "auto", default="auto"
        Absolute tolerance of the least-mass measure. ``"auto"`` minimizes the predicted mean squared error if ``n_components`` is
        given; otherwise it is 1e-3 of the largest |k|.
    n_components : int, default=None
        Number of output columns that the features will have.
    truncate : float, default=None
        With ``method="fourier"``: cut the measure at this radius, whether or not its mass is finite (the paper cuts at 10), and
        state the bias.
    sphere : bool, default=None
        Whether rows are unit vectors; None: if the kernel is defined on the sphere.
    distances : array, default=None
        A sample of the data's distances, over which predicted errors are averaged; None for uniform on [0, R].
    orthogonal : bool, default=False
        Predict errors for directions orthogonal in blocks and stratified radii instead of independent draws.
    allocation : {"mass", "neyman", "equal"}, default="mass"
        Predict errors for frequencies divided between the two parts like this; see :func:`krein.sampling.allocate`.

    Returns
    -------
    SignedMeasure

    Examples
    --------
    >>> import krein
    >>> from krein.kernels import NTK
    >>> m = krein.signed_measure(NTK(), dim=16, radius=1.2, tol=1e-3)
    >>> round(m.mass, 2), m.bias < 1.1e-3
    (0.62, True)
    """
    dim = check_dim(dim)
    check_kernel(kernel)
    asked = MeasureRecipe(method, head_degree, tol, truncate)
    width = None if n_components is None else check_width(n_components)
    on_sphere = kernel.domain == "sphere" if sphere is None else truth_value(sphere, "sphere")
    largest = None if radius is None else positive_real(radius, "radius")
    if on_sphere and largest is not None:
        if largest > 2.0 * (1 + 1e-9):  # rounding of a radius computed from unit vectors
            raise ValueError(f"distances on the unit sphere are at most 2, got radius={radius!r}; use radius=2 or less")
        largest = min(largest, 2.0)
    if method == "fourier":
        return extended_measure(kernel, dim, largest, truncate, on_sphere)
    terms = closed_terms(kernel, dim)
    if method == "closed_form" or (method == "auto" and terms is not None and largest is None):
        if terms is None:
            raise ValueError(f"{kernel!r} has no closed-form spectrum; use method='least_mass' with the data's radius")
        return replace(jordan_of_laws(dim, terms), sphere=on_sphere)
    if largest is None:
        if not on_sphere:
            raise ValueError(
                f"{kernel!r} has no closed-form measure on R^{dim}; set radius= to the largest distance between two rows of "
                "the data, for a measure that holds up to that distance"
            )
        largest = 2.0
    outlook = Outlook.of(
        kernel.radial,
        largest,
        distances,
        orthogonal=truth_value(orthogonal, "orthogonal"),
        allocation=one_of(allocation, "allocation", ALLOCATIONS),
    )
    tolerance = None if isinstance(tol, str) else float(tol)
    task = _Task(Problem(kernel.radial, dim, largest, on_sphere), width, outlook)
    if method == "least_mass" or terms is None:
        return task.search(asked.head_degree, tolerance)
    closed = replace(jordan_of_laws(dim, terms), sphere=on_sphere)
    if tolerance is None and width is None:
        tolerance = _DEFAULT_TOL * outlook.size
    try:
        found = task.search(asked.head_degree, tolerance)
    except OutOfReachError:  # a radius far beyond the kernel's scale, where the exact measure is the better one
        return closed
    if tolerance is not None and found.bias > _FAR * tolerance:
        return closed
    # On a tie the closed form, which has no bias and holds at all distances.
    return closed if (1.0 - POLICY.worth) * task.predicted(closed) <= task.predicted(found) else found


@dataclass(frozen=True, eq=False)
class _Task:
    """A search by linear programs: for which kernel, distances and width."""

    problem: Problem
    width: int | None
    outlook: Outlook

    def predicted(self, measure: SignedMeasure) -> float:
        s = _DEFAULT_FREQUENCIES if self.width is None else frequencies_for_width(measure, self.width)
        return self.outlook.error(measure, s)

    def search(self, degree: int | str, tol: float | None) -> SignedMeasure:
        """Least mass with a head of this degree, or the best head for the width."""
        if isinstance(degree, int):
            return self._with_head(degree, tol, Work.of(POLICY))
        return self._with_head(1, tol, Work.of(POLICY)) if self.width is None else self._best_head(self.width, tol)

    def _with_head(self, degree: int, tol: float | None, work: Work) -> SignedMeasure:
        problem = self.problem
        if tol is not None:
            return least_mass(problem, tol, degree, work)
        if self.width is not None:
            columns = head_columns(degree, problem.dim, sphere=problem.sphere)
            least = columns or 2  # without a head, one frequency
            if self.width < least:
                raise ValueError(
                    f"n_components must be at least {least} for head_degree={degree} in dimension {problem.dim}, got {self.width}; "
                    f"use {least} or more{', or a smaller head_degree' if degree > 0 else ''}"
                )
            count = (self.width - columns) // 2
            return least_mass_for_width(problem, count, degree, self.outlook, work)
        try:
            return least_mass(problem, _DEFAULT_TOL * self.outlook.size, degree, work)
        except OutOfReachError:
            # A singularity inside [0, R]: the default tolerance has no useful measure, so trade bias against variance.
            measure = least_mass_for_width(problem, _DEFAULT_FREQUENCIES, degree, self.outlook)
            note = (
                f"tol={_DEFAULT_TOL * self.outlook.size:.2g} would need a mass beyond use; this is the best trade of bias and "
                f"variance for {_DEFAULT_FREQUENCIES} frequencies. A smaller radius gives a smaller bias"
            )
            return replace(measure, note=note)

    def _best_head(self, width: int, tol: float | None) -> SignedMeasure:
        """Heads of every degree that fits, compared by predicted error at the asked width; on a tie the smaller head."""
        degrees = self._degrees_to_try(width)
        best: tuple[SignedMeasure, float] | None = None
        refusal: OutOfReachError | None = None
        for degree in degrees:
            try:
                measure = self._with_head(degree, tol, Work.of(POLICY, len(degrees)))
            except OutOfReachError as error:  # a tolerance that is within reach of another head only
                refusal = error
                continue
            if measure.mass > 0.0 and measure.head_columns() + 2 > width:
                continue  # no columns are left for a frequency besides this head
            predicted = self.predicted(measure)
            if best is None or predicted < (1.0 - POLICY.worth) * best[1]:
                best = measure, predicted
            if best[1] <= POLICY.negligible**2 * self.outlook.square:
                break
        if best is not None:
            return best[0]
        if refusal is not None:
            raise refusal
        raise ValueError(
            f"n_components must allow for a frequency besides the head, got {width}; use more columns or a larger tol"
        )

    def _degrees_to_try(self, width: int) -> list[int]:
        """Degrees whose columns fit, upwards; low ones only while higher ones take up much of the width."""
        columns = {q: head_columns(q, self.problem.dim, sphere=self.problem.sphere) for q in (-1, 0, 1, 2)}
        settled = max((q for q in columns if _SETTLED * columns[q] <= width), default=-1)
        free = max((q for q in columns if _FREE * columns[q] <= width), default=-1)
        lowest = max(min(settled, 1), free)
        return [q for q in columns if width >= (columns[q] or 2) and q >= lowest]


def check_kernel(kernel: Any) -> Kernel:
    """The kernel, or an error that says how to make one."""
    if not isinstance(kernel, Kernel):
        made = f"one of it, such as {kernel.__name__}()" if isinstance(kernel, type) else "one of krein.kernels"
        if callable(kernel) and not isinstance(kernel, type):
            made = "krein.kernels.Radial(function)"
        raise TypeError(f"kernel must be a kernel such as krein.kernels.NTK(), got {kernel!r}; use {made}")
    return kernel


def as_measure_recipe(measure: Any) -> MeasureRecipe:
    """The recipe itself, or the default one for ``"auto"``."""
    if isinstance(measure, MeasureRecipe):
        return measure
    one_of(measure, "measure", ("auto",), otherwise=" or a krein.MeasureRecipe")
    return MeasureRecipe()
