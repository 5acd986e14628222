r"""Similarities from distances: :math:`e^{-(d/s)^p}` and others, of any distance between any objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from krein._core.checks import FrozenParams, one_of, positive_real
from krein.similarities.metrics import metric_source, named_metric

__all__ = ["FORMS", "DistanceKernel", "told"]

_TUNED_POWERS = (0.5, 1.0, 1.5, 2.0)
_TUNED_SCALES = tuple(float(one) for one in np.geomspace(0.04, 4.0, 9))  # of the median distance
_NOT_ZERO_TO_ITSELF = ("soft_dtw",)  # distances of which an object's own is not 0


def _exponential(z: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(-z))


def _rational(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + z)


FORMS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "exponential": _exponential,
    "negative": np.negative,
    "rational": _rational,
    "log": lambda z: -np.log1p(z),
    "distance": lambda z: z,
}


@final
@dataclass(frozen=True)
class DistanceKernel(FrozenParams):
    r"""A similarity that is a function of a distance, for any distance between any objects.

    .. math:: k(x, y) = e^{-(d(x, y) / s)^p}

    It can be used like any kernel: ``KreinNystroem(DistanceKernel("msm"))``, ``ExactKreinSVC(DistanceKernel(edit))``. It is
    indefinite unless d is of a special kind and p is small.

    Parameters
    ----------
    metric : callable, str or "precomputed"
        A function of two objects, or of two sequences of objects that returns the matrix of their distances; the name of one
        in scipy (``"cityblock"``, ``"cosine"``), aeon (``"dtw"``, ``"msm"``, ``"twe"``; for series, of any lengths) or rapidfuzz
        (``"levenshtein"``, ``"jaro_winkler"``; for strings); or ``"precomputed"`` if X itself holds distances.
    power : float or "auto", default=1.0
        :math:`p`, positive.
    scale : float, "median" or "auto", default="median"
        :math:`s`, in the units of the distance. ``"median"`` is the median distance between training objects.
    form : {"exponential", "negative", "rational", "log", "distance"}, default="exponential"
        With :math:`z = (d/s)^p`: :math:`e^{-z}`, :math:`-z`, :math:`1/(1 + z)`, :math:`-\log(1 + z)`, or z itself, which is
        not a similarity but what `KreinMDS` takes.
    metric_params : dict, default=None
        Parameters of a distance given by name: ``{"window": 0.1}``.

    Notes
    -----
    ``"auto"`` needs targets: use it with `ExactKreinSVC`, `ExactKreinRidge`, `KreinNystroem` and learners on its features. The
    distances are computed once, and power and scale are those whose ridge model has the least error on held-out training objects;
    with landmarks, the least leave-one-out error on objects that are not landmarks. In a grid search the parameters are
    ``kernel__power`` and ``kernel__scale``; with ``"precomputed"`` distances, or a cache, no distance is computed twice.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import DistanceKernel
    >>> DistanceKernel("precomputed", power=2.0, scale=2.0).similarity(np.array([0.0, 2.0])).round(3)
    array([1.   , 0.368])

    >>> from sklearn.model_selection import GridSearchCV
    >>> from krein import ExactKreinSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> D, y = np.abs(X[:, None] - X).sum(axis=2), X[:, 0] > 0
    >>> model = ExactKreinSVC(DistanceKernel("precomputed"), C=10.0)
    >>> search = GridSearchCV(model, {"kernel__power": [1.0, 2.0], "kernel__scale": [1.0, "median"]}).fit(D, y)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    metric: Any
    power: float | str = 1.0
    scale: float | str = "median"
    form: str = "exponential"
    metric_params: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.metric, str):
            if self.metric != "precomputed":
                metric_source(self.metric)
        elif not callable(self.metric) or isinstance(self.metric, type):
            raise TypeError(
                f"metric must be a function of two objects, a name or 'precomputed', got {told(self.metric)}"
            )
        if self.metric_params is not None and (not isinstance(self.metric, str) or self.precomputed):
            raise ValueError("metric_params are for a distance by name; use functools.partial for a function")
        one_of(self.form, "form", FORMS)
        for name, words in (("power", ("auto",)), ("scale", ("median", "auto"))):
            value = getattr(self, name)
            if isinstance(value, str):
                one_of(value, name, words, otherwise=" or a positive number")
            else:
                object.__setattr__(self, name, positive_real(value, name))

    @property
    def takes_blocks(self) -> bool | None:
        """Whether `function` takes two sequences of objects; None if that is to be found out."""
        return True if isinstance(self.metric, str) else None

    @property
    def precomputed(self) -> bool:
        """Whether X holds the distances: square in `fit`, new by training objects later."""
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def self_value(self) -> float | None:
        """The distance of an object from itself, where it is known beforehand."""
        known = isinstance(self.metric, str) and self.metric not in _NOT_ZERO_TO_ITSELF
        return 0.0 if known and not self.precomputed else None

    def similarity(self, values: np.ndarray) -> np.ndarray:
        """Similarities from distances, entry by entry.

        Parameters
        ----------
        values : ndarray of any shape

        Returns
        -------
        ndarray of the same shape
        """
        if isinstance(self.power, str) or isinstance(self.scale, str):
            raise ValueError(f"power and scale must be chosen before similarities can be computed, got {self!r}")
        z = np.asarray(values, dtype=np.float64) / self.scale
        if z.size and z.min() < 0.0:
            raise ValueError(
                f"distances must not be negative, got {float(np.min(values)):.6g}; are these similarities?"
            )
        return np.asarray(FORMS[self.form](z if self.power == 1.0 else z**self.power))

    @property
    def needs_fit(self) -> bool:
        """Whether power or scale are learned from distances of training objects."""
        return isinstance(self.scale, str) or isinstance(self.power, str)

    @property
    def needs_targets(self) -> bool:
        """Whether power or scale are to be chosen with targets."""
        return "auto" in (self.power, self.scale)

    def fitted(self, values: np.ndarray) -> Self:
        """The kernel with its scale.

        Parameters
        ----------
        values : ndarray of shape (n_pairs,)
            Distances between different training objects.

        Returns
        -------
        DistanceKernel
        """
        if self.needs_targets:
            raise ValueError(
                f"power={self.power!r} and scale={self.scale!r} need labels or numbers to predict, and there are none; "
                "set numbers, or scale='median'"
            )
        return replace(self, scale=_median(values)) if self.needs_fit else self

    def before_choice(self) -> Self:
        """The kernel without ``"auto"``: power 1, the median as scale.

        Returns
        -------
        DistanceKernel
        """
        power = 1.0 if self.power == "auto" else self.power
        return replace(self, power=power, scale="median" if self.scale == "auto" else self.scale)

    def as_distance(self) -> Self:
        """The distance itself, as a kernel.

        Returns
        -------
        DistanceKernel
        """
        return replace(self, power=1.0, scale=1.0, form="distance")

    def candidates(self, values: np.ndarray) -> list[Self]:
        """The candidates of ``"auto"``.

        Parameters
        ----------
        values : ndarray of shape (n_pairs,)
            Distances between different training objects.

        Returns
        -------
        list of DistanceKernel
        """
        middle = _median(values)
        powers = _TUNED_POWERS if self.power == "auto" else (self.power,)
        scales = [middle * one for one in _TUNED_SCALES] if self.scale == "auto" else [self.scale]
        return [replace(self, power=p, scale=middle if s == "median" else s) for p in powers for s in scales]

    @cached_property
    def function(self) -> Callable[[Any, Any], Any]:
        """The distance of two objects, or of two sequences of objects."""
        if self.precomputed:
            raise ValueError("metric='precomputed' has no function to call: X holds the distances")
        return named_metric(self.metric, self.metric_params) if isinstance(self.metric, str) else self.metric


def told(given: Any) -> str:
    """A value that is no kernel and no distance, in the words of an error."""
    if hasattr(given, "shape") or isinstance(given, list):
        return f"an array of shape {np.shape(given)}: pass 'precomputed' instead, and the matrix as X to fit"
    return f"{given!r} of type {type(given).__name__}"


def _median(values: np.ndarray) -> float:
    """The median distance; that of the positive ones where most are zero, and 1 where all are."""
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    middle = float(np.median(finite)) if finite.size else 0.0
    if middle <= 0.0 and (finite > 0.0).any():
        middle = float(np.median(finite[finite > 0.0]))
    return middle if middle > 0.0 else 1.0
