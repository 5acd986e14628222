"""Validates docstrings with numpydoc: ``python tools/docstrings.py``.

What the reference pages list, with its public methods, has a full docstring. Anything else needs one line at most.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpydoc.validate import validate

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"

# Left out: sections that would repeat what one line says already (extended summary, See Also, an example for each method), and
# descriptions of parameters whose type line says it all.
CHECKS = {
    *("GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10"),
    *("PR01", "PR02", "PR03", "PR05", "RT01", "YD01", "SS01", "SS04", "SS06"),
}
SINGLE_LINE_IS_FINE = {"GL01", "GL02"}  # of a docstring that is one line


def listed() -> Iterator[tuple[str, Any]]:
    """Dotted names and values of what the reference pages list."""
    for page in sorted(REFERENCE.glob("*.rst")):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif module and (found := re.fullmatch(r"   ([A-Za-z_][\w.]*)", line)):
                name = f"{module}.{found[1]}"
                yield name, resolve(name)


def resolve(name: str) -> Any:
    """The value of a dotted name, whose first parts are modules."""
    parts = name.split(".")
    value: Any = importlib.import_module(parts[0])
    for at, part in enumerate(parts[1:], 2):
        try:
            value = getattr(value, part)
        except AttributeError:
            value = importlib.import_module(".".join(parts[:at]))
    return value


def methods(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of a class, those of the package's classes that it inherits included."""
    for kind in reversed(inspect.getmro(value) if inspect.isclass(value) else ()):
        if not kind.__module__.startswith("krein"):
            continue
        for part, member in vars(kind).items():
            plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
            field = inspect.getattr_static(value, part) is not member and not callable(getattr(value, part))
            if not part.startswith("_") and not field and (inspect.isfunction(plain) or isinstance(plain, property)):
                yield f"{name}.{part}", plain


def problems(name: str, value: Any) -> list[tuple[str, str]]:
    """Codes and messages of what numpydoc finds wrong; a docstring that is inherited is its owner's."""
    document = value.__doc__ or ""
    if not document and inspect.getdoc(resolve(name)):
        return []
    left_out = SINGLE_LINE_IS_FINE if "\n" not in document.strip() else {"GL01"}
    if isinstance(value, property):
        left_out = left_out | {"RT01", "YD01"}
    if name.startswith("krein.cli."):  # commands, whose options say in their annotations what they are
        left_out = left_out | {"PR01", "RT01"}
    if getattr(value, "_is_protocol", False):  # a protocol is not constructed
        left_out = left_out | {"PR01"}
    return [(code, text) for code, text in validate(name)["errors"] if code in CHECKS - left_out]


def main() -> int:
    """Print what is wrong; the number of problems, at most 1."""
    found = {
        full: value for name, top in listed() if callable(top) for full, value in [(name, top), *methods(name, top)]
    }
    wrong = [(name, *problem) for name, value in found.items() for problem in problems(name, value)]
    for name, code, text in wrong:
        sys.stdout.write(f"{name}: {code} {text}\n")
    sys.stdout.write(f"{len(found)} callables of the reference, {len(wrong)} problems\n")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
