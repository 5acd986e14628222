"""Plans: every figure of the paper, the same widths for every method, only methods that can do the kernel."""

from __future__ import annotations

import pytest

from krein import cli, datasets
from krein.kernels import DeltaGaussian, SphericalPolynomial, parse_kernel
from krein.paper import EXPERIMENTS, METHODS, Plan, known_experiments
from krein.paper.data import BINARY_LETTER, DIMENSIONS, known_datasets
from krein.paper.methods import method_of

FULL = Plan("full", tuple(DIMENSIONS))


def test_everything_the_paper_shows_is_there():
    names = [one.name for one in EXPERIMENTS]
    assert {"figure1", "figure2", "figure3", "figure4", "figure5", "table2", "errata"} <= set(names)
    assert len(set(names)) == len(names)
    assert len({one.name for one in METHODS}) == len(METHODS)


def test_every_experiment_of_the_paper_tests_a_claim():
    for one in EXPERIMENTS:
        assert one.claims or one.beyond
    texts = [claim.text for one in EXPERIMENTS for claim in one.claims]
    assert len(set(texts)) == len(texts)


def test_figure_3_says_which_solver_it_uses():
    (figure3,) = known_experiments(["figure3"])
    assert "Newton solver" in figure3.title
    assert "The paper solves this problem with LibLinear; here this library's own Newton solver does" in figure3.about


def test_timed_experiments_say_one_thread():
    timed = [one for one in EXPERIMENTS if one.timed]
    assert [one.name for one in timed] == ["table2", "figure4", "figure7"]
    for one in timed:
        assert "one thread" in one.title
        assert "on one thread" in one.about


def test_dimensions_are_those_of_the_data():
    assert tuple(name for name in DIMENSIONS if name != BINARY_LETTER) == datasets.names()
    assert datasets.load("letter").n_features == DIMENSIONS["letter"] == DIMENSIONS[BINARY_LETTER]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
@pytest.mark.parametrize("plan", [Plan(), FULL, Plan(count="pairs", seed=3)], ids=["quick", "full", "pairs"])
def test_runs(experiment, plan):
    runs = plan.runs(experiment)
    assert runs
    assert len({run.key for run in runs}) == len(runs)
    for run in runs:
        method = method_of(run.method)
        assert method.can(parse_kernel(run.kernel))
        assert run.columns == run.size * (method.per_pair if plan.count == "pairs" else 1)
        assert plan.seed <= run.seed < plan.seed + 10 or run.size == 0


def test_the_paper_runs_ten_times():
    (figure2,) = known_experiments(["figure2"])
    runs = [run for run in FULL.runs(figure2) if run.method == "default"]
    assert len(runs) == 5 * 3 * len(figure2.full.multiples) * 10
    assert {run.test_rows for run in runs} == {1000}


def test_only_the_printed_measure_is_cut():
    (errata,) = known_experiments(["errata"])
    cuts = [(run.method, run.cut) for run in Plan().runs(errata) if run.kernel == errata.kernels[0]]
    assert cuts == [*(("jacobian", cut) for cut in (10.0, 5.0, 20.0, 40.0)), ("default", None)]


def test_which_methods_suit():
    suited = {one.name for one in METHODS if one.can(DeltaGaussian())}
    assert not {"rm", "ts", "trp", "arccos"} & suited
    assert {"literal", "code", "srf_plus", "srf_published_plus"} <= suited
    others = {one.name for one in METHODS if one.can(SphericalPolynomial())}
    assert {"literal", "code", "rm", "ts", "trp", "rm_published", "ts_published", "trp_published"} <= others
    assert not {"srf_plus", "srf_published_plus"} & others


def test_seeds_and_rows_replace_those_of_the_mode():
    (figure2,) = known_experiments(["figure2"])
    runs = Plan(seed=5, seeds=3, rows=0).runs(figure2)
    assert {run.seed for run in runs} == {5, 6, 7}
    assert {run.train_rows for run in runs} == {0}
    assert "3 seeds; all training and 1,000 test rows" in Plan(seeds=3, rows=0).described(figure2)
    (figure1,) = known_experiments(["figure1"])
    assert Plan(seeds=3, rows=0).runs(figure1) == Plan().runs(figure1)


def test_methods_of_a_timed_point_take_turns():
    (table2,) = known_experiments(["table2"])
    runs = Plan("full").runs(table2)
    first = [run for run in runs if (run.kernel, run.size) == (runs[0].kernel, runs[0].size)]
    methods = len({run.method for run in first})
    assert [run.seed for run in first] == [seed for seed in range(3) for _ in range(methods)]


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown experiment 'figure9'; known: figure1, figure2, .*errata"):
        known_experiments(["figure2", "figure9"])
    with pytest.raises(ValueError, match=r"unknown data set 'mnist'. Known: letter, ijcnn1, covtype, cod_rna"):
        known_datasets(("letter", "mnist"))
    assert known_datasets(("covtype", "letter")) == ("letter", "covtype")


@pytest.mark.parametrize("alias", ["cod-RNA", "cod_rna", "COD-RNA", " cod-rna "])
def test_data_sets_go_by_every_name_they_load_by(alias):
    assert known_datasets([alias]) == ("cod_rna",)
    assert Plan(datasets=(alias,)) == Plan(datasets=("cod_rna",))
    (figure2,) = known_experiments(["figure2"])
    assert {run.dataset for run in Plan(datasets=(alias,)).runs(figure2)} == {"cod_rna"}


def test_the_command_takes_the_alias_too(monkeypatch, tmp_path, capsys):
    asked = []
    monkeypatch.setattr("krein.paper.reproduction.prepare", lambda name: asked.append(name) or stop())

    def stop():
        raise OSError("no data in this test")

    with pytest.raises(SystemExit) as stopped:
        cli.main(["reproduce", "table2", "--datasets", "cod-RNA", "--out", str(tmp_path)])
    assert stopped.value.code == 2
    assert asked == ["cod_rna"]
    assert "runs on cod_rna (quick)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "fast"}, "mode"),
        ({"count": "rows"}, "count"),
        ({"seed": -1}, "seed"),
        ({"datasets": ("x",)}, "'x'"),
        ({"seeds": 0}, "seeds"),
        ({"rows": -1}, "rows"),
    ],
)
def test_a_plan_is_valid_or_not_made(arguments, message):
    with pytest.raises(ValueError, match=message):
        Plan(**arguments)
