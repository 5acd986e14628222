"""Square matrices and labels from files that people have: NPY, NPZ, CSV and plain text; no pickles."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np

from krein._core.errors import TableError

__all__ = ["MATRIX_SUFFIXES", "read_labels", "read_matrix"]

MATRIX_SUFFIXES = (".npy", ".npz", ".csv", ".txt", ".tsv")


def read_matrix(path: str | os.PathLike[str]) -> np.ndarray:
    """A square matrix; an NPY file is mapped into memory, of an NPZ file the one square array is taken."""
    found = {
        name: array for name, array in _arrays(path).items() if array.ndim == 2 and array.shape[0] == array.shape[1]
    }
    if len(found) != 1:
        have = "none" if not found else f"{len(found)} ({', '.join(found)})"
        raise TableError(f"{path} must hold one square matrix, a row and a column for each object, but has {have}")
    (matrix,) = found.values()
    if matrix.dtype.kind not in "fiub":
        raise TableError(f"the matrix in {path} must hold real numbers, got dtype {matrix.dtype}")
    return matrix


def read_labels(path: str | os.PathLike[str], n_objects: int) -> np.ndarray:
    """One label or number for each object: the one array of that length in a file."""
    found = {name: array.ravel() for name, array in _arrays(path).items() if array.size == n_objects}
    if len(found) != 1:
        have = "none" if not found else f"{len(found)} ({', '.join(found)})"
        raise TableError(f"{path} must hold one label for each of {n_objects} objects, but has {have} of that length")
    (labels,) = found.values()
    return labels


def _arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """All arrays of a file, by name."""
    suffix = Path(path).suffix.lower()
    if suffix not in MATRIX_SUFFIXES:
        raise TableError(f"the format of {path} is unknown; the name must end in {', '.join(MATRIX_SUFFIXES)}")
    try:
        if suffix == ".npy":
            return {"array": np.load(path, mmap_mode="r", allow_pickle=False)}
        if suffix == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        return {"table": _text(path, {".csv": ",", ".tsv": "\t", ".txt": None}[suffix])}
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, EOFError, zipfile.BadZipFile) as error:  # damaged, or holding Python objects
        raise TableError(f"cannot read {path}: {error}") from error


def _text(path: str | os.PathLike[str], delimiter: str | None) -> np.ndarray:
    """Numbers, or words where they are none."""
    cells = np.loadtxt(path, delimiter=delimiter, dtype=str, ndmin=2, comments=None, encoding="utf-8")
    try:
        return cells.astype(np.float64)
    except ValueError:
        return cells
