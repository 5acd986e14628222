"""Figures: what is drawn is what the measure says; no global state; readable colors."""

from __future__ import annotations

import io
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid

import krein
from krein.kernels import NTK, DeltaGaussian, Gaussian, Laplacian, Sigmoid, SphericalPolynomial
from krein.measures import SignedMeasure
from krein.plotting import (
    COLORS,
    STYLES,
    new_figure,
    plot_confusion,
    plot_importances,
    plot_measure,
    plot_measures,
    plot_trials,
    plot_widths,
    save_figure,
)

R = 2**0.5


def new_axes():
    """Axes that pyplot does not know."""
    return new_figure(5.0, 4.0).subplots()


def lines(axes, colour):
    return [line for line in axes.lines if line.get_color() == colour]


def test_the_left_side_has_the_kernel_and_its_reconstruction():
    kernel = Sigmoid(1.0, -0.5)
    measure = krein.signed_measure(kernel, 16, radius=R)
    left = plot_measure(kernel, measure).axes[0]
    exact, given = left.lines[-2:]
    assert_allclose(exact.get_ydata(), kernel.radial(exact.get_xdata()))
    assert exact.get_xdata()[-1] == pytest.approx(R)
    assert np.max(np.abs(given.get_ydata() - exact.get_ydata())) <= measure.bias


def test_atoms_are_stems_with_their_signs():
    kernel = Sigmoid(1.0, -0.5)
    measure = krein.signed_measure(kernel, 16, radius=R)
    right = plot_measure(kernel, measure).axes[1]
    for name, sign, part in (("positive", 1, measure.positive), ("negative", -1, measure.negative)):
        (tips,) = lines(right, COLORS[name])
        assert_allclose(tips.get_xdata(), part.radii)
        assert_allclose(tips.get_ydata(), sign * part.weights)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (Gaussian(), {}),
        (Laplacian(), {}),
        (DeltaGaussian(1.0, 1.5), {}),
        (DeltaGaussian(1.0, 10.0), {}),
        (SphericalPolynomial(2, 2), {"method": "fourier", "truncate": 10.0}),
    ],
)
def test_areas_under_densities_are_masses(kernel, options):
    measure = krein.signed_measure(kernel, 16, **options)
    right = plot_measure(kernel, measure).axes[1]
    logarithmic = right.get_xscale() == "log"
    for name, sign, part in (("positive", 1, measure.positive), ("negative", -1, measure.negative)):
        if part.mass == 0:
            assert not lines(right, COLORS[name])
            continue
        (curve,) = lines(right, COLORS[name])
        r, height = curve.get_xdata(), sign * curve.get_ydata()
        assert (height >= -1e-12).all()
        area = trapezoid(height, np.log(r) if logarithmic else r)
        assert area == pytest.approx(part.mass, rel=0.03)  # one percent is cut off at either end


def test_an_atom_at_zero_is_shown():
    measure = SignedMeasure.from_atoms(3, np.array([0.0, 1.0, 100.0]), np.array([0.5, -0.2, 0.1]), radius=1.0)
    right = plot_measure(Gaussian(), measure).axes[1]
    low, high = right.get_xlim()
    assert low < 0.0
    assert high > 100.0


def test_a_measure_without_mass_is_drawn():
    plot_measure(Gaussian(), SignedMeasure(3, radius=1.0))


@pytest.mark.parametrize("style", STYLES)
def test_axes_have_labels_with_units_and_ink_that_reads(style):
    figure = plot_measure(NTK(), krein.signed_measure(NTK(), 16, radius=R), style=style)
    left, right = figure.axes
    assert left.get_xlabel() == "distance z (units of the data)"
    assert "1 / unit of distance" in right.get_xlabel()
    pages = {"auto": ("#ffffff", "#000000"), "light": ("#ffffff",), "dark": ("#131416",)}[style]
    for page in pages:
        assert contrast(STYLES[style].ink, page) > 4.5
        for name in ("positive", "negative", "measure"):
            assert contrast(COLORS[name], page) > 3.0  # WCAG's bound for graphics
    assert figure.get_facecolor()[3] == (0.0 if style == "auto" else 1.0)


def contrast(first: str, second: str) -> float:
    def luminance(colour: str) -> float:
        channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_several_rows():
    rows = [(k, krein.signed_measure(k, 4, radius=R), title) for k, title in ((NTK(), ""), (Gaussian(), "mine"))]
    figure = plot_measures(rows)
    assert [axes.get_title(loc="left") for axes in figure.axes[::2]] == ["NTK(depth=1)", "mine"]
    with pytest.raises(ValueError, match="nothing to draw"):
        plot_measures([])


def test_bad_style_and_suffix(tmp_path):
    measure = krein.signed_measure(Gaussian(), 3)
    with pytest.raises(ValueError, match="style must be one of 'auto', 'light', 'dark'"):
        plot_measure(Gaussian(), measure, style="pink")
    with pytest.raises(ValueError, match=r"\.png, \.svg, \.pdf"):
        save_figure(plot_measure(Gaussian(), measure), tmp_path / "figure")


def test_threads_draw_the_same_picture():
    measure = krein.signed_measure(DeltaGaussian(), 16)

    def draw(_: int) -> bytes:
        file = io.BytesIO()
        plot_measure(DeltaGaussian(), measure).savefig(file, format="png", dpi=50)
        return file.getvalue()

    with ThreadPoolExecutor(3) as pool:
        pictures = list(pool.map(draw, range(6)))
    assert len(set(pictures)) == 1


