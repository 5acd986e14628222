"""What objects show in a notebook: well-formed, escaped, without scripts, readable on light and dark."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from test_plots import contrast

import krein
from krein.kernels import NTK, DeltaGaussian, Gaussian, Laplacian, Multiquadric, Radial, Sigmoid
from krein.measures import SignedMeasure
from krein.show.cards import NEGATIVE, POSITIVE, card, card_table, curve, sketch, stems

X = np.random.default_rng(0).normal(size=(60, 3))


def shown_objects():
    """One of each kind that shows itself, with a word that must be seen."""
    model = krein.KreinRidge().fit(X, np.sin(3 * X[:, 0]))
    K = np.tanh(X @ X.T - 1.0)
    features = krein.SignedFourierFeatures(Gaussian(4.0), "auto", error=0.1, random_state=0).fit(X)
    return {
        "kernel": (NTK(), "NTK(depth=1)"),
        "growing kernel": (Multiquadric(1.0), "length scale"),
        "sum": (2 * Gaussian(1.0) - Laplacian(0.5), "2.0 * Gaussian(scale=1.0) - Laplacian(scale=0.5)"),
        "function": (Radial(lambda z: np.exp(-z)), "<lambda>)"),
        "atoms": (krein.signed_measure(NTK(), 16, radius=2**0.5), "signed measure on R^16"),
        "densities": (krein.signed_measure(DeltaGaussian(1.0, 10.0), 16), "mass"),
        "no mass": (SignedMeasure(3, radius=1.0), "none"),
        "diagnosis": (krein.diagnose(Sigmoid(1.0, -0.5), 8), "positive decomposition"),
        "matrix": (krein.diagnose(K, y=X[:, 0] > 0), "negative eigenfraction"),
        "incomplete matrix": (krein.diagnose(np.full((4, 4), np.nan)), "incomplete"),
        "choice": (model.choice_, "λ"),
        "trials": (model.choice_.trials, "leave-one-out"),
        "nothing tried": (krein.TunedFeatures(n_components=20).fit(X).scores_, "Kernels tried"),
        "search": (features.width_search_, "n_components"),
        "comparison": (krein.compare(K, X[:, 0] > 0), "accuracy"),
    }


@pytest.fixture(scope="module")
def objects():
    return shown_objects()


KINDS = (
    *("kernel", "growing kernel", "sum", "function", "atoms", "densities", "no mass", "diagnosis", "matrix"),
    *("incomplete matrix", "choice", "trials", "nothing tried", "search", "comparison"),
)


@pytest.mark.parametrize("name", KINDS)
def test_a_card_is_well_formed_and_says_what_it_shows(objects, name):
    one, word = objects[name]
    text = one._repr_html_()
    page = ElementTree.fromstring(text)  # also an error for text that is not escaped
    assert word in " ".join("".join(page.itertext()).split())
    names = {element.tag for element in page.iter()}
    assert names <= {"div", "style", "table", "thead", "tbody", "tr", "th", "td", "svg", "line", "polyline", "text"}
    assert not any(key.startswith("on") or key in ("href", "src") for e in page.iter() for key in e.attrib)
    for picture in page.iter("svg"):
        assert picture.get("aria-label")
        for line in picture.iter("line"):
            assert 0.0 <= float(line.get("x1")) <= 300.0
            assert 0.0 <= float(line.get("y2")) <= 120.0


@pytest.mark.parametrize(
    "name", ["kernel", "growing kernel", "sum", "atoms", "densities", "diagnosis", "matrix", "trials"]
)
def test_what_has_a_shape_has_a_picture(objects, name):
    assert "<svg" in objects[name][0]._repr_html_()


@pytest.mark.parametrize("color", [*POSITIVE, *NEGATIVE])
@pytest.mark.parametrize("page", ["#ffffff", "#111111", "#1e1e1e"])
def test_colors_read_on_light_and_dark_whoever_decided_which(color, page):
    assert contrast(color, page) > 3.0  # WCAG's bound for graphics


def test_text_is_escaped():
    text = card("<b>", [("<i>", "a & b")], table=card_table(["<u>"], [["<s>"]], best={(0, 0)}, more="<p>"))
    for tag in ("<b>", "<i>", "<u>", "<s>", "<p>"):
        assert tag not in text
    assert "a &amp; b" in text


def test_sketch_leaves_out_what_cannot_be_drawn():
    assert sketch([curve([], [])], "nothing", "x") == ""
    assert sketch([curve([0.0, 1.0], [np.inf, np.nan])], "nothing", "x") == ""
    assert sketch([curve([0.0, -1.0], [1.0, 1.0])], "nothing", "x", xlog=True) == ""
    one = ElementTree.fromstring(sketch([stems([2.0], [3.0], "negative")], 'a "quoted" label', "x"))
    assert one.get("aria-label") == 'a "quoted" label'


def test_sketch_puts_points_where_they_belong():
    picture = ElementTree.fromstring(sketch([curve([0.0, 1.0, 2.0], [1.0, -1.0, 0.0])], "a line", "x"))
    points = [tuple(map(float, pair.split(","))) for pair in picture.find("polyline").get("points").split()]
    axis = picture.find("line")
    left, right, zero = float(axis.get("x1")), float(axis.get("x2")), float(axis.get("y1"))
    assert points[0][0] == left
    assert points[1][0] == pytest.approx((left + right) / 2, abs=0.1)
    assert points[2] == (right, zero)
    assert zero - points[0][1] == pytest.approx(points[1][1] - zero, abs=0.11)  # up is up, one is one


@pytest.mark.parametrize("of", ["kernel", "matrix", "measure"])
def test_a_diagnosis_is_no_wider_than_a_terminal(of):
    """No word of it is lost, and no line has more than eighty characters."""
    X = np.random.default_rng(0).normal(size=(60, 5))
    found = {
        "kernel": lambda: krein.diagnose(krein.kernels.NTK(), 16),
        "matrix": lambda: krein.diagnose(np.tanh(X @ X.T - 1.0), y=X[:, 0] > 0),
        "measure": lambda: krein.signed_measure(krein.kernels.NTK(), 16, 2**0.5),
    }[of]()
    lines = str(found).split("\n")
    assert max(map(len, lines)) <= 80
    words = str(found).split()
    for name, value in found.facts():
        for word in (*name.split(), *value.split()):
            assert word in words
