"""A file is written whole or not at all, by one place in the library, and never over something that is no file."""

from __future__ import annotations

import ast
import errno
import os
import stat
from pathlib import Path

import pytest

import krein
from krein._core.files import append_whole, check_target, check_writable, whole_file, write_whole


@pytest.fixture(params=["pipe", "folder", "link to a pipe"])
def odd(request, tmp_path):
    """Something that is no regular file; a device itself can be made by root only."""
    path = tmp_path / "odd"
    if request.param == "folder":
        path.mkdir()
    elif request.param == "pipe":
        os.mkfifo(path)
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to(tmp_path / "pipe")
    before = os.lstat(path).st_mode
    yield path
    assert os.lstat(path).st_mode == before
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_only_regular_files_are_replaced(odd):
    for write in (
        lambda: check_target(odd),
        lambda: check_writable(odd),
        lambda: write_whole(odd, "text"),
    ):
        with pytest.raises(OSError, match=r"it is a (folder|device)"):
            write()


def test_devices(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.stat(os.devnull).st_rdev)
    except (AttributeError, OSError):
        pytest.skip("only root can make a device")  # root could lose the machine's own, were it written to here
    with pytest.raises(OSError, match="it is a device or a pipe"):
        write_whole(device, "text")
    assert stat.S_ISCHR(os.stat(device).st_mode)


def test_what_a_link_points_to_is_replaced_and_keeps_its_permissions(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "file").write_text("old")

    def interrupted():
        with whole_file(tmp_path / "file") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_disk_that_fails_when_it_is_flushed(tmp_path, monkeypatch):
    """As network file systems do: they take every byte, and say afterward that it is nowhere."""
    path = tmp_path / "file"
    path.write_text("old")

    def broken(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    for write in (write_whole, append_whole):
        with pytest.raises(OSError, match=r"Input/output error: .*file"):
            write(path, b"new")
        assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_no_other_module_puts_files_in_place():
    """Renaming over a target is what makes a writer dangerous; it is done in one place."""
    source = Path(krein.__file__).parent
    found = []
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            of_os = isinstance(node.func.value, ast.Name) and node.func.value.id in ("os", "shutil", "tempfile")
            moves = of_os and node.func.attr in (
                "replace",
                "rename",
                "renames",
                "move",
                "mkstemp",
                "NamedTemporaryFile",
            )
            # one argument: Path.replace and Path.rename, while str.replace takes two and dataclasses.replace is no method
            moves |= not of_os and node.func.attr in ("replace", "rename") and len(node.args) == 1 and not node.keywords
            if moves:
                found.append(f"{path.relative_to(source)}:{node.lineno}")
    assert {place.split(":")[0] for place in found} == {"_core/files.py"}
