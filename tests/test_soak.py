"""The verdict of ``make soak`` on made-up rounds: it lets flat lines and Dask's own growth pass, and nothing else."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from krein.kernels import Gaussian

pytest.importorskip("psutil")

SOAK = runpy.run_path(str(Path(__file__).resolve().parents[1] / "tools" / "soak.py"))
COLUMNS, LIFE, MOST_GROWTH, WARM_UP = (SOAK[name] for name in ("COLUMNS", "LIFE", "MOST_GROWTH", "WARM_UP"))


def rounds(count, **growth):
    """Rows of a process with some noise of memory, whose columns grow by so much a round."""
    rows = np.full((count, len(COLUMNS)), 100.0)
    rows[:, : SOAK["N_MEMORY"]] += np.random.default_rng(0).normal(size=(count, SOAK["N_MEMORY"]))
    rows[:WARM_UP, 0] -= 50.0  # caches that fill
    for name, slope in growth.items():
        rows[:, COLUMNS.index(name.replace("_", " "))] += slope * np.arange(count)
    return rows


def verdict(here=None, fits=None, control=None):
    return SOAK["verdict"](
        rounds(90, **here or {}), *([rounds(LIFE, **one or {})] * 3 + [rounds(2)] for one in (fits, control))
    )


def test_flat_lines_and_what_grows_without_krein_pass():
    assert verdict() == []
    assert verdict(fits={"MiB": 1.0}, control={"MiB": 1.0}) == []


def test_memory_of_this_process():
    (found,) = verdict(here={"MiB": 2 * MOST_GROWTH / 90})
    assert found.startswith("MiB grew here by")


@pytest.mark.parametrize("column", ["MiB", "MiB of its children"])
def test_memory_of_fits_on_dask_beyond_that_of_the_control(column):
    (found,) = verdict(fits={column: 1.0 + 2 * MOST_GROWTH / 90}, control={column: 1.0})
    assert found.startswith(f"{column} of fits on Dask grew by")


@pytest.mark.parametrize("column", COLUMNS[SOAK["N_MEMORY"] :])
def test_what_is_counted(column):
    (found,) = verdict(here={column: 0.1})
    assert f"here: {column} went from" in found
    assert len(verdict(fits={column: 0.1})) == 3  # one for each life that is long enough


def test_objects_of_the_library_are_counted():
    before = SOAK["objects_of_krein"]()
    kept = [Gaussian(1.0) for _ in range(7)]
    assert SOAK["objects_of_krein"]() - before == len(kept)
