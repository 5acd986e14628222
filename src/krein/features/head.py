r"""Columns that reproduce the polynomial head :math:`\sum_q c_q z^{2q}` exactly, with a signature.

On the unit sphere :math:`z^2 = 2 - 2u`, so the head is a polynomial in :math:`u = x\cdot x'`. Off it, with
:math:`a = \|x\|^2`, :math:`z^2 = a + a' - 2u` mixes powers of a, and the symmetric forms on :math:`(1, a, …)` are diagonalized:
their negative eigenvalues become columns of negative sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.checks import frozen_array, integer, positive_integer, positive_real
from krein.features import _blocks as blocks
from krein.measures import Head, head_columns

__all__ = ["HeadBasis", "head_basis"]

_COLUMN_WORK = 4  # multiply-adds that writing one column is worth


@final
@dataclass(frozen=True, eq=False)
class HeadBasis:
    r"""Base columns of a head and the signed weights that make it exact.

    Columns are: the rows :math:`(1, a, …)` times `radial_mix`; each coordinate times :math:`(1, a, …)` times `linear_mix`; and for
    degree 2 the products :math:`x_ix_j`, :math:`i \le j`. Here :math:`a = \|x - center\|^2/scale`.

    Parameters
    ----------
    degree, dim : int
    sphere : bool
    center : ndarray of shape (dim,)
        Subtracted from the rows off the sphere, where only differences count; zero on it.
    scale : float
        Unit of squared length, so that powers of a stay of order one.
    radial_mix, linear_mix : ndarray of shape (k, k)
    weights : ndarray of shape (n_columns,)
    coefficients : tuple of float
        The head's c_q.
    """

    degree: int
    dim: int
    sphere: bool
    center: np.ndarray
    scale: float
    radial_mix: np.ndarray
    linear_mix: np.ndarray
    weights: np.ndarray
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        integer(self.degree, "degree", least=-1, most=2)
        positive_integer(self.dim, "dim")
        positive_real(self.scale, "scale")
        radial = min(self.degree + 1, 1) if self.sphere else self.degree + 1
        linear = 0 if self.degree < 1 else 1 if self.sphere else self.degree
        shapes = {
            "center": (self.dim,),
            "radial_mix": (radial, radial),
            "linear_mix": (linear, linear),
            "weights": (head_columns(self.degree, self.dim, sphere=self.sphere),),
        }
        for name, shape in shapes.items():
            object.__setattr__(self, name, frozen_array(getattr(self, name), name, shape))
        if len(self.coefficients) != self.degree + 1 or not np.isfinite(self.coefficients).all():
            raise ValueError(
                f"coefficients must be {self.degree + 1} finite numbers for a head of degree {self.degree}, "
                f"got {self.coefficients!r}"
            )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.weights.size)

    def names(self) -> list[str]:
        """What each column is."""
        names = [f"head_radial{i}" for i in range(self.radial_mix.shape[0])]
        if self.sphere and self.degree >= 0:
            names = ["head_constant"]
        for k in range(self.linear_mix.shape[0]):
            names += [f"head_linear{i}" + ("" if k == 0 else f"_{k}") for i in range(self.dim)]
        if self.degree >= 2:
            names += [f"head_product{i}_{j}" for i, j in zip(*np.triu_indices(self.dim), strict=True)]
        return names

    def write(self, X: np.ndarray, amplitudes: np.ndarray, out: np.ndarray) -> None:
        """Write the base columns of dense rows, times the amplitudes."""
        if X.shape != (len(out), self.dim) or out.shape != (len(out), self.n_columns):
            raise ValueError(
                f"X must have shape (n, {self.dim}) and out (n, {self.n_columns}), got {X.shape} and {out.shape}"
            )
        blocks.check_writable(out)
        if not out.size:
            return
        if not blocks.in_c_order(out):
            blocks.map_through_buffer(lambda rows, buffer: self.write(X[rows], amplitudes, buffer), out)
            return
        kernels = blocks.compiled_kernels()
        flat, stride = blocks.flat_output(out)
        arguments = self.compiled(amplitudes, out.dtype)
        threads = blocks.thread_count(_COLUMN_WORK * out.size, None)

        def work(lo: int, hi: int) -> None:
            kernels.head_block(blocks.plain_rows(X[lo:hi], out.dtype), *arguments, flat, lo * stride, stride)

        blocks.share_rows(
            lambda: work, len(out), blocks.rows_per_block(len(out), out.shape[1] * out.itemsize, threads), threads
        )

    def compiled(self, amplitudes: np.ndarray, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        """The head as the compiled loops take it."""
        if amplitudes.shape != (self.n_columns,):
            raise ValueError(f"amplitudes must have shape {(self.n_columns,)}, got {amplitudes.shape}")
        center = self.center.astype(dtype)
        mixes = (
            blocks.plain_rows(self.radial_mix, np.dtype(np.float64)),
            blocks.plain_rows(self.linear_mix, np.dtype(np.float64)),
        )
        return center, float(self.scale), *mixes, self.degree >= 2, amplitudes.astype(dtype)


def head_basis(
    head: Head, dim: int, *, sphere: bool, center: np.ndarray | None = None, scale: float = 1.0
) -> HeadBasis:
    """The columns and weights of a head."""
    if head.degree > 2:
        raise ValueError(f"heads of degree up to 2 have features, got degree {head.degree}")
    c = np.zeros(3)
    c[: head.degree + 1] = head.coefficients
    center = np.zeros(dim) if sphere or center is None else np.array(center, dtype=np.float64)
    empty = np.empty((0, 0))
    if head.degree < 0:
        return HeadBasis(-1, dim, sphere, center, scale, empty, empty, np.empty(0), ())
    if sphere:
        radial, linear = np.array([[c[0] + 2 * c[1] + 4 * c[2]]]), np.array([[-2 * c[1] - 8 * c[2]]])
    else:
        k = head.degree + 1
        radial = np.array([[c[0], c[1], c[2]], [c[1], 2 * c[2], 0.0], [c[2], 0.0, 0.0]])[:k, :k]
        with np.errstate(over="ignore", invalid="ignore"):
            radial = radial * scale ** np.add.outer(np.arange(k), np.arange(k))
            linear = np.array([[-2 * c[1], -4 * c[2] * scale], [-4 * c[2] * scale, 0.0]])[: k - 1, : k - 1]
        if not (np.isfinite(radial).all() and np.isfinite(linear).all()):
            raise ValueError(
                f"rows of X are typically {np.sqrt(scale):.3g} from their center, and the kernel has a polynomial part of degree "
                f"{head.degree}, which is beyond what a float can hold there; standardize the columns of X"
            )
    radial_weights, radial_mix = np.linalg.eigh(radial)
    weights = [radial_weights]
    linear_mix = empty
    if head.degree >= 1:
        linear_weights, linear_mix = np.linalg.eigh(linear)
        weights.append(np.repeat(linear_weights, dim))
    if head.degree >= 2:
        i, j = np.triu_indices(dim)
        weights.append(np.where(i == j, 4.0, 8.0) * c[2])
    return HeadBasis(
        head.degree, dim, sphere, center, scale, radial_mix, linear_mix, np.concatenate(weights), head.coefficients
    )
