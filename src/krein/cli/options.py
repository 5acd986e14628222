"""Options that several commands share: a name, what --help says, and nothing else."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = ["ChunkRows", "Decimal", "Drop", "Json", "KernelName", "Rows", "Seed", "Separator"]

_TABLE = "Table: .csv, .tsv, .npz or .parquet; it need not fit in memory."
_SEPARATOR = "What separates columns; default: tabs in .tsv, else commas."

Rows: TypeAlias = Annotated[Path, typer.Argument(metavar="DATA", help=_TABLE)]
KernelName: TypeAlias = Annotated[
    str, typer.Argument(metavar="KERNEL", help="A kernel, such as ntk or 'delta-gaussian(1, 10)'.")
]
Separator: TypeAlias = Annotated[str | None, typer.Option("--sep", help=_SEPARATOR)]
Decimal: TypeAlias = Annotated[str, typer.Option(help="Decimal mark of a text file.")]
Drop: TypeAlias = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")]
ChunkRows: TypeAlias = Annotated[int, typer.Option(help="Rows read at once.")]
Seed: TypeAlias = Annotated[int, typer.Option(help="Random seed.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
