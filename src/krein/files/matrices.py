"""Square matrices and labels from files that people have: NPY, NPZ, CSV, Parquet and plain text; no pickles."""

from __future__ import annotations

import csv
import itertools
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from krein._core.errors import TableError
from krein.files.table_formats import import_reader

__all__ = ["MATRIX_SUFFIXES", "read_labels", "read_matrix"]

_SEPARATORS: dict[str, str | None] = {".csv": ",", ".tsv": "\t", ".txt": None}
MATRIX_SUFFIXES = (".npy", ".npz", *_SEPARATORS, ".parquet", ".pq")


def read_matrix(path: str | os.PathLike[str]) -> np.ndarray:
    """A square matrix; an NPY file is mapped into memory, of an NPZ file the one square array is taken.

    A text file may have a line with names of the columns and a column with names of the rows, as pandas writes them.
    """
    arrays = {"table": _numbers_in_text(path)} if _suffix(path) in _SEPARATORS else _arrays(path)
    shapes = {name: f"{name} of shape {array.shape}" for name, array in arrays.items()}
    square = {name: array for name, array in arrays.items() if array.ndim == 2 and array.shape[0] == array.shape[1]}
    matrix = _only(
        square, shapes, f"{path} must hold one square matrix, a row and a column for each object, but has", ""
    )
    if matrix.dtype.kind not in "fiub":
        raise TableError(f"the matrix in {path} must hold real numbers, got dtype {matrix.dtype}")
    return matrix


def read_labels(path: str | os.PathLike[str], n_objects: int) -> np.ndarray:
    """One label or number for each object: the one array of that length in a file, or the last column of a text file.

    A text file may have a first line with the name of the column, as pandas writes it.
    """
    arrays = {"table": _labels_in_text(path, n_objects)} if _suffix(path) in _SEPARATORS else _arrays(path)
    lengths = {name: f"{array.size} in {name}" for name, array in arrays.items()}
    fitting = {name: array.ravel() for name, array in arrays.items() if array.size == n_objects}
    return _only(
        fitting, lengths, f"{path} must hold one label for each of {n_objects} objects, but has", " of that length"
    )


def _only(found: dict[str, np.ndarray], all_of_them: dict[str, str], rule: str, what: str) -> np.ndarray:
    """The one array that fits, or an error that names those that do, or else all there are."""
    if len(found) != 1:
        have = f"{len(found)} ({', '.join(found)})" if found else "none"
        raise TableError(f"{rule} {have}{what}" + ("" if found else f": {', '.join(all_of_them.values())}"))
    return next(iter(found.values()))


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in MATRIX_SUFFIXES:
        raise TableError(f"the format of {path} is unknown; the name must end in {', '.join(MATRIX_SUFFIXES)}")
    return suffix


def _arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """All arrays of a file that is no text, by name."""
    suffix = _suffix(path)
    try:
        if suffix == ".npy":
            return {"array": np.load(path, mmap_mode="r", allow_pickle=False)}
        if suffix == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                if len(set(archive.files)) < len(archive.files):
                    raise ValueError("it has two arrays of one name")
                return {name: archive[name] for name in archive.files}
        return _of_frame(import_reader("pyarrow.parquet").read_table(path).to_pandas())
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:  # absent, damaged, or holding Python objects
        raise TableError(f"cannot read {path}: {error}") from error


def _of_frame(frame: Any) -> dict[str, np.ndarray]:
    """The columns of numbers as a matrix, and every column by its name."""
    numbers = frame.select_dtypes("number").to_numpy()
    columns = {f"column {name}": frame[name].to_numpy() for name in frame.columns}
    return columns if numbers.shape[1] < 2 else {"matrix": numbers, **columns}


def _records(path: str | os.PathLike[str]) -> Iterator[list[str]]:
    """The fields of each line, blank lines left out."""
    separator = _SEPARATORS[_suffix(path)]
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, delimiter=separator) if separator else (line.split() for line in file)
            yield from (fields for fields in lines if any(fields))
    except (OSError, csv.Error, ValueError) as error:
        raise TableError(f"cannot read {path}: {error}") from error


def _numbers_in_text(path: str | os.PathLike[str]) -> np.ndarray:
    """The numbers of a text file without the names of its rows and columns, which two of its lines tell."""
    first, second = [*itertools.islice(_records(path), 2), [], []][:2]
    if not first:
        raise TableError(f"{path} is empty")
    short = len(first) == len(second) - 1  # as R writes names of columns
    odd = not first[0] or (not _is_number(first[0]) and bool(second) and _is_number(second[0]))
    names = short or odd or not all(map(_is_number, first[1:]))
    skip = int(short or not first[0] or not _is_number((second or first)[0]))
    try:
        rows = [np.array(fields[skip:], dtype=np.float64) for fields in itertools.islice(_records(path), names, None)]
        matrix = np.array(rows) if len({row.size for row in rows}) == 1 else np.empty((len(rows), 0))
        height, width = matrix.shape  # names that are numbers make it one longer
        return matrix[height == width + 1 :, width == height + 1 :]
    except ValueError as error:
        raise TableError(f"the matrix in {path} must hold real numbers: {error}") from error


def _labels_in_text(path: str | os.PathLike[str], n_objects: int) -> np.ndarray:
    """The last field of each line, without that of a first line which is a name; one line may hold all labels."""
    lines = list(_records(path))
    if len(lines) == 1 and len(lines[0]) == n_objects:
        cells = lines[0]
    else:
        cells = [fields[-1] for fields in lines]
        if len(cells) == n_objects + 1 and (cells[0] == "0" or not _is_number(cells[0])):
            cells = cells[1:]
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        return np.array(cells)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
