"""The command line: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest

import krein
from krein import cli
from krein.cli import COMMANDS, app, reproduce
from krein.cli.tables import fair_sample
from krein.files.tables import TableChunks, open_table
from krein.kernels import NAMED_KERNELS
from krein.paper import TASKS, Plan
from krein.show.style import _figure_class


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    code = stopped.value.code
    return 0 if code is None else int(code)


def run_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from krein.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.strip() == f"krein {krein.__version__}"


def test_help_lists_every_command(capsys):
    assert run("--help") == 0
    text = capsys.readouterr().out
    for name in ("diagnose", "plot", "approximate", "train", "predict", "compare", "reproduce", "demo"):
        assert name in text


def test_help_needs_nothing_heavy():
    """The list of commands is shown without the library; what it says of a command is what the command says of itself."""
    code = (
        "import sys; from krein.cli import main\n"
        "try: main(['--help'])\n"
        "finally: print('sklearn' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.split()[-2:] == ["False", "False"]
    for name, summary in COMMANDS.items():
        told = " ".join(app._loaded(name).help.split())
        assert told.startswith(summary), name


def test_diagnose_one_kernel(capsys):
    assert run("diagnose", "ntk", "--dim", "16") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "NTK(depth=1) in dimension 16" in text
    assert "no, by critical exponent" in text
    assert "infinite" in text


@pytest.mark.parametrize(("dim", "arguments"), [(16, ()), (6, ("--all",)), (1000, ())])
def test_diagnose_all_kernels(capsys, dim, arguments):
    assert run("diagnose", *arguments, "--dim", str(dim)) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in NAMED_KERNELS:
        (line,) = [line for line in lines if line.split()[:1] == [name]]
        assert all(answer in {"yes", "no", "undecided"} for answer in line.split()[-2:]), line
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", NAMED_KERNELS)
def test_diagnose_json_agrees_with_the_library(capsys, name):
    assert run("diagnose", name, "--dim", "5", "--json") == 0
    record = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    expected = krein.diagnose(NAMED_KERNELS[name](), 5)
    assert record["finite"] == expected.finite
    assert record["positive_on_sphere"] == expected.positive_on_sphere
    assert record["mass"] == (expected.mass if expected.finite else None)
    assert record["reason"] == expected.reason


def test_diagnose_json_of_all_kernels(capsys):
    assert run("diagnose", "--dim", "3", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == len(NAMED_KERNELS)


def test_diagnose_a_matrix(capsys, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    np.savez(tmp_path / "K.npz", K=np.tanh(X @ X.T - 1.0), y=X[:, 0] > 0)
    file = str(tmp_path / "K.npz")
    assert run("diagnose", file, "--labels", file, "--plot", str(tmp_path / "k.svg")) == 0
    assert "signal" in capsys.readouterr().out
    assert (tmp_path / "k.svg").exists()
    assert run("diagnose", file, "--json") == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "signal"
    assert run("diagnose", "ntk", "--dim", "3", "--distance") == 2
    assert run("diagnose", str(tmp_path / "none.npz")) == 2


def test_diagnose_reads_sums(capsys):
    assert run("diagnose", "2*gaussian(1) - laplacian(0.5)", "--dim", "4", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["kernel"] == "2.0 * Gaussian(scale=1.0) - Laplacian(scale=0.5)"
    assert record["mass"] < 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("diagnose", "nkt", "--dim", "16"), "unknown kernel 'nkt'"),
        (("diagnose", "ntk(0)", "--dim", "16"), "depth must be at least 1"),
        (("diagnose", "delta-gaussian(2, 1)", "--dim", "16"), "needs a < b"),
        (("diagnose", "ntk", "--dim", "0"), "dim must be at least 1"),
        (("diagnose", "ntk", "--all", "--dim", "3"), "not both"),
        (("plot", "ntk", "--dim", "16", "--out", "x.gif"), "suffix of 'x.gif'"),
        (("plot", "ntk", "--dim", "0", "--out", "x.png"), "dim must be at least 1"),
        (("plot", "ntk", "--dim", "16", "--radius", "3", "--out", "x.png"), "radius=2 or less"),
        (("plot", "ntk", "--dim", "16", "--method", "magic", "--out", "x.png"), "method must be"),
        (("plot", "ntk", "--dim", "16", "--style", "pink", "--out", "x.png"), "style must be one of"),
        (("plot", "ntk", "--dim", "16", "--method", "fourier", "--out", "x.png"), "infinite mass"),
    ],
)
def test_an_error_is_one_line_and_code_2(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ")
    assert output.err.count("\n") == 1
    assert message in output.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [("diagnose", "ntk"), ("diagnose", "ntk", "--dim", "1.5"), ("nonsense",), ("plot", "ntk")]
)
def test_wrong_usage_is_code_2(capsys, arguments):
    assert run(*arguments) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("--debug",), ()])
def test_debug_shows_the_error_itself(monkeypatch, arguments):
    if not arguments:
        monkeypatch.setenv("KREIN_DEBUG", "1")
    with pytest.raises(ValueError, match="unknown kernel"):
        cli.main([*arguments, "diagnose", "nkt", "--dim", "3"])


def test_debug_does_not_stay(capsys):
    with pytest.raises(ValueError):
        cli.main(["--debug", "diagnose", "nkt", "--dim", "3"])
    assert run("diagnose", "nkt", "--dim", "3") == 2


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("SVG", b"<?xml")]
)
def test_plot_writes_by_suffix(capsys, tmp_path, suffix, start):
    out = tmp_path / "new" / f"measure.{suffix}"
    assert run("plot", "delta-gaussian", "--dim", "16", "--out", str(out)) == 0
    assert out.read_bytes().startswith(start)
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    assert "mass" in capsys.readouterr().out


@pytest.mark.parametrize("kernel", ["multiquadric", "spherical-polynomial", "gaussian - cauchy"])
def test_plot_needs_no_radius(tmp_path, kernel):
    out = tmp_path / "measure.svg"
    assert run("plot", kernel, "--dim", "3", "--out", str(out)) == 0
    assert out.exists()


def test_plot_of_the_papers_truncated_measure(capsys, tmp_path):
    arguments = ("--dim", "16", "--method", "fourier", "--truncate", "10", "--out", str(tmp_path / "cut.svg"))
    assert run("plot", "spherical-polynomial", *arguments) == 0
    assert "truncated at r = 10 as asked" in capsys.readouterr().out


def test_plot_into_a_folder_or_below_a_file(capsys, tmp_path):
    folder = tmp_path / "taken.png"
    folder.mkdir()
    assert run("plot", "gaussian", "--dim", "2", "--out", str(folder)) == 2
    (tmp_path / "file").write_text("in the way")
    assert run("plot", "gaussian", "--dim", "2", "--out", str(tmp_path / "file" / "x.png")) == 2
    assert capsys.readouterr().err.count("error: ") == 2


def test_a_failed_plot_leaves_the_old_file(capsys, tmp_path):
    out = tmp_path / "old.png"
    out.write_text("precious")
    assert run("plot", "ntk", "--dim", "16", "--method", "fourier", "--out", str(out)) == 2
    assert out.read_text() == "precious"


def test_demo_is_the_quick_reproduction(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(reproduce, "reproduce_figures", lambda *arguments: asked.append(arguments))
    assert run("demo", "--out", str(tmp_path / "results")) == 0
    assert asked == [([], Plan(datasets=("letter", "letter_binary")), tmp_path / "results", 0)]


def test_options_of_reproduce_become_a_plan(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(reproduce, "reproduce_figures", lambda *arguments: asked.append(arguments))
    out = ("--out", str(tmp_path))
    assert run("reproduce", *out) == run("reproduce", "table2", "--full", "--seed", "5", *out) == 0
    assert run("reproduce", "--full", "--seeds", "10", "--rows", "0", "--datasets", "letter_binary", *out) == 0
    assert run("reproduce", "--datasets", "all", "--count", "pairs", *out) == 0
    assert [(list(names), plan) for names, plan, _, _ in asked] == [
        ([], Plan()),
        (["table2"], Plan("full", tuple(TASKS), seed=5)),
        ([], Plan("full", ("letter_binary",), seeds=10, rows=0)),
        ([], Plan("quick", tuple(TASKS), "pairs")),
    ]


def test_demo_into_a_file(capsys, tmp_path):
    (tmp_path / "results").write_text("in the way")
    assert run("demo", "--out", str(tmp_path / "results")) == 2
    assert "error: File exists" in capsys.readouterr().err


def test_interrupted(capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(krein, "diagnose", interrupt)
    assert run("diagnose", "ntk", "--dim", "3") == 130
    assert capsys.readouterr().err.strip() == "interrupted"


def test_a_defect_is_not_hidden(monkeypatch):
    def break_down(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(krein, "diagnose", break_down)
    with pytest.raises(ZeroDivisionError):
        cli.main(["diagnose", "ntk", "--dim", "3"])


def test_without_typer_the_message_names_the_extra(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    assert run("diagnose", "ntk", "--dim", "3") == 2
    assert "krein[cli]" in capsys.readouterr().err


def test_without_matplotlib_the_message_names_the_extra(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    _figure_class.cache_clear()  # another test may have drawn already
    assert run("plot", "ntk", "--dim", "3", "--out", str(tmp_path / "x.png")) == 2
    assert "krein[plot]" in capsys.readouterr().err


def test_as_a_process_in_a_closed_pipe_and_without_colour(tmp_path: Path):
    done = run_process("diagnose", "nkt", "--dim", "3", FORCE_COLOR="", NO_COLOR="1")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("--help",),
        ("diagnose", "gaussian", "--dim", "3"),
        ("diagnose", "gaussian", "--dim", "3", "--json"),
    ],
)
def test_a_full_disk_is_one_line(arguments):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from krein.cli import main; main()", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith("error: ")
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,class\n", "has no rows"),
        ("a,b,class\n1,2,3,x\n", "the first row has too many fields, as the header has 3"),
        ("a,b,class\n1,2,99999999999999999999\n2,3,4\n", "beyond 64 bits"),
        ("a,b,class\n1,2,²\n2,²,x\n", "row 2, column 'b' is '²', not a number"),
        ("class," + ",".join(map(str, range(100_000))) + "\n", "100,001 columns, more than the 100,000 that are read"),
    ],
)
def test_tables_that_are_none(capsys, tmp_path, text, message):
    path, model = tmp_path / "table.csv", tmp_path / "model.krein"
    path.write_text(text)
    assert run("train", str(path), "--target", "class", "--kernel", "ntk", "--out", str(model)) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error.replace("\n", " ")
    assert not model.exists()


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    """Two classes in three columns, the labels in a fourth."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.1, 1.0, size=(600, 3))
    path = tmp_path_factory.mktemp("data") / "table.csv"
    lines = [",".join(f"{v:.5f}" for v in row) + (",near" if row[0] < row[1] else ",far") for row in X]
    path.write_text("\n".join(["a,b,c,class", *lines]) + "\n")
    return path


