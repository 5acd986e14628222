"""Balanced trees: every row has one leaf, halves are halves, whatever the ties."""

from __future__ import annotations

import numpy as np
import pytest

from krein.learning.leaves.splits import SplitTree, divide, outline


def rows(n: int, d: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


@pytest.mark.parametrize("n", [1, 2, 3, 100, 1023])
@pytest.mark.parametrize("most", [1, 7, 5000])
def test_leaves_hold_each_row_once_and_are_balanced(n: int, most: int) -> None:
    division = divide(rows(n), most)
    sizes = np.diff(division.bounds)
    np.testing.assert_array_equal(np.sort(division.order), np.arange(n))
    assert sizes.max() <= most
    assert sizes.min() >= max(1, sizes.max() // 2)
    assert division.tree.n_leaves == sizes.size


def test_rows_that_lie_on_no_cut_find_their_own_leaf_again() -> None:
    X = rows(1000)
    division = divide(X, 40)
    found = division.tree(X)
    for leaf in range(division.tree.n_leaves):
        assert set(found[division.rows_of(leaf)]) == {leaf}


def test_a_row_goes_the_same_way_in_every_block() -> None:
    X = rows(700, d=54)
    tree = divide(X, 20).tree
    one_by_one = np.concatenate([tree(X[i : i + 1]) for i in range(700)])
    np.testing.assert_array_equal(tree(X), one_by_one)
    np.testing.assert_array_equal(tree(X[::-1]), one_by_one[::-1])


@pytest.mark.parametrize("X", [np.zeros((10_000, 2)), np.repeat(np.eye(2), [9_999, 1], axis=0)], ids=["one", "two"])
def test_copies_of_one_row_are_split_by_their_numbers(X: np.ndarray) -> None:
    sizes = np.diff(divide(X, 1000).bounds)
    assert sizes.max() <= 1000
    assert sizes.min() >= 500


def test_an_overlap_adds_the_rows_next_to_the_cut() -> None:
    X = np.arange(1000.0)[:, None]
    division = divide(X, 500, overlap=0.1)
    assert [set(division.rows_of(i)) for i in range(2)] == [set(range(550)), set(range(450, 1000))]
    deep = divide(X, 250, overlap=0.1)
    assert set(deep.rows_of(1)) == set(range(225, 550))
    copies = divide(np.zeros((1000, 1)), 250, overlap=0.1)
    assert np.diff(copies.bounds).max() <= 350


def test_a_million_copies_end() -> None:
    assert divide(np.zeros((1_000_000, 1), dtype=np.float32), 4096).tree.n_leaves == 256


def test_the_first_split_is_along_the_direction_of_most_variance() -> None:
    X = rows(2000, d=2) * [5.0, 1.0]
    direction = divide(X, 1000).tree.directions[0]
    assert abs(direction[0]) > 0.99
    assert direction[0] > 0.0


def test_all_leaves_of_an_outline_get_rows() -> None:
    X = np.concatenate([np.zeros((500, 2)), rows(100, d=2)])
    tree = outline(X, 5)
    assert set(tree(X)) == set(range(tree.n_leaves))
    assert outline(np.zeros((100, 2)), 5).n_leaves == 1
    assert outline(rows(64), 3).n_leaves == 8


def test_a_tree_grown_on_a_tree() -> None:
    X = rows(800)
    coarse = outline(X, 2)
    parts = [divide(X[coarse(X) == i], 50).tree for i in range(coarse.n_leaves)]
    whole = coarse.grown(parts)
    first = np.cumsum([0, *(part.n_leaves for part in parts)])
    expected = np.empty(800, dtype=int)
    for i, part in enumerate(parts):
        here = coarse(X) == i
        expected[here] = first[i] + part(X[here])
    np.testing.assert_array_equal(whole(X), expected)


@pytest.mark.parametrize(
    "children", [[[0, -1]], [[-1, -1]], [[-1, -3]], [[1, -1]]], ids=["itself", "twice", "absent", "no split"]
)
def test_children_that_make_no_tree_are_refused(children: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="children must name"):
        SplitTree(np.ones((1, 2)), np.zeros(1), np.array(children))
