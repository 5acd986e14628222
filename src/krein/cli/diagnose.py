"""``krein diagnose``: what a kernel or a matrix is, as a card, a table or JSON."""

# No `from __future__ import annotations`: typer reads the options from annotations.
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import krein
from krein.cli.options import Json
from krein.cli.output import console, print_json, report_card, text_grid
from krein.cli.tables import check_out
from krein.files.matrices import MATRIX_SUFFIXES, read_labels, read_matrix
from krein.kernels import NAMED_KERNELS, parse_kernel
from krein.measures import Diagnosis

__all__ = ["diagnose"]

_KERNEL = (
    "A kernel, such as ntk, 'delta-gaussian(1, 10)' or '2*gaussian(1) - laplacian(0.5)', or a file with a square matrix: .npy, "
    ".npz, .csv, .tsv, .txt or .parquet. Without it, all named kernels."
)
_LABELS = "File with a label for each object, to test whether the negative part helps to predict it."


def diagnose(
    kernel: Annotated[str | None, typer.Argument(metavar="KERNEL", help=_KERNEL)] = None,
    dim: Annotated[
        int | None, typer.Option("--dim", "-d", help="Number of columns of the data; needed for kernels.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All named kernels, as a table.")] = False,
    as_json: Json = False,
    distance: Annotated[bool, typer.Option("--distance", help="The matrix holds distances.")] = False,
    labels: Annotated[Path | None, typer.Option(help=_LABELS)] = None,
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
    asked = [cls() for cls in NAMED_KERNELS.values()] if kernel is None else [parse_kernel(kernel)]
    found = [krein.diagnose(one, dim) for one in asked]
    if as_json:
        records = [one.to_dict() for one in found]
        print_json(records if kernel is None else records[0])
    elif kernel is None:
        console().print(_diagnosis_table(found))
    else:
        console().print(f"{found[0].kernel} in dimension {dim}", style="bold", markup=False)
        console().print(report_card(dict(found[0].facts())))


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
    dim, names = found[0].dim, {repr(cls()): name for name, cls in NAMED_KERNELS.items()}
    answers = {True: "yes", False: "no", None: "undecided"}
    rows = [
        (
            names[one.kernel],
            _mass(one),
            one.decomposition_rule if one.decomposes else "not known",
            answers[one.positive_definite],
            answers[one.positive_on_sphere],
        )
        for one in found
    ]
    caption = (
        f"mass: of the measure on R^{dim}, finite or not. decomposition: as a difference of two positive definite kernels. "
        "PD: positive definite."
    )
    header = ("kernel", "mass", "decomposition", "PD: R^d", "sphere")
    return text_grid(header, rows, title=f"Kernels in dimension {dim}: three questions", caption=caption)


def _mass(diagnosis: Diagnosis) -> str:
    if diagnosis.mass is None:
        return {True: "finite, not computed", None: "undecided"}.get(diagnosis.finite, "not computed")
    if math.isinf(diagnosis.mass):
        return "infinite"
    if diagnosis.positive_mass is None or not diagnosis.negative_mass:
        return f"{diagnosis.mass:.3g}"
    return f"{diagnosis.mass:.3g} = {diagnosis.positive_mass:.3g} + {diagnosis.negative_mass:.3g}"
