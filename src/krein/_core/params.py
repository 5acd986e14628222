"""Parameters of frozen objects by name: read as scikit-learn reads them, and changed by making another object."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Protocol, Self, runtime_checkable

__all__ = ["FrozenParams", "HasParams"]


@runtime_checkable
class HasParams(Protocol):
    """What a frozen object needs for its parameters to be searched over, such as ``measure__tol`` in a grid."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, those of parts as ``part__name`` if deep."""
        ...

    def with_params(self, **params: Any) -> Self:
        """The same object but for some parameters."""
        ...


class FrozenParams:
    """`HasParams` for a frozen dataclass whose fields are its parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            As scikit-learn asks; no field has parameters of its own, so it makes no difference.

        Returns
        -------
        dict of str to value
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # a dataclass

    def with_params(self, **params: Any) -> Self:
        """The same object but for some parameters, checked by its constructor.

        Parameters
        ----------
        **params : values by name of parameter

        Returns
        -------
        object of the same class
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; its parameters are {', '.join(known)}"
                )
        return replace(self, **params)  # type: ignore[type-var]  # a dataclass
