"""A tree of leaves: against its leaves one by one, against one exact problem, dealt in memory and in files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from krein._core.threads import thread_limit
from krein.kernels import Laplacian
from krein.learning.leaves import choice as leaf_choice
from krein.learning.leaves import fit as leaf_fit
from krein.learning.leaves.choice import LeafRows
from krein.learning.leaves.dealt_rows import DealtRows
from krein.learning.leaves.fit import LeafFit, coarse_tree, fit_leaves, fit_part, leaves_to_look_at
from krein.learning.leaves.leaf import LeafSettings, LeftOutErrors, SolvedLeaf
from krein.learning.leaves.model import LeafModel
from krein.learning.leaves.splits import SplitTree
from krein.rows.equal import MergedRows

SETTINGS = LeafSettings(Laplacian(1.0), 1.0, 1e-4)


def table(n: int, seed: int = 0) -> LeafRows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    y = np.sign(np.sin(3 * X[:, :1]) + X[:, 1:2]).astype(np.float32)
    return LeafRows(X, np.hstack([y, -y]), None, None)


def fitted(rows: LeafRows, *, in_memory: int = 2**30, block: int = 257) -> LeafFit:
    tree = coarse_tree(rows.X[::2], rows.X.shape[0], leaf_rows=64)
    dealt = DealtRows(tree, prepared, in_memory=in_memory)
    for start in range(0, rows.X.shape[0], block):
        here = slice(start, start + block)
        dealt.add(start, rows.X[here], rows.targets[here], None if rows.weight is None else rows.weight[here])
    assert dealt.on_disk == (in_memory == 0)
    return fit_leaves(dealt, tree, leaf_rows=64)


def prepared(start: int, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> LeafRows:
    return LeafRows(X, y, None, weight)


def one_part(rows: LeafRows, leaf_rows: int = 4096) -> LeafFit:
    tree = SplitTree(np.empty((0, rows.X.shape[1])), np.empty(0), np.empty((0, 2), dtype=int))
    dealt = DealtRows(tree, lambda *_: rows)
    dealt.add(0, rows.X, rows.targets, None)
    return fit_leaves(dealt, tree, leaf_rows=leaf_rows)


def test_one_leaf_is_one_exact_problem() -> None:
    rows = table(400)
    model = fit_part(rows, SETTINGS).model
    assert model.n_leaves == 1
    K = Laplacian(float(model.scales[0]))
    offset = rows.targets.mean(axis=0)
    dual = np.linalg.solve(K(rows.X.astype(float)) + 400 * 1e-4 * np.eye(400), rows.targets - offset)
    new = table(50, seed=1).X
    np.testing.assert_allclose(model(new), K(new, rows.X.astype(float)) @ dual + offset, atol=2e-4)


def test_each_row_is_predicted_by_its_leaf() -> None:
    rows = table(500)
    model = fit_part(rows, SETTINGS, leaf_rows=64).model
    new = table(100, seed=1).X
    leaves = model.tree(new)
    for i in range(100):
        inside = slice(model.bounds[leaves[i]], model.bounds[leaves[i] + 1])
        value = Laplacian(float(model.scales[leaves[i]]))(new[i : i + 1], model.rows[inside]) @ model.dual[inside]
        np.testing.assert_allclose(model(new[i : i + 1]), value + model.offsets[leaves[i]], atol=1e-5)


def test_blocks_files_and_threads_change_nothing() -> None:
    rows = table(4000)
    first = fitted(rows)
    assert first.model.n_leaves > 8
    new = table(500, seed=1).X
    expected = first.model(new)
    assert (np.sign(expected[:, 0]) == np.sign(np.sin(3 * new[:, 0]) + new[:, 1])).mean() > 0.9
    for again in (fitted(rows, block=4000), fitted(rows, in_memory=0)):
        np.testing.assert_array_equal(again.model(new), expected)
        assert again.choice.settings == first.choice.settings
    for threads in (1, 3):
        with thread_limit(threads):
            np.testing.assert_array_equal(fitted(rows).model(new), expected)


def test_rows_of_weight_zero_are_not_there() -> None:
    rows = table(600)
    weight = np.ones(600)
    weight[::3] = 0.0
    weighted = fitted(LeafRows(rows.X, rows.targets, None, weight))
    kept = np.unique(weighted.model.rows, axis=0)
    np.testing.assert_array_equal(kept, np.unique(rows.X[weight > 0], axis=0))


def test_the_global_part_is_taken_where_it_helps() -> None:
    rng = np.random.default_rng(0)
    rows = table(600)
    truth = 3.0 * rows.targets
    steep = LeafRows(rows.X, truth, truth + 0.01 * rng.normal(size=truth.shape), None)
    noise = LeafRows(rows.X, truth, 5.0 * rng.normal(size=truth.shape), None)
    assert one_part(steep).choice.part == 1.0
    assert one_part(noise).choice.part == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_leaves_add_nothing_to_a_global_model_that_leaves_noise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = table(600)
    noisy = LeafRows(rows.X, rows.targets + rng.normal(size=rows.targets.shape), rows.targets, None)
    found = one_part(noisy, leaf_rows=64)
    assert found.choice.part == 1.0
    assert found.choice.settings.lam == np.inf
    model = found.model
    assert model.n_leaves > 4
    assert model.rows.shape[0] == model.n_leaves
    np.testing.assert_array_equal(model(rows.X[:20]), 0.0)


@pytest.mark.parametrize("in_memory", [0, 2**30])
def test_a_hundred_thousand_copies_of_a_row(in_memory: int) -> None:
    rows = LeafRows(np.zeros((20_000, 2), dtype=np.float32), np.ones((20_000, 1), dtype=np.float32), None, None)
    tree = coarse_tree(rows.X[:5000], 20_000, leaf_rows=1024)
    dealt = DealtRows(tree, prepared, in_memory=in_memory)
    dealt.add(0, rows.X, rows.targets, None)
    model = fit_leaves(dealt, tree, leaf_rows=1024).model
    assert model.n_leaves == 1
    assert model.rows.shape == (1, 2)
    np.testing.assert_allclose(model(np.array([[0.0, 0.0], [5.0, 5.0]], dtype=np.float32)), 1.0)


def test_copies_stay_together_and_leave_leaves_as_they_were() -> None:
    """A part with 5,000 copies of one of its rows is divided like the part without them, and that row has their weight."""
    rows = table(500)
    many = rows.some(np.concatenate([np.arange(500), np.full(5000, 7)]))
    plain, copied = fit_part(rows, SETTINGS, leaf_rows=64).model, fit_part(many, SETTINGS, leaf_rows=64).model
    np.testing.assert_array_equal(copied.rows, plain.rows)
    np.testing.assert_array_equal(copied.tree.cuts, plain.tree.cuts)
    counts = np.ones(500)
    counts[7] = 5001.0
    weighted = fit_part(LeafRows(rows.X, rows.targets, None, counts), SETTINGS, leaf_rows=64).model
    np.testing.assert_allclose(copied(rows.X), weighted(rows.X), atol=1e-5)
    looked, _ = leaves_to_look_at(many, coarse_tree(rows.X, 500), leaf_rows=64)
    assert max(np.unique(leaf.X, axis=0).shape[0] for leaf in looked) < 200


def test_a_heavy_point_does_not_decide_for_all_others() -> None:
    """Where the global model is right in 100,000 copies of a row and wrong elsewhere, leaves gain; weights are copies."""
    rows = table(400)
    trend = np.zeros_like(rows.targets)
    trend[7] = rows.targets[7]
    counts = np.ones(400)
    counts[7] = 100_000.0
    weighted = LeafRows(rows.X, rows.targets, trend, counts)
    copied = LeafRows(rows.X, rows.targets, trend, None).some(np.repeat(np.arange(400), counts.astype(int)))
    choice = one_part(weighted).choice
    assert np.isfinite(choice.settings.lam)
    assert one_part(copied).choice.settings == choice.settings


def test_copies_do_not_change_the_coarse_tree() -> None:
    X = table(2000).X
    copies = np.concatenate([X, np.repeat(X[:1], 20_000, axis=0)])
    plain, copied = coarse_tree(X, 4000, leaf_rows=64), coarse_tree(copies, 4000, leaf_rows=64)
    assert plain.n_leaves == 8
    np.testing.assert_array_equal(copied.cuts, plain.cuts)


def test_parts_that_do_not_fit_each_other_are_refused() -> None:
    model = fit_part(table(200), SETTINGS, leaf_rows=64).model
    parts = {name: getattr(model, name) for name in LeafModel.__dataclass_fields__}
    for name, value, message in [
        ("dual", model.dual[:-1], "dual of a model"),
        ("bounds", model.bounds[::-1], "bounds must lead"),
        ("scales", -model.scales, "scales must be positive"),
        ("rows", model.rows[:, :2], "do not fit the tree"),
    ]:
        with pytest.raises(ValueError, match=message):
            LeafModel(**{**parts, name: value})


@pytest.mark.parametrize("n", [5500, 12_000])
def test_choosing_costs_less_than_solving(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a leaf that is alone, counted in cubes of rows, where no settings are behind the others."""
    cubes: list[int] = []

    def solved(rows: MergedRows, settings: LeafSettings, scored: int, **_: Any) -> SolvedLeaf:
        cubes.append(len(rows) ** 3)
        ones = np.ones((3, rows.Y.shape[1]))
        errors = LeftOutErrors(ones, ones, np.ones(3), np.ones(3), ones, ones)
        return SolvedLeaf(1.0, rows.X, np.zeros(rows.Y.shape, dtype=np.float32), np.zeros(rows.Y.shape[1]), errors)

    for module in (leaf_choice, leaf_fit):
        monkeypatch.setattr(module, "solve_leaf", solved)
    one_part(table(n), leaf_rows=n)
    assert cubes[-1] == n**3
    assert sum(cubes[:-1]) < n**3
