"""Whole vectors in numba: the register tile of the projection, and butterflies and transposition of the transform.

These are written in LLVM's terms because the loop vectorizer does not find them: it keeps the sums of a matrix product in
memory (a fifth of the speed), and has no answer to butterflies of stride one. The width is that of the processor's
registers; LLVM splits vectors that the target does not have, so a wrong guess costs time and nothing else.

numba's disk cache does not look at this file: after a change here, touch ``_kernels.py``.
"""

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

__all__ = [
    "TILE_ROWS",
    "butterfly2",
    "butterfly4",
    "butterfly8",
    "deinterleave",
    "lanes",
    "project_tile",
    "tile_columns",
]

_settings: Any = numba.config
_intrinsic: Any = intrinsic  # its type says that the typing context is passed by the caller; it is not
_make_array: Any = make_array  # numba's builders of code have no types
_for_range: Any = cgutils.for_range
_alloca_once: Any = cgutils.alloca_once


def _instruction(function: Callable[..., tuple[Any, Any]]) -> Callable[..., None]:
    made: Callable[..., None] = _intrinsic(function)
    return made


def _register_tile() -> tuple[int, int]:
    """Bytes of a vector register, and rows of a tile three vectors wide that fits the registers."""
    features = _settings.CPU_FEATURES
    if features is None:  # without an override numba compiles for the processor it runs on
        features = "" if _settings.CPU_NAME else llvm.get_host_cpu_features().flatten()
    if "+avx512f" in features:
        return 64, 8
    if "+avx" in features:
        return 32, 4
    return (16, 8) if "+neon" in features else (16, 4)


_VECTOR_BYTES, TILE_ROWS = _register_tile()
_TILE_VECTORS = 3  # with 4 or 8 rows their sums take 12 of 16, or 24 of 32 registers


def tile_columns(dtype: np.dtype[Any]) -> int:
    """Frequencies per register tile."""
    return _TILE_VECTORS * _VECTOR_BYTES // dtype.itemsize


def lanes(dtype: np.dtype[Any]) -> int:
    """Rows that are interleaved for the transform: one per lane of a vector."""
    return _VECTOR_BYTES // dtype.itemsize


