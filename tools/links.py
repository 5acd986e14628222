"""Checks that links between built pages lead somewhere: ``python tools/links.py docs/_build/html``.

Every ``href`` and ``src`` that is not an address elsewhere must be a file below the folder, and what follows ``#`` an ``id`` on
that page. On pages of source the latter is not asked for: viewcode's way back names the module in which it met an object first.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The ids of a page, and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag says of itself and where it leads."""
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def broken_links(folder: Path) -> list[tuple[Path, str]]:
    """Pages and the links on them that lead nowhere."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = "" if "_modules" in path.parts else unquote(parts.fragment)
            if not target.exists() or (place and target in pages and place not in pages[target].ids):
                found.append((path, link))
    return found


def main(folders: list[str]) -> int:
    """Print each link that leads nowhere; 1 if there is one, else 0."""
    folder = Path(folders[0] if folders else "docs/_build/html")
    found = broken_links(folder)
    for path, link in found:
        sys.stdout.write(f"{path}: {link}\n")
    sys.stdout.write(f"{sum(1 for _ in folder.rglob('*.html'))} pages, {len(found)} broken links\n")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
