"""Models in files: arrays in an npz archive, everything else in a JSON header, nothing that runs when it is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from krein._core.errors import ModelFileError
from krein.files.archive import read_archive, write_archive
from krein.files.registry import SavableMixin
from krein.files.trees import Decoder, Encoder

__all__ = ["FORMAT", "ModelFileError", "SavableMixin", "load_model", "read_header", "read_model", "save_model"]

FORMAT = 2  # of the files this version writes
# What to do about a file of some format: nothing, it can be read; or advice. -1 stands for formats that are not known.
_FORMATS = {
    FORMAT: "",
    1: f"this version reads format {FORMAT}: train the model again or use krein 0.1",
    -1: f"this version reads format {FORMAT}: upgrade krein",
}


def save_model(estimator: SavableMixin, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> None:
    """Write an estimator of this library to a file."""
    from krein import __version__

    name = type(estimator).__name__
    encoder = Encoder(name)
    try:
        tree = encoder.encode(estimator)
        header = {"format": FORMAT, "krein": __version__, "class": name, "notes": dict(notes or {}), "model": tree}
        write_archive(Path(path), header, encoder.arrays)
    except (ValueError, TypeError) as error:
        raise error if isinstance(error, ModelFileError) else ModelFileError(str(error)) from error


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that was written by ``save``.

    An untrusted file gives an error or a model, and runs no code; see the page on security in the user guide.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        On the same machine its predictions are those of the saved model, bit for bit.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If the file is not a model, is damaged, cut short, or was written in another format.

    Examples
    --------
    >>> import os, tempfile, numpy as np
    >>> from krein import ExactKreinRidge
    >>> from krein import load_model
    >>> X, y = np.eye(4), np.arange(4.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.krein")
    ...     ExactKreinRidge(lam=0.1).fit(X, y).save(path)
    ...     load_model(path).lam_
    0.1
    """
    return read_model(path)[0]


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON header of a model file."""
    return _read(Path(path))[0]


def read_model(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Read a model and the notes that were saved with it."""
    header, arrays = _read(Path(path))
    try:
        estimator = Decoder(arrays).decode_whole(header["model"], "the model")
    except ValueError as error:
        raise ModelFileError(f"{path} does not describe a model that this version of krein knows: {error}") from error
    if not isinstance(estimator, SavableMixin):
        raise ModelFileError(f"{path} holds a {type(estimator).__name__}, not a model")
    return estimator, header["notes"]


def _read(path: Path) -> tuple[dict[str, Any], Any]:
    header, arrays = read_archive(path, _FORMATS)
    if set(header) != {"format", "krein", "class", "notes", "model"} or not isinstance(header["notes"], dict):
        raise ModelFileError(f"the header of {path} is not that of a model; copy the file again")
    return header, arrays