def _vectors(
    context: Any, builder: Any, array_type: Any, array: Any, offset: Any
) -> tuple[Callable[[Any], Any], Callable[[Any, Any], None]]:
    """Load and store whole vectors of an array, by offset from the given one."""
    scalar = array_type.dtype
    alignment = scalar.bitwidth // 8
    vector = ir.VectorType(context.get_value_type(scalar), _VECTOR_BYTES // alignment)
    base = builder.gep(_make_array(array_type)(context, builder, array).data, [offset])

    def place(at: Any) -> Any:
        return builder.bitcast(builder.gep(base, [at]), vector.as_pointer())

    def load(at: Any) -> Any:
        return builder.load(place(at), align=alignment)

    def store(value: Any, at: Any) -> None:
        builder.store(value, place(at), align=alignment)

    return load, store


@_instruction
def project_tile(
    typingctx: Any, x: Any, x_at: Any, w: Any, w_at: Any, depth: Any, t: Any, t_at: Any, t_stride: Any
) -> tuple[Any, Any]:
    """``t[r, c] = sum_k x[k, r] w[k, c]`` for one tile of packed rows and packed frequencies.

    The sum runs over k in order, with one multiply–add each, whatever the width of the tile.
    """
    n = _VECTOR_BYTES // (t.dtype.bitwidth // 8)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x_, x_at_, w_, w_at_, depth_, t_, t_at_, t_stride_ = args
        x_first = builder.gep(_make_array(signature.args[0])(context, builder, x_).data, [x_at_])
        load, _ = _vectors(context, builder, signature.args[2], w_, w_at_)
        _, store = _vectors(context, builder, signature.args[5], t_, t_at_)
        integer, index = ir.IntType(64), ir.IntType(32)
        vector = ir.VectorType(context.get_value_type(t.dtype), n)
        nothing = ir.Constant(vector, ir.Undefined)
        everywhere = ir.Constant(ir.VectorType(index, n), [0] * n)
        tile = [(r, v) for r in range(TILE_ROWS) for v in range(_TILE_VECTORS)]

        sums = {rv: _alloca_once(builder, vector) for rv in tile}  # LLVM turns these into registers
        for rv in tile:
            builder.store(ir.Constant(vector, [0.0] * n), sums[rv])
        with _for_range(builder, depth_) as loop:
            x_row = builder.gep(x_first, [builder.mul(loop.index, integer(TILE_ROWS))])
            w_row = builder.mul(loop.index, integer(_TILE_VECTORS * n))
            columns = [load(builder.add(w_row, integer(v * n))) for v in range(_TILE_VECTORS)]
            for r in range(TILE_ROWS):
                entry = builder.insert_element(nothing, builder.load(builder.gep(x_row, [integer(r)])), index(0))
                row = builder.shuffle_vector(entry, nothing, everywhere)
                for v in range(_TILE_VECTORS):
                    product = builder.fmul(row, columns[v], flags=("contract",))
                    builder.store(builder.fadd(builder.load(sums[r, v]), product, flags=("contract",)), sums[r, v])
        for r, v in tile:
            store(builder.load(sums[r, v]), builder.add(builder.mul(t_stride_, integer(r)), integer(v * n)))
        return context.get_dummy_value()

    return types.void(x, types.intp, w, types.intp, types.intp, t, types.intp, types.intp), codegen


def _make_butterfly(stages: int) -> Any:
    @_instruction
    def butterfly(typingctx: Any, v: Any, at: Any, step: Any) -> tuple[Any, Any]:
        """``stages`` stages of the transform on the 2^stages vectors at ``at``, ``at + step``, …"""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            load, store = _vectors(context, builder, signature.args[0], args[0], args[1])
            places = [builder.mul(args[2], ir.IntType(64)(i)) for i in range(2**stages)]
            values = [load(at) for at in places]
            for stage in range(stages):
                for i in range(2**stages):
                    if not i >> stage & 1:
                        a, b = values[i], values[i + 2**stage]
                        values[i], values[i + 2**stage] = builder.fadd(a, b), builder.fsub(a, b)
            for value, at in zip(values, places, strict=True):
                store(value, at)
            return context.get_dummy_value()

        return types.void(v, types.intp, types.intp), codegen

    return butterfly


butterfly2, butterfly4, butterfly8 = (_make_butterfly(stages) for stages in (1, 2, 3))


@_instruction
def deinterleave(typingctx: Any, v: Any, at: Any, t: Any, t_at: Any, t_stride: Any) -> tuple[Any, Any]:
    """``t[r, c] = v[c, r]`` for as many rows and columns as a vector has lanes, in registers."""
    n = _VECTOR_BYTES // (v.dtype.bitwidth // 8)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        load, _ = _vectors(context, builder, signature.args[0], args[0], args[1])
        _, store = _vectors(context, builder, signature.args[2], args[2], args[3])
        integer, index = ir.IntType(64), ir.IntType(32)
        mask = ir.VectorType(index, n)
        values = [load(integer(c * n)) for c in range(n)]
        step = 1
        while step < n:  # exchange the off-diagonal blocks of size step, of all pairs of rows that far apart
            upper = ir.Constant(mask, [i if not i & step else n + i - step for i in range(n)])
            lower = ir.Constant(mask, [i + step if not i & step else n + i for i in range(n)])
            for i in range(n):
                if not i & step:
                    a, b = values[i], values[i + step]
                    values[i] = builder.shuffle_vector(a, b, upper)
                    values[i + step] = builder.shuffle_vector(a, b, lower)
            step *= 2
        for r in range(n):
            store(values[r], builder.mul(args[4], integer(r)))
        return context.get_dummy_value()

    return types.void(v, types.intp, t, types.intp, types.intp), codegen


# --- without the compiler: slow, and the same up to rounding, for a debugger ------------------------------------------


class _Tile:
    """The register tile of a processor.

    Parameters
    ----------
    rows : int
        Rows of packed data.
    vectors, vector_bytes : int
        Vectors of packed frequencies, and their size.
    """

    def __init__(self, rows: int, vectors: int, vector_bytes: int) -> None:
        self.rows, self.vectors, self.vector_bytes = rows, vectors, vector_bytes

    def project(
        self, x: np.ndarray, x_at: int, w: np.ndarray, w_at: int, depth: int, t: np.ndarray, t_at: int, t_stride: int
    ) -> None:
        """``t[r, c] = sum_k x[k, r] w[k, c]`` for one tile of packed rows and packed frequencies."""
        columns = self.vectors * self.vector_bytes // t.itemsize
        left = x[x_at : x_at + depth * self.rows].reshape(depth, self.rows)
        right = w[w_at : w_at + depth * columns].reshape(depth, columns)
        for r, row in enumerate(left.T @ right):
            t[t_at + r * t_stride :][:columns] = row

    def deinterleave(self, v: np.ndarray, at: int, t: np.ndarray, t_at: int, t_stride: int) -> None:
        """``t[r, c] = v[c, r]`` for as many rows and columns as a vector has lanes."""
        lanes = self.vector_bytes // v.itemsize
        for r, row in enumerate(v[at : at + lanes * lanes].reshape(lanes, lanes).T):
            t[t_at + r * t_stride :][:lanes] = row


def _plain_butterfly(stages: int, vector_bytes: int) -> Callable[[np.ndarray, int, int], None]:
    """``stages`` stages of the transform on the 2^stages vectors at ``at``, ``at + step``, …"""

    def run(v: np.ndarray, at: int, step: int) -> None:
        lanes = vector_bytes // v.itemsize
        places = [slice(at + i * step, at + i * step + lanes) for i in range(2**stages)]
        values = [v[place].copy() for place in places]
        for stage in range(stages):
            for i in range(2**stages):
                if not i >> stage & 1:
                    a, b = values[i], values[i + 2**stage]
                    values[i], values[i + 2**stage] = a + b, a - b
        for place, value in zip(places, values, strict=True):
            v[place] = value

    return run


if _settings.DISABLE_JIT:
    _tile = _Tile(TILE_ROWS, _TILE_VECTORS, _VECTOR_BYTES)
    project_tile, deinterleave = _tile.project, _tile.deinterleave
    butterfly2, butterfly4, butterfly8 = (_plain_butterfly(stages, _VECTOR_BYTES) for stages in (1, 2, 3))
