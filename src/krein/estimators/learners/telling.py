"""A fit shows how far it is if it is asked to."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from krein.show.progress import stages

__all__ = ["tells_stages"]

Estimator = TypeVar("Estimator")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def tells_stages(
    method: Callable[Concatenate[Estimator, Arguments], Result],
) -> Callable[Concatenate[Estimator, Arguments], Result]:
    """Show the stages of a method of an estimator whose ``verbose`` is true."""

    @wraps(method)
    def telling(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with stages(bool(self.verbose)):
            return method(self, *args, **kwargs)

    return telling
