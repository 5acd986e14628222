"""Files of every released format load, and predict what they did when they were written."""

from __future__ import annotations

from pathlib import Path

import make_reference_models
import numpy as np
import pytest
from make_reference_models import DATA, TOLERANCE, outputs

from krein.files.models import FORMAT, load_model, read_header

FILES = sorted(DATA.glob("format-*/*.krein"))


def test_there_are_files_of_this_format():
    assert {path.stem for path in FILES if path.parent.name == f"format-{FORMAT}"} == set(make_reference_models.MODELS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}, {path.stem}")
def test_a_file_of_an_earlier_version(path: Path, tmp_path: Path):
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as archive:
        rows = archive["rows"]
        expected = {name: archive[name] for name in archive.files if name != "rows"}
    for model in (load_model(path), _saved_again(load_model(path), tmp_path)):
        found = outputs(model, rows)
        assert found.keys() == expected.keys()
        for name, values in expected.items():
            if values.dtype.kind == "f":
                np.testing.assert_allclose(found[name], values, rtol=0, atol=TOLERANCE * np.abs(values).max())
            else:
                np.testing.assert_array_equal(found[name], values)
    assert read_header(path)["notes"]["made_by"].endswith("make_reference_models.py")


def _saved_again(model, folder):
    model.save(folder / "again.krein")
    return load_model(folder / "again.krein")
