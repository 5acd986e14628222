"""Kernels from text: ``ntk``, ``delta-gaussian(1, 10)``, ``2*gaussian(1) - laplacian(0.5)``; nothing is evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from krein.kernels.base import Kernel
from krein.kernels.euclidean import Cauchy, DeltaGaussian, Gaussian, Laplacian, Log, Matern, Multiquadric, ThinPlate
from krein.kernels.sphere import NTK, ArcCosine, GeodesicGaussian, Sigmoid, SphericalPolynomial

__all__ = ["NAMED_KERNELS", "kernel_name", "parse_kernel"]

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
_SHORT = {name.replace("-", ""): kernel for name, kernel in NAMED_KERNELS.items()}
_HYPHEN = re.compile("|".join(name for name in NAMED_KERNELS if "-" in name), re.IGNORECASE)


def kernel_name(kernel: Kernel) -> str | None:
    """The name `parse_kernel` knows this kernel's class by, or None."""
    return next((name for name, cls in NAMED_KERNELS.items() if type(kernel) is cls), None)


def parse_kernel(text: str) -> Kernel:
    """Read a kernel from its command-line name or its ``repr``.

    Examples
    --------
    >>> from krein.kernels import parse_kernel
    >>> parse_kernel("2*gaussian(1) - laplacian(scale=0.5)")
    2.0 * Gaussian(scale=1.0) - Laplacian(scale=0.5)
    """
    source = _HYPHEN.sub(lambda match: match.group().replace("-", ""), text).replace("_", "")
    try:
        tree = ast.parse(source.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"cannot read the kernel {text!r}; {_usage()}") from error
    value = _read(tree.body, text)
    if not isinstance(value, Kernel):
        raise ValueError(f"{text!r} is a number, not a kernel; {_usage()}")
    return value


def _read(node: ast.expr, text: str) -> Kernel | float:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.Name):
        return _lookup(node.id, text)()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        cls = _lookup(node.func.id, text)
        positional = [_argument(value, text) for value in node.args]
        named = {str(keyword.arg): _argument(keyword.value, text) for keyword in node.keywords}
        try:
            return cls(*positional, **named)
        except TypeError as error:
            raise ValueError(f"cannot build the kernel {text!r}: {error}") from error
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _read(node.operand, text)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = _read(node.left, text), _read(node.right, text)
        if isinstance(left, Kernel) and isinstance(right, Kernel):
            if isinstance(node.op, (ast.Add, ast.Sub)):
                return left + right if isinstance(node.op, ast.Add) else left - right
        elif isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div) and not isinstance(right, Kernel) and right != 0:
            return left / right
    raise ValueError(f"cannot read the kernel {text!r}; {_usage()}")


def _argument(node: ast.expr, text: str) -> float | bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return node.value
    value = _read(node, text)
    if isinstance(value, Kernel):
        raise ValueError(f"cannot read the kernel {text!r}: a kernel's parameters are numbers; {_usage()}")
    return value


def _lookup(name: str, text: str) -> Callable[..., Kernel]:
    cls = _SHORT.get(name.lower())
    if cls is None:
        raise ValueError(f"unknown kernel {name!r} in {text!r}; {_usage()}")
    return cls


def _usage() -> str:
    return f"known kernels: {', '.join(NAMED_KERNELS)}; write parameters as delta-gaussian(1, 10), sums as gaussian - cauchy"
