"""Kernels from text: ``ntk``, ``delta-gaussian(1, 10)``, ``2*gaussian(1) - laplacian(0.5)``.

The text is an expression of Python, of which only the tree is read: nothing is evaluated but sums, products and the kernels named.
"""

from __future__ import annotations

import ast
import operator
import re
from typing import Any

from krein.kernels.euclidean import Cauchy, DeltaGaussian, Gaussian, Laplacian, Log, Matern, Multiquadric, ThinPlate
from krein.kernels.kernel import Kernel
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
_HYPHENED = re.compile(rf"\b({'|'.join(name for name in NAMED_KERNELS if '-' in name)})(?!\w)", re.IGNORECASE)
_OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_LONGEST = 100_000  # characters; a sum of a thousand kernels with all digits has half as many
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
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    if len(text) > _LONGEST:
        raise ValueError(f"the kernel {shown!r} has {len(text):,} characters, at most {_LONGEST:,} are read")
    try:
        plain = _HYPHENED.sub(lambda found: found[0].replace("-", ""), " ".join(text.split()))
        value = _value(ast.parse(plain, mode="eval").body)
    except (SyntaxError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ValueError(f"cannot read the kernel {shown!r}; {_usage()}") from error
    except TypeError as error:
        raise ValueError(f"cannot build the kernel {shown!r}: {error}; {_usage()}") from error
    if not isinstance(value, Kernel):
        raise ValueError(f"{shown!r} is a number, not a kernel; {_usage()}")
    return value


def _value(node: ast.expr) -> Any:
    """The kernel or number that a part of the text stands for."""
    later = []
    while isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:  # a long sum is deep in its first terms
        later.append((_OPERATORS[type(node.op)], node.right))
        node = node.left
    value: Any
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            pass
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            value = _value(operand) * (-1 if isinstance(sign, ast.USub) else 1)
        case ast.Name(id=word):
            value = _named(word, [], {})
        case ast.Call(func=ast.Name(id=word), args=positional, keywords=keywords):
            named = {str(one.arg): _value(one.value) for one in keywords}
            if len(named) < len(keywords):
                raise SyntaxError
            value = _named(word, [_value(one) for one in positional], named)
        case _:
            raise SyntaxError
    for apply, right in reversed(later):
        value = apply(value, _value(right))
    return value


def _named(word: str, positional: list[Any], named: dict[str, Any]) -> Kernel:
    plain = word.lower().replace("_", "")
    if plain == "scaled":
        return _scaled(*positional, **named)
    if plain not in _PLAIN:
        raise ValueError(f"unknown kernel {word[:_SHOWN]!r}; {_usage()}")
    return _PLAIN[plain](*positional, **named)


def _scaled(kernel: Kernel, scale: float) -> Kernel:
    if not isinstance(kernel, Kernel):
        raise TypeError(f"scaled takes a kernel and a number, got {kernel!r}")
    return kernel.scaled(scale)


def _usage() -> str:
    return (
        f"known kernels: {', '.join(NAMED_KERNELS)}; write parameters as delta-gaussian(1, 10), sums and products as "
        "gaussian - 2 * cauchy, and k(z/3) as scaled(cauchy, 3)"
    )