def test_pyplot_is_never_imported():
    code = (
        "import sys, krein, krein.plotting as p\n"
        "assert 'matplotlib' not in sys.modules\n"
        "k = krein.kernels.Gaussian()\n"
        "p.plot_measure(k, krein.signed_measure(k, 3)).savefig(sys.stderr.buffer, format='svg')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert b"<svg" in done.stderr


def test_trials_are_drawn_with_the_chosen_one_ringed():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(120, 1))
    trials = krein.TunedFeatures([Gaussian(), NTK()], n_components=20).fit(X, np.sin(8.0 * X[:, 0])).scores_
    figure = plot_trials(trials, title="what was tried")
    assert len(figure.axes) == len({trial.n_rows for trial in trials})
    drawn = {line.get_label() for axes in figure.axes for line in axes.lines}
    assert {trial.family for trial in trials} <= drawn
    with pytest.raises(ValueError, match="no kernels were tried"):
        plot_trials(krein.TunedFeatures(n_components=20).fit(X).scores_)


def test_importances_are_sorted_named_and_cut_to_twenty() -> None:
    values = np.arange(30.0) / 435.0
    axes = plot_importances(values, [f"c{i}" for i in range(30)], new_axes())
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "c29"
    assert len(axes.patches) == 20
    assert "20 of 30" in axes.get_xlabel()
    for bad, message in (([np.nan], "finite"), ([], "finite")):
        with pytest.raises(ValueError, match=message):
            plot_importances(bad)
    with pytest.raises(ValueError, match="as many"):
        plot_importances([1.0], ["a", "b"])


def test_a_measure_draws_itself_on_axes_given():
    measure = krein.signed_measure(Sigmoid(1.0, -0.5), 16, radius=R)
    axes = new_axes()
    assert measure.plot(axes) is axes
    beside = plot_measure(Sigmoid(1.0, -0.5), measure).axes[1]
    for mine, theirs in zip(axes.lines, beside.lines, strict=True):
        assert_allclose(mine.get_xydata(), theirs.get_xydata())


def test_degrees_of_a_kernel_on_the_sphere():
    """Stems are the Gegenbauer expansion: with P_n(1) = 1 they add up to k(0), and the first negative degree is named."""
    found = krein.diagnose(Sigmoid(1.0, -0.5), dim=8)
    axes = found.plot(new_axes())
    drawn = np.concatenate(
        [line.get_xydata() for name in ("positive", "negative") for line in lines(axes, COLORS[name])]
    )
    assert drawn[:, 1].sum() == pytest.approx(float(Sigmoid(1.0, -0.5).radial(0.0)), rel=1e-6)
    assert drawn[drawn[:, 1] < 0.0][:, 0].min() == found.negative_degree


def test_degrees_of_a_polynomial():
    """u² on the circle is (1 + cos 2θ) / 2: half in degree 0, half in degree 2."""
    found = krein.diagnose(krein.kernels.Radial(lambda z: (1.0 - z**2 / 2) ** 2, domain="sphere"), dim=2)
    assert_allclose(found.sphere_weights[:4], [0.5, 0.0, 0.5, 0.0], atol=1e-12)


def test_errors_against_widths():
    axes = plot_widths({"a": [(256, 0.01), (64, 0.1)], "b": [(64, 0.2)]}, new_axes(), target=0.05)
    assert_allclose(axes.lines[0].get_xydata(), [[64, 0.1], [256, 0.01]])
    assert axes.lines[-1].get_ydata()[0] == 0.05
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    X = np.random.default_rng(0).normal(size=(200, 2))
    search = krein.SignedFourierFeatures(Gaussian(2.0), "auto", error=0.1, random_state=0).fit(X).width_search_
    axes = plot_widths(search, new_axes())
    taken = search.trials[search.chosen]
    assert_allclose(axes.lines[-1].get_xydata(), [[taken.n_components, taken.error]])
    assert search.target in [line.get_ydata()[0] for line in axes.lines]
    with pytest.raises(ValueError, match="errors is empty"):
        plot_widths({})


def test_confusion_counts_rows():
    true, said = ["b", "a", "a", "c"], ["b", "a", "b", "a"]
    axes = plot_confusion(true, said, new_axes())
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]
    counts = {text.get_position(): text.get_text() for text in axes.texts}
    assert counts == {(0, 0): "1", (1, 0): "1", (1, 1): "1", (0, 2): "1"}
    assert axes.get_title(loc="left") == "50.0 % correct"
    many = np.arange(20)
    assert not plot_confusion(many, many, new_axes()).texts


def test_without_axes_a_figure_is_made_that_pyplot_shows():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = set(pyplot.get_fignums())
    axes = krein.signed_measure(Gaussian(), 3).plot()
    (number,) = set(pyplot.get_fignums()) - before
    assert pyplot.figure(number) is axes.figure
    pyplot.close(number)


def test_axes_must_be_axes():
    measure = krein.signed_measure(Gaussian(), 3)
    with pytest.raises(TypeError, match="ax must be 1 axes of matplotlib"):
        measure.plot("here")
    with pytest.raises(TypeError, match="ax must be 1 axes of matplotlib"):
        measure.plot(new_figure(4.0, 4.0).subplots(1, 2))


def test_a_figure_without_pyplot_shows_in_a_notebook():
    assert plot_measure(Gaussian(), krein.signed_measure(Gaussian(), 3))._repr_png_().startswith(b"\x89PNG")
