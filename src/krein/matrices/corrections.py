r"""Corrections of an indefinite matrix of similarities, each with its effect on new objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.checks import one_of, positive_real
from krein._core.threads import quiet_blas
from krein.matrices.nearest import nearest_with_diagonal
from krein.nystroem.spectrum import SignedSpectrum, signed_spectrum
from krein.similarities.matrix_checks import symmetric_part

__all__ = ["CORRECTIONS", "FittedCorrection", "fit_correction"]

CORRECTIONS = ("clip", "flip", "shift", "square", "nearest")  # in the order in which errors list them


@final
@dataclass(frozen=True, eq=False)
class FittedCorrection:
    r"""The training matrix becomes :math:`(K + \mathrm{diag}(d))\,C`, a row of new similarities :math:`k(x)^\top C`.

    Where d is zero the two agree: a training object given as a new one gets its training row. Where it is not (shift, and
    nearest with a given diagonal), what is added belongs to an object's similarity with itself, which a new object does not
    have, and no mapping of rows can be consistent.

    Parameters
    ----------
    carry : ndarray of shape (n, n) or None
        :math:`C`; None for the identity.
    added : ndarray of shape (n,) or None
        :math:`d`; None for zero.
    eigenvalues : ndarray of shape (n,)
        Eigenvalues of the given matrix, the largest absolute value first.
    """

    carry: np.ndarray | None
    added: np.ndarray | None
    eigenvalues: np.ndarray

    def __post_init__(self) -> None:
        n = self.eigenvalues.shape[0]
        if self.eigenvalues.shape != (n,) or not np.isfinite(self.eigenvalues).all():
            raise ValueError(f"eigenvalues must be a vector of numbers, got shape {self.eigenvalues.shape}")
        for name, part, shape in (("carry", self.carry, (n, n)), ("added", self.added, (n,))):
            if part is not None and (part.shape != shape or not np.isfinite(part).all()):
                raise ValueError(f"{name} must be finite and of shape {shape}, got shape {part.shape}")

    @property
    def consistent(self) -> bool:
        """Whether a training object given as a new one gets its training row."""
        return self.added is None

    def training(self, matrix: np.ndarray) -> np.ndarray:
        """The corrected training matrix."""
        moved = np.array(matrix, dtype=np.float64)
        if self.added is not None:
            moved[np.diag_indices_from(moved)] += self.added
        return symmetric_part(self(moved))

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Corrected similarities of new objects."""
        rows = np.asarray(rows, dtype=np.float64)
        if self.carry is None:
            return rows.copy()
        with quiet_blas():
            return np.asarray(rows @ self.carry)


def fit_correction(matrix: np.ndarray, method: str = "clip", *, diagonal: Any = "keep") -> FittedCorrection:
    r"""Learn a correction from the training matrix :math:`K = U \Lambda U^\top`.

    ============  ===========================================  =======================================
    method        training matrix                              rows of new objects
    ============  ===========================================  =======================================
    ``clip``      :math:`U \max(\Lambda, 0)\, U^\top`          :math:`k\,U [\Lambda > 0]\, U^\top`
    ``flip``      :math:`U |\Lambda|\, U^\top`                 :math:`k\,U \mathrm{sign}(\Lambda) U^\top`
    ``square``    :math:`K^2`                                  :math:`k\,K`
    ``shift``     :math:`K + \max(0, -\lambda_{\min})\, I`     unchanged
    ``nearest``   :math:`(K + \mathrm{diag}(d))_+`             :math:`k\,\Pi`, the projection of that matrix
    ============  ===========================================  =======================================

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[1.0, 2.0], [2.0, 1.0]])   # eigenvalues 3 and -1
    >>> fit_correction(K, "clip").training(K)
    array([[1.5, 1.5],
           [1.5, 1.5]])
    >>> fit_correction(K, "clip")(K[:1])
    array([[1.5, 1.5]])
    """
    one_of(method, "method", CORRECTIONS)
    spectrum = signed_spectrum(matrix)
    values = spectrum.values
    if method == "square":
        return FittedCorrection(np.array(matrix, dtype=np.float64), None, values)
    if method == "shift":
        least = float(values.min(initial=0.0))
        return FittedCorrection(None, np.full(values.size, -least) if least < 0.0 else None, values)
    if method == "flip":
        return FittedCorrection(_carry(spectrum, np.sign(values)), None, values)
    if method == "clip" or diagonal is None:
        return FittedCorrection(_carry(spectrum, (values > 0.0).astype(np.float64)), None, values)
    found = nearest_with_diagonal(matrix, _check_diagonal(matrix, diagonal))
    positive = (found.spectrum.values > 0.0).astype(np.float64)
    return FittedCorrection(_carry(found.spectrum, positive), found.added if found.added.any() else None, values)


def _carry(spectrum: SignedSpectrum, factors: np.ndarray) -> np.ndarray:
    with quiet_blas():
        return np.ascontiguousarray((spectrum.vectors * factors) @ spectrum.vectors.T)


def _check_diagonal(matrix: np.ndarray, diagonal: Any) -> np.ndarray:
    if isinstance(diagonal, str):
        one_of(diagonal, "diagonal", ("keep",), otherwise=", a positive number or None")
        own = np.diag(matrix).astype(np.float64)
        if own.size and own.min() <= 0.0:
            worst = int(own.argmin())
            raise ValueError(
                f"diagonal='keep' needs positive similarities of objects with themselves, but that of object {worst} is "
                f"{own[worst]:.6g}; use a number, or diagonal=None, which is method='clip'"
            )
        return own
    return np.full(matrix.shape[0], positive_real(diagonal, "diagonal"))
