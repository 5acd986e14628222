"""What a reader of the package must hold: lines, modules and names by room, and the functions that a default fit enters."""

from __future__ import annotations

import ast
import io
import sys
import threading
import tokenize
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "krein"
FIT_ROWS = 900
QUIET = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def count_lines(path: Path) -> tuple[int, int]:
    """Lines with code on them, and lines of docstrings; comments and blank lines are neither."""
    text = path.read_text(encoding="utf-8")
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in QUIET:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings), len(docstrings)


def functions_entered(call: Callable[[], Any]) -> set[tuple[str, int]]:
    """Functions of the package that a call enters, in any thread; a comprehension belongs to the function around it."""
    entered: set[tuple[str, int]] = set()

    def watch(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)) and code.co_name not in COMPREHENSIONS:
            entered.add((code.co_filename, code.co_firstlineno))

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return entered


COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<module>"}


def fits() -> dict[str, int]:
    """Distinct functions entered by a fit of 900 rows, by solver."""
    import krein

    data = krein.datasets.load("letter")
    X, y = data.X_train[:FIT_ROWS], data.y_train[:FIT_ROWS]
    found = {}
    for solver in ("auto", "features", "local"):
        model = krein.KreinRidgeClassifier(solver=solver, random_state=0)
        krein.KreinRidgeClassifier(solver=solver, random_state=0).fit(X, y)  # what is made once is not counted
        found[solver] = len(functions_entered(lambda model=model: model.fit(X, y)))
    return found


def main() -> None:
    """Print one line a room, then the totals."""
    rooms: dict[str, list[tuple[Path, int, int]]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).parts
        rooms.setdefault(parts[0] if len(parts) > 1 else "(top)", []).append((path, *count_lines(path)))
    print(f"{'room':14} {'code':>7} {'docstrings':>11} {'modules':>8}  longest module (lines of code)")
    for room, files in rooms.items():
        longest = max(files, key=lambda file: file[1])
        print(
            f"{room:14} {sum(f[1] for f in files):7} {sum(f[2] for f in files):11} {len(files):8}  "
            f"{longest[0].relative_to(PACKAGE)} ({longest[1]})"
        )
    everything = [file for files in rooms.values() for file in files]
    print(f"{'all':14} {sum(f[1] for f in everything):7} {sum(f[2] for f in everything):11} {len(everything):8}")
    names = Counter(file[0].name for file in everything if file[0].name != "__init__.py")
    twice = sorted(name for name, count in names.items() if count > 1)
    thrice = sorted(name for name, count in names.items() if count > 2)
    print(f"\nnames used more than once: {len(twice)}, more than twice: {len(thrice)} {' '.join(thrice)}")
    print(f"names used more than once: {' '.join(twice)}")
    if "--no-fits" not in sys.argv[1:]:
        for solver, count in fits().items():
            print(f"functions entered by a fit of {FIT_ROWS} rows, solver={solver!r}: {count}")


if __name__ == "__main__":
    main()