@pytest.mark.parametrize("weights", ["unbiased", "calibrated", "projected"])
def test_approximate(capsys, table, weights):
    arguments = (
        "--kernel",
        "delta-gaussian(1, 10)",
        "--target",
        "class",
        "-n",
        "64",
        "--rows",
        "200",
        "--weights",
        weights,
    )
    assert run("approximate", str(table), *arguments, "--json") == 0
    report = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert report["n_components"] == 64
    assert report["rows_unseen"] == 200
    assert report["rows_fitted"] == 400
    assert report["columns"] == 3
    assert 0 <= report["relative_error"] < 0.2
    assert report["seconds_fit"] > 0


def test_approximate_in_words(capsys, table):
    assert run("approximate", str(table), "--kernel", "ntk", "--target", "class", "-n", "32") == 0
    text = capsys.readouterr().out
    assert "relative error" in text
    assert "error estimate" in text


def test_rows_are_sampled_from_the_whole_table(tmp_path):
    path = tmp_path / "long.npz"
    np.savez(path, X=np.arange(120_000.0)[:, None])
    (X,) = fair_sample(TableChunks(open_table(path), ["X0"]), 20_000, 0)
    assert X.shape == (20_000, 1)
    assert abs(X.mean() / 60_000 - 1) < 0.03  # six standard deviations of the mean of 20,000 rows
    assert np.unique(X).size == 20_000
    halves = X[:10_000].mean(), X[10_000:].mean()  # in a random order
    assert abs(halves[0] - halves[1]) < 6 * 120_000 / np.sqrt(12) * np.sqrt(2 / 10_000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--target", "class", "-n", "0"), "n_components must be at least"),
        (("--target", "nowhere"), "no column 'nowhere'"),
        ((), "not a number"),  # the labels are text
        (("--target", "class", "--weights", "heavy"), "weights must be one of"),
        (("--target", "class", "--sampler", "dice"), "sampler must be one of"),
        (("--target", "class", "--scaling", "wild"), "scaling must be"),
        (("--target", "class", "--rows", "0"), "rows must be at least 1"),
    ],
)
def test_approximate_refuses(capsys, table, arguments, message):
    assert run("approximate", str(table), "--kernel", "ntk", *arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error


def test_approximate_needs_rows(capsys, tmp_path):
    path = tmp_path / "short.npz"
    np.savez(path, X=np.ones((3, 2)))
    assert run("approximate", str(path), "--kernel", "ntk") == 2
    assert "at least 4 are needed" in capsys.readouterr().err
    assert run("approximate", str(tmp_path / "none.npz"), "--kernel", "ntk") == 2
    assert "no file" in capsys.readouterr().err


def test_train_then_predict(capsys, table, tmp_path):
    model, out = tmp_path / "model.krein", tmp_path / "predictions.csv"
    common = ("--kernel", "delta-gaussian(1, 10)", "--n-components", "64")
    assert run("train", str(table), "--target", "class", *common, "--out", str(model)) == 0
    assert "KreinRidgeClassifier" in capsys.readouterr().out
    assert run("predict", str(model), str(table), "--out", str(out)) == 0
    report = dict(line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("accuracy"))
    assert float(report["accuracy"]) > 0.9
    lines = out.read_text().splitlines()
    assert lines[0] == "class"
    assert len(lines) == 601
    assert set(lines[1:]) == {"near", "far"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--target", "nowhere", "--kernel", "ntk"), "no column 'nowhere'"),
        (("--target", "class", "--kernel", "nkt"), "unknown kernel"),
        (("--target", "class", "--kernel", "ntk", "--lam", "much"), "lam must be a number or auto"),
        (("--target", "class", "--kernel", "ntk", "--regularizer", "soft"), "regularizer"),
        (("--target", "class", "--kernel", "ntk", "--task", "guess"), "task must be"),
    ],
)
def test_train_refuses_and_leaves_the_old_model(capsys, table, tmp_path, arguments, message):
    model = tmp_path / "model.krein"
    model.write_text("precious")
    assert run("train", str(table), *arguments, "--out", str(model)) == 2
    assert message in capsys.readouterr().err
    assert model.read_text() == "precious"


