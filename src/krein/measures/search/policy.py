"""The numbers that steer the search for a measure, each with its unit and its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

__all__ = ["COARSE", "POLICY", "SearchPolicy"]


@final
@dataclass(frozen=True)
class SearchPolicy:
    r"""Grids, margins and limits of one search; every limit is a count, so that no result depends on the clock.

    Distances are in units of R, radii in units of :math:`\sqrt d/R` (where :math:`\Omega_d` starts to fall), masses and
    tolerances in units of the largest \|k\|.

    Parameters
    ----------
    mass_limit : float
        Largest mass that is of use: the standard error of s frequencies is about mass/√s, so at 1,000 even a million of them err by
        as much as the kernel is large.
    exact : float
        A head that leaves no more than this is the kernel: far above rounding, far below the error of any features.
    margin : float
        Relative part by which a tolerance may be exceeded and still counts as met, between grid points and in the verdict. Two
        percent is far above rounding and far below what anyone can tell.
    accepted : float
        Times the tolerance: the largest residual between grid points with which a measure is returned, if points are
        still to be added when the exchanges end. Its bias says what it is.
    rounding : float
        A residual this far above the tolerance is the solver's rounding (its own tolerance is a tenth of it).
    worth : float
        Relative part by which a predicted error must fall to be preferred to one found earlier. Smaller differences are
        ties, which the earlier candidate wins.
    tie_break : float
        Relative part by which the fastest wave is dearer than the slowest. Measures of equal mass, which a positive
        definite kernel has many of, differ by this much, so that the optimum is one point on every processor; the mass
        is the least within 0.1 %.
    steepness : float
        Price of tolerance beyond the one asked for, as relative mass per relative tolerance: what a mass of 3 that
        meets the tolerance within the margin can justify (3/0.02). Larger prices make the programs hard to solve;
        larger masses take a second one.
    near_distances, least_distances, most_distances : int
        Points of the grid: a geometric series near 0, where kernels may have a kink, and Chebyshev points, more in dimensions up
        to 3, where waves do not die out and the fastest needs four points to a wavelength.
    nearest : float
        Smallest distance but 0.
    radii_per_decade : int
        Neighbors on the grid of radii differ by 4 %, which costs less than 1 % of mass.
    smallest_radius : float
        Slower waves are nearly polynomials of degree 1 in z².
    reach : float
        Largest radius at a tolerance of 0.01. A kink at 0 needs radii that grow as tolerances fall, by their inverse square root;
        40 is the formula, the rest a safety factor.
    most_reach : float
        The farthest that radii go, whatever the tolerance; beyond, a wave has more periods in [0, R] than there are grid points.
    exchanges : int
        How often the worst points between grid points are added to the grid, and the program solved again.
    points_per_exchange : int
        At most so many at a time; a residual has no more peaks than the measure has atoms, some dozens.
    rounds : int
        Restricted programs per program: constraints and waves are added where the last answer breaks or wants them. Programs with a
        useful answer take five to twenty.
    idle_rounds : int
        A constraint without effect for so many rounds is left out, for the first half of the rounds.
    grid_margin : float
        As `margin`, for points of the grid, and well below it.
    wave_margin : float
        A wave is added if it saves this much more than its price, relative to it. Twice `tie_break`: waves that only
        break ties would be many.
    start_distances, start_radii : int
        Constraints and waves that a program starts with; about as many as matter in the end.
    additions : int
        At most so many constraints and waves are added in a round.
    pivots : int
        Of the simplex method, per restricted program. One with a useful answer takes a few hundred.
    programs : int
        Restricted programs in a whole search; then the best found so far stands. They take 2 to 10 ms each.
    prices : int
        Prices of mass tried, each a third of the last, until one buys mass; seven thirds are a factor of 2,000.
    ladder : float
        Factor between neighboring tolerances that the search for a width compares; around the best one the predicted
        error differs by about 1 % from one to the next.
    steps : int
        Tolerances tried in a search for a width.
    negligible : float
        Predicted error, relative in the root mean square, below which a smaller one is not worth another program: no
        learner sees it.
    refit_mass : float
        Largest mass of a measure whose weights are refitted: more is a poor start for any weights.
    refit_parts : tuple of float
        Of the radius, tried in turn where a larger one takes too much mass.
    refit_rest : float
        Largest part of the head's error that radii to be refitted may leave. Less of it takes more mass, spread over smaller radii;
        least squares then scales the waves down, and a linear model that is penalized for its weights learns less from them.
    refit_price : float
        Of mass, where no part of the radius has a measure: a trade between the head alone and a mass of the order of 1.
    wave_room : int
        Columns beside a head that refitted weights need: a frequency of each sign, a cosine and a sine for each.
    head_share : float
        Of all columns that a head of degree 2 may take off the sphere, where it has three weights to refit.
    crowd : int
        Times the squared dimension: frequencies from which on more of them want more different radii.
    """

    mass_limit: float = 1e3
    exact: float = 1e-9
    margin: float = 0.02
    accepted: float = 2.0
    rounding: float = 1e-9
    worth: float = 0.01
    tie_break: float = 1e-3
    steepness: float = 150.0
    near_distances: int = 50
    least_distances: int = 120
    most_distances: int = 1000
    nearest: float = 1e-4
    radii_per_decade: int = 57
    smallest_radius: float = 0.3
    reach: float = 320.0
    most_reach: float = 32_000.0
    exchanges: int = 6
    points_per_exchange: int = 40
    rounds: int = 30
    idle_rounds: int = 2
    grid_margin: float = 0.005
    wave_margin: float = 0.002
    start_distances: int = 40
    start_radii: int = 30
    additions: int = 20
    pivots: int = 5000
    programs: int = 200
    prices: int = 8
    ladder: float = 1.3
    steps: int = 14
    negligible: float = 1e-4
    refit_mass: float = 3.0
    refit_parts: tuple[float, ...] = (1.0, 0.9, 0.8)
    refit_rest: float = 0.35
    refit_price: float = 0.1
    wave_room: int = 4
    head_share: float = 0.75
    crowd: int = 4

    def reach_at(self, tol: float) -> float:
        """Largest radius for a tolerance, rounded up by at most √2, so that tolerances nearby share a grid."""
        # of the square root; a quotient would be zero for a tolerance of 1e308
        half_octaves = math.ceil(max(0.0, math.log2(0.01) - math.log2(tol) - 1e-9))
        return float(min(self.reach * 2.0 ** (half_octaves / 2.0), self.most_reach))


POLICY = SearchPolicy()

# Where weights are refitted the radii are not delicate: a quarter of the points, half of the radii, all of them in one
# program from the start, and the plain formula of the reach at a tolerance of 1e-3.
COARSE = replace(
    POLICY,
    near_distances=12,
    least_distances=30,
    most_distances=60,
    radii_per_decade=28,
    reach=126.0,
    exchanges=2,
    start_distances=100,
    start_radii=200,
)
