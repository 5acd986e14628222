"""The diagnosis of a matrix of similarities or distances: numbers, a verdict with reasons, and advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from krein.matrices.entries import EntryScan, TriangleCheck
from krein.matrices.matrix_spectrum import MatrixSpectrum, NoiseBand
from krein.matrices.noise_or_signal import Replication
from krein.show.cards import card, sketch, stems, text_card
from krein.show.style import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MatrixDiagnosis", "PartScores"]

_SKETCHED = 40  # eigenvalues from each end, in a notebook
_DEVIATIONS = 2.0  # standard errors by which two scores must differ to count as different


@final
@dataclass(frozen=True)
class PartScores:
    r"""Scores of ridge with the whole matrix and with its positive part alone.

    Parameters
    ----------
    kept : float
        Score with the negative part: :math:`|K|` as norm, K as similarity.
    dropped : float
        Score with negative eigenvalues clipped, consistently for the objects held out.
    error : float
        Standard error of ``kept - dropped``, with the correction of [1]_ for overlapping training sets.
    measure : {"accuracy", "R2"}
    n_objects : int
        Objects used.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio. "Inference for the generalization error". Machine Learning, 2003.
    """

    kept: float
    dropped: float
    error: float
    measure: str
    n_objects: int

    @property
    def difference(self) -> int:
        """1 if keeping the negative part is better by more than chance, -1 if worse, else 0."""
        gain = self.kept - self.dropped
        return int(np.sign(gain)) if abs(gain) > _DEVIATIONS * self.error else 0


@final
@dataclass(frozen=True, eq=False)
class MatrixDiagnosis:
    r"""The diagnosis of one matrix; it prints as text, and as a card in a notebook.

    Parameters
    ----------
    distance : bool
        Whether the entries are distances; then the spectrum is that of :math:`-\tfrac12 H D^2 H`.
    entries : EntryScan
        Missing and infinite entries, asymmetry.
    verdict : {"incomplete", "positive", "noise", "signal", "mixed", "undecided"}
        Whether there is a negative part, and whether it is noise or belongs to the similarity.
    reasons : tuple of str
        Reasons for the verdict.
    advice : tuple of str
        What to do next.
    spectrum : MatrixSpectrum or None
        None if entries are missing.
    band : NoiseBand or None
        The interval that noise in the entries would fill with eigenvalues.
    replication : Replication or None
        Whether negative directions of half of the objects are negative for the others.
    triangles : TriangleCheck or None
        For distances.
    scores : PartScores or None
        Scores of predictions with and without the negative part, if labels were given.
    labels : ndarray of shape (n_objects,) or None
        Colors of the objects in the figure.
    unit : float, default=1.0
        What all entries were divided by, because no float could hold their squares.
    """

    distance: bool
    entries: EntryScan
    verdict: str
    reasons: tuple[str, ...]
    advice: tuple[str, ...]
    spectrum: MatrixSpectrum | None = None
    band: NoiseBand | None = None
    replication: Replication | None = None
    triangles: TriangleCheck | None = None
    scores: PartScores | None = None
    labels: np.ndarray | None = None
    unit: float = 1.0

    @property
    def n_objects(self) -> int:
        """Number of rows of the matrix."""
        return self.entries.n_objects

    @property
    def signature(self) -> tuple[int, int, int] | None:
        """Numbers of positive, zero and negative eigenvalues; estimates where the spectrum is not exact."""
        if self.spectrum is None:
            return None
        up, zero, down = self.spectrum.signature
        return round(up), round(zero), round(down)

    @property
    def negative_fraction(self) -> float | None:
        """Negative eigenfraction: the share of the negative eigenvalues in the sum of all absolute eigenvalues."""
        return None if self.spectrum is None else self.spectrum.negative_fraction

    @property
    def title(self) -> str:
        """The size of the matrix and what its entries are, in one line."""
        kind = "distances" if self.distance else "similarities"
        return f"{self.n_objects:,} × {self.n_objects:,} matrix of {kind}"

    def facts(self) -> list[tuple[str, str]]:
        """Names and values, as the printed form and the page show them.

        Returns
        -------
        list of (str, str)
        """
        scan, rows = self.entries, [("verdict", self.verdict)]
        if self.unit != 1.0:
            rows.append(("unit", f"all entries are divided by {self.unit:.0e}, and so are the numbers below"))
        if not scan.complete:
            rows.append(
                ("missing, infinite entries", f"{scan.n_missing:,}, {scan.n_infinite:,}; first at {scan.first_bad}")
            )
        if scan.complete:
            rows.append(("symmetric", _symmetry(scan)))
        if self.triangles is not None:
            rows.append(("triangle inequality", _triangles(self.triangles)))
        if self.spectrum is not None:
            spectrum, about = self.spectrum, "" if self.spectrum.exact else "about "
            up, zero, down = (f"{count:,}" for count in self.signature or ())
            rows += [
                ("signature", f"{about}{up} positive, {zero} zero, {down} negative eigenvalues"),
                ("largest, smallest eigenvalue", f"{spectrum.values[-1]:.4g}, {spectrum.values[0]:.4g}"),
                ("negative eigenfraction", f"{about}{spectrum.negative_fraction:.3g}"),
                ("negative magnitude", f"{spectrum.negative_magnitude:.3g} of the largest eigenvalue"),
                ("effective rank", f"{about}{spectrum.effective_rank:.3g} of {self.n_objects:,}"),
            ]
        if self.scores is not None:
            one = self.scores
            gain = f"{one.kept - one.dropped:+.3f} ± {one.error:.3f}"
            rows.append(
                (
                    f"{one.measure} by cross-validation",
                    f"{one.kept:.3f} with, {one.dropped:.3f} without the negative part ({gain})",
                )
            )
        return rows

    def __str__(self) -> str:
        parts = (("why", self.reasons), ("next", self.advice))
        told = [(title if first else "", text) for title, texts in parts for first, text in _firsts(texts)]
        return text_card(self.title, [*self.facts(), *told])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = self.facts() + [("why", text) for text in self.reasons] + [("next", text) for text in self.advice]
        return card(self.title, rows, drawing=_sketch(self.spectrum))

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as values that JSON can hold.

        Returns
        -------
        dict of str to value
        """
        found: dict[str, Any] = {
            "n_objects": self.n_objects,
            "distance": self.distance,
            "unit": self.unit,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "advice": list(self.advice),
            "n_missing": self.entries.n_missing,
            "n_infinite": self.entries.n_infinite,
            "symmetric": self.entries.symmetric,
            "asymmetry": self.entries.asymmetry,
        }
        if self.spectrum is not None:
            magnitude = self.spectrum.negative_magnitude
            found |= {
                "signature": list(self.signature or ()),
                "exact": self.spectrum.exact,
                "largest_eigenvalue": float(self.spectrum.values[-1]),
                "smallest_eigenvalue": float(self.spectrum.values[0]),
                "negative_fraction": self.spectrum.negative_fraction,
                "negative_magnitude": magnitude if np.isfinite(magnitude) else None,
                "effective_rank": self.spectrum.effective_rank,
            }
        if self.triangles is not None:
            found |= {"triangle_violations": self.triangles.share, "worst_triangle": self.triangles.worst}
        if self.scores is not None:
            found |= {
                "score_kept": self.scores.kept,
                "score_dropped": self.scores.dropped,
                "score_error": self.scores.error,
            }
        return found

    def plot(self, ax: Any = None, *, style: Style = "auto") -> Axes:
        """Draw the eigenvalues with their signs, and the band that noise in the entries would fill.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None for a new figure.
        style : {"auto", "light", "dark"}, default="auto"

        Returns
        -------
        matplotlib.axes.Axes
        """
        from krein.show.matrix_plots import plot_spectrum

        return plot_spectrum(self._drawable(), ax, band=self.band, style=style)

    def plot_objects(self, ax: Any = None, *, style: Style = "auto") -> Axes:
        """Draw the objects on the largest positive axis and the most negative one, in the colors of their labels.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None for a new figure.
        style : {"auto", "light", "dark"}, default="auto"

        Returns
        -------
        matplotlib.axes.Axes
        """
        from krein.show.matrix_plots import plot_objects

        return plot_objects(self._drawable(), ax, labels=self.labels, style=style)

    def _drawable(self) -> MatrixSpectrum:
        if self.spectrum is None:
            raise ValueError(
                "a matrix with missing or infinite entries has no spectrum to draw; fill or drop them first"
            )
        return self.spectrum


