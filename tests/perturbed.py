"""A pytest plugin under which the last bit of linear algebra is anybody's: what fails with it fails on somebody's machine.

``KREIN_PERTURBED=3 PYTHONPATH=tests pytest -p perturbed`` or ``make test-perturbed SEEDS=3``. Every number that numpy's products
and the factorizations, solves and eigenproblems of numpy and scipy hand to our code or to scikit-learn's moves up or down by one
unit in its last place, or stays, as a hash of the seed, of its place and of its value says. Results differ between seeds and are
always the same for one seed: another BLAS, not a random one. Eigenvalues and singular values move by the last bit of the largest
of them, which is all that LAPACK promises.

- Not moved is what every machine computes alike: results with trailing zeros in their last bits, such as integers, products of
  one column with one row, what is not finite. Symmetric products stay symmetric.
- ``@`` and ``numpy.matmul``: the ufunc's inner loops are replaced in place through numpy's C interface, so no caller can escape.
- By name, in every module that has it: ``numpy.dot``, ``inner``, ``vdot``, ``tensordot``, ``einsum``, the names of
  ``numpy.linalg``, ``scipy.linalg`` and ``scipy.sparse.linalg`` below, and the routines of ``scipy.linalg.blas`` and ``lapack``.
- Out of reach: the method ``array.dot``, BLAS called from compiled code (numba's loops, libsvm, liblinear, scikit-learn's
  Cython), HiGHS, and processes that a test starts. A test that compares bits with one of these has the marker ``same_bits``
  with its reason and is left out.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg
from numba.core import cgutils, types
from numba.extending import intrinsic

SEED = os.environ.get("KREIN_PERTURBED")
PRODUCTS = ("dot", "inner", "vdot", "tensordot", "einsum")
SOLVES = (
    *(
        "solve",
        "solve_triangular",
        "lstsq",
        "inv",
        "pinv",
        "qr",
        "cholesky",
        "lu",
        "lu_factor",
        "lu_solve",
        "cho_factor",
    ),
    *("cho_solve", "expm", "sqrtm"),
)
SPECTRA = ("eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals", "eigh_tridiagonal", "eigvalsh_tridiagonal")
SPARSE = ("eigsh", "svds", "lsqr", "lsmr", "cg", "spsolve")
FORTRAN = (
    *("gemm", "gemv", "dot", "syrk", "symm", "symv", "trmm", "trsm", "trsv"),
    *(
        "potrf",
        "potrs",
        "potri",
        "getrf",
        "getrs",
        "gesv",
        "posv",
        "sytrf",
        "sytrs",
        "sysv",
        "trtrs",
        "trtri",
        "geqrf",
        "pstrf",
    ),
)


@numba.njit(inline="always")
def _step(seed: int, place: int, bits: int) -> int:
    """−1, 0 or 1, as a hash says: splitmix64."""
    z = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(place) * np.uint64(0xD1B54A32D192ED03) ^ np.uint64(
        bits
    )
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) % np.uint64(3)) - np.int64(1)


@numba.njit(inline="always")
def _double(bits: int, seed: int, place: int) -> int:
    if bits & 0xFFFF == 0 or bits & 0x7FF0000000000000 == 0x7FF0000000000000:
        return bits
    return bits + _step(seed, place, bits)


@numba.njit(inline="always")
def _single(bits: int, seed: int, place: int) -> int:
    if bits & 0xFF == 0 or bits & 0x7F800000 == 0x7F800000:
        return bits
    return np.int32(bits + _step(seed, place, bits))


@numba.njit
def _move_doubles(bits: np.ndarray, seed: int, columns: int) -> None:
    """In place; columns of a square matrix, or 0: there places (i, j) and (j, i) move alike. Of −1 columns places do not count."""
    for k in range(bits.size):
        i, j = (k // columns, k % columns) if columns > 0 else (k * (columns + 1), 0)
        bits[k] = _double(bits[k], seed, max(i, j) * 1_000_003 + min(i, j))


@numba.njit
def _move_singles(bits: np.ndarray, seed: int, columns: int) -> None:
    for k in range(bits.size):
        i, j = (k // columns, k % columns) if columns > 0 else (k * (columns + 1), 0)
        bits[k] = _single(bits[k], seed, max(i, j) * 1_000_003 + min(i, j))


def moved(value: Any, seed: int, *, spectrum: bool = False, placed: bool = True) -> Any:
    """A result with its last bits moved; of tuples each part, of what is no array of floats nothing."""
    if isinstance(value, tuple):
        parts = [moved(part, seed, spectrum=spectrum, placed=placed) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, (float, np.floating)) and not isinstance(value, np.longdouble):
        return type(value)(moved(np.array([value]), seed, placed=placed)[0])
    if not isinstance(value, np.ndarray) or value.dtype.char not in "fdFD" or not value.size:
        return value
    real = value.real.dtype
    flat = np.array(value, order="C", subok=False).view(real).reshape(-1)
    if spectrum and value.ndim == 1:
        last = np.finfo(real).eps * np.abs(flat).max()
        kept = (flat.view(f"i{real.itemsize}") & (0xFFFF if real.itemsize == 8 else 0xFF)) == 0
        steps = np.random.default_rng([seed, flat.size]).integers(-1, 2, flat.size)
        shaken = np.where(kept | ~np.isfinite(flat), flat, flat + last * steps).astype(real)
        ordered = np.sort(shaken) if (np.diff(flat) >= 0).all() else shaken
        flat = -np.sort(-shaken) if flat.size > 1 and (np.diff(flat) <= 0).all() else ordered
    else:
        square = value.ndim == 2 and value.shape[0] == value.shape[1] and value.dtype.char in "fd"
        move = _move_doubles if real.itemsize == 8 else _move_singles
        move(flat.view(f"i{real.itemsize}"), seed, -1 if not placed else value.shape[-1] if square else 0)
    out = flat.view(value.dtype).reshape(value.shape)
    return np.asfortranarray(out) if value.flags.f_contiguous and not value.flags.c_contiguous else out


def _wrapped(function: Callable[..., Any], seed: int, *, spectrum: bool) -> Callable[..., Any]:
    placed = function is not np.einsum  # its loops are numpy's own: equal rows give equal sums wherever they are

    @functools.wraps(function)
    def perturbed(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        out = options.get("out")
        if out is not None:
            out[...] = moved(out, seed, placed=placed)
            return out
        return moved(result, seed, spectrum=spectrum, placed=placed)

    return perturbed


def _everywhere(old: Any, new: Any) -> None:
    """In every module of numpy's and scipy's interface that has the name; what is imported later takes it from there."""
    for name, module in list(sys.modules.items()):
        if isinstance(module, ModuleType) and (
            name == "scipy.linalg._fblas" or not name.startswith(("numba", "scipy.linalg._", "numpy.linalg._"))
        ):
            for attribute in [key for key, value in vars(module).items() if value is old]:
                setattr(module, attribute, new)


def _functions() -> Iterator[tuple[Any, bool]]:
    for name in PRODUCTS:
        yield getattr(np, name), False
    for module in (np.linalg, scipy.linalg):
        for names, spectrum in ((SOLVES, False), (SPECTRA, True)):
            yield from ((getattr(module, name), spectrum) for name in names if hasattr(module, name))
    yield from ((getattr(scipy.sparse.linalg, name), False) for name in SPARSE)
    for module in (scipy.linalg.blas, scipy.linalg.lapack):
        for name in FORTRAN:
            yield from ((getattr(module, kind + name), False) for kind in "sd" if hasattr(module, kind + name))


@intrinsic
def _pointer(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), generate


def _loop(old: Any, seed: int, kind: str) -> Any:
    """The inner loop of matmul: the old one, then the last bits."""
    integer, move = {"d": (np.int64, _double), "f": (np.int32, _single)}[kind]

    @numba.cfunc(types.void(types.voidptr, types.voidptr, types.voidptr, types.voidptr))
    def loop(arguments: Any, dimensions: Any, steps: Any, data: Any) -> None:
        start = numba.carray(arguments, 3, np.intp)[2]  # the old loop moves it
        old(arguments, dimensions, steps, data)
        sizes = numba.carray(dimensions, 4, np.intp)
        strides = numba.carray(steps, 9, np.intp)
        rows, inner, columns = sizes[1], sizes[2], sizes[3]
        if inner > 1:
            for n in range(sizes[0]):
                for i in range(rows):
                    for j in range(columns):
                        address = start + n * strides[2] + i * strides[7] + j * strides[8]
                        number = numba.carray(_pointer(address), 1, integer)
                        place = max(i, j) * 1_000_003 + min(i, j) if rows == columns else i * 1_000_003 + j
                        number[0] = move(number[0], seed, place)

    return loop


def _replace_matmul(seed: int) -> list[Any]:
    """Returns what must stay alive."""
    core = sys.modules[
        "numpy._core._multiarray_umath" if "numpy._core" in sys.modules else "numpy.core._multiarray_umath"
    ]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(core._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    kind_of_loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
    replace = ctypes.PYFUNCTYPE(
        *(
            ctypes.c_int,
            ctypes.py_object,
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int),
            ctypes.POINTER(ctypes.c_void_p),
        )
    )(table[30])  # PyUFunc_ReplaceLoopBySignature
    alive: list[Any] = []
    for kind in "fd":
        signature = (ctypes.c_int * 3)(*[np.dtype(kind).num] * 3)
        old = ctypes.c_void_p()
        # the old loop is read by putting it back
        assert replace(np.matmul, None, signature, ctypes.byref(old)) == 0
        assert replace(np.matmul, old, signature, ctypes.byref(ctypes.c_void_p())) == 0
        loop = _loop(kind_of_loop(old.value), seed, kind)
        assert replace(np.matmul, loop.address, signature, ctypes.byref(ctypes.c_void_p())) == 0
        alive += [loop, signature]
    return alive


def install(seed: int) -> list[Any]:
    """Perturb this process from here on; what is returned must be kept."""
    X = np.random.default_rng(0).normal(size=(40, 40))
    before = X @ (X + 1.0)
    for function, spectrum in list(_functions()):
        _everywhere(function, _wrapped(function, seed, spectrum=spectrum))
    alive = _replace_matmul(seed)
    after = X @ (X + 1.0)
    assert 0.5 < (before != after).mean() < 0.8  # two thirds are moved: the plugin works here
    assert np.abs(after / before - 1.0).max() <= np.finfo(float).eps
    assert (X @ X.T == (X @ X.T).T).all()
    return alive


def pytest_configure(config: pytest.Config) -> None:
    if SEED is not None:
        config.stash[_ALIVE] = install(int(SEED))


_ALIVE = pytest.StashKey[list[Any]]()


def pytest_report_header() -> str:
    return f"last bits of linear algebra: {'as they are' if SEED is None else f'moved, seed {SEED}'}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if SEED is not None:
        out = [item for item in items if item.get_closest_marker("same_bits")]
        items[:] = [item for item in items if item not in out]
        config.hook.pytest_deselected(items=out)
