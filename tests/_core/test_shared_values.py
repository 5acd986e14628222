"""Values that another process hands over: as they were, or through the pipe."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from krein._core.processes import Processes
from krein._core.shared_values import Address, SharedValues
from krein.similarities.calls import Piece, call_elsewhere, received

shares = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="there is no such memory here")


def halves(a, b):
    if b == 7:
        raise LookupError("seven")
    return 0.5 * a + b


PIECES = [Piece(list(range(n)), [1, n], (n, 2)) for n in (1, 600, 3)]


@shares
def test_values_of_another_process_are_there():
    starts = [0, 16, 16 + 8 * 1200]
    with SharedValues() as room, Processes(2) as some:
        tasks = [(halves, False, piece, room.address, start) for piece, start in zip(PIECES, starts, strict=True)]
        for piece, start, called in zip(PIECES, starts, some.run(call_elsewhere, tasks), strict=True):
            assert called.handed_over == 2 * len(piece.left)
            assert not called.values.size
            values = received(called, room, start).values
            assert values.tolist() == [halves(a, b) for b in piece.right for a in piece.left]


@shares
def test_what_came_before_an_error_is_handed_over():
    with SharedValues() as room:
        called = call_elsewhere(halves, False, Piece([1, 2], [3, 7], (2, 2)), room.address, 8)
        assert called.problem == "LookupError: seven"
        assert received(called, room, 8).values.tolist() == [3.5, 4.0]


@shares
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_is_kept(dtype):
    with SharedValues() as room:
        values = np.linspace(0, 1, 5, dtype=dtype)
        assert room.address is not None
        assert room.address.write(values[::2], 24)
        found = room.read(3, values.dtype, 24)
    assert found.dtype == dtype
    assert found.tolist() == values[::2].tolist()


@shares
def test_no_other_file_is_written(tmp_path):
    """On another machine the numbers may be those of a file that somebody has open."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    with precious.open("r+") as file, SharedValues() as room:
        assert room.address is not None
        wrong = [
            replace(room.address, descriptor=file.fileno()),
            replace(room.address, descriptor=10**6),
            replace(room.address, name="krein-another"),
            Address(2**31 - 1, 3, room.address.name),
        ]
        for address in wrong:
            assert not address.write(np.ones(9), 0)
            called = call_elsewhere(halves, False, PIECES[0], address)
            assert (called.handed_over, called.values.tolist()) == (0, [1.0, 1.0])
    assert precious.read_text() == "precious"


@shares
def test_values_that_are_not_there_are_not_made_up():
    with SharedValues() as room, pytest.raises(OSError, match="are not there"):
        room.read(3, np.dtype(float), 0)


@pytest.mark.parametrize("why", ["missing", "full"])
def test_without_such_memory_values_go_through_the_pipe(monkeypatch, why):
    def full(*arguments):
        raise OSError("too many open files")

    if why == "missing":
        monkeypatch.delattr(os, "memfd_create", raising=False)
    else:
        monkeypatch.setattr(os, "memfd_create", full, raising=False)
    with SharedValues() as room:
        assert room.address is None
        called = call_elsewhere(halves, False, PIECES[2], room.address, 0)
        assert received(called, room).values.tolist() == [1.0, 1.5, 2.0, 3.0, 3.5, 4.0]
    room.close()  # once more
