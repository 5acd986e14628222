"""What takes part in the comparison at scale, each as a name and settings that a new process can read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from krein.learning.limits import EXACT_ROWS

__all__ = ["Entry", "entries", "make_model"]

_EXACT_ROWS = 20_000  # above, one exact problem needs more memory and hours than it is worth
_XRFM_ROWS = 20_000  # that xRFM gets, the first of the others: with all rows it takes hours on two cores
_XRFM_SECONDS = 1800.0  # after which it is stopped
_WIDTHS = (512, 1024, 2048)
# Bytes of the features of all rows, which scikit-learn's pipelines hold at once, in float64 while solving
_RIVAL_BYTES = 6 << 30


@dataclass(frozen=True)
class Entry:
    """One model.

    Parameters
    ----------
    line : str
        The curve that its point belongs to.
    kind : str
        See `make_model`.
    settings : dict
        What is set; the same names as in `make_model`.
    most_rows : int or None
        Rows it is fitted on, the first ones; None for all.
    most_seconds : float or None
        After which it is stopped.
    """

    line: str
    kind: str
    settings: dict[str, Any] = field(default_factory=dict)
    most_rows: int | None = None
    most_seconds: float | None = None


def entries(n_rows: int, *, quick: bool = False) -> list[Entry]:
    """All models that can be trained on so many rows, the one with nothing set first, which is the local one on many rows."""
    widths = _WIDTHS[:1] if quick else _WIDTHS
    found = [Entry("krein, nothing set", "krein")]
    if n_rows <= _EXACT_ROWS:
        found.append(Entry("krein, exact", "krein", {"solver": "exact"}))
    if n_rows <= EXACT_ROWS:
        found.append(Entry("krein, local", "krein", {"solver": "local"}))
    found += [Entry("krein, features", "krein", {"solver": "features", "width": width}) for width in widths]
    for kind in ("Nystroem", "RBFSampler"):
        fitting = [width for width in widths if n_rows * width * 16 <= _RIVAL_BYTES]
        found += [Entry(f"{kind}, ridge", kind, {"width": width}) for width in fitting]
    found.append(Entry("boosting", "boosting"))
    most = _XRFM_ROWS if n_rows > _XRFM_ROWS else None
    found.append(Entry("xRFM", "xRFM", most_rows=most, most_seconds=_XRFM_SECONDS))
    return found


def make_model(kind: str, *, solver: str = "auto", width: int | None = None, max_iter: int | None = None) -> Any:
    """A model, not fitted; krein's gets raw columns, the others standardize them."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from krein import KreinRidgeClassifier
    from krein.comparison.xrfm_models import XRFMClassifier

    if kind == "krein":
        options: dict[str, Any] = {} if solver == "auto" else {"solver": solver}
        if width is not None:
            from krein import TunedFeatures

            options["features"] = TunedFeatures(n_components=width, random_state=0)
        return KreinRidgeClassifier(random_state=0, **options)
    if kind == "boosting":
        if max_iter is None:
            return HistGradientBoostingClassifier(random_state=0)
        return HistGradientBoostingClassifier(max_iter=max_iter, early_stopping=False, random_state=0)
    if kind == "xRFM":
        return make_pipeline(StandardScaler(), XRFMClassifier())
    maps = {"Nystroem": Nystroem, "RBFSampler": RBFSampler}
    if kind not in maps:
        raise ValueError(f"there is no kind {kind!r}; known: krein, boosting, xRFM, {', '.join(maps)}")
    options = {"gamma": "scale"} if kind == "RBFSampler" else {}
    features = maps[kind](n_components=width, random_state=0, **options)
    # a strength that hardly regularizes: there are many more rows than columns
    return make_pipeline(StandardScaler(), features, RidgeClassifier(alpha=1e-3))
