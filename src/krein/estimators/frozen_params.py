"""Parameters of frozen objects inside an estimator: ``set_params(kernel__a=2.0)`` replaces the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from krein._core.checks import FrozenParams

__all__ = ["FrozenParamsMixin"]


class FrozenParamsMixin(BaseEstimator):
    """Lets grid searches reach into kernels, measures and samplers, which cannot be changed in place.

    scikit-learn sets ``kernel__a`` by ``set_params`` of the kernel that it finds. Kernels and their like are values, so
    the owner replaces the whole object by ``kernel.with_params(a=...)``. A subclass says in `_stands_for` what object a value
    such as None, ``"auto"`` or a name stands for.
    """

    _stands_for: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of frozen objects inside, such as ``kernel__a``, replace the object.

        Parameters
        ----------
        **params : values by name
            ``kernel=...`` and ``kernel__a=...`` may be given together: the object first, then its parameters.

        Returns
        -------
        self
        """
        own = self.get_params(deep=False)
        inner: dict[str, dict[str, Any]] = {}
        for name in list(params):
            owner, delimiter, rest = name.partition("__")
            if delimiter and owner in own:
                part = self._object(owner, params.get(owner, own[owner]))
                if isinstance(part, FrozenParams):
                    inner.setdefault(owner, {})[rest] = params.pop(name)
        changed = {
            owner: self._object(owner, params.get(owner, own[owner])).with_params(**values)
            for owner, values in inner.items()
        }
        super().set_params(**params | changed)
        return self

    def _object(self, name: str, value: Any) -> Any:
        """What the value of a parameter stands for."""
        return self._stands_for[name](value) if name in self._stands_for else value
