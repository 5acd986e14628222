"""``krein plot``: a kernel and its signed measure in a picture."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import krein
from krein.cli.output import command, console
from krein.kernels import Kernel, parse_kernel
from krein.measures import SignedMeasure

if TYPE_CHECKING:
    import typer

__all__ = ["add_plot"]

_PLAIN_RADIUS = math.sqrt(2.0)  # the largest distance between unit vectors with non-negative entries


def add_plot(app: "typer.Typer") -> None:
    """``krein plot``."""
    import typer

    @command(app, "plot")
    def plot(
        kernel: Annotated[
            str, typer.Argument(metavar="KERNEL", help="A kernel, such as ntk or 'delta-gaussian(1, 10)'.")
        ],
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
        measure = _measure(parsed, dim, radius, method=method, head_degree=head_degree, truncate=truncate)
        path = save_figure(plot_measure(parsed, measure, style=style), out)  # type: ignore[arg-type]  # it checks the style
        screen = console()
        screen.print(str(measure), markup=False)
        screen.print(f"written to {path}", markup=False, soft_wrap=True)


def _measure(kernel: Kernel, dim: int, radius: float | None = None, **options: Any) -> SignedMeasure:
    """The measure to draw: at all distances where that is possible, else up to `radius` or √2."""
    closed = all(part.radius_law(dim) is not None for _, part in kernel.terms()) if dim > 0 else True
    fourier = options.get("method") == "fourier" and (closed or kernel.domain == "sphere")
    if radius is None and not closed and not fourier:
        radius = _PLAIN_RADIUS
    return krein.signed_measure(kernel, dim, radius, **options)
