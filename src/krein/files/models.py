"""Models in files: arrays in an npz archive, everything else in a JSON header, nothing that runs when it is read.

The archive has a JSON header, ``.npy`` arrays and a checksum, stored and never compressed. Nothing in a file is believed before it
is compared with the size of the file, so that a small file cannot ask for much memory.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np

from krein._core.errors import ModelFileError
from krein._core.files import whole_file
from krein.files.registry import SavableMixin
from krein.files.trees import Decoder, Encoder
from krein.files.values import array_dtype

__all__ = ["FORMAT", "ModelFileError", "SavableMixin", "load_model", "read_header", "read_model", "save_model"]

FORMAT = 2  # of the files this version writes
# What to do about a file of some format: nothing, it can be read; or advice. -1 stands for formats that are not known.
_FORMATS = {
    FORMAT: "",
    1: f"this version reads format {FORMAT}: train the model again or use krein 0.1",
    -1: f"this version reads format {FORMAT}: upgrade krein",
}

_HEADER, _CHECKSUM = "header.json", "checksum.txt"
_ARRAY = re.compile(r"([A-Za-z0-9_.]{1,500})\.npy")
_MOST_HEADER_BYTES = 2**24  # JSON takes some twenty times its size in memory when it is read
_MOST_DIRECTORY_BYTES = 2**20  # some ten thousand arrays
_MOST_DEPTH = 100  # of lists and objects within each other in the header
_PIECE = 2**20  # bytes read at once
_NPY_START = (
    10  # bytes of an array before its header: six that say what it is, the version, and the length of the header
)
# what zipfile raises for archives that are none: of encrypted and of unknown ones a RuntimeError
_DAMAGE = (zipfile.BadZipFile, struct.error, OSError, EOFError, RuntimeError, ValueError)

# The end of a zip archive without a comment, and what stands before it where the archive is larger than 4 GiB.
_END, _END_SIGNATURE = struct.Struct("<4s4H2LH"), b"PK\x05\x06"
_LOCATOR, _LOCATOR_SIGNATURE = struct.Struct("<4sLQL"), b"PK\x06\x07"
_LARGE_END, _LARGE_END_SIGNATURE = struct.Struct("<4sQ2H2L4Q"), b"PK\x06\x06"
_BRACKETS = np.zeros(256, dtype=np.int8)  # what a byte adds to the depth
_BRACKETS[list(b"[{")], _BRACKETS[list(b"]}")] = 1, -1


def save_model(estimator: SavableMixin, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> None:
    """Write an estimator of this library to a file."""
    from krein import __version__

    name = type(estimator).__name__
    encoder = Encoder(name)
    try:
        tree = encoder.encode(estimator)
        header = {"format": FORMAT, "krein": __version__, "class": name, "notes": dict(notes or {}), "model": tree}
        _write_archive(Path(path), header, encoder.arrays)
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
    header, arrays = _read_archive(path)
    if set(header) != {"format", "krein", "class", "notes", "model"} or not isinstance(header["notes"], dict):
        raise ModelFileError(f"the header of {path} is not that of a model; copy the file again")
    return header, arrays


def _write_archive(path: Path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write a header and arrays, all or nothing."""
    text = json.dumps(header, indent=1, allow_nan=False, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if len(text) > _MOST_HEADER_BYTES:
        raise ModelFileError(
            f"the names and labels of this model take {len(text):,} bytes, more than the {_MOST_HEADER_BYTES:,} of a file; use "
            "shorter ones"
        )
    members: dict[str, bytes | np.ndarray] = {_HEADER: text, **{f"{name}.npy": array for name, array in arrays.items()}}
    odd = [name for name in members if name != _HEADER and not _ARRAY.fullmatch(name)]
    if odd:
        raise ModelFileError(f"an array cannot be called {odd[0]!r} in a file; rename the attribute")
    digests = []
    try:
        with whole_file(path) as stream, zipfile.ZipFile(stream, "w", compression=zipfile.ZIP_STORED) as archive:
            for name, content in members.items():
                with archive.open(_member(name), "w", force_zip64=True) as out:
                    piece = _Hashing(out)
                    if isinstance(content, bytes):
                        piece.write(content)
                    else:
                        little = content.astype(content.dtype.newbyteorder("<"), order="K", copy=False)
                        np.lib.format.write_array(piece, little, version=(1, 0), allow_pickle=False)
                digests.append((name, piece.digest.hexdigest()))
            with archive.open(_member(_CHECKSUM), "w") as out:
                out.write(_checksum(digests).encode())
    except OSError as error:
        raise ModelFileError(
            f"cannot write {path}: {error.strerror or error}; choose a folder you may write to"
        ) from error


def _read_archive(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the header and the arrays of a model file, checked against its checksum."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode) and not path.is_dir():
            raise ModelFileError(f"{path} is a device or a pipe, not a model file")
        with open(path, "rb") as stream:
            _check_directory(stream)
            with zipfile.ZipFile(stream) as archive:
                return _read_members(archive, os.fstat(stream.fileno()).st_size, path)
    except (FileNotFoundError, IsADirectoryError, PermissionError, ModelFileError):
        raise
    except _DAMAGE as error:
        raise ModelFileError(
            f"{path} is damaged, cut short or not a model file ({error}); copy it again or train the model again"
        ) from error


def _check_directory(stream: IO[bytes]) -> None:
    """An error if the archive's directory is larger than any of ours: all of it is read before anything else can be checked."""
    size = stream.seek(0, io.SEEK_END)
    tail_size = min(size, _END.size + _LOCATOR.size + _LARGE_END.size)
    stream.seek(size - tail_size)
    tail = stream.read(tail_size)
    if len(tail) < _END.size:
        raise ValueError("it is too short")
    end = _END.unpack(tail[-_END.size :])
    if end[0] != _END_SIGNATURE or end[-1] != 0:
        raise ValueError("it does not end as an archive does")
    directory = end[5]
    locator = tail[-_END.size - _LOCATOR.size : -_END.size]
    if locator[:4] == _LOCATOR_SIGNATURE:
        large = tail[: _LARGE_END.size]
        if (
            len(tail) < tail_size
            or _LOCATOR.unpack(locator)[2] != size - tail_size
            or large[:4] != _LARGE_END_SIGNATURE
        ):
            raise ValueError("its directory is not where it should be")
        directory = _LARGE_END.unpack(large)[8]
    if directory > _MOST_DIRECTORY_BYTES:
        raise ValueError(f"its directory takes {directory:,} bytes")
    stream.seek(0)


def _read_members(archive: zipfile.ZipFile, size: int, path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    members = {info.filename: info for info in archive.infolist()}
    if len(members) != len(archive.infolist()):
        raise ValueError("it has two members of one name")
    for info in archive.infolist():
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError(f"its member {info.filename!r} is compressed, and models are not")
        if info.flag_bits & 0x41:
            raise ValueError(f"its member {info.filename!r} is encrypted")
    if sum(info.file_size for info in archive.infolist()) > size:
        raise ValueError("its members claim to be larger than the file")
    if _HEADER not in members:
        raise ModelFileError(f"{path} is an archive without {_HEADER}, so it was not written by krein")
    text = _read_bytes(archive, members.pop(_HEADER), _MOST_HEADER_BYTES)
    header = _parse_header(text)
    advice = _FORMATS.get(header["format"])
    if advice != "":
        raise ModelFileError(
            f"{path} has format {header['format']}, written by krein {header.get('krein')}; {advice or _FORMATS[-1]}"
        )
    if _CHECKSUM not in members:
        raise ValueError(f"it has no {_CHECKSUM}")
    written = _read_bytes(archive, members.pop(_CHECKSUM), 100).decode("ascii")
    digests, arrays = [(_HEADER, hashlib.sha256(text).hexdigest())], {}
    for name, info in members.items():
        match = _ARRAY.fullmatch(name)
        if match is None:
            raise ValueError(f"it has a member {name!r}, which no model has")
        with archive.open(info) as stream:
            arrays[match.group(1)], digest = _read_array(stream, info.file_size, name)
        digests.append((name, digest))
    if written != _checksum(digests):
        raise ValueError("its checksum does not match")
    return header, arrays


def _read_bytes(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    if info.file_size > most:
        raise ValueError(f"its member {info.filename!r} takes {info.file_size:,} bytes, more than {most:,}")
    return archive.read(info)


def _parse_header(text: bytes) -> dict[str, Any]:
    _check_depth(text)
    # as UTF-8 and nothing else: Python would guess, and another encoding has these brackets elsewhere
    header = json.loads(text.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
    if not isinstance(header, dict) or type(header.get("format")) is not int:
        raise ValueError(f"its {_HEADER} names no format")
    return header


def _check_depth(text: bytes) -> None:
    """An error if JSON is nested so deep that reading it would use up the stack; looked at piece by piece, without reading it."""
    bare = text.replace(b"\\\\", b"").replace(b'\\"', b"")  # what is escaped ends no string
    depth, inside = 0, 0
    for first in range(0, len(bare), _PIECE):
        piece = np.frombuffer(bare, dtype=np.uint8, count=min(_PIECE, len(bare) - first), offset=first)
        quotes = inside + np.cumsum(piece == ord('"'), dtype=np.int32)
        running = depth + np.cumsum(np.where(quotes % 2 == 1, 0, _BRACKETS[piece]), dtype=np.int32)
        if running.max() > _MOST_DEPTH:
            raise ValueError(f"its {_HEADER} is nested more than {_MOST_DEPTH} deep")
        depth, inside = int(running[-1]), int(quotes[-1]) % 2


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _read_array(stream: IO[bytes], size: int, name: str) -> tuple[np.ndarray, str]:
    """An array and the digest of its member; memory is asked for once its size is that of the member."""
    start = stream.read(_NPY_START)
    start += stream.read(int.from_bytes(start[-2:], "little"))
    header, digest = io.BytesIO(start), hashlib.sha256(start)
    try:  # of the first version only, and of no more than ten thousand characters
        if np.lib.format.read_magic(header) != (1, 0):
            raise ValueError("written for another version of numpy")
        shape, by_columns, found = np.lib.format.read_array_header_1_0(header)
    except Exception as error:  # whatever a text may raise that is read as a literal
        raise ValueError(f"its member {name!r} is not an array: {error}") from error
    dtype = array_dtype(found.str)
    if dtype is None:
        raise ValueError(f"its member {name!r} is not an array of plain numbers or text")
    if len(start) + math.prod(shape) * dtype.itemsize != size:
        raise ValueError(
            f"its member {name!r} has {size:,} bytes, which do not make an array of shape {shape} and dtype {dtype}"
        )
    raw = np.empty(math.prod(shape) * dtype.itemsize, dtype=np.uint8)
    for first in range(0, raw.size, _PIECE):
        piece = raw[first : first + _PIECE]
        stream.readinto(piece)  # type: ignore[attr-defined]  # a member of an archive, which fails if it is cut short
        digest.update(piece.data)
    array = raw.view(dtype.newbyteorder("<")).astype(dtype, copy=False)
    return array.reshape(shape, order="F" if by_columns else "C"), digest.hexdigest()


class _Hashing:
    """What numpy writes an array to; it keeps the digest of what went through."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.digest = out, hashlib.sha256()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self.out.write(data)


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the same model gives the same bytes
    info.external_attr = 0o644 << 16
    return info


def _checksum(digests: Iterable[tuple[str, str]]) -> str:
    whole = hashlib.sha256("".join(f"{name}\n{digest}\n" for name, digest in sorted(digests)).encode())
    return f"sha256:{whole.hexdigest()}"
