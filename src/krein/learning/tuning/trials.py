"""The table of the kernels that were tried, and how far the trials are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from krein.kernels import Kernel
from krein.show.cards import card, card_table, curve, sketch

__all__ = ["NOTHING_TRIED", "Trial", "Trials"]

_SHOWN = 12  # rows of the short form


@dataclass(frozen=True)
class Trial:
    """One kernel, scored on a number of rows.

    Parameters
    ----------
    kernel : Kernel
    family : str
    factor : float or None
        Length scale in units of the median distance.
    n_rows : int
        Distinct rows it was scored on.
    lam : float
        The best λ on these rows.
    error : float
        Squared error of left-out rows, relative to that of a constant.
    criterion : {"leave-one-out", "folds"}
    chosen : bool, default=False
    """

    kernel: Kernel
    family: str
    factor: float | None
    n_rows: int
    lam: float
    error: float
    criterion: str
    chosen: bool = False

    def cells(self) -> tuple[str, ...]:
        """The row of the table, as text."""
        scale = "" if self.factor is None else f"{self.factor:g}"
        return (self.family, scale, f"{self.n_rows}", f"{self.lam:.1e}", f"{self.error:.4f}", self.criterion)


_TITLES = ("kernel", "scale / median", "rows", "λ", "error", "scored by")


@dataclass(frozen=True, repr=False)
class Trials:
    """The kernels that were tried: those on the most rows first, and the best first among those on as many rows."""

    trials: tuple[Trial, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the cells of a trial."""
        return _TITLES

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __getitem__(self, index: int) -> Trial:
        return self.trials[index]

    def __repr__(self) -> str:
        lines = [_TITLES, *(trial.cells() for trial in self.trials[:_SHOWN])]
        widths = [max(len(line[i]) for line in lines) for i in range(len(_TITLES))]
        marks = [" ", *("*" if trial.chosen else " " for trial in self.trials)]
        text = [
            f"{mark} " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for mark, line in zip(marks, lines, strict=False)
        ]
        if len(self.trials) > _SHOWN:
            text.append(f"  … {len(self.trials) - _SHOWN} more")
        return "\n".join(text)

    def _repr_html_(self) -> str:
        return self.card("Kernels tried")

    def card(self, title: str, facts: Iterable[tuple[str, str]] = ()) -> str:
        """The table as HTML for a notebook, with a plot of the error against the length scale."""
        if not self.trials:
            return card(title, facts)
        shown = self.trials[:_SHOWN]
        best = {(i, j) for i, one in enumerate(shown) if one.chosen for j in range(len(_TITLES))}
        more = f"… {len(self.trials) - _SHOWN} more" if len(self.trials) > _SHOWN else ""
        table = card_table(_TITLES, [one.cells() for one in shown], best=best, more=more)
        return card(title, facts, drawing=self._sketch(), table=table)

    def _sketch(self) -> str:
        """Error over length scale on the fewest rows, where all were tried: a line for each family, the chosen one in color."""
        fewest = min(one.n_rows for one in self.trials)
        chosen = {one.family for one in self.trials if one.chosen}
        marks = []
        for family in sorted({one.family for one in self.trials}):
            best: dict[float, float] = {}
            for one in self.trials:
                if one.factor is not None and (one.n_rows, one.family) == (fewest, family):
                    best[one.factor] = min(one.error, best.get(one.factor, one.error))
            x = sorted(best)
            marks.append(curve(x, [best[factor] for factor in x], "positive" if family in chosen else "ink"))
        label = f"error of left-out rows against length scale, on {fewest} rows"
        return sketch(marks, label, "length scale / median", xlog=True)


NOTHING_TRIED = Trials(())
