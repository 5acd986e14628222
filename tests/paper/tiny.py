"""Experiments so small that a test can do them; ``install()`` puts them in the place of the real ones."""

from __future__ import annotations

from dataclasses import replace

from krein.paper import Experiment, Sizes, catalog

KEPT = (
    *("literal", "code", "jacobian", "default", "unbiased", "projected", "nystroem", "srf", "srf_plus", "trp"),
    *("srf_published", "srf_published_plus", "trp_published"),
    *("literal_importance", "literal_orthogonal", "code_orthogonal", "independent", "orthogonal"),
)
LEFT_OUT = {
    "figure3": ("trp", "trp_published", "srf"),
    "figure6": ("default", "nystroem"),
    "figure7": ("default",),
    "table2": ("trp", "trp_published"),
}


def tiny_experiments() -> tuple[Experiment, ...]:
    found = []
    for one in catalog.EXPERIMENTS:
        methods = tuple(name for name in one.methods if name in KEPT and name not in LEFT_OUT.get(one.name, ()))
        repeats = 2 if one.name == "figure2" else 1
        # two widths where pairs of four columns are compared with pairs of one
        widths = {"figure7": (1,), "figure4": (2,)}.get(one.name, (1, 4))
        rows = 700 if one.name == "figure3" else 150  # five-fold cross-validation needs five rows of each letter
        sizes = Sizes(widths, repeats, rows, 60) if one.quick.test_rows else one.quick
        cuts = {method: radii[:2] for method, radii in one.cuts.items()}
        kernels = one.kernels[:1] if one.name in ("errata", "figure6") else one.kernels
        found.append(replace(one, kernels=kernels, methods=methods, quick=sizes, full=sizes, cuts=cuts))
    return tuple(found)


def install() -> None:
    catalog.EXPERIMENTS = tiny_experiments()
