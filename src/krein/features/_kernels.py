"""Compiled inner loops of the feature maps: projection, sine and cosine, Walsh–Hadamard butterflies.

Importing this module imports numba, so it is imported on first use only, never by ``import krein``. All kernels live in
one file because numba's disk cache looks at the time stamp of the file a function is written in and at no other.

Every kernel releases the GIL, holds no state and writes only the rows it is given: threads are the caller's business
(:mod:`krein.features._blocks`), which keeps us clear of numba's own thread pool, one layer of which may not be entered
from two Python threads at once. Each output element is computed by the same sequence of operations wherever its row
stands, because incomplete groups of rows are padded with zeros and not handled by another loop; results therefore do
not depend on how rows are cut into blocks.
"""

import math
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from krein.features._vectors import (
    TILE_ROWS,
    butterfly2,
    butterfly4,
    butterfly8,
    deinterleave,
    lanes,
    project_tile,
    tile_columns,
)

__all__ = [
    "TILE_ROWS",
    "argument_limit",
    "csr_block",
    "dense_block",
    "hadamard_block",
    "head_block",
    "lanes",
    "plain_block",
    "section_block",
    "tile_columns",
]

# Contraction to fused multiply–add and ignoring the sign of zero cannot harm the range reduction below; reassociation
# would.
_FASTMATH = {"contract", "nsz"}


