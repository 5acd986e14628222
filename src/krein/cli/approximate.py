"""``krein approximate``: the error of random features on the rows of a table, and their speed."""

# No `from __future__ import annotations`: typer reads the options from annotations.
import math
import time
from typing import Annotated

import typer

from krein._core.checks import one_of, positive_integer
from krein.cli.options import Decimal, Drop, Json, Rows, Seed, Separator
from krein.cli.output import console, print_json, report_card
from krein.cli.tables import fair_sample, features_of
from krein.datasets import MinMax
from krein.estimators import SignedFourierFeatures
from krein.files.tables import TableChunks, open_table
from krein.kernels import parse_kernel

__all__ = ["approximate"]

_MOST_ROWS = 20_000  # to fit on; fitting looks at fewer


def approximate(
    data: Rows,
    kernel: Annotated[str, typer.Option("--kernel", "-k", help="A kernel, such as ntk or 'delta-gaussian(1, 10)'.")],
    n_components: Annotated[int, typer.Option("--n-components", "-n", help="Number of output columns.")] = 512,
    target: Annotated[str | None, typer.Option(help="Column of the table to leave out.")] = None,
    weights: Annotated[str, typer.Option(help="calibrated, unbiased or projected.")] = "calibrated",
    sampler: Annotated[str, typer.Option(help="orthogonal, monte_carlo, hadamard, ...")] = "orthogonal",
    scaling: Annotated[str, typer.Option(help="minmax (scales columns to [0, 1]) or none.")] = "minmax",
    drop: Drop = None,
    sep: Separator = None,
    decimal: Decimal = ".",
    rows: Annotated[int, typer.Option(help="Number of held-out rows on which the error is measured.")] = 1000,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Measure how well and how fast random features approximate a kernel on the rows of a table."""
    features = SignedFourierFeatures(
        kernel=parse_kernel(kernel), n_components=n_components, weights=weights, sampler=sampler, random_state=seed
    )
    one_of(scaling, "scaling", ("minmax", "none"))
    positive_integer(rows, "rows")
    table = open_table(data, sep=sep, decimal=decimal)
    (kept,) = fair_sample(TableChunks(table, features_of(table, target, drop)), _MOST_ROWS + rows, seed)
    if kept.shape[0] < 4:
        raise ValueError(f"{data} has {kept.shape[0]} rows; at least 4 are needed, to fit on some and test on others")
    test = min(rows, kept.shape[0] // 2)
    X, X_new = kept[test:], kept[:test]
    if scaling == "minmax":
        scaler = MinMax.fit(X)
        X, X_new = scaler.apply(X), scaler.apply(X_new)
    started = time.perf_counter()
    features.fit(X)
    fitted = time.perf_counter()
    features.transform(X_new)
    mapped = time.perf_counter()
    exact = features.kernel_(X_new)
    size = math.sqrt(float((exact**2).sum())) or 1.0
    report = {
        "kernel": repr(features.kernel_),
        "rows_fitted": X.shape[0],
        "rows_unseen": X_new.shape[0],
        "columns": X.shape[1],
        "n_components": int(features.signature_.size),
        "negative_components": int((features.signature_ < 0).sum()),
        "mass": features.measure_.mass,
        "bias": features.measure_.bias,
        "relative_error": math.sqrt(float(((features.approximate(X_new) - exact) ** 2).sum())) / size,
        "error_estimate": float(features.error_estimate_),
        "seconds_fit": fitted - started,
        "seconds_transform": mapped - fitted,
    }
    if as_json:
        print_json(report)
    else:
        console().print(report_card(report))
