"""The bar shows where it can and is silent where it cannot."""

import pytest

from krein.datasets.progress import transfer_bar


def test_silent_without_a_terminal(capsys, monkeypatch):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    with transfer_bar("file.bin") as update:
        update(1, 2)
    assert capsys.readouterr() == ("", "")


def test_shown_on_standard_error(capsys, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with transfer_bar("file.bin") as update:
        update(1_000, None)
        update(2_000, 2_000)
    out, err = capsys.readouterr()
    assert out == ""
    assert "file.bin" in err
    assert "2.0/2.0 kB" in err


def test_inside_another_bar(capsys, monkeypatch):
    progress = pytest.importorskip("rich.progress")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.Progress() as outer:
        outer.add_task("experiment")
        with transfer_bar("file.bin") as update:
            update(1, 2)


def test_error_inside_passes_through(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with pytest.raises(KeyboardInterrupt), transfer_bar("file.bin"):
        raise KeyboardInterrupt