def _sketch(spectrum: MatrixSpectrum | None) -> str:
    """The roots of the eigenvalues, so that small ones are seen, with their signs."""
    if spectrum is None:
        return ""
    values = spectrum.values[::-1]
    values = np.concatenate([values[:_SKETCHED], values[_SKETCHED:][-_SKETCHED:]])
    roots, places = np.sign(values) * np.sqrt(np.abs(values)), np.arange(1.0, values.size + 1.0)
    up, down = values > spectrum.rounding, values < -spectrum.rounding
    marks = (stems(places[up], roots[up], "positive"), stems(places[down], roots[down], "negative"))
    return sketch(marks, "signed roots of the eigenvalues, largest first", "±√|eigenvalue|, largest first")


def _symmetry(scan: EntryScan) -> str:
    if scan.largest_gap == 0.0:
        return "yes"
    i, j = scan.gap_at
    if scan.symmetric:
        return f"yes, to rounding (largest difference {scan.largest_gap:.1e})"
    return (
        f"no: entries ({i}, {j}) and ({j}, {i}) differ by {scan.largest_gap:.3g}; "
        f"asymmetric part {_percent(scan.asymmetry)} of the symmetric one"
    )


def _triangles(found: TriangleCheck) -> str:
    looked = "all triples" if found.exhaustive else "a sample of triples"
    if found.example is None:
        return f"holds in {looked}"
    i, j, k = found.example
    often = f"violated in {_percent(found.share)} of {looked}, at worst d({i}, {j})"
    if found.worst >= 1.0:
        return f"{often} is positive although {k} is at distance 0 from both"
    return f"{often} is {1.0 / (1.0 - found.worst):.3g} times d({i}, {k}) + d({k}, {j})"


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"


def _firsts(texts: tuple[str, ...]) -> list[tuple[bool, str]]:
    return [(number == 0, text) for number, text in enumerate(texts)]
