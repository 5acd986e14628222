"""Plans: every figure of the paper, the same widths for every method, only methods that can do the kernel."""

from __future__ import annotations

import pytest
from krein.experiments.catalog import EXPERIMENTS, Plan, known_experiments
from krein.experiments.scores import SCORES

from krein import datasets
from krein.experiments.data import DIMENSIONS, known_datasets
from krein.experiments.methods import METHODS, method_of
from krein.kernels import DeltaGaussian, SphericalPolynomial, parse_kernel

FULL = Plan("full", tuple(DIMENSIONS))


def test_everything_the_paper_shows_is_there():
    names = [one.name for one in EXPERIMENTS]
    assert {"figure1", "figure2", "figure3", "figure4", "figure5", "table2", "errata"} <= set(names)
    assert len(set(names)) == len(names)
    assert len({one.name for one in METHODS}) == len(METHODS)
    assert {one.score for one in EXPERIMENTS} <= set(SCORES)


def test_dimensions_are_those_of_the_data():
    assert tuple(DIMENSIONS) == datasets.names()
    assert datasets.load("letter").n_features == DIMENSIONS["letter"]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
@pytest.mark.parametrize("plan", [Plan(), FULL, Plan(count="pairs", seed=3)], ids=["quick", "full", "pairs"])
def test_runs(experiment, plan):
    runs = plan.runs(experiment)
    assert runs
    assert len({run.key for run in runs}) == len(runs)
    for run in runs:
        method = method_of(run.method)
        assert method.suits(parse_kernel(run.kernel))
        assert run.columns == run.size * (method.per_pair if plan.count == "pairs" else 1)
        assert plan.seed <= run.seed < plan.seed + 10 or run.size == 0


def test_the_paper_runs_ten_times():
    figure2 = known_experiments(["figure2"])[0]
    runs = [run for run in FULL.runs(figure2) if run.method == "default"]
    assert len(runs) == 4 * 2 * len(figure2.full.multiples) * 10
    assert {run.setting("test_rows") for run in runs} == {1000}


def test_which_methods_suit():
    suited = {one.name for one in METHODS if one.suits(DeltaGaussian())}
    assert not {"rm", "ts", "trp", "arccos"} & suited
    assert {"rm", "ts", "trp"} <= {one.name for one in METHODS if one.suits(SphericalPolynomial())}


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown experiment 'figure9'; known: figure1, figure2, .*errata"):
        known_experiments(["figure2", "figure9"])
    with pytest.raises(ValueError, match=r"unknown data set 'mnist'; known: letter, ijcnn1, covtype, cod_rna"):
        known_datasets(("letter", "mnist"))
    assert known_datasets(("covtype", "letter")) == ("letter", "covtype")
