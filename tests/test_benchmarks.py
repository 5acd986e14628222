"""The benchmarks run, at sizes at which their numbers mean nothing; no time is asserted anywhere."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def suite(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from suite import cluster, rows, timing

    return {"cluster": cluster, "rows": rows, "timing": timing}


def test_a_row_knows_whether_its_target_is_met(suite):
    Row = suite["rows"].Row
    assert Row("a", 2.0, at_least=2.0).met is True
    assert Row("a", 1.9, at_least=2.0).met is False
    assert Row("a", 1.0, at_least=0.9, at_most=1.1).met is True
    assert Row("a", 1.2, at_least=0.9, at_most=1.1).met is False
    assert Row("a", 1.0).met is None
    assert Row("a", at_most=1.0).met is None, "no number, no verdict"
    assert Row("a").as_dict()["value"] is None, "NaN is not JSON"


def test_ratios_are_taken_within_turns(suite):
    row = suite["rows"].of_ratio("a", np.array([2.0, 20.0, 200.0]), np.array([1.0, 10.0, 100.0]))
    assert row.value == row.low == row.high == pytest.approx(2.0)


def test_exponent(suite):
    assert suite["timing"].exponent([1, 2, 4], [3.0, 12.0, 48.0]) == pytest.approx(2.0)


def test_more_workers_share_the_rows_and_nothing_else(suite):
    c = suite["cluster"].Constants(width=10, row=1e-6, merge=0.0, sums=0.0, fit=3.0, solve=2.0)
    assert c.seconds(10**6, 1, 10**6) == pytest.approx(6.0)
    assert c.seconds(10**6, 4, 10**6) == pytest.approx(5.25)
    assert c.moved(10**6, 1, 10**5) == 0.0


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_every_script_finds_what_it_imports(script, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    runpy.run_path(str(script), run_name="imported")


def test_sections_run_and_results_are_written(tmp_path):
    """Also without the optional peers, which are reported and left out."""
    command = [
        sys.executable,
        str(FOLDER / "run.py"),
        "--tiny",
        "--only",
        "transform",
        "structured",
        "--out",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "results.json").read_text())
    assert (tmp_path / "results.svg").stat().st_size > 0
    names = {row["name"]: row for rows in results["sections"].values() for row in rows}
    for name in ("krein / bound, float32", "RBFSampler / krein, float64", "dense / hadamard, float64"):
        assert names[name]["value"] > 0
        assert names[name]["target"]
    assert all(row["value"] is not None or "not measured" in row["note"] for row in names.values())
    assert results["machine"]["threads"] == 2


def test_what_the_history_measures_runs(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from history import features

    for name in ("Transform", "Fit", "Ridge"):
        benchmark = getattr(features, name)()
        benchmark.rows = 200
        argument = [benchmark.params[0]] if hasattr(benchmark, "params") else []
        benchmark.setup(*argument)
        measured = [key for key in dir(benchmark) if key.startswith(("time_", "peakmem_", "track_"))]
        assert measured
        for key in measured:
            value = getattr(benchmark, key)(*argument)
            assert value is None or 0.0 < value < 1.0
