"""The code in the user guide runs and prints what the pages say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted(DOCS.glob("guide/*.rst"))

pytestmark = pytest.mark.skipif(not PAGES, reason="the user guide is not part of this installation")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_guide(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_placeholder_is_left(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if line.strip() in {"OUT", "TODO"}]
