"""Models in files: arrays in an npz archive, everything else in a JSON header, nothing that runs when it is read."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from krein._core.errors import ModelFileError
from krein.files.encoding import Decoder, Encoder, EncodingError

__all__ = ["FORMAT", "ModelFileError", "SavableMixin", "load_model", "read_header", "save_model"]

FORMAT = 1
_HEADER = "header.json"


class SavableMixin:
    """Gives an estimator ``save``; attributes named in ``_unsaved`` stay out of the file."""

    _unsaved: tuple[str, ...] = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `krein.load_model` reads.

        The file is a zip archive of ``.npy`` arrays and a JSON header, without pickles. It is written beside its final
        place and renamed, so that a failure leaves a previous file as it was.

        Parameters
        ----------
        path : str or path
        """
        save_model(self, path)


def save_model(estimator: Any, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> None:
    """Write an estimator of this library to a file.

    Parameters
    ----------
    estimator : estimator
        Learner or feature map, fitted or not.
    path : str or path
    notes : dict, default=None
        Anything JSON can hold, to be had again from `read_header`.

    Raises
    ------
    ModelFileError
        If the model holds something that is neither data nor an object of this library (such as the function inside
        `krein.kernels.Radial`), or if the path cannot be written.
    """
    from krein import __version__

    encoder = Encoder()
    try:
        tree = encoder.encode(estimator, type(estimator).__name__)
    except EncodingError as error:
        raise ModelFileError(str(error)) from error
    members = {f"{name}.npy": _npy_bytes(array) for name, array in encoder.arrays.items()}
    header = {
        "format": FORMAT,
        "krein": __version__,
        "class": type(estimator).__name__,
        "notes": notes or {},
        "model": tree,
    }
    header["checksum"] = _checksum(header, members)
    members[_HEADER] = json.dumps(header, ensure_ascii=False, indent=1).encode()
    _write_whole(Path(path), members)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that was written by ``save``.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        It predicts bit for bit what the saved one does on the same machine.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If the file is not a model, is damaged, cut short, or was written by a newer format.

    Examples
    --------
    >>> import os, tempfile, numpy as np
    >>> from krein.estimators.learners.exact import ExactKreinRidge
    >>> from krein.files.models import load_model
    >>> X, y = np.eye(4), np.arange(4.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.krein")
    ...     ExactKreinRidge(lam=0.1).fit(X, y).save(path)
    ...     load_model(path).lam_
    0.1
    """
    header, members = _read(Path(path))
    try:
        arrays = {
            name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
            for name, data in members.items()
        }
        estimator = Decoder(arrays).decode(header["model"])
    except (EncodingError, ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
        raise ModelFileError(f"{path} does not describe a model that this version of krein knows: {error}") from error
    if not isinstance(estimator, BaseEstimator):
        raise ModelFileError(f"{path} holds a {type(estimator).__name__}, not a model")
    return estimator


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON header of a model file: format, version, class, notes and parameters, checked against the checksum."""
    return _read(Path(path))[0]


def _read(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise ModelFileError(
            f"{path} is damaged, cut short or not a model file ({error}); copy it again or train the model anew"
        ) from error
    except Exception as error:  # zlib.error and struct.error have no common ancestor of their own
        raise ModelFileError(f"{path} is damaged ({error}); copy it again or train the model anew") from error
    if _HEADER not in members:
        raise ModelFileError(f"{path} is an archive without {_HEADER}, so it was not written by krein")
    try:
        header = json.loads(members.pop(_HEADER))
        version = header["format"]
        written = header.pop("checksum")
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"the header of {path} is damaged ({error}); copy the file again") from error
    if not isinstance(version, int) or version > FORMAT:
        raise ModelFileError(
            f"{path} has format {version}, written by krein {header.get('krein')}; this version reads formats up to "
            f"{FORMAT}: upgrade krein"
        )
    if written != _checksum(header, members):
        raise ModelFileError(f"{path} is damaged: its checksum does not match; copy it again or train the model anew")
    return header, members


def _npy_bytes(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _checksum(header: dict[str, Any], members: dict[str, bytes]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True, ensure_ascii=False).encode())
    for name in sorted(members):
        digest.update(name.encode())
        digest.update(members[name])
    return f"sha256:{digest.hexdigest()}"


def _write_whole(path: Path, members: dict[str, bytes]) -> None:
    """All or nothing: a temporary file in the same folder, flushed to the disk, then renamed over `path`."""
    temporary = None
    try:
        if path.is_dir():
            raise IsADirectoryError("it is a folder")
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        with os.fdopen(descriptor, "wb") as stream:
            with zipfile.ZipFile(stream, "w", compression=zipfile.ZIP_STORED) as archive:
                for name, data in members.items():
                    archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp makes files only their owner can read
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise ModelFileError(
            f"cannot write {path}: {error.strerror or error}; choose a folder you may write to"
        ) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
