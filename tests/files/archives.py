"""Model files taken apart and put together again, with a checksum that is right: a checksum is no signature."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

HEADER, CHECKSUM = "header.json", "checksum.txt"


def unpack(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header, and the arrays' bytes by the names of their members."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    del members[CHECKSUM]
    return json.loads(members.pop(HEADER)), members


def pack(path: Path, header: dict[str, Any] | bytes, members: dict[str, bytes], **options: Any) -> None:
    """Write an archive as `krein` does, so that only what is inside can be wrong; `options` are those of `ZipFile`."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    everything = {HEADER: text, **members}
    lines = [f"{name}\n{hashlib.sha256(everything[name]).hexdigest()}\n" for name in sorted(everything)]
    checksum = "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in {**everything, CHECKSUM: checksum.encode()}.items():
            archive.writestr(name, data)


def npy(array: np.ndarray, *, allow_pickle: bool = False) -> bytes:
    """The bytes of an ``.npy`` file."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=allow_pickle)
    return buffer.getvalue()


def array(data: bytes) -> np.ndarray:
    """The array in the bytes of an ``.npy`` file."""
    return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
