"""An executed notebook in a real browser: every card and picture is there, in light and in dark, on a desk and on a phone."""

from __future__ import annotations

import pytest

from browser import ask_browser

CELLS = """
import numpy as np
import krein
from krein.kernels import NTK, DeltaGaussian
X = np.random.default_rng(0).normal(size=(60, 3))
K = np.tanh(X @ X.T - 1.0)
NTK()
---
krein.signed_measure(DeltaGaussian(1.0, 10.0), 16)
---
krein.diagnose(NTK(), dim=16)
---
diagnosis = krein.diagnose(K, y=X[:, 0] > 0)
diagnosis
---
model = krein.KreinRidge().fit(X, np.sin(3 * X[:, 0]))
model.choice_
---
krein.compare(K, X[:, 0] > 0)
---
diagnosis.plot()
---
krein.plotting.plot_trials(model.choice_.trials)
"""
CARDS, PICTURES = 6, 2  # of the cells above: cards, and pictures by matplotlib

MEASURE = """(page, root) => {
  const cards = [...page.querySelectorAll(".krein-card")];
  const ink = one => getComputedStyle(one).color;
  const far = cards.filter(one => one.getBoundingClientRect().right > root.clientWidth + 1);
  const small = [...page.querySelectorAll(".krein-card svg")].filter(one => one.getBoundingClientRect().width < 150);
  const drawn = [...page.querySelectorAll(".krein-card polyline, .krein-card svg line:not(.krein-axis)")]
    .filter(one => getComputedStyle(one).stroke !== "none");
  return { cards: cards.length, far: far.length, small: small.length, drawn: drawn.length,
    svg: page.querySelectorAll(".krein-card svg").length,
    images: [...page.querySelectorAll("img")].filter(one => one.naturalWidth > 100).length,
    inherits: cards.every(one => ink(one) === ink(one.parentElement)),
    scripts: page.querySelectorAll(".krein-card script").length, text: page.body.innerText };
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The notebook, executed and exported without anything that needs a network."""
    reason = "comes with the extra krein[test]"
    nbformat = pytest.importorskip("nbformat", reason=reason)
    nbclient = pytest.importorskip("nbclient", reason=reason)
    nbconvert = pytest.importorskip("nbconvert", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell.strip()) for cell in CELLS.split("---")]
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    exporter = nbconvert.HTMLExporter(template_name="basic")
    body, _ = exporter.from_notebook_node(notebook)
    path = tmp_path_factory.mktemp("notebook") / "notebook.html"
    path.write_text(
        f'<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>{body}</body></html>', encoding="utf-8"
    )
    return path


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_cards_and_pictures_are_seen(page, width, dark):
    seen = ask_browser(page, width, MEASURE, dark=dark)
    assert seen["cards"] == CARDS
    assert seen["images"] == PICTURES
    assert seen["svg"] == CARDS - 1  # the comparison is a table
    assert seen["drawn"] > 50
    assert seen["small"] == seen["far"] == seen["scripts"] == 0
    assert seen["inherits"]
    for words in ("NTK(depth=1)", "signed measure on R^16", "negative eigenfraction", "leave-one-out", "Accuracy over"):
        assert words in seen["text"]
