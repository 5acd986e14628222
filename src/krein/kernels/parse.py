"""Kernels from text: ``ntk``, ``delta-gaussian(1, 10)``, ``2*gaussian(1) - laplacian(0.5)``; nothing is evaluated.

The grammar, with operators read from left to right as Python does::

    sum     = product { ("+" | "-") product }
    product = signed { ("*" | "/") signed }
    signed  = { "+" | "-" } ( number | kernel [ "(" [ argument { "," argument } ] ")" ] | "(" sum ")" )
    argument = [ name "=" ] ( sum | "True" | "False" )
"""

from __future__ import annotations

import re
from typing import Any

from krein.kernels.algebra import signed_sum
from krein.kernels.base import Kernel
from krein.kernels.euclidean import Cauchy, DeltaGaussian, Gaussian, Laplacian, Log, Matern, Multiquadric, ThinPlate
from krein.kernels.sphere import NTK, ArcCosine, GeodesicGaussian, Sigmoid, SphericalPolynomial

__all__ = ["NAMED_KERNELS", "kernel_name", "parse_kernel"]

# By their names on the command line, in the order of the paper and then of the guide.
NAMED_KERNELS: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "matern": Matern,
    "cauchy": Cauchy,
    "delta-gaussian": DeltaGaussian,
    "spherical-polynomial": SphericalPolynomial,
    "arc-cosine": ArcCosine,
    "ntk": NTK,
    "sigmoid": Sigmoid,
    "geodesic-gaussian": GeodesicGaussian,
    "multiquadric": Multiquadric,
    "log": Log,
    "thin-plate": ThinPlate,
}
_PLAIN = {name.replace("-", ""): kernel for name, kernel in NAMED_KERNELS.items()}  # as Python spells the classes
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>(?:"
    + "|".join(name for name in NAMED_KERNELS if "-" in name)
    + r")(?!\w)|[^\W\d]\w*)|(?P<sign>[-+*/(),=])",
    re.IGNORECASE,
)
_LONGEST = 100_000  # characters; a sum of a thousand kernels with all digits has half as many
_DEEPEST = 32  # parentheses within parentheses; each takes some frames of Python's stack
_LARGEST_INTEGER = 2**53  # beyond, a number counts as a float: no parameter is so large an integer
_SHOWN = 80  # characters of the text in an error


def kernel_name(kernel: Kernel) -> str | None:
    """The name of the kernel's class in `parse_kernel`.

    Parameters
    ----------
    kernel : Kernel

    Returns
    -------
    str or None
        None for sums, products, and kernels without a name.
    """
    return next((name for name, cls in NAMED_KERNELS.items() if type(kernel) is cls), None)


def parse_kernel(text: str) -> Kernel:
    """Read a kernel from its command-line name or its ``repr``.

    Parameters
    ----------
    text : str
        Names with their parameters in parentheses, ``scaled(kernel, s)`` for k(z/s), numbers, ``+ - * /`` and parentheses;
        capitals, underscores and blanks are ignored. At most 100,000 characters.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from krein.kernels import parse_kernel
    >>> parse_kernel("2*gaussian(1) - laplacian(scale=0.5)")
    2.0 * Gaussian(scale=1.0) - Laplacian(scale=0.5)
    >>> parse_kernel("scaled(gaussian * cauchy(2), 3)")
    Gaussian(scale=3.0) * Cauchy(scale=6.0)
    """
    if not isinstance(text, str):
        raise TypeError(f"a kernel is read from a string, got {text!r} of type {type(text).__name__}")
    return _Reader(text).kernel()


