"""``krein approximate``: the error of random features on the rows of a table, and their speed."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from krein._core.checks import one_of, positive_integer
from krein.cli.output import command, console, print_json, report_card
from krein.cli.tables import fair_sample, features_of
from krein.kernels import parse_kernel

if TYPE_CHECKING:
    import typer

__all__ = ["add_approximate", "sample_rows"]

_MOST_ROWS = 20_000  # to fit on; fitting looks at fewer


def add_approximate(app: "typer.Typer") -> None:
    """``krein approximate``."""
    import typer

    @command(app, "approximate")
    def approximate(
        data: Annotated[Path, typer.Argument(help="Table of numbers: .csv, .tsv, .npz or .parquet.")],
        kernel: Annotated[
            str, typer.Option("--kernel", "-k", help="A kernel, such as ntk or 'delta-gaussian(1, 10)'.")
        ],
        n_components: Annotated[int, typer.Option("--n-components", "-n", help="Number of output columns.")] = 512,
        target: Annotated[str | None, typer.Option(help="Column of the table to leave out.")] = None,
        weights: Annotated[str, typer.Option(help="calibrated, unbiased or projected.")] = "calibrated",
        sampler: Annotated[str, typer.Option(help="orthogonal, monte_carlo, hadamard, ...")] = "orthogonal",
        scaling: Annotated[str, typer.Option(help="minmax (scales columns to [0, 1]) or none.")] = "minmax",
        drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
        sep: Annotated[
            str | None, typer.Option(help="What separates columns; default: tabs in .tsv, else commas.")
        ] = None,
        decimal: Annotated[str, typer.Option(help="Decimal mark of a text file.")] = ".",
        rows: Annotated[int, typer.Option(help="Number of held-out rows on which the error is measured.")] = 1000,
        seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Measure how well and how fast random features approximate a kernel on the rows of a table."""
        from krein.estimators.maps.fourier import SignedFourierFeatures

        features = SignedFourierFeatures(
            kernel=parse_kernel(kernel), n_components=n_components, weights=weights, sampler=sampler, random_state=seed
        )
        X, X_new = sample_rows(data, target, scaling, rows, seed, drop=drop or [], sep=sep, decimal=decimal)
        started = time.perf_counter()
        features.fit(X)
        fitted = time.perf_counter()
        features.transform(X_new)
        mapped = time.perf_counter()
        exact = features.kernel_(X_new)
        size = math.sqrt(float((exact**2).sum())) or 1.0
        error = math.sqrt(float(((features.approximate(X_new) - exact) ** 2).sum())) / size
        report = {
            "kernel": repr(features.kernel_),
            "rows_fitted": X.shape[0],
            "rows_unseen": X_new.shape[0],
            "columns": X.shape[1],
            "n_components": int(features.signature_.size),
            "negative_components": int((features.signature_ < 0).sum()),
            "mass": features.measure_.mass,
            "bias": features.measure_.bias,
            "relative_error": error,
            "error_estimate": float(features.error_estimate_),
            "seconds_fit": fitted - started,
            "seconds_transform": mapped - fitted,
        }
        if as_json:
            print_json(report)
        else:
            console().print(report_card(report))


def sample_rows(
    path: Path,
    target: str | None,
    scaling: str,
    rows: int,
    seed: int,
    *,
    drop: Sequence[str] = (),
    sep: str | None = None,
    decimal: str = ".",
) -> tuple[Any, Any]:
    """Rows to fit on and rows to test on: a uniform sample of the table, taken in one pass."""
    from krein.datasets import MinMax
    from krein.files.tables import TableChunks, open_table

    one_of(scaling, "scaling", ("minmax", "none"))
    positive_integer(rows, "rows")
    table = open_table(path, sep=sep, decimal=decimal)
    chunks = TableChunks(table, features_of(table, target, drop))
    (kept,) = fair_sample(chunks, _MOST_ROWS + rows, seed)
    if kept.shape[0] < 4:
        raise ValueError(f"{path} has {kept.shape[0]} rows; at least 4 are needed, to fit on some and test on others")
    test = min(rows, kept.shape[0] // 2)
    X, X_new = kept[test:], kept[:test]
    if scaling == "minmax":
        scaler = MinMax.fit(X)
        X, X_new = scaler.apply(X), scaler.apply(X_new)
    return X, X_new
