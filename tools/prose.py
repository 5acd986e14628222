"""Checks the length of lines in all .rst files: ``python tools/prose.py [docs ...]``.

Lines that cannot be broken are left alone: addresses, rules and rows of tables drawn with characters, and code with its output.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

LONGEST = 132  # characters, as in code, so that a change shows as the lines it touches
MADE = {"_build", "generated", "gallery"}  # folders that the docs build fills
_UNBREAKABLE = re.compile(r"\s*(\S+$|>>> |\.\.\. |={3,}|\+[-=+]+$|\|)|.*https?://\S{60,}")


def too_long(path: Path) -> list[int]:
    """Numbers of the lines that are too long and could be shorter."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if len(line) > LONGEST and not _UNBREAKABLE.match(line)]


def main(roots: list[str]) -> int:
    """Print each line that is too long; 1 if there is one, else 0."""
    top = Path(__file__).resolve().parents[1]
    folders = [Path(root) for root in roots] or [top / "docs"]
    pages = sorted(page for folder in folders for page in ([folder] if folder.is_file() else folder.rglob("*.rst")))
    pages = [page for page in pages if not MADE.intersection(page.parts)]
    found = [(page, number) for page in pages for number in too_long(page)]
    for page, number in found:
        sys.stdout.write(f"{page}:{number}: more than {LONGEST} characters\n")
    sys.stdout.write(f"{len(pages)} pages, {len(found)} lines too long\n")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
