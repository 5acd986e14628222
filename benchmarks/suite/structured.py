"""Section 2: ``sampler="hadamard"`` beside the dense default, where both d and D are large."""

from __future__ import annotations

import numpy as np

from krein import MeasureRecipe, SignedFourierFeatures
from krein.kernels import Gaussian
from suite.rows import Row, of_ratio, of_times
from suite.timing import interleaved

__all__ = ["measure"]


def measure(n: int, d: int, width: int, repeats: int) -> list[Row]:
    """Ratio of the transforms, through the public class, in both types; the fit is that of unbiased weights."""
    rows: list[Row] = []
    for dtype in (np.float32, np.float64):
        kind = np.dtype(dtype).name
        X = np.random.default_rng(0).standard_normal((n, d)).astype(dtype)
        maps = {
            sampler: SignedFourierFeatures(
                kernel=Gaussian(d**0.5),
                n_components=width,
                sampler=sampler,
                weights="unbiased",
                measure=MeasureRecipe(head_degree=1, tol=1e-2),
                random_state=0,
            ).fit(X[:1000])
            for sampler in ("orthogonal", "hadamard")
        }
        seconds = interleaved({name: lambda f=f, X=X: f.transform(X) for name, f in maps.items()}, repeats)
        rows.append(of_times(f"hadamard, {kind}", seconds["hadamard"], note=f"n = {n:,}, d = {d}, D = {width}"))
        rows.append(of_ratio(f"dense / hadamard, {kind}", seconds["orthogonal"], seconds["hadamard"], at_least=2.0))
    return rows