def test_predict_refuses(capsys, table, tmp_path):
    broken = tmp_path / "model.krein"
    broken.write_text("no model")
    assert run("predict", str(broken), str(table), "--out", str(tmp_path / "p.csv")) == 2
    assert run("predict", str(tmp_path / "none.krein"), str(table), "--out", str(tmp_path / "p.csv")) == 2
    assert capsys.readouterr().err.count("error: ") == 2
    assert not (tmp_path / "p.csv").exists()


def test_a_warning_is_one_line(capsys, monkeypatch):
    def warn(*_):
        warnings.warn("look\nhere", UserWarning, stacklevel=2)
        raise ValueError("and stop")

    monkeypatch.setattr(krein, "diagnose", warn)
    assert run("diagnose", "ntk", "--dim", "3") == 2
    assert capsys.readouterr().err == "warning: look here\nerror: and stop\n"


def test_without_the_compiler(tmp_path):
    data, model = tmp_path / "table.csv", tmp_path / "model.krein"
    data.write_text("a,label\n" + "".join(f"{i / 20},{int(i > 9)}\n" for i in range(20)))
    for arguments in (["--version"], ["train", str(data), "--target", "label", "--out", str(model)]):
        done = run_process(*arguments, NUMBA_DISABLE_JIT="1")
        assert done.returncode == 0, done.stderr
    assert model.exists()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_greek_letters(table, tmp_path, encoding):
    """λ is part of what train prints, and the model is written before; a title with ℝ is shown by numbers, never an error."""
    out = tmp_path / "m.krein"
    done = run_process("train", str(table), "--target", "class", "-k", "ntk", "-o", str(out), PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert out.exists()
    assert "error" not in done.stderr
    done = run_process("train", str(table), "--target", "class", "-k", "λ", "-o", str(out), PYTHONIOENCODING=encoding)
    assert done.returncode == 2
    assert "unknown kernel" in done.stderr
    done = run_process("diagnose", "ntk", "--dim", "3", "--json", PYTHONIOENCODING=encoding)
    assert json.loads(done.stdout)["dim"] == 3


@pytest.mark.parametrize("where", ["header", "cell"])
def test_escape_sequences_of_a_table_do_not_reach_the_terminal(capfd, tmp_path, where):
    evil = "\x1b]0;owned\x07\x1b[2J\x9b1m"
    name, cell = (evil, "1") if where == "header" else ("b", evil)
    text = f"a,{name},y\n" + "".join(f"{i},{cell if i == 5 else i},{i % 2}\n" for i in range(40))
    (tmp_path / "d.csv").write_text(text, encoding="utf-8")
    for command in (
        ("train", str(tmp_path / "d.csv"), "--target", "z", "-o", str(tmp_path / "m")),
        ("train", str(tmp_path / "d.csv"), "--target", "y", "--drop", "z", "-o", str(tmp_path / "m")),
        ("train", str(tmp_path / "d.csv"), "--target", name, "-k", "ntk", "-o", str(tmp_path / "m")),
    ):
        run(*command)
    out = "".join(capfd.readouterr())
    assert "no column" in out
    assert not any(one in out for one in "\x07\x9b")
    assert "\x1b]" not in out
    assert "\x1b[2J" not in out


def test_the_extra_for_commands_suffices_for_them(table, tmp_path):
    """What krein[cli] lists is all that the commands import on a CSV file; what else there is stays out of their way."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    mine = {re.split(r"[><=\[]", one)[0] for one in extras["cli"]}
    others = {re.split(r"[><=\[]", one)[0] for extra in ("data", "export") for one in extras[extra]} - mine
    block = f"import sys; sys.modules.update(dict.fromkeys({sorted(others)!r})); from krein.cli import main; main()"
    out = str(tmp_path / "m")
    for command in (
        ["train", str(table), "--target", "class", "-k", "ntk", "-o", out],
        ["predict", out, str(table), "-o", str(tmp_path / "p.csv")],
        ["approximate", str(table), "-k", "ntk", "--target", "class", "-n", "64", "--rows", "100"],
        ["diagnose", "ntk", "--dim", "3"],
        ["plot", "ntk", "--dim", "3", "-o", str(tmp_path / "p.svg")],
    ):
        done = subprocess.run([sys.executable, "-c", block, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    npz, parquet = tmp_path / "d.npz", tmp_path / "d.parquet"
    np.savez(npz, a=np.arange(60.0), y=np.arange(60) % 2)
    parquet.write_bytes(b"PAR1")
    done = subprocess.run([sys.executable, "-c", block, "train", str(npz), "--target", "y", "-o", out], check=False)
    assert done.returncode == 0
    done = subprocess.run(
        [sys.executable, "-c", block, "train", str(parquet), "--target", "y", "-o", out],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install pyarrow, or 'krein[data]'" in done.stderr
