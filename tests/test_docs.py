"""The code in the user guide runs and prints what the pages say."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted(DOCS.glob("guide/*.rst"))

pytestmark = pytest.mark.skipif(not PAGES, reason="the user guide is not part of this installation")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_guide(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_placeholder_is_left(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if line.strip() in {"OUT", "TODO"}]


# Constants have no docstring of their own; `krein` re-exports modules.
NOT_LISTED = {"NAMED_KERNELS", "SAMPLERS", "ALLOCATIONS", "COLOURS", "STYLES", "COMMANDS"}
MODULES = [
    "krein",
    "krein.kernels",
    "krein.measures",
    "krein.sampling",
    "krein.baselines",
    "krein.datasets",
    "krein.plotting",
]


@pytest.mark.parametrize("name", MODULES)
def test_the_reference_lists_every_public_name(name):
    module = importlib.import_module(name)
    listed = {
        line.strip().rpartition(".")[2]
        for page in DOCS.glob("reference/*.rst")
        for line in page.read_text().splitlines()
    }
    public = {key for key in module.__all__ if not inspect.ismodule(getattr(module, key))} - NOT_LISTED
    assert not {key for key in public if not key.startswith("_")} - listed
