"""The table of what was tried."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from krein.kernels import Kernel

__all__ = ["NOTHING_TRIED", "Trial", "Trials"]

_SHOWN = 12  # rows of the short form


@dataclass(frozen=True)
class Trial:
    """One kernel on so many rows.

    Parameters
    ----------
    kernel : Kernel
    family : str
    factor : float or None
        Length scale in units of the median distance.
    n_rows : int
        Distinct rows it was judged on.
    lam : float
        The best λ there.
    error : float
        Squared error of rows left out, in units of that of a constant.
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
        """The row of the table, as text.

        Returns
        -------
        tuple of str
        """
        scale = "" if self.factor is None else f"{self.factor:g}"
        return (self.family, scale, f"{self.n_rows}", f"{self.lam:.1e}", f"{self.error:.4f}", self.criterion)


_TITLES = ("kernel", "scale / median", "rows", "λ", "error", "judged by")


@dataclass(frozen=True, repr=False)
class Trials:
    """What was tried, best first within each number of rows, the largest number first.

    Parameters
    ----------
    trials : tuple of Trial
    """

    trials: tuple[Trial, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        """Of the cells of a trial."""
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
        head = "".join(f"<th>{html.escape(title)}</th>" for title in _TITLES)
        body = "".join(_html_row(trial) for trial in self.trials)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


NOTHING_TRIED = Trials(())


def _html_row(trial: Trial) -> str:
    cells: Sequence[str] = [html.escape(cell) for cell in trial.cells()]
    if trial.chosen:
        cells = [f"<b>{cell}</b>" for cell in cells]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
