r"""The measure of least mass that gives k on [0, R] to a tolerance, as a linear program.

.. math::

   \min \sum_j |w_j| \quad\text{subject to}\quad
   \Big|\sum_q c_q z_i^{2q} + \sum_j w_j \Omega_d(r_j z_i) - k(z_i)\Big| \le \varepsilon
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import linprog

from krein.measures.certificate import certified_bias
from krein.measures.head import Head
from krein.measures.omega import omega
from krein.measures.predict import Outlook
from krein.measures.signed import SignedMeasure

__all__ = ["least_mass", "least_mass_for_width", "least_mass_to_refit"]

Function = Callable[[np.ndarray], np.ndarray]

MASS_LIMIT = 1e3  # in units of sup|k|: beyond, no number of features in reach gives a usable estimate
_NO_MASS_PRICE = 1e6  # more than any mass is worth: the head alone
_RADII = 300
_COARSE = 4  # how many times fewer points and radii will do where weights are refitted
_FIT_FOR_USE = 3.0  # mass in units of sup|k|: more is a poor start for any weights
_PARTS = (1.0, 0.9, 0.8)  # of the radius, to be tried in turn
_MOST_REST = 0.25
_FALLBACK_PRICE = 0.1
_REACH = 40.0  # largest radius in units of √d/R at tolerance 0.01; a kink at 0 needs radii growing as tolerances fall
_PIVOTS = 5000  # of the simplex method; programs that have a useful answer take a few hundred
_SUSPECT = 1.5  # a bound on the bias so far above the tolerance may be due to the reach of the radii
_SECONDS = 10.0  # guards against the rare program on which the solver stalls
_WIDER = 8.0  # how much farther radii reach when the first grid is infeasible
_WORTH = 0.99  # a step of the tolerance must lower the predicted error by 1 %, or the search ends
_ROUNDS = 6  # exchange steps that add the worst points between grid points


def least_mass(
    function: Function, dim: int, radius: float, tol: float, head_degree: int = 1, *, sphere: bool = False
) -> SignedMeasure:
    """The least-mass measure within `tol` of the function on [0, radius].

    Parameters
    ----------
    function : callable
        k(z).
    dim : int
    radius : float
        R.
    tol : float
        Absolute tolerance ε on the grid; the bias returned holds between grid points as well.
    head_degree : {-1, 0, 1, 2}
        Degree in z² of the polynomial that is free of mass; −1 for none.
    sphere : bool
        Whether the data are unit vectors (only passed on).
    """
    program = _Program.for_function(function, dim, radius, head_degree, _reach(tol, function, radius))
    solved = program.solve(tol=tol)
    # A kink at 0 needs radii farther out; without them the program is infeasible, or fits it with large weights at its last radii.
    if solved is None or solved.mass > MASS_LIMIT * program.size or program.bound(solved) > _SUSPECT * tol:
        wider = _Program.for_function(function, dim, radius, head_degree, _WIDER * program.reach)
        again = wider.solve(tol=tol)
        if again is not None and (solved is None or again.mass < solved.mass):
            program, solved = wider, again
    if solved is None:
        raise _out_of_reach(program, tol)
    if solved.mass > MASS_LIMIT * program.size:
        raise ValueError(
            f"the least mass within tol={tol:.3g} of this kernel on [0, {radius:.4g}] in dimension {dim} is "
            f"{solved.mass:.3g}, so its random features would be all noise; a kernel with a kink, a jump or an infinite "
            "slope away from 0 has no better measure. Use a smaller radius, a larger tol, or tol='auto' with n_components"
        )
    if program.error(solved) > 2.0 * tol + 1e-9 * program.size:
        raise _out_of_reach(program, tol)
    return program.measure(solved, sphere=sphere)


def _out_of_reach(program: _Program, tol: float) -> ValueError:
    best = program.solve(price=1e-3)
    found = "" if best is None else f" (what was found comes within {program.error(best):.3g})"
    return ValueError(
        f"no measure on R^{program.dim} with radii in reach comes within tol={tol:.3g} of this kernel on [0, {program.radius:.4g}]"
        f"{found}; use a larger tol, a smaller radius, or tol='auto' with n_components"
    )


def least_mass_for_width(
    function: Function,
    dim: int,
    radius: float,
    n_frequencies: int,
    head_degree: int,
    outlook: Outlook,
    *,
    sphere: bool = False,
) -> SignedMeasure:
    r"""The least-mass measure whose tolerance minimises the predicted mean squared error.

    A weighted sum :math:`\varepsilon + aM` of tolerance and mass is one linear program and traces out the same measures as
    all tolerances do; the price a starts at :math:`s^{-1/2}`, the order of the standard error of a unit of mass, and moves by
    factors of 3 as long as the prediction improves; then the tolerance moves by factors of 1.6 and of 1.25.

    Parameters
    ----------
    n_frequencies : int
        s; with none, only the head is fitted.
    outlook : Outlook
        Where the error is averaged.
    """
    reach = _reach(1e-3, function, radius)
    program = _Program.for_function(function, dim, radius, head_degree, reach, outlook.slack)

    def attempt(**limit: float) -> tuple[float, _Solution | None]:
        solved = program.solve(**limit)
        if solved is None:
            return math.inf, None
        measure = program.measure(solved, sphere=sphere)
        if n_frequencies < 2 and measure.positive.mass > 0 and measure.negative.mass > 0:
            return math.inf, None  # one frequency cannot stand for both signs
        return outlook.error(measure, n_frequencies), solved

    start = 1.0 / math.sqrt(n_frequencies) if n_frequencies else _NO_MASS_PRICE
    least, best = attempt(price=start)
    for factor in (1 / 3, 3.0):
        price, improved = start, False
        while 1e-6 < price * factor < 1e3:
            price *= factor
            error, solved = attempt(price=price)
            if error < least:
                least, best, improved = error, solved, True
            elif (
                factor > 1.0 or solved is None or solved.mass > 0.0
            ):  # below a price that buys no mass one may buy some
                break
        if improved:
            break
    # Prices reach the corners of the trade-off only; tolerances reach what lies between.
    for step in (1.6, 1.25):
        for factor in (step, 1 / step):
            moved = False
            while best is not None and best.tol > 0.0 and best.mass > 0.0:
                error, solved = attempt(tol=best.tol * factor)
                if error >= _WORTH * least:
                    break
                least, best, moved = error, solved, True
            if moved:  # the other way lies where it came from
                break
    if best is None:
        _, best = attempt(price=_NO_MASS_PRICE)
    if best is None:
        raise _failed(dim, radius)
    return program.measure(best, sphere=sphere)


def least_mass_to_refit(
    function: Function, dim: int, radius: float, head_degree: int, rest: float = 0.25, *, sphere: bool = False
) -> SignedMeasure:
    """A measure whose weights will be refitted to data: radii that can take up most of what the head leaves over.

    One small linear program, whose tolerance is the part ``rest`` of the largest error of the head alone; what the radii are is
    not delicate. Where that takes too much mass (an infinite slope at the end of [0, radius]), somewhat smaller distances
    decide, then a larger part, and where neither helps, the best trade of tolerance and mass at a middling price. A kernel that
    is its own head has no mass.
    """
    while True:
        for part in _PARTS:
            program = _coarse_program(function, dim, part * radius, head_degree)
            powers = _powers(program.z / program.radius, head_degree)
            head, *_ = np.linalg.lstsq(powers, program.values, rcond=None)
            left = float(np.max(np.abs(powers @ head - program.values)))
            solved: _Solution | None = _Solution(np.zeros(program.radii.size), head, left)
            if left > 1e-9 * program.size:
                solved = program.solve(tol=rest * left)
            if solved is not None and solved.mass <= _FIT_FOR_USE * program.size:
                return program.measure(solved, sphere=sphere, radius=radius)
        if rest >= _MOST_REST:
            break
        rest = min(4.0 * rest, _MOST_REST)
    program = _coarse_program(function, dim, radius, head_degree)
    solved = program.solve(price=_FALLBACK_PRICE) or program.solve(price=_NO_MASS_PRICE)
    if solved is None:
        raise _failed(dim, radius)
    return program.measure(solved, sphere=sphere)


def _coarse_program(function: Function, dim: int, radius: float, degree: int) -> _Program:
    program = _Program.for_function(
        function, dim, radius, degree, _reach(1e-3, function, radius), coarse=_COARSE, rounds=2
    )
    if not np.isfinite(program.values).all():
        raise _failed(dim, radius)
    return program


def _failed(dim: int, radius: float) -> ValueError:
    return ValueError(
        f"the linear program for the measure failed for this kernel on [0, {radius:.4g}] in dimension {dim}; check that "
        "the kernel is finite and continuous there, or use a smaller radius"
    )


@dataclass(frozen=True)
class _Solution:
    weights: np.ndarray
    coefficients: np.ndarray
    tol: float

    @property
    def mass(self) -> float:
        return float(np.abs(self.weights).sum())

    def scaled(self, factor: float) -> _Solution:
        return _Solution(self.weights * factor, self.coefficients * factor, self.tol * factor)


@dataclass(frozen=True)
class _Program:
    function: Function
    dim: int
    radius: float
    degree: int
    reach: float
    z: np.ndarray
    radii: np.ndarray
    waves: np.ndarray
    values: np.ndarray
    size: float
    slack: Function
    rounds: int

    @classmethod
    def for_function(
        cls,
        function: Function,
        dim: int,
        radius: float,
        degree: int,
        reach: float,
        slack: Function = np.ones_like,
        *,
        coarse: int = 1,
        rounds: int = _ROUNDS,
    ) -> _Program:
        z, radii, waves = _unit_grid(dim, reach, degree < 0, coarse)
        values = function(z * radius)
        size = float(np.max(np.abs(values))) or 1.0
        return cls(function, dim, radius, degree, reach, z * radius, radii / radius, waves, values, size, slack, rounds)

    def solve(self, *, tol: float | None = None, price: float | None = None) -> _Solution | None:
        """Least mass for a tolerance, or least ``tol + price·mass``; None if infeasible. Exchange rounds add the points
        where the residual between grid points is too large."""
        z, waves, values = self.z, self.waves, self.values
        solved: _Solution | None = None
        for _ in range(self.rounds):
            powers = _powers(z / self.radius, self.degree)
            # In units of sup|k|, as the solver's tolerances are absolute.
            last = _solve(
                waves, powers, values / self.size, self.slack(z), None if tol is None else tol / self.size, price
            )
            if last is None:  # the added points ask too much: what was found before stands, with its bias measured
                return solved
            solved = last.scaled(self.size)
            _, fine, residual = self._residual(solved)
            limit = 1.02 * solved.tol + 1e-9 * self.size
            worst = _peaks(np.abs(residual) / self.slack(fine), limit)
            if not worst.size:
                return solved
            z = np.concatenate([z, fine[worst]])
            waves = np.concatenate([waves, omega(self.dim, np.multiply.outer(fine[worst], self.radii))])
            values = np.concatenate([values, self.function(fine[worst])])
        return solved

    def measure(self, solved: _Solution, *, sphere: bool, radius: float | None = None) -> SignedMeasure:
        """With its bias on [0, radius]; by default the distances of the program."""
        radius = self.radius if radius is None else radius
        bias, _, _ = self._residual(solved, radius)
        used = solved.weights != 0.0
        return SignedMeasure.from_atoms(
            self.dim,
            self.radii[used],
            solved.weights[used],
            head=self._head(solved),
            bias=bias,
            radius=radius,
            sphere=sphere,
        )

    def bound(self, solved: _Solution) -> float:
        """Certified bound on the error."""
        return self._residual(solved)[0]

    def error(self, solved: _Solution) -> float:
        """Largest error on the fine grid."""
        return float(np.max(np.abs(self._residual(solved)[2])))

    def _head(self, solved: _Solution) -> Head:
        return Head(tuple(c / self.radius ** (2 * q) for q, c in enumerate(solved.coefficients)))

    def _residual(self, solved: _Solution, radius: float | None = None) -> tuple[float, np.ndarray, np.ndarray]:
        used, radius = solved.weights != 0.0, self.radius if radius is None else radius
        return certified_bias(
            self.function, self.dim, radius, self._head(solved), self.radii[used], solved.weights[used]
        )


def _reach(tol: float, function: Function, radius: float) -> float:
    size = float(np.max(np.abs(function(np.linspace(0.0, radius, 33))))) or 1.0
    return _REACH * max(1.0, min(math.sqrt(0.01 * size / tol), 100.0))


@lru_cache(maxsize=32)
def _unit_grid(dim: int, reach: float, with_zero: bool, coarse: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances in [0, 1], radii in units of 1/R, and Ω_d of their products: the same for every R."""
    # In low dimension waves do not die out, and the grid must resolve the fastest of them all the way.
    many = (max(120, min(int(0.6 * reach * math.sqrt(dim)), 400)) if dim <= 4 else 120) // coarse
    even = 0.5 - 0.5 * np.cos(np.pi * np.arange(many) / (many - 1))
    z = np.unique(np.concatenate([even, np.geomspace(1e-4, 0.5, 50 // coarse)]))
    count = int(_RADII / coarse * max(1.0, math.log(reach / 0.3) / math.log(130 / 0.3)))
    radii = math.sqrt(dim) * np.geomspace(0.3, reach, count)
    if with_zero:
        radii = np.concatenate([[0.0], radii])
    waves = omega(dim, np.multiply.outer(z, radii))
    for array in (z, radii, waves):
        array.setflags(write=False)
    return z, radii, waves


def _powers(x: np.ndarray, degree: int) -> np.ndarray:
    return np.stack([x ** (2 * q) for q in range(degree + 1)], axis=1) if degree >= 0 else np.empty((x.size, 0))


def _solve(
    waves: np.ndarray,
    powers: np.ndarray,
    values: np.ndarray,
    slack: np.ndarray,
    tol: float | None,
    price: float | None,
) -> _Solution | None:
    """The linear program: residuals within ``tol·slack``, or with a price on mass, within a tolerance that is minimised too."""
    n, free = waves.shape[1], powers.shape[1]
    design = np.concatenate([waves, -waves, powers], axis=1)
    bounds = [(0.0, None)] * (2 * n) + [(None, None)] * free
    if tol is not None:
        cost = np.concatenate([np.ones(2 * n), np.zeros(free)])
        matrix, limit = np.concatenate([design, -design]), np.concatenate([values + tol * slack, tol * slack - values])
    else:
        room = -slack[:, None]
        cost = np.concatenate([np.full(2 * n, price), np.zeros(free), [1.0]])
        matrix, limit = np.block([[design, room], [-design, room]]), np.concatenate([values, -values])
        bounds.append((0.0, None))
    # The tight tolerance keeps a small ε meaningful (HiGHS' own is 1e-7). Presolve finds nothing in a dense matrix and takes half
    # the time, but without it the large programs of low dimension stall.
    options = {
        "presolve": waves.shape[0] > 300,
        "primal_feasibility_tolerance": 1e-10,
        "dual_feasibility_tolerance": 1e-10,
        "maxiter": _PIVOTS,
        "time_limit": _SECONDS,
    }
    result = linprog(cost, A_ub=matrix, b_ub=limit, bounds=bounds, method="highs-ds", options=options)
    if result.x is None or not np.isfinite(result.x).all() or result.status != 0:
        return None
    weights = result.x[:n] - result.x[n : 2 * n]
    weights[np.abs(weights) < 1e-12 * max(np.abs(weights).max(initial=0.0), 1e-300)] = 0.0
    return _Solution(weights, result.x[2 * n : 2 * n + free], float(tol if tol is not None else result.x[-1]))


def _peaks(size: np.ndarray, limit: float) -> np.ndarray:
    """Local maxima above the limit, the 40 largest at most."""
    inside = np.concatenate([[-np.inf], size, [-np.inf]])
    peak = (size > limit) & (size >= inside[:-2]) & (size >= inside[2:])
    found = np.flatnonzero(peak)
    return found[np.argsort(-size[found])[:40]]
