"""Imports go one way along the subpackages of DESIGN.md, and what is optional is imported where it is used."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import krein

SOURCE = Path(krein.__file__).parent
SUBPACKAGES = [
    *("_core", "show", "kernels", "measures", "sampling", "features", "similarities", "nystroem", "matrices"),
    *("rows", "learning", "files"),
    *("export", "estimators", "baselines", "datasets", "plotting", "comparison", "paper", "cli"),
]
BELOW_ESTIMATORS = set(SUBPACKAGES[: SUBPACKAGES.index("estimators")])
OPTIONAL = {
    "dask",
    "distributed",
    "pooch",
    "matplotlib",
    "rich",
    "typer",
    "pandas",
    "pyarrow",
    "numba",
    "onnx",
    "torch",
}
# A subpackage that is about one package may import it at its top: the hot loop is numba, and options are of typer.
AT_HOME = {"features": {"numba"}, "cli": {"typer"}}
FILES = sorted(path for path in SOURCE.rglob("*.py"))


def subpackage_of(path: Path) -> str:
    """The folder below krein, or the module's name; the package's own __init__ is not one."""
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(path: Path, *, top_level: bool = False) -> Iterator[tuple[int, str]]:
    """Line and dotted name of what a file imports; `if TYPE_CHECKING` blocks are for the reader only."""
    tree = parsed(path)
    nodes = list(_top_level(tree)) if top_level else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = (path.parent if node.level == 1 else path.parents[node.level - 1]).relative_to(SOURCE.parent)
                name = ".".join([*base.parts, *([node.module] if node.module else [])])
            else:
                name = node.module or ""
            yield node.lineno, name
            yield from ((node.lineno, f"{name}.{alias.name}") for alias in node.names)


def _top_level(tree: ast.Module) -> Iterator[ast.AST]:
    """Statements that run on import, those in if and try included, functions left out."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            todo.extend(node.orelse)
            continue
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))


def subpackages_imported(path: Path) -> Iterator[tuple[int, str]]:
    for line, name in imports(path):
        parts = name.split(".")
        if parts[0] == "krein" and len(parts) > 1 and parts[1] in SUBPACKAGES:
            yield line, parts[1]


def where(path: Path) -> str:
    return str(path.relative_to(SOURCE.parent))


def test_no_import_against_the_arrow() -> None:
    against = []
    for path in FILES:
        subpackage = subpackage_of(path)
        if subpackage not in SUBPACKAGES:  # krein/__init__.py and what stands beside it serve all subpackages
            continue
        allowed = set(SUBPACKAGES[: SUBPACKAGES.index(subpackage) + 1])
        found = {(line, other) for line, other in subpackages_imported(path) if other not in allowed}
        against += [f"{where(path)}:{line} imports {other}" for line, other in sorted(found)]
    assert not against


def test_nothing_below_estimators_knows_scikit_learn() -> None:
    below = [path for path in FILES if subpackage_of(path) in BELOW_ESTIMATORS]
    found = [
        f"{where(path)}:{line}" for path in below for line, name in imports(path) if name.split(".")[0] == "sklearn"
    ]
    assert below
    assert not found


def test_optional_packages_are_imported_where_used() -> None:
    found = [
        f"{where(path)}:{line} imports {name}"
        for path in FILES
        for line, name in imports(path, top_level=True)
        if name.split(".")[0] in OPTIONAL - AT_HOME.get(subpackage_of(path), set()) and not name.startswith("krein")
    ]
    assert not found


def test_the_walk_sees_what_it_should(tmp_path: Path) -> None:
    """The checks above would pass on an empty list; show that imports in every position are found."""
    file = tmp_path / "some.py"
    file.write_text(
        "import numba\nfrom krein.cli import main\nfrom krein import baselines\n"
        "try:\n    import dask.array\nexcept ImportError:\n    pass\n"
        "def f():\n    import pandas\n"
        "class A:\n    import rich\n"
    )
    everything = {name for _, name in imports(file)}
    assert {"numba", "krein.cli", "krein.baselines", "dask.array", "pandas", "rich"} <= everything
    top = {name for _, name in imports(file, top_level=True)}
    assert {"numba", "dask.array", "rich"} <= top
    assert "pandas" not in top
    assert {subpackage for _, subpackage in subpackages_imported(file)} == {"cli", "baselines"}


def test_every_folder_is_a_known_subpackage() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert folders <= set(SUBPACKAGES)


def test_import_krein_is_light() -> None:
    """Nothing is imported before it is asked for; what is asked for brings no optional package."""
    assert modules_of("import krein", ["sklearn", "scipy", "numpy"]) == []
    # scikit-learn pulls in some of these itself, in some versions
    code = "import sklearn.svm, sklearn.model_selection, sklearn.kernel_approximation; before = set(sys.modules); "
    ask = "import krein; [getattr(krein, name) for name in krein.__all__ if name != 'plotting']"
    assert modules_of(ask, sorted(OPTIONAL - {"distributed"}), before=code) == []


def modules_of(code: str, heavy: list[str], before: str = "before = set(); ") -> list[str]:
    """Which of these modules a statement imports, in a process of its own."""
    script = f"import sys; {before}{code}; print(*sorted(set({heavy!r}) & (set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600)
    return done.stdout.split()


def test_every_public_name_is_found_and_listed_for_type_checkers() -> None:
    tree = ast.parse(Path(krein.__file__).read_text(encoding="utf-8"))
    for_checkers = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(krein.__all__) == for_checkers - {"import_module", "TYPE_CHECKING", "Any"}
    for name in krein.__all__:
        assert getattr(krein, name) is not None
    assert set(krein.__all__) <= set(dir(krein))
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = krein.no_such_name


@pytest.mark.parametrize("folder", ["docs", "benchmarks", "tools"])
def test_what_is_imported_outside_the_package_is_there(folder):
    """Pages, benchmarks and tools run seldom, and would notice late that a name has moved."""
    home = SOURCE.parents[1] / folder
    if not home.is_dir():
        pytest.skip("an installed package is tested")
    missing = []
    for path in sorted(home.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] != "krein":
                continue
            inside = dir(importlib.import_module(node.module))
            missing += [
                f"{path.name}: from {node.module} import {name.name}"
                for name in node.names
                if name.name not in inside and importlib.util.find_spec(f"{node.module}.{name.name}") is None
            ]
    assert not missing