def _compiled(function, fastmath=frozenset(_FASTMATH)):
    """Compile on first call for the types given, and keep the result on disk where there is a place for it."""
    options: dict[str, Any] = {"nogil": True, "fastmath": set(fastmath), "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        return njit(**options)(function)


# --- sine and cosine --------------------------------------------------------------------------------------------------
#
# t = q π + r with q an integer and |r| ≤ π/2, so that cos t = (−1)^q cos r and sin t = (−1)^q sin r: one sign for both,
# which goes into the amplitude, and no exchange of the two as with quarter turns. Adding 1.5·2^(mantissa bits) rounds to
# the nearest integer and leaves the parity of q in the lowest bit of the sum. π is split so that q times all parts but
# the last is exact with or without fused multiply–add, for |t| up to the limit below.
#
# The polynomials sin r = r + r z S(z) and cos r = 1 + z C(z), z = r², are minimax on |r| ≤ π/2 and a little beyond (0.1 %
# in single, 0.01 % in double precision) for the rounding of q: Remez exchange in 50 digits, where each coefficient from
# the lowest on is rounded before the rest is fitted again. Errors: 6e-9 r and 5e-10, 3e-19 r and 5e-18.


def argument_limit(dtype: np.dtype) -> float:
    """The largest argument that the vectorized loop reduces; larger ones go to libm, one by one."""
    return 2.0**14 if dtype.itemsize == 4 else 2.0**22


def _trig_row(t, amplitudes, cosines, sines):
    """``cosines[j], sines[j] = a[j] cos t[j], a[j] sin t[j]`` for |t| up to the limit; vectorized."""
    # Only without the compiler, which takes the overload.
    (_trig_row_single if t.dtype == np.float32 else _trig_row_double)(t, amplitudes, cosines, sines)


@overload(_trig_row, jit_options={"fastmath": _FASTMATH, "error_model": "numpy"})
def _overload_trig_row(t, amplitudes, cosines, sines):
    return _trig_row_single if t.dtype == types.float32 else _trig_row_double


def _trig_row_single(t, amplitudes, cosines, sines):
    magic, turns, one = np.float32(12582912.0), np.float32(1 / math.pi), np.float32(1.0)
    pi1, pi2, pi3 = np.float32(3.140625), np.float32(0.0009675025939941406), np.float32(1.5099580252808664e-07)
    s0, s1 = np.float32(-0.16666659712791443), np.float32(0.00833306647837162)
    s2, s3 = np.float32(-0.00019809383957181126), np.float32(2.604872634037747e-06)
    c0, c1, c2 = np.float32(-0.5), np.float32(0.041666656732559204), np.float32(-0.001388858538120985)
    c3, c4 = np.float32(2.4770177333266474e-05), np.float32(-2.620893155835802e-07)
    top = np.uint32(31)
    for j in range(len(t)):
        shifted = t[j] * turns + magic
        q = shifted - magic
        flip = np.uint32(np.float32(shifted).view(np.uint32) << top)
        a = np.uint32(np.float32(amplitudes[j]).view(np.uint32) ^ flip).view(np.float32)
        r = ((t[j] - q * pi1) - q * pi2) - q * pi3
        z = r * r
        sine = r + (r * z) * (s0 + z * (s1 + z * (s2 + z * s3)))
        cosine = one + z * (c0 + z * (c1 + z * (c2 + z * (c3 + z * c4))))
        cosines[j] = a * cosine
        sines[j] = a * sine


def _trig_row_double(t, amplitudes, cosines, sines):
    magic, turns = 6755399441055744.0, 1 / math.pi
    pi1, pi2 = 3.1415926534682512, 1.2154201013012384e-10
    s0, s1, s2, s3 = -0.16666666666666666, 0.008333333333333212, -0.00019841269841215257, 2.755731921212823e-06
    s4, s5, s6, s7 = -2.505210695940366e-08, 1.6058943840952372e-10, -7.643093260665441e-13, 2.722184747859127e-15
    c0, c1, c2, c3 = -0.49999999999999983, 0.04166666666666443, -0.0013888888888787315, 2.48015872793755e-05
    c4, c5, c6, c7 = -2.755731654220635e-07, 2.0876568452743027e-09, -1.1463054989716664e-11, 4.610433747947148e-14
    top = np.uint64(63)
    for j in range(len(t)):
        shifted = t[j] * turns + magic
        q = shifted - magic
        flip = np.float64(shifted).view(np.uint64) << top
        a = np.uint64(np.float64(amplitudes[j]).view(np.uint64) ^ flip).view(np.float64)
        r = (t[j] - q * pi1) - q * pi2
        z = r * r
        sine = r + (r * z) * (s0 + z * (s1 + z * (s2 + z * (s3 + z * (s4 + z * (s5 + z * (s6 + z * s7)))))))
        cosine = 1.0 + z * (c0 + z * (c1 + z * (c2 + z * (c3 + z * (c4 + z * (c5 + z * (c6 + z * c7)))))))
        cosines[j] = a * cosine
        sines[j] = a * sine


@_compiled
def _trig_row_careful(t, amplitudes, cosines, sines, limit):
    """As :func:`_trig_row`, for any argument: what lies past the limit, NaN and infinity included, goes to libm."""
    _trig_row(t, amplitudes, cosines, sines)
    for j in range(len(t)):
        if not abs(t[j]) <= limit:
            wide = np.float64(t[j])
            cosines[j] = amplitudes[j] * np.cos(wide)
            sines[j] = amplitudes[j] * np.sin(wide)


# --- feature maps of a block of rows ----------------------------------------------------------------------------------
#
# ``out`` is the output as one flat array: row i of the block starts at ``start + i * stride``, and its sines lie ``gap``
# after its cosines. ``reach`` bounds the norms of the frequencies: by Cauchy–Schwarz a row x with ‖x‖ · reach ≤ limit needs
# no careful loop, and pays nothing for the check.


@_compiled
def _pack_rows(x, packed, lengths):
    """Rows in groups of ``TILE_ROWS``, coordinate by coordinate, the last group padded with zeros; how many groups."""
    n, d = x.shape
    groups = (n + TILE_ROWS - 1) // TILE_ROWS
    for i in range(groups * TILE_ROWS):
        at = (i // TILE_ROWS) * d * TILE_ROWS + i % TILE_ROWS
        if i < n:
            lengths[i] = _norm(x[i])
            for k in range(d):
                packed[at + k * TILE_ROWS] = x[i, k]
        else:
            lengths[i] = 0.0
            for k in range(d):
                packed[at + k * TILE_ROWS] = 0
    return groups


@_compiled
def dense_block(x, packed, amplitudes, reach, limit, out, start, stride, gap, rows_packed, tile):
    """Trigonometric features of the rows of a C-contiguous x ``(m, d)``; ``packed`` as by ``pack_frequencies``.

    ``rows_packed`` is scratch for some groups of ``TILE_ROWS`` packed rows, ``tile`` scratch of shape ``(TILE_ROWS, width)``
    with a width that is a multiple of the packed panels' width.
    """
    n, d = x.shape
    s = len(amplitudes)
    columns = packed.shape[2]
    width = tile.shape[1]
    arguments = tile.reshape(-1)
    frequencies = packed.reshape(-1)
    groups_at_once = max(1, len(rows_packed) // max(1, d * TILE_ROWS))
    lengths = np.empty(groups_at_once * TILE_ROWS)
    for i0 in range(0, n, groups_at_once * TILE_ROWS):
        m = min(groups_at_once * TILE_ROWS, n - i0)
        groups = _pack_rows(x[i0 : i0 + m], rows_packed, lengths)
        for j0 in range(0, s, width):
            wide = min(width, s - j0)
            a = amplitudes[j0 : j0 + wide]
            for g in range(groups):
                for j in range(0, wide, columns):
                    project_tile(rows_packed, g * d * TILE_ROWS, frequencies, (j0 + j) * d, d, arguments, j, width)
                for r in range(min(TILE_ROWS, m - g * TILE_ROWS)):
                    i = i0 + g * TILE_ROWS + r
                    c = start + i * stride + j0
                    t, cosines, sines = tile[r, :wide], out[c : c + wide], out[c + gap : c + gap + wide]
                    if lengths[i - i0] * reach <= limit:
                        _trig_row(t, a, cosines, sines)
                    else:
                        _trig_row_careful(t, a, cosines, sines, limit)


@_compiled
def section_block(
    x, packed, squares, polynomial, root, middle, scale, table, first, bits, close,
    out, start, stride, rows_packed, tile, missing,
):  # fmt: skip
    """k(‖x − l‖) of the rows of a C-contiguous x and packed landmarks l of squared lengths ``squares``.

    ``missing`` receives how many values of each row are.

    ``polynomial``, ``root``, ``middle`` and ``scale`` as in `krein.features.radial_values`; without coefficients ``table`` and
    ``first`` as in `krein.features.radial_values`, with ``bits`` of a distance below those that number its interval. Missing, as
    NaN, is what they do not have, and where a root is taken pairs so close that ‖x‖² + ‖l‖² − 2x·l has lost its digits.
    """
    n, d = x.shape
    s = len(squares)
    columns = packed.shape[2]
    width = tile.shape[1]
    products = tile.reshape(-1)
    landmarks = packed.reshape(-1)
    groups_at_once = max(1, len(rows_packed) // max(1, d * TILE_ROWS))
    lengths = np.empty(groups_at_once * TILE_ROWS)
    steps = np.empty((TILE_ROWS, width), out.dtype)
    values = np.empty((TILE_ROWS, width), out.dtype)
    flat_steps, flat_values = steps.reshape(-1), values.reshape(-1)
    missing[:] = 0
    for i0 in range(0, n, groups_at_once * TILE_ROWS):
        m = min(groups_at_once * TILE_ROWS, n - i0)
        groups = _pack_rows(x[i0 : i0 + m], rows_packed, lengths)
        for i in range(m):
            lengths[i] *= lengths[i]
        for j0 in range(0, s, width):
            wide = min(width, s - j0)
            others = squares[j0 : j0 + wide]
            for g in range(groups):
                for j in range(0, wide, columns):
                    project_tile(rows_packed, g * d * TILE_ROWS, landmarks, (j0 + j) * d, d, products, j, width)
                own = lengths[g * TILE_ROWS : (g + 1) * TILE_ROWS]
                if len(
                    polynomial
                ):  # a whole tile at a time: what is done for a row costs as much as some dozens of values
                    _places(tile, own, others, root, middle, scale, close, steps)
                    _horner(flat_steps, polynomial, flat_values)
                for r in range(min(TILE_ROWS, m - g * TILE_ROWS)):
                    i = i0 + g * TILE_ROWS + r
                    c = start + i * stride + j0
                    if len(polynomial):
                        missing[i] += _take(values[r, :wide], out[c : c + wide])
                    else:
                        target = out[c : c + wide]
                        missing[i] += _section_row(tile[r, :wide], own[r], others, table, first, bits, close, target)


@_compiled
def _places(tile, lengths, squares, root, middle, scale, close, steps):
    """Where distances lie among those a polynomial is meant for; NaN beyond, and for a root of too few digits."""
    beyond = np.nan
    for r in range(len(lengths)):
        length = lengths[r]
        if root:
            for j in range(len(squares)):
                total = length + squares[j]
                square = total - 2 * tile[r, j]
                place = (math.sqrt(max(square, 0.0)) - middle) * scale
                steps[r, j] = place if square > close * total and place <= 1.0 else beyond
        else:
            for j in range(len(squares)):
                place = (max(length + squares[j] - 2 * tile[r, j], 0.0) - middle) * scale
                steps[r, j] = place if place <= 1.0 else beyond


@_compiled
def _horner(s, coefficients, out):
    """Horner's rule for many places, eight coefficients at a time."""
    a, b, c, d = coefficients[0], coefficients[1], coefficients[2], coefficients[3]
    e, f, g, h = coefficients[4], coefficients[5], coefficients[6], coefficients[7]
    for j in range(len(s)):
        v = s[j]
        out[j] = ((((((a * v + b) * v + c) * v + d) * v + e) * v + f) * v + g) * v + h
    for at in range(8, len(coefficients), 8):
        a, b, c, d = coefficients[at], coefficients[at + 1], coefficients[at + 2], coefficients[at + 3]
        e, f, g, h = coefficients[at + 4], coefficients[at + 5], coefficients[at + 6], coefficients[at + 7]
        for j in range(len(s)):
            v = s[j]
            w = ((out[j] * v + a) * v + b) * v + c
            out[j] = ((((w * v + d) * v + e) * v + f) * v + g) * v + h


@_compiled
def _take(values, out):
    """Copy values; how many of them are NaN."""
    missing = 0
    for j in range(len(values)):
        out[j] = values[j]
        missing += values[j] != values[j]
    return missing


@_compiled
def _section_row(t, length, squares, table, first, bits, close, out):
    missing, last, half = 0, len(table) // 6 - 1, np.int64(1) << (bits - 1)
    for j in range(len(t)):
        total = length + squares[j]
        square = total - 2 * t[j]
        z = math.sqrt(square) if square > close * total else 0.0
        whole = np.float64(z).view(np.int64) >> bits
        step = z - np.int64((whole << bits) | half).view(np.float64)
        at = 6 * min(max(whole - first, 0), last)
        value = table[at] + step * (
            table[at + 1]
            + step * (table[at + 2] + step * (table[at + 3] + step * (table[at + 4] + step * table[at + 5])))
        )
        out[j] = value
        missing += value != value
    return missing


def _norm(x):
    total = 0.0
    for k in range(len(x)):
        total += np.float64(x[k]) * np.float64(x[k])
    return math.sqrt(total)


def _distance(x, y):
    total = 0.0
    for k in range(len(x)):
        gap = np.float64(x[k]) - y[k]
        total += gap * gap
    return math.sqrt(total)


def _lowest(x):
    lowest = x[0]
    for k in range(len(x)):
        lowest = min(lowest, x[k])
    return lowest


# Reassociation vectorizes the sums, and a bound may differ in its last bits.
_norm = _compiled(_norm, fastmath={"contract", "reassoc"})
_distance = _compiled(_distance, fastmath={"contract", "reassoc"})
_lowest = _compiled(_lowest, fastmath={"nnan", "nsz", "reassoc"})


@_compiled
def _divide(x, length, out):
    """In double precision: rows in single precision come as near to unit length as they can."""
    for k in range(len(x)):
        out[k] = x[k] / length


@_compiled
def head_block(x, center, scale, radial_mix, linear_mix, products, amplitudes, out, start, stride):
    """Columns of a head, as `HeadBasis` describes them, of the rows of a C-contiguous x; ``center`` of the type of x.

    With y = x − center and a = ‖y‖²/scale: powers of a times ``radial_mix``, for each column of ``linear_mix`` y times the powers
    of a it mixes, and with ``products`` all y_i y_j, i ≤ j.
    """
    n, d = x.shape
    k, blocks = len(radial_mix), len(linear_mix)
    y = np.empty(d, x.dtype)
    for r in range(n):
        for i in range(d):
            y[i] = x[r, i] - center[i]
        a = 1.0
        if k > 1:
            length = _norm(y)
            a = length * length / scale
        c = start + r * stride
        for j in range(k):
            value, power = 0.0, 1.0
            for q in range(k):
                value += power * radial_mix[q, j]
                power *= a
            out[c + j] = value * amplitudes[j]
        first = k
        for j in range(blocks):
            mixed, power = 0.0, 1.0
            for q in range(blocks):
                mixed += power * linear_mix[q, j]
                power *= a
            factor, weights, target = (
                amplitudes.dtype.type(mixed),
                amplitudes[first : first + d],
                out[c + first : c + first + d],
            )
            for i in range(d):
                target[i] = y[i] * factor * weights[i]
            first += d
        if products:
            for i in range(d):
                count = d - i
                others, weights, target = y[i:], amplitudes[first : first + count], out[c + first : c + first + count]
                for j in range(count):
                    target[j] = y[i] * others[j] * weights[j]
                first += count


@_compiled
def plain_block(
    x, scales, unit, off, lowest, middle, far,
    head, center, scale, radial_mix, linear_mix, products, head_amplitudes,
    packed, amplitudes, reach, limit, padding, out, start, stride, rows_packed, tile, counts,
):  # fmt: skip
    """All columns of the rows of a C-contiguous x in one pass: rows to unit length, head, cosines and sines, zeros.

    ``counts`` receives how many rows have a length that cannot be divided by, a length farther than ``off`` from 1, an entry
    below ``lowest``, a distance of more than ``far`` from ``middle``; infinite limits are not looked at. ``unit`` is scratch
    for some rows.
    """
    n, s = len(x), len(amplitudes)
    for i0 in range(0, n, len(unit)):
        m = min(len(unit), n - i0)
        rows = x[i0 : i0 + m]
        if scales:
            for r in range(m):
                length = _norm(rows[r])
                if not 1e-140 < length < 1e140:
                    counts[0] += 1
                _divide(rows[r], length, unit[r])
            rows = unit[:m]
        if off < np.inf:
            for r in range(m):
                if abs(_norm(rows[r]) - 1.0) > off:
                    counts[1] += 1
        if lowest > -np.inf:
            for r in range(m):
                if _lowest(rows[r]) < lowest:
                    counts[2] += 1
        if far < np.inf:
            for r in range(m):
                if _distance(rows[r], middle) > far:
                    counts[3] += 1
        at = start + i0 * stride
        if head:
            head_block(rows, center, scale, radial_mix, linear_mix, products, head_amplitudes, out, at, stride)
        if s:
            dense_block(rows, packed, amplitudes, reach, limit, out, at + head, stride, s, rows_packed, tile)
        for r in range(m):
            zeros = at + r * stride + head + 2 * s
            for j in range(zeros, zeros + padding):
                out[j] = 0


@_compiled
def csr_block(indptr, indices, data, transposed, amplitudes, limit, out, start, stride, gap, tile):
    """Trigonometric features of CSR rows; ``transposed`` is ``(d, s)``, its rows the coordinates of the frequencies."""
    s = len(amplitudes)
    t = tile[:s]
    for i in range(len(indptr) - 1):
        for j in range(s):
            t[j] = 0
        for at in range(indptr[i], indptr[i + 1]):
            value, w = data[at], transposed[indices[at]]
            for j in range(s):
                t[j] += value * w[j]
        c = start + i * stride
        _trig_row_careful(t, amplitudes, out[c : c + s], out[c + gap : c + gap + s], limit)


# --- Walsh–Hadamard transform -----------------------------------------------------------------------------------------
#
# As many rows as a vector has lanes are transformed together, interleaved: element k of all of them is one vector, at
# ``k * lanes``. Every butterfly is then an addition and a subtraction of whole vectors, those of stride 1 included, and
# three stages run in registers between one load and one store.


@_compiled
def _transform(v, p, width):
    """The unnormalized transform, in place, of ``width`` interleaved rows of length p, a power of two."""
    h = 1
    while 8 * h <= p:
        for i in range(0, p, 8 * h):
            for j in range(i, i + h):
                butterfly8(v, j * width, h * width)
        h *= 8
    if 4 * h <= p:
        for j in range(h):
            butterfly4(v, j * width, h * width)
    elif 2 * h <= p:
        for j in range(h):
            butterfly2(v, j * width, h * width)


@_compiled
def hadamard_block(x, signs, scales, amplitudes, reach, limit, out, start, stride, gap, rows, v, tile):
    """Trigonometric features of ``scales[j] (H D₃ H D₂ H D₁ x)[j]``, with signs ``(blocks, 3, p)`` on the diagonals.

    ``rows`` is scratch for d vectors, ``v`` for as many as the tile ``(lanes, width)`` is wide, at least p.
    """
    n, d = x.shape
    p = signs.shape[2]
    width, padded = tile.shape
    flat = tile.reshape(-1)
    for i0 in range(0, n, width):
        m = min(width, n - i0)
        for k in range(d):
            for r in range(m):
                rows[k * width + r] = x[i0 + r, k]
            for r in range(m, width):
                rows[k * width + r] = 0
        for block in range(signs.shape[0]):
            j0 = block * p
            wide = min(p, len(scales) - j0)
            _flip(rows, signs[block, 0], d, width, v)
            for at in range(d * width, len(v)):
                v[at] = 0
            _transform(v, p, width)
            _flip(v, signs[block, 1], p, width, v)
            _transform(v, p, width)
            _flip(v, signs[block, 2], p, width, v)
            _transform(v, p, width)
            for j in range(0, padded, width):
                deinterleave(v, j * width, flat, j, padded)
            for r in range(m):
                c = start + (i0 + r) * stride + j0
                t = tile[r, :wide]
                for j in range(wide):
                    t[j] *= scales[j0 + j]
                a, cosines, sines = amplitudes[j0 : j0 + wide], out[c : c + wide], out[c + gap : c + gap + wide]
                if _norm(x[i0 + r]) * reach <= limit:
                    _trig_row(t, a, cosines, sines)
                else:
                    _trig_row_careful(t, a, cosines, sines, limit)


@_compiled
def _flip(source, signs, length, width, v):
    for k in range(length):
        for r in range(width):
            v[k * width + r] = source[k * width + r] * signs[k]
