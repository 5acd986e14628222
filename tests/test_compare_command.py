"""krein compare: a table in, models side by side out, and what is left when it is interrupted."""

import json

import numpy as np
import pytest

from krein import cli
from krein._core.processes import alone_in
from krein.comparison import cross_validation

pytest.importorskip("rich")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 2))
QUICK = ("--method", "svc", "--method", "neighbors", "--folds", "2")


def run(*arguments):
    with pytest.raises(SystemExit) as stopped:
        cli.main([str(argument) for argument in arguments])
    return int(stopped.value.code or 0)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.npz"
    kind = np.where(X[:, 0] > 0, "warm", "cold")
    np.savez(path, X=X, kind=kind, size=X[:, 0] * X[:, 1])
    return path


def columns_of(table, *names):
    """The same table with some columns only."""
    with np.load(table) as archive:
        arrays = {name: archive[name] for name in names}
    path = table.with_name("some.npz")
    np.savez(path, **arrays)
    return path


def test_classes(table, tmp_path, capsys):
    data = columns_of(table, "X", "kind")
    assert run("compare", data, "--target", "kind", "--out", tmp_path / "out", *QUICK) == 0
    shown = capsys.readouterr()
    for text in ("Accuracy over 2 folds", "SVC", "nearest neighbors", "index.html"):
        assert text in shown.out
    assert "4 of 4 fits" in shown.err
    page = (tmp_path / "out" / "index.html").read_text()
    assert "80 rows of 2 columns, 2 classes" in page
    assert "--method svc --method neighbors --folds 2" in page


def test_quantities_as_json(table, tmp_path, capsys):
    data = columns_of(table, "X", "size")
    assert run("compare", data, "--target", "size", "--out", tmp_path / "out", "--json", *QUICK) == 0
    records = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert {record["model"] for record in records} == {"svc", "neighbors"}
    assert all(record["R2"] <= 1.0 and record["folds"] == 2 for record in records)
    assert records[0]["R2"] >= records[1]["R2"]


def test_a_folder_that_another_process_uses(table, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    with alone_in(out):
        assert run("compare", columns_of(table, "X", "kind"), "--target", "kind", "--out", out, *QUICK) == 2
    assert "is using this folder" in " ".join(capsys.readouterr().err.split())


def test_an_interrupt_keeps_what_is_finished(table, tmp_path, capsys, monkeypatch):
    data, out = columns_of(table, "X", "kind"), tmp_path / "out"
    real, calls = cross_validation._score, []

    def interrupted(*arguments):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(cross_validation, "_score", interrupted)
    assert run("compare", data, "--target", "kind", "--out", out, *QUICK) == 130
    shown = capsys.readouterr()
    assert "1 of 2 folds" in shown.out
    assert "3 of 4 fits are done" in " ".join(shown.err.split())
    assert "3 of 4 fits are done" in (out / "index.html").read_text()
    calls.clear()
    assert run("compare", data, "--target", "kind", "--out", out, *QUICK) == 0
    assert len(calls) == 1
    assert "fits are done" not in (out / "index.html").read_text()


def test_rare_classes_are_left_out_and_said(table, tmp_path, capsys):
    kind = np.where(X[:, 0] > 0, "warm", "cold")
    kind[:1] = "odd"
    data = table.with_name("rare.npz")
    np.savez(data, X=X, kind=kind)
    assert run("compare", data, "--target", "kind", "--out", tmp_path / "out", *QUICK) == 0
    assert "fewer than 2 rows are left out: odd" in " ".join(capsys.readouterr().err.split())
    assert "79 rows of 2 columns, 2 classes" in (tmp_path / "out" / "index.html").read_text()


def test_rows_are_limited(table, tmp_path, capsys):
    data = columns_of(table, "X", "kind")
    assert run("compare", data, "--target", "kind", "--out", tmp_path / "out", "--rows", "50", *QUICK) == 0
    assert "50 rows of 2 columns" in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--target", "price"), "no column 'price'"),
        (("--target", "kind", "--method", "magic"), "methods must be"),
        (("--target", "kind", "--folds", "1"), "folds must be"),
        (("--target", "kind", "--rows", "-3"), "rows must be"),
        (("--target", "kind", "--task", "guess"), "task must be"),
    ],
)
def test_mistakes(table, tmp_path, capsys, arguments, message):
    data = columns_of(table, "X", "kind")
    assert run("compare", data, "--out", tmp_path / "out", *arguments) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_matrix_of_similarities(tmp_path, capsys):
    np.savez(tmp_path / "K.npz", K=np.tanh(X @ X.T - 1.0), y=np.where(X[:, 0] > 0, "warm", "cold"))
    file, out = tmp_path / "K.npz", tmp_path / "out"
    options = ("--out", out, "--folds", "2", "--method", "krein-ridge", "--method", "svc-clip")
    assert run("compare", file, "--labels", file, "--json", *options) == 0
    found = {one["model"]: one["accuracy"] for one in json.loads(capsys.readouterr().out)}
    assert set(found) == {"krein-ridge", "svc-clip"}
    assert min(found.values()) > 0.8
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "Negative eigenfraction" in page
    assert "--labels" in page


def test_a_table_or_a_matrix(table, tmp_path, capsys):
    for options in ((), ("--target", "kind", "--labels", str(table))):
        assert run("compare", table, "--out", tmp_path / "out", *options) == 2
        assert "give either --target, the column to predict, or --labels" in capsys.readouterr().err
