"""``krein diagnose``: what a kernel or a matrix is, as a card, a table or JSON."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import krein
from krein.cli.output import command, console, print_json, report_card
from krein.cli.tables import check_out
from krein.files.matrices import MATRIX_SUFFIXES, read_labels, read_matrix
from krein.kernels import NAMED_KERNELS, parse_kernel
from krein.measures import Diagnosis

if TYPE_CHECKING:
    import typer

__all__ = ["add_diagnose"]


def add_diagnose(app: "typer.Typer") -> None:
    """``krein diagnose``."""
    import typer

    @command(app, "diagnose")
    def diagnose(
        kernel: Annotated[
            str | None,
            typer.Argument(
                metavar="KERNEL",
                help="A kernel, such as ntk, 'delta-gaussian(1, 10)' or '2*gaussian(1) - laplacian(0.5)', or a file with a "
                "square matrix: .npy, .npz, .csv, .tsv or .txt. Without it, all named kernels.",
            ),
        ] = None,
        dim: Annotated[
            int | None, typer.Option("--dim", "-d", help="Number of columns of the data; needed for kernels.")
        ] = None,
        every: Annotated[bool, typer.Option("--all", help="All named kernels, as a table.")] = False,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON; an infinite mass is null.")] = False,
        distance: Annotated[bool, typer.Option("--distance", help="The matrix holds distances.")] = False,
        labels: Annotated[
            Path | None,
            typer.Option(
                help="File with a label for each object, to test whether the negative part helps to predict it."
            ),
        ] = None,
        noise: Annotated[
            float | None, typer.Option(help="Standard deviation of the errors of the entries, if known.")
        ] = None,
        plot: Annotated[Path | None, typer.Option(help="Figure of the matrix to write: .png, .svg or .pdf.")] = None,
    ) -> None:
        """Find out whether a kernel has a finite measure or a decomposition, or a matrix is indefinite, and what to use."""
        if kernel is not None and kernel.lower().endswith(MATRIX_SUFFIXES):
            _diagnose_matrix(kernel, distance, labels, noise, plot, as_json)
            return
        if distance or labels is not None or noise is not None or plot is not None:
            raise ValueError("--distance, --labels, --noise and --plot are for files with a matrix, such as K.npz")
        if dim is None:
            raise ValueError("a kernel needs --dim, the number of columns of the data")
        if kernel is not None and every:
            raise ValueError(f"give a kernel or --all, not both (got {kernel!r} and --all)")
        if kernel is None:
            found = [krein.diagnose(cls(), dim) for cls in NAMED_KERNELS.values()]
            if as_json:
                print_json([one.to_dict() for one in found])
            else:
                console().print(_diagnosis_table(found))
            return
        one = krein.diagnose(parse_kernel(kernel), dim)
        if as_json:
            print_json(one.to_dict())
        else:
            console().print(_diagnosis_card(one))


def _diagnose_matrix(
    path: str, distance: bool, labels: Path | None, noise: float | None, plot: Path | None, as_json: bool
) -> None:
    if plot is not None:
        check_out(plot)
    matrix = read_matrix(path)
    y = None if labels is None else read_labels(labels, matrix.shape[0])
    found = krein.diagnose(matrix, distance=distance, y=y, noise=noise)
    if plot is not None:
        from krein.plotting import new_figure, save_figure

        figure = new_figure(9.5, 3.8)
        left, right = figure.subplots(1, 2)
        found.plot(left)
        found.plot_objects(right)
        save_figure(figure, plot)
    if as_json:
        print_json(found.to_dict())
        return
    console().print(found.title)
    words = {"why": "\n".join(found.reasons), "next": "\n".join(found.advice)}
    console().print(report_card(dict(found.facts()) | words | ({"written to": str(plot)} if plot else {})))


def _diagnosis_table(found: Sequence[Diagnosis]) -> Any:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    dim = found[0].dim
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=f"Kernels in dimension {dim}: three questions",
        caption=f"mass: of the measure on R^{dim}, finite or not. decomposition: as a difference of two positive "
        "definite kernels. PD: positive definite.",
        title_justify="left",
        caption_justify="left",
        title_style="bold",
    )
    table.add_column("kernel", no_wrap=True)
    table.add_column("mass", min_width=8)
    table.add_column("decomposition", no_wrap=True)
    table.add_column("PD: R^d", min_width=4)
    table.add_column("sphere", min_width=6)
    for one in found:
        table.add_row(
            escape(_short(one.kernel)),
            _mass(one, digits=3),
            one.decomposition_rule if one.decomposes else "[yellow]not known[/yellow]",
            _answer(one.positive_definite),
            _answer(one.positive_on_sphere),
        )
    return table


def _diagnosis_card(one: Diagnosis) -> Any:
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    card = Table.grid(padding=(0, 2))
    card.add_column(style="bold")
    card.add_column(overflow="fold")
    for name, value in one.facts():
        card.add_row(name, escape(value))
    return Group(Text(f"{one.kernel} in dimension {one.dim}", style="bold"), card)


def _answer(value: bool | None) -> str:
    return {True: "[green]yes[/green]", False: "[red]no[/red]", None: "[yellow]undecided[/yellow]"}[value]


def _mass(diagnosis: Diagnosis, digits: int = 4) -> str:
    if diagnosis.mass is None:
        return {True: "finite, not computed", None: "[yellow]undecided[/yellow]"}.get(diagnosis.finite, "not computed")
    if math.isinf(diagnosis.mass):
        return "[red]infinite[/red]"
    if diagnosis.positive_mass is None or not diagnosis.negative_mass:
        return f"{diagnosis.mass:.{digits}g}"
    parts = f"{diagnosis.positive_mass:.{digits}g} + {diagnosis.negative_mass:.{digits}g}"
    return f"{diagnosis.mass:.{digits}g} = {parts}"


def _short(text: str) -> str:
    """The command-line name of a kernel with default parameters, else its ``repr``."""
    return next((name for name, cls in NAMED_KERNELS.items() if repr(cls()) == text), text)
