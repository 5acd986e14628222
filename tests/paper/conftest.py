"""A finished reproduction of everything, tiny, shared by the tests that only read it."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny

from krein.paper import Reproduction, catalog, reproduce


@pytest.fixture
def small(monkeypatch) -> None:
    monkeypatch.setattr(catalog, "EXPERIMENTS", tiny.tiny_experiments())


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> tuple[Path, Reproduction]:
    out = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "EXPERIMENTS", tiny.tiny_experiments())
        return out, reproduce(out=out)
