"""One display for all bars where there can be one, lines or nothing elsewhere."""

from __future__ import annotations

import re
import sys
import threading
from importlib.util import find_spec

import numpy as np
import pytest

from krein.cli.tables import reading
from krein.show import progress as module
from krein.show.progress import progress, report, stages, watched


@pytest.fixture
def no_terminal(monkeypatch):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def terminal(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")


def seen(capsys):
    """What was written to standard error, without colors; nothing may go to standard output."""
    out, err = capsys.readouterr()
    assert out == ""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", err)


def test_lines_for_the_first_and_each_tenth(capsys, no_terminal):
    with progress("evaluations", 200) as show:
        for done in range(201):
            show(done)
    told = re.findall(r"^(\d+) of 200 evaluations, \d+ s, about \d+ s left$", seen(capsys), flags=re.MULTILINE)
    assert [int(done) for done in told] == [1, *range(20, 201, 20)]


def test_what_was_found_done_before_takes_no_time(capsys, no_terminal, monkeypatch):
    monkeypatch.setattr(module.time, "monotonic", iter([0.0, 30.0]).__next__)
    with progress("runs") as show:
        show(70, 100, "starting", reused=70)
        show(80, 100, "figure2", reused=70)
    assert seen(capsys) == "80 of 100 runs, 30 s, about 60 s left\n"


def test_silence_where_it_is_asked_for_or_nothing_is_known(capsys, no_terminal):
    with progress("bytes", unit="bytes", asked=False) as show:
        show(1, 2)
    with progress("bytes") as show:
        show(1)
    assert seen(capsys) == ""


def test_lines_without_rich(capsys, terminal, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    with progress("evaluations", 2) as show:
        show(1)
    assert seen(capsys).startswith("1 of 2 evaluations, ")


@pytest.mark.parametrize(
    ("unit", "done", "total", "told"),
    [
        ("", 1500, 2000, "1,500 of 2,000"),
        ("", 1500, None, "1,500"),
        ("bytes", 1.5e6, 2e6, "1.5 of 2.0 MB"),
        ("bytes", 1.5e6, None, "1.5 MB"),
        ("", 0.5, 2, "25%"),
        ("", 0.5, None, ""),
    ],
)
def test_a_bar_tells_what_is_done(capsys, terminal, unit, done, total, told):
    with progress("pieces", title="file [b].bin", unit=unit) as show:
        show(done, total)
    line = seen(capsys).strip().splitlines()[-1]
    assert line.startswith("file [b].bin ")
    assert re.search(rf"[━╸╺] +{re.escape(told)} +\d:\d\d:\d\d", line)


def test_bars_at_the_same_time_share_the_display(capsys, terminal):
    with progress("runs", 9, title="experiment") as outer:
        outer(3)
        with progress("bytes", title="covtype.gz", unit="bytes") as inner:
            inner(1000, 2000)
            module._SCREEN._display.refresh()
        assert [task.description for task in module._SCREEN._display.tasks] == ["experiment"]
        outer(4, title="next")
    assert module._SCREEN._display is None
    text = seen(capsys)
    assert "covtype.gz" in text
    assert "next" in text.strip().splitlines()[-1]


def test_the_first_may_end_before_the_second(terminal):
    first, second = progress("a", 1), progress("b", 1)
    first.__enter__()
    show = second.__enter__()
    first.__exit__(None, None, None)
    show(1)
    assert [task.description for task in module._SCREEN._display.tasks] == ["b"]
    second.__exit__(None, None, None)
    assert module._SCREEN._display is None


def test_lines_below_a_display_that_is_not_ours(capsys, terminal, monkeypatch):
    from rich.errors import LiveError
    from rich.progress import Progress

    def refuse(self):
        raise LiveError("Only one live display may be active at once")

    monkeypatch.setattr(Progress, "start", refuse)
    with progress("runs", 2) as show:
        show(2)
    assert seen(capsys).startswith("2 of 2 runs, ")


def test_an_error_inside_passes_through_and_ends_the_bar(terminal):
    with pytest.raises(KeyboardInterrupt), progress("runs", 2):
        raise KeyboardInterrupt
    assert module._SCREEN._display is None


def test_passes_over_a_file_and_kernels_tried(capsys, terminal):
    with stages():
        step = reading(2)
        for share in (0.5, 1.0, 0.5):
            step(share)
        assert len(module._SCREEN._display.tasks) == 2  # and one that shows that there is work
        report("kernels", 1, 8)
        report("kernels", 2, 8)
        module._SCREEN._display.refresh()
    assert module._SCREEN._display is None
    text = seen(capsys)
    assert re.search("of reading .* 75%", text)
    assert re.search("kernels .* 2 of 8", text)


def test_stages_as_lines_and_a_stage_that_begins_anew(capsys, no_terminal):
    with stages():
        for _ in range(2):
            for done in (1, 2):
                report("leaves", done, 2)
        report("of reading", 0.5, 2)
    told = [line.split(",")[0] for line in seen(capsys).splitlines()]
    assert told == ["1 of 2 leaves", "2 of 2 leaves", "1 of 2 leaves", "2 of 2 leaves", "25% of reading"]


def test_short_work_that_nobody_asked_about_has_no_lines(capsys, no_terminal, monkeypatch):
    with stages(asked=False):
        report("kernels", 1, 8)
    assert seen(capsys) == ""
    monkeypatch.setattr(module.time, "monotonic", iter([0.0, 0.0, 6.0]).__next__)
    with stages(asked=False):
        report("kernels", 1, 4)
    assert seen(capsys) == "1 of 4 kernels, 6 s, about 18 s left\n"


def test_long_work_without_a_report_says_that_it_goes_on(no_terminal, monkeypatch):
    monkeypatch.setattr(module, "_SILENCE_SECONDS", 1e-3)
    enough = threading.Event()

    def write(line):
        if re.fullmatch(r"still working after \d+ s, 12 steps", line):
            enough.set()

    monkeypatch.setattr(module, "_write", write)
    with stages(asked=False):
        report("steps", 12)
        assert enough.wait(60.0)
    assert "krein heartbeat" not in {thread.name for thread in threading.enumerate()}


def test_nothing_is_drawn_unasked(capsys, terminal):
    with stages(False):
        report("kernels", 1, 8)
    report("kernels", 1, 8)
    assert seen(capsys) == ""


def test_those_around_a_silent_block_hear_it():
    told = []
    with watched(lambda *one: told.append(one)), stages(False):
        report("kernels", 1, 8)
    report("kernels", 2, 8)
    assert told == [("kernels", 1, 8)]


def test_in_a_notebook():
    """A bar where widgets are installed, else lines, and no warning about what is missing."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    source = "from krein.show.progress import progress\nwith progress('runs', 2) as show:\n    show(1), show(2)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbclient.NotebookClient(notebook, timeout=600).execute()
    outputs = notebook.cells[0].outputs
    if find_spec("ipywidgets"):
        assert any("application/vnd.jupyter.widget-view+json" in one.get("data", {}) for one in outputs)
    else:
        assert {one.get("name") for one in outputs} == {"stderr"}
        lines = "".join(one["text"] for one in outputs).splitlines()
        assert [line.split(",")[0] for line in lines] == ["1 of 2 runs", "2 of 2 runs"]


@pytest.mark.parametrize("learner", ["KreinRidge", "KreinSVC", "KreinLogistic", "ExactKreinRidge"])
def test_a_fit_shows_its_stages_if_asked(capsys, no_terminal, monkeypatch, learner):
    krein = pytest.importorskip("krein")
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] > 0 if learner in ("KreinSVC", "KreinLogistic") else X[:, 0]
    watched_by = []
    monkeypatch.setattr(module._Lines, "__call__", lambda lines, *args: watched_by.append((lines._what, *args)))
    make = getattr(krein, learner)
    make().fit(X, y)
    assert watched_by == []
    make(verbose=True).fit(X, y)
    assert watched_by
    assert seen(capsys) == ""
