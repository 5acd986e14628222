"""The pictures of the user guide, drawn by the library itself when the pages are built."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import krein
from krein import datasets
from krein.kernels import ArcCosine, DeltaGaussian, SphericalPolynomial
from krein.measures.search.least_mass import least_mass
from krein.measures.search.policy import POLICY
from krein.measures.search.program import Problem, Work
from krein.plotting import COLORS, look_of, new_figure, plot_measure, save_figure
from krein.sampling import MonteCarlo

R = 2**0.5
STEPS = [
    ("kernel", r"$k(z)$", "any similarity of the\ndistance, definite or not"),
    ("signed measure", r"$\rho_+ - \rho_-$", "frequencies to keep,\nfrequencies to subtract"),
    ("features", r"$\Phi(X),\ \sigma=\pm1$", "cosines and sines,\neach column with a sign"),
    ("model", r"$\Phi^\top\Phi,\ \Phi^\top y$", "sums over rows:\ncomputed in blocks"),
]


def pipeline():
    """Four boxes: the way from a kernel to a model."""
    ink = look_of("auto").ink
    figure = new_figure(9.5, 2.0)
    axes = figure.subplots()
    axes.set_xlim(0, 4)
    axes.set_ylim(0, 1)
    axes.axis("off")
    colors = [ink, COLORS["negative"], COLORS["measure"], COLORS["positive"]]
    for i, ((name, formula, words), color) in enumerate(zip(STEPS, colors, strict=True)):
        middle = i + 0.5
        axes.text(middle, 0.86, name, ha="center", color=color, fontsize=12, fontweight="bold")
        axes.text(middle, 0.56, formula, ha="center", va="center", color=ink, fontsize=15)
        axes.text(middle, 0.16, words, ha="center", va="center", color=ink, fontsize=9.5)
        if i:
            axes.annotate(
                "", xy=(i + 0.1, 0.58), xytext=(i - 0.1, 0.58), arrowprops={"arrowstyle": "->", "color": ink, "lw": 1.6}
            )
    return figure


def measure():
    """The paper's Figure 1 for a kernel with a large negative part."""
    kernel = DeltaGaussian(1.0, 2.0)
    return plot_measure(kernel, krein.signed_measure(kernel, 16))


def printed():
    """The paper's truncated measure at its own setting, and what it makes of the kernel."""
    kernel = SphericalPolynomial(2, 2)
    return plot_measure(kernel, krein.signed_measure(kernel, 16, method="fourier", truncate=10.0))


def repaired():
    """The same kernel with an exact head and a least-mass tail."""
    kernel = SphericalPolynomial(2, 2)
    return plot_measure(kernel, krein.signed_measure(kernel, 16, radius=R))


def signature():
    """Approximation against kernel, with and without the signs of the columns."""
    data = datasets.load("letter")
    X = datasets.minmax_unit(data.X_train[:300])[0]
    kernel = DeltaGaussian(1.0, 10.0)
    measure = krein.signed_measure(kernel, 16, radius=R, head_degree=-1)
    rng = np.random.default_rng(0)
    drawn = MonteCarlo().sample(measure, 2000, rng)
    arguments = X @ drawn.vectors.T
    Z = np.hstack([np.cos(arguments), np.sin(arguments)]) * np.sqrt(np.tile(np.abs(drawn.weights), 2))
    signs = np.sign(np.tile(drawn.weights, 2))
    pairs = np.triu_indices(300, 1)
    chosen = rng.choice(pairs[0].size, 1500, replace=False)
    exact = kernel(X)[pairs][chosen]
    ink = look_of("auto").ink
    figure = new_figure(9.5, 3.4)
    for axes, product, title, color in zip(
        figure.subplots(1, 2),
        ((Z * signs) @ Z.T, Z @ Z.T),
        ("with the signature: the kernel", "without: positive plus negative part"),
        (COLORS["positive"], COLORS["negative"]),
        strict=True,
    ):
        axes.plot(exact, product[pairs][chosen], ".", markersize=3, color=color, rasterized=True)
        axes.plot([exact.min(), 0], [exact.min(), 0], color=ink, linewidth=1)
        axes.set_facecolor("none")
        axes.set_title(title, color=ink, fontsize="medium", loc="left")
        axes.set_xlabel("kernel k(x, y)", color=ink)
        axes.set_ylabel("product of features", color=ink)
        axes.tick_params(colors=ink)
        for side, spine in axes.spines.items():
            spine.set_color(ink)
            spine.set_visible(side in ("left", "bottom"))
    return figure


def critical():
    """Least mass against tolerance at R = 2, just below and at the critical dimension."""
    ink = look_of("auto").ink
    figure = new_figure(9.5, 3.2)
    # Radii far beyond the default: the singularity at z = 2 needs them, and their end must not be what is seen.
    policy = replace(POLICY, reach=3000.0)
    cases = [(0, (1, 2), 0.08 * 0.5 ** np.arange(3)), (1, (3, 4), 0.01 * 0.5 ** np.arange(6))]
    for axes, (order, dims, tolerances) in zip(figure.subplots(1, 2), cases, strict=True):
        kernel = ArcCosine(order)
        for dim, color in zip(dims, (COLORS["positive"], COLORS["negative"]), strict=True):
            masses = [least_mass(Problem(kernel.radial, dim, 2.0), tol, -1, Work.of(policy)).mass for tol in tolerances]
            finite = "finite" if krein.diagnose(kernel, dim).any_extension else "infinite"
            axes.plot(tolerances, masses, "o-", color=color, label=f"d = {dim}: {finite} in the limit")
        axes.set_xscale("log")
        axes.invert_xaxis()
        axes.set_facecolor("none")
        axes.set_title(
            f"arc-cosine kernel of order {order} on the whole sphere", color=ink, fontsize="medium", loc="left"
        )
        axes.set_xlabel("tolerance", color=ink)
        axes.set_ylabel("least mass", color=ink)
        axes.tick_params(colors=ink, which="both")
        axes.legend(frameon=False, labelcolor=ink, fontsize="small")
        for side, spine in axes.spines.items():
            spine.set_color(ink)
            spine.set_visible(side in ("left", "bottom"))
    return figure


PICTURES = {f.__name__: f for f in (pipeline, measure, printed, repaired, signature, critical)}


def draw(app) -> None:
    """Draw what is missing or older than this file; the pictures live beside the build."""
    folder = Path(app.srcdir) / "_build" / "pictures"
    for name, function in PICTURES.items():
        path = folder / f"{name}.svg"
        if not path.exists() or path.stat().st_mtime < Path(__file__).stat().st_mtime:
            save_figure(function(), path)


def setup(app):
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
