"""Parameters of frozen kernels by name, ``a`` or ``kernel__a``, as scikit-learn's searches address them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from krein._core.checks import HasParams

__all__ = ["changed_params", "constructor_params", "nested_params"]


def constructor_params(value: object) -> dict[str, Any]:
    """What the constructor takes, as the value holds it."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    _, *given = inspect.signature(type(value).__init__).parameters.values()
    return {parameter.name: getattr(value, parameter.name) for parameter in given if parameter.kind not in variable}


def nested_params(own: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters, and those of the values among them that have some, as ``kernel__a``."""
    params = dict(own)
    for name, value in own.items():
        if isinstance(value, HasParams) and not isinstance(value, type):
            params.update({f"{name}__{inner}": held for inner, held in value.get_params().items()})
    return params


def changed_params(own: Mapping[str, Any], changes: Mapping[str, Any], owner: object) -> dict[str, Any]:
    """Parameters after some changes; ``kernel__a`` replaces the value ``kernel`` by one with another ``a``."""
    params, deeper = dict(own), dict[str, dict[str, Any]]()
    for key, value in changes.items():
        name, _, inner = key.partition("__")
        if name not in own:
            known = ", ".join(own) or "none"
            raise ValueError(f"{owner!r} has no parameter {name!r}; its parameters: {known}")
        if inner:
            deeper.setdefault(name, {})[inner] = value
        else:
            params[name] = value
    for name, inner_changes in deeper.items():
        if not isinstance(params[name], HasParams):
            raise ValueError(f"parameter {name!r} of {owner!r} is {params[name]!r} and has no parameters of its own")
        params[name] = params[name].with_params(**inner_changes)
    return params
