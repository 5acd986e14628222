"""Single changes in numeric code, and which of them no test sees.

``python tools/mutate.py --changes 300 --seed 0`` or ``make mutate MUTATE_ARGS="--changes 300 --seed 0"``. The repository is copied
into a temporary folder, once for each job; nothing here is ever changed. The suite is run once with coverage, which tells the
tests that execute each line (``--map FILE`` keeps that for the next time). Then one place after another is changed: a comparison,
an operator, a constant, a minimum for a maximum, a sign or a ``not``. The tests that execute the line are run, the quickest
first, until one fails; where none does, those of the same folder. The share of changes that were noticed is printed with all
that were not, for somebody to read: each is a missing test, or changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("learning", "features", "measures", "nystroem", "similarities", "kernels")
# Tests of pages, pictures and programs: they execute every line and look at none.
LEFT_OUT = (
    "tests/test_docs.py",
    "tests/test_gallery.py",
    "tests/test_benchmarks.py",
    "tests/test_soak.py",
    "tests/fuzz",
)
COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
}
SWAPPED = {"min": "max", "minimum": "maximum", "argmin": "argmax", "fmin": "fmax", "floor": "ceil"}
SWAPPED |= {other: one for one, other in SWAPPED.items()}


@dataclass(frozen=True)
class Change:
    """A piece of a file and what takes its place.

    Parameters
    ----------
    path : str
        Of the module, below the repository.
    line : int
    start, stop : int
        Where the piece is, in bytes.
    old, new : str
    """

    path: str
    line: int
    start: int
    stop: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {' '.join(self.old.split())}  ->  {self.new}"


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What a piece of code may become."""

    def with_(**parts: Any) -> ast.AST:
        other = copy.copy(node)
        for name, value in parts.items():
            setattr(other, name, value)
        return other

    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for other in COMPARED.get(type(operator), ()):
                yield with_(ops=[*node.ops[:at], other(), *node.ops[at + 1 :]])
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        yield with_(op=COMPUTED[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield with_(op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield with_(value=node.value + 1)
        yield with_(value=node.value - 1)
    elif isinstance(node, ast.Constant) and type(node.value) is float:
        yield with_(value=2.0 * node.value if node.value else 1.0)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield with_(value=not node.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SWAPPED:
        yield with_(func=ast.Name(SWAPPED[node.func.id], ast.Load()))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SWAPPED:
        yield with_(func=ast.Attribute(node.func.value, SWAPPED[node.func.attr], ast.Load()))


def numeric(node: ast.AST) -> Iterator[ast.AST]:
    """Everything within but what is said: errors, warnings, texts, types and decorators."""
    yield node
    if isinstance(node, (ast.Raise, ast.JoinedStr)):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "warn":
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from numeric(child)


def changes(rooms: list[str]) -> list[list[Change]]:
    """For every place in a function its changes."""
    found = []
    for room in rooms:
        for path in sorted((ROOT / "src/krein" / room).rglob("*.py")):
            data = path.read_bytes()
            starts = [0]
            for line in data.splitlines(keepends=True):
                starts.append(starts[-1] + len(line))
            functions = [node for node in ast.parse(data).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
            seen = {id(node): node for one in functions for node in numeric(one) if hasattr(node, "end_lineno")}
            inside = [part for one in functions for part in ast.walk(one) if isinstance(part, ast.FunctionDef)]
            bodies = {id(node) for function in inside for statement in function.body for node in ast.walk(statement)}
            for node in (node for key, node in seen.items() if key in bodies):
                begin = starts[node.lineno - 1] + node.col_offset
                end = starts[node.end_lineno - 1] + node.end_col_offset
                old = data[begin:end].decode()
                where = str(path.relative_to(ROOT))
                made = [
                    Change(where, node.lineno, begin, end, old, f"({ast.unparse(ast.fix_missing_locations(other))})")
                    for other in variants(node)
                ]
                if made:
                    found.append(made)
    return found


# As a pytest plugin: which tests passed and how long they took; or those of a list, in its order.


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a list, in its order."""
    if "MUTATE_TESTS" in os.environ:
        order = {name: at for at, name in enumerate(json.loads(Path(os.environ["MUTATE_TESTS"]).read_text()))}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A line for each test that passed; with several workers only their master writes."""
    if (
        "MUTATE_TIMES" in os.environ
        and "PYTEST_XDIST_WORKER" not in os.environ
        and report.when == "call"
        and report.passed
    ):
        with Path(os.environ["MUTATE_TIMES"]).open("a") as file:
            file.write(json.dumps([report.nodeid, report.duration]) + "\n")


def environment(tree: Path, **more: str) -> dict[str, str]:
    """Of pytest in a copy of the repository."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("MUTATE_")}
    paths = [str(tree / "src"), str(tree / "tools")]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**variables, **threads, "PYTHONPATH": os.pathsep.join(paths), **more}


def map_of_tests(tree: Path, jobs: int, tests: list[str]) -> dict[str, Any]:
    """Run the suite once: the seconds of each test that passes, and the tests of each line."""
    import coverage

    times, data = tree / "times.jsonl", tree / ".coverage-map"
    (tree / "coverage.ini").write_text(f"[run]\nsource = {tree}/src/krein\ndata_file = {data}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutate", "-p", "no:cacheprovider", "-n", str(jobs)]
    command += ["--cov", "--cov-config=coverage.ini", "--cov-context=test", "--cov-report=", *tests]
    command += [part for path in LEFT_OUT for part in ("--ignore", path)]
    done = subprocess.run(
        command, cwd=tree, env=environment(tree, MUTATE_TIMES=str(times)), capture_output=True, text=True, check=False
    )
    sys.stdout.write("".join(f"{line}\n" for line in done.stdout.splitlines()[-3:]))
    if not times.exists():
        raise SystemExit(f"no test passed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    seconds = dict(json.loads(line) for line in times.read_text().splitlines())
    found = coverage.CoverageData(str(data))
    found.read()
    lines: dict[str, dict[str, list[str]]] = {}
    for path in found.measured_files():
        contexts = {
            str(number): sorted({name.partition("|")[0] for name in names} & seconds.keys())
            for number, names in found.contexts_by_lineno(path).items()
        }
        lines[str(Path(path).relative_to(tree))] = {number: names for number, names in contexts.items() if names}
    return {"seconds": seconds, "lines": lines}


def chosen(change: Change, known: dict[str, Any]) -> list[str]:
    """The tests that execute the line, the quickest first; or those of the folder that mirrors the module's."""
    seconds, lines = known["seconds"], known["lines"].get(change.path, {})
    names = lines.get(str(change.line), [])
    if not names:
        home = Path("tests") / Path(change.path).relative_to("src/krein").parent
        names = [name for name in seconds if name.startswith(str(home))]
    return sorted(names, key=lambda name: float(seconds[name]))


def survives(change: Change, tree: Path, known: dict[str, Any]) -> bool:
    """Whether all tests pass with the change; the file is put back whatever happens."""
    names = chosen(change, known)
    if not names:
        return True
    file = tree / change.path
    data = file.read_bytes()
    order = tree / "order.json"
    order.write_text(json.dumps(names))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "mutate", "-p", "no:cacheprovider"]
    command += sorted({name.partition("::")[0] for name in names})
    # A loop that no longer ends is noticed too; the limit is far from what a busy machine takes.
    limit = 300.0 + 30.0 * sum(known["seconds"][name] for name in names)
    try:
        file.write_bytes(data[: change.start] + change.new.encode() + data[change.stop :])
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment(tree, MUTATE_TESTS=str(order)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=limit,
            check=False,
        )
        return done.returncode == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        file.write_bytes(data)


def copied(folder: Path) -> Path:
    """What git does not ignore of the repository, as it is on disk."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def main() -> int:
    """Parse the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rooms", nargs="+", default=list(ROOMS), choices=ROOMS)
    parser.add_argument("--tests", nargs="+", default=["tests"], help="folders or files of tests")
    parser.add_argument("--map", type=Path, help="where the tests of each line are kept; read if it is there")
    parser.add_argument("--list", action="store_true", help="show the changes and run nothing")
    options = parser.parse_args()
    source = random.Random(options.seed)
    places = changes(options.rooms)
    drawn = [source.choice(made) for made in source.sample(places, min(options.changes, len(places)))]
    sys.stdout.write(f"{len(drawn)} of {len(places)} places in {', '.join(options.rooms)}, seed {options.seed}\n")
    if options.list:
        sys.stdout.write("".join(f"{change}\n" for change in drawn))
        return 0
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        made = [copied(Path(folder) / str(job)) for job in range(options.jobs)]
        if options.map and options.map.exists():
            known = json.loads(options.map.read_text())
        else:
            known = map_of_tests(made[0], options.jobs, options.tests)
            if options.map:
                options.map.write_text(json.dumps(known))
        for tree in made:
            trees.put(tree)

        def tried(change: Change) -> tuple[Change, bool]:
            tree = trees.get()
            try:
                return change, survives(change, tree, known)
            finally:
                trees.put(tree)

        survivors = []
        with ThreadPoolExecutor(options.jobs) as pool:
            for number, (change, passed) in enumerate(pool.map(tried, drawn), start=1):
                sys.stdout.write(f"{number:4d} {'SURVIVED' if passed else 'noticed '} {change}\n")
                sys.stdout.flush()
                if passed:
                    survivors.append(change)
    share = 1.0 - len(survivors) / max(1, len(drawn))
    sys.stdout.write(f"\n{len(drawn) - len(survivors)} of {len(drawn)} noticed: {100 * share:.1f} %\n")
    sys.stdout.write("".join(f"  {change}\n" for change in survivors))
    return 0


if __name__ == "__main__":
    sys.exit(main())
