"""Validates the docstring of every public callable with numpydoc: ``python tools/docstrings.py [krein.kernels ...]``.

Public is what a module without a leading underscore names in ``__all__``, and the public methods of such classes. A method
without a docstring of its own has that of the class it overrides, as Python and Sphinx see it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from typing import Any

from numpydoc.validate import validate

# Left out: sections that would repeat what one line says already (extended summary, See Also, an example for each method), and
# descriptions of parameters whose type line says it all.
CHECKS = {
    *("GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10"),
    *("PR01", "PR02", "PR03", "PR05", "RT01", "YD01", "SS01", "SS04", "SS06"),
}
SINGLE_LINE_IS_FINE = {"GL01", "GL02"}  # of a docstring that is one line


def modules(roots: list[str]) -> Iterator[Any]:
    """The modules below the roots whose names have no leading underscore."""
    for root in roots:
        top = importlib.import_module(root)
        yield top
        for found in pkgutil.walk_packages(getattr(top, "__path__", []), f"{root}."):
            if not any(part.startswith("_") for part in found.name.split(".")):
                yield importlib.import_module(found.name)


def public_objects(module: Any) -> Iterator[tuple[str, Any]]:
    """Dotted names and callables defined in a module, with the public methods of its classes."""
    for name in getattr(module, "__all__", []):
        value = getattr(module, name)
        if getattr(value, "__module__", None) != module.__name__ or not callable(value):
            continue
        yield f"{module.__name__}.{name}", value
        if inspect.isclass(value):
            for part, member in vars(value).items():
                plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
                if not part.startswith("_") and (inspect.isfunction(plain) or isinstance(plain, property)):
                    yield f"{module.__name__}.{name}.{part}", plain


def inherited(name: str, value: Any) -> bool:
    """Whether the docstring is that of an overridden method."""
    return not value.__doc__ and bool(inspect.getdoc(getattr(_owner(name), name.rsplit(".", 1)[1])))


def _owner(name: str) -> Any:
    path = name.split(".")
    for cut in range(len(path) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(path[:cut]))
        except ImportError:
            continue
        for part in path[cut:-1]:
            found = getattr(found, part)
        return found
    raise LookupError(name)


def problems(name: str, value: Any) -> list[tuple[str, str]]:
    """Codes and messages of what numpydoc finds wrong."""
    if inherited(name, value):
        return []
    is_property = isinstance(value, property)
    found = [(code, text) for code, text in validate(name)["errors"] if code in CHECKS]
    document = value.__doc__ or ""
    left_out = SINGLE_LINE_IS_FINE if "\n" not in document.strip() else {"GL01"}
    left_out = left_out | ({"RT01", "YD01"} if is_property else set())
    # A protocol is not constructed
    left_out = left_out | ({"PR01"} if getattr(value, "_is_protocol", False) else set())
    return [(code, text) for code, text in found if code not in left_out]


def main(roots: list[str]) -> int:
    """Print what is wrong; the number of problems, at most 1."""
    seen = count = 0
    for module in modules(roots or ["krein"]):
        for name, value in public_objects(module):
            seen += 1
            for code, text in problems(name, value):
                count += 1
                sys.stdout.write(f"{name}: {code} {text}\n")
    sys.stdout.write(f"{seen} public callables, {count} problems\n")
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
