"""Section 1: ``SignedFourierFeatures.transform`` with default settings, beside its bound and beside other packages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from krein import SignedFourierFeatures
from suite.peers import optional_maps, sklearn_maps
from suite.rows import Row, of_ratio, of_times
from suite.timing import interleaved

__all__ = ["measure", "written"]

_OURS, _PROJECTION, _WRITING = "krein", "projection", "writing"
_TARGETS = {
    ("float64", "RBFSampler"): 8.0,
    ("float32", "RBFSampler"): 2.0,
    ("float64", "PolynomialCountSketch"): 15.0,
    ("float64", "Nystroem"): 3.0,
}
_BOUNDS = {"float32": 1.6, "float64": 2.2}


def written(shape: tuple[int, int], dtype: type, pool: ThreadPoolExecutor, threads: int) -> np.ndarray:
    """Fresh memory of the output's size, written once by all threads."""
    out = np.empty(shape, dtype)
    list(pool.map(lambda part: part.fill(1), np.array_split(out, threads)))
    return out


def measure(n: int, d: int, width: int, repeats: int, threads: int, *, slow_in_single: bool = False) -> list[Row]:
    """Ratios to the bound and to each peer, in both types.

    The bound is the projection onto as many frequencies by BLAS, plus writing the output once, in the same type. Slow
    peers (a transform of seconds) are measured in float64 only, unless ``slow_in_single``.
    """
    rows: list[Row] = []
    size = f"n = {n:,}, d = {d}, D = {width}"
    for dtype in (np.float32, np.float64):
        kind = np.dtype(dtype).name
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d)).astype(dtype)
        W = rng.standard_normal((width // 2, d)).astype(dtype)
        ours = SignedFourierFeatures(n_components=width, random_state=0).fit(X)
        head = ours.feature_map_.basis.n_columns
        peers = sklearn_maps(X, width, slow=slow_in_single or dtype == np.float64)
        found, missing = optional_maps(X, width)
        used: dict[str, list[float]] = {}
        with ThreadPoolExecutor(threads) as pool:
            seconds = interleaved(
                {
                    _OURS: lambda ours=ours, X=X: ours.transform(X),
                    _PROJECTION: lambda X=X, W=W: X @ W.T,
                    _WRITING: lambda dtype=dtype, pool=pool: written((n, width), dtype, pool, threads),
                    **peers,
                    **found,
                },
                repeats,
                used=used,
            )
        rows.append(of_times(f"transform, {kind}", seconds[_OURS], note=f"{size}, of them {head} of the head"))
        busy = {name: float(np.median(values)) for name, values in used.items()}
        bound = seconds[_PROJECTION] + seconds[_WRITING]
        note = f"processor time {busy[_OURS] / (busy[_PROJECTION] + busy[_WRITING]):.3g} ×"
        rows.append(of_ratio(f"krein / bound, {kind}", seconds[_OURS], bound, at_most=_BOUNDS[kind], note=note))
        for name in (*peers, *found):
            note = f"processor time {busy[name] / busy[_OURS]:.3g} ×"
            least = _TARGETS.get((kind, name))
            rows.append(of_ratio(f"{name} / krein, {kind}", seconds[name], seconds[_OURS], at_least=least, note=note))
        rows += [Row(f"{name} / krein, {kind}", note=f"not measured: {why}") for name, why in missing.items()]
    return rows
