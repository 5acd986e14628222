"""What goes with every fit: one that fails leaves its estimator as it was, and one that is asked to shows how far it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from krein._core.checks import truth_value
from krein.show.progress import stages

__all__ = ["tells_stages", "unchanged_on_error"]

Estimator = TypeVar("Estimator")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def unchanged_on_error(
    method: Callable[Concatenate[Estimator, Arguments], Result],
) -> Callable[Concatenate[Estimator, Arguments], Result]:
    """Put all attributes back as they were if a method does not run to its end.

    Otherwise a model that could not be fitted again would have its new map beside its old coefficients, and predict with both.

    Examples
    --------
    >>> class Half:
    ...     @unchanged_on_error
    ...     def fit(self):
    ...         self.map_ = "new"
    ...         raise ValueError("no rows")
    >>> model = Half()
    >>> try:
    ...     model.fit()
    ... except ValueError:
    ...     vars(model)
    {}
    """

    @wraps(method)
    def careful(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        before, done = dict(vars(self)), False
        try:
            result = method(self, *args, **kwargs)
            done = True
        finally:
            if not done:
                vars(self).clear()
                vars(self).update(before)
        return result

    return careful


def tells_stages(
    method: Callable[Concatenate[Estimator, Arguments], Result],
) -> Callable[Concatenate[Estimator, Arguments], Result]:
    """Show the stages of a method of an estimator whose ``verbose`` is true."""

    @wraps(method)
    def telling(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with stages(truth_value(self.verbose, "verbose")):
            return method(self, *args, **kwargs)

    return telling