class _Reader:
    """One pass over the tokens of a text."""

    def __init__(self, text: str) -> None:
        self.text = _short(text)
        if len(text) > _LONGEST:
            raise ValueError(f"the kernel {self.text!r} has {len(text):,} characters, at most {_LONGEST:,} are read")
        self.tokens: list[tuple[str, str]] = []
        self.at = self.depth = 0
        position = 0
        text = text.rstrip()
        while position < len(text):
            if text[position].isspace():
                position += 1
                continue
            found = _TOKEN.match(text, position)
            if found is None:
                raise self._unreadable()
            self.tokens.append((str(found.lastgroup), found.group()))
            position = found.end()

    def kernel(self) -> Kernel:
        """The whole text as a kernel."""
        value = self._sum()
        if self.at < len(self.tokens):
            raise self._unreadable()
        if not isinstance(value, Kernel):
            raise ValueError(f"{self.text!r} is a number, not a kernel; {_usage()}")
        return value

    def _sum(self) -> Kernel | float:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError(f"the kernel {self.text!r} has more than {_DEEPEST} parentheses within each other")
        first = self._product()
        if self._next() not in ("+", "-"):
            self.depth -= 1
            return first
        parts = [(1.0, first)]
        while self._next() in ("+", "-"):
            sign = 1.0 if self._take() == "+" else -1.0
            parts.append((sign, self._product()))
        terms = tuple((sign, value) for sign, value in parts if isinstance(value, Kernel))
        if len(terms) < len(parts):
            raise self._unreadable()
        self.depth -= 1
        return signed_sum(terms)

    def _product(self) -> Kernel | float:
        value = self._signed()
        while self._next() in ("*", "/"):
            times = self._take() == "*"
            other = self._signed()
            if times:
                value = _number(value * other)
            elif isinstance(other, Kernel) or other == 0:
                raise self._unreadable()
            else:
                value = _number(value / other)
        return value

    def _signed(self) -> Kernel | float:
        negative = False
        while self._next() in ("+", "-"):
            negative ^= self._take() == "-"
        value = self._atom()
        return -value if negative else value

    def _atom(self) -> Kernel | float:
        if self.at == len(self.tokens):
            raise self._unreadable()
        kind, word = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return _number(int(word)) if word.isdecimal() and len(word) < 17 else float(word)
        if kind == "name":
            return self._named(word)
        if word == "(":
            value = self._sum()
            self._expect(")")
            return value
        raise self._unreadable()

    def _named(self, word: str) -> Kernel:
        plain = word.lower().replace("-", "").replace("_", "")
        if plain not in _PLAIN and plain != "scaled":
            raise ValueError(f"unknown kernel {_short(word)!r} in {self.text!r}; {_usage()}")
        positional, named = self._arguments() if self._next() == "(" else ([], {})
        held = [value for value in (*positional, *named.values()) if isinstance(value, Kernel)]
        try:
            if plain == "scaled":
                return _scaled(*positional, **named)
            if held:
                raise ValueError(
                    f"cannot read the kernel {self.text!r}: the parameters of {word} are numbers; {_usage()}"
                )
            return _PLAIN[plain](*positional, **named)
        except TypeError as error:
            raise ValueError(f"cannot build the kernel {self.text!r}: {error}") from error

    def _arguments(self) -> tuple[list[Any], dict[str, Any]]:
        self._take()
        positional: list[Any] = []
        named: dict[str, Any] = {}
        while self._next() != ")":
            kind, word = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
            if kind == "name" and self._next(1) == "=":
                self.at += 2
                if word in named:
                    raise self._unreadable()
                named[word] = self._argument()
            elif named:
                raise self._unreadable()
            else:
                positional.append(self._argument())
            if self._next() != ")":
                self._expect(",")
        self._take()
        return positional, named

    def _argument(self) -> Kernel | float | bool:
        if self._next() in ("True", "False"):
            return self._take() == "True"
        return self._sum()

    def _next(self, ahead: int = 0) -> str:
        """A token to come, or nothing at the end."""
        return self.tokens[self.at + ahead][1] if self.at + ahead < len(self.tokens) else ""

    def _take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def _expect(self, sign: str) -> None:
        if self._next() != sign:
            raise self._unreadable()
        self.at += 1

    def _unreadable(self) -> ValueError:
        return ValueError(f"cannot read the kernel {self.text!r}; {_usage()}")


def _scaled(kernel: Kernel, scale: float) -> Kernel:
    if not isinstance(kernel, Kernel):
        raise TypeError(f"scaled takes a kernel and a number, got {kernel!r}")
    return kernel.scaled(scale)


def _number(value: Any) -> Any:
    """Kernels and numbers as they are, but integers that no parameter can be as floats."""
    return float(value) if isinstance(value, int) and abs(value) > _LARGEST_INTEGER else value


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _usage() -> str:
    return (
        f"known kernels: {', '.join(NAMED_KERNELS)}; write parameters as delta-gaussian(1, 10), sums and products as "
        "gaussian - 2 * cauchy, and k(z/3) as scaled(cauchy, 3)"
    )
