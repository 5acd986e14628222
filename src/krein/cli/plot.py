"""``krein plot``: a kernel and its signed measure in a picture."""

# No `from __future__ import annotations`: typer reads the options from annotations.
import math
from pathlib import Path
from typing import Annotated

import typer

import krein
from krein.cli.options import KernelName
from krein.cli.output import console
from krein.kernels import parse_kernel

__all__ = ["plot"]

_PLAIN_RADIUS = math.sqrt(2.0)  # the largest distance between unit vectors with non-negative entries


def plot(
    kernel: KernelName,
    dim: Annotated[int, typer.Option("--dim", "-d", help="Number of columns of the data.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .png, .svg or .pdf.")],
    radius: Annotated[
        float | None,
        typer.Option(help="Largest distance R. Default: all distances if there is a closed form, else sqrt(2)."),
    ] = None,
    method: Annotated[str, typer.Option(help="auto, closed_form, fourier or least_mass.")] = "auto",
    head_degree: Annotated[int, typer.Option(help="Degree in z² of the exact head, -1 (none) to 2.")] = 1,
    truncate: Annotated[
        float | None, typer.Option(help="Cut the Fourier measure at this radius (the paper cuts at 10).")
    ] = None,
    style: Annotated[str, typer.Option(help="auto (transparent), light or dark.")] = "auto",
) -> None:
    """Draw a kernel and its signed measure: the paper's Figure 1."""
    from krein.plotting import plot_measure, save_figure

    parsed = parse_kernel(kernel)
    closed = all(part.radius_law(dim) is not None for _, part in parsed.terms()) if dim > 0 else True
    if radius is None and not closed and not (method == "fourier" and parsed.domain == "sphere"):
        radius = _PLAIN_RADIUS
    # at all distances where that is possible, else up to the radius
    measure = krein.signed_measure(
        parsed,
        dim,
        radius,
        method=method,
        head_degree=head_degree,
        truncate=truncate,
    )
    path = save_figure(plot_measure(parsed, measure, style=style), out)  # type: ignore[arg-type]  # it checks the style
    console().print(str(measure), markup=False)
    console().print(f"written to {path}", markup=False, soft_wrap=True)
