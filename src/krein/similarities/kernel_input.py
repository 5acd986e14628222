"""The kernel matrix an exact estimator works on: from a kernel, from a function, or as given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from krein.kernels import Kernel, Multiquadric

__all__ = ["cross_gram", "train_gram"]

_ASYMMETRY = 1e-8


def train_gram(kernel: Any, X: Any) -> np.ndarray:
    """The symmetric matrix of training similarities, float64.

    Parameters
    ----------
    kernel : Kernel, callable ``(X, Y) -> matrix``, "precomputed" or None
        None means `Multiquadric` with its default, indefinite and of no particular scale.
    X : array or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples) for "precomputed"
    """
    if isinstance(kernel, str) and kernel == "precomputed":
        gram = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        if gram.shape[0] != gram.shape[1]:
            raise ValueError(
                f"a precomputed kernel must be a square matrix for fit, got shape {gram.shape}: similarities of all "
                "training rows with all training rows"
            )
    else:
        gram = np.asarray(_function(kernel)(X, X), dtype=np.float64)
    if not np.isfinite(gram).all():
        raise ValueError("the kernel matrix contains NaN or infinity")
    gap = float(np.abs(gram - gram.T).max(initial=0.0))
    if gap > _ASYMMETRY * float(np.abs(gram).max(initial=0.0)):
        raise ValueError(
            f"the kernel matrix is not symmetric (entries differ by up to {gap:.3g}), and a Kreĭn space needs it to be; "
            "use (K + K.T) / 2"
        )
    return 0.5 * (gram + gram.T)


def cross_gram(kernel: Any, X: Any, X_fit: Any) -> np.ndarray:
    """Similarities of new rows (first axis) with the training rows."""
    if isinstance(kernel, str) and kernel == "precomputed":
        return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    return np.asarray(_function(kernel)(X, X_fit), dtype=np.float64)


def _function(kernel: Any) -> Callable[[Any, Any], Any]:
    if kernel is None:
        return Multiquadric()
    if isinstance(kernel, Kernel) or callable(kernel):
        return kernel
    raise ValueError(f"kernel must be a kernel of krein.kernels, a function of (X, Y) or 'precomputed', got {kernel!r}")
