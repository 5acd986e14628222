"""Values as trees and back: what cannot be stored is refused with its place, and so is every tree that no value gives."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import krein
from krein.files.registry import register
from krein.files.trees import Decoder, Encoder
from krein.files.values import check_field, fits, scalar_from
from krein.kernels import Gaussian

ROUND = [
    None,
    True,
    "text",
    3,
    0.5,
    np.inf,
    np.float32(0.1),
    np.bool_(True),
    np.int16(-4),
    (1, (2.0, "a")),
    [1, []],
    {"a": 1, "b": {"c": (2,)}},
    np.arange(6.0).reshape(2, 3),
    np.array(["a", "bcd"]),
    np.array(["a", 2, 0.5], dtype=object),
    Gaussian(0.25),
]


@pytest.mark.parametrize("value", ROUND, ids=repr)
def test_there_and_back(value):
    encoder = Encoder("it")
    tree = encoder.encode(value)
    again = Decoder(encoder.arrays).decode_whole(tree, "it")
    assert type(again) is type(value)
    assert getattr(again, "dtype", None) == getattr(value, "dtype", None)
    assert again.tolist() == value.tolist() if isinstance(value, np.ndarray) else again == value


def test_a_sparse_matrix_whose_entries_are_given_twice_and_without_order():
    parts = ([1.0, 2.0, 4.0], [2, 0, 2], [0, 3, 3])
    encoder = Encoder("it")
    tree = encoder.encode(sp.csr_array(parts, shape=(2, 3)))
    again = Decoder(encoder.arrays).decode_whole(tree, "it")
    np.testing.assert_array_equal(again.toarray(), [[2.0, 0.0, 5.0], [0.0, 0.0, 0.0]])


def test_a_random_state_is_left_out(tmp_path):
    """It has moved on since the fit, and no prediction depends on it."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = krein.KreinRidge(krein.SignedFourierFeatures(n_components=8), random_state=np.random.RandomState(3))
    model.fit(X, X[:, 0]).save(tmp_path / "m")
    again = krein.load_model(tmp_path / "m")
    assert again.random_state is None
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2**63, "it is a whole number beyond 64 bits"),
        (np.empty((2, 2), dtype=object), r"it is an array of Python objects of shape \(2, 2\)"),
        ({1: 2}, "it is a dictionary with keys that are no text"),
        ([{"a": np.array([b"x"])}], r"it\.0\.0 is an array of dtype \|S1"),
        ((np.complex128(1j),), r"it\.0 is a number of dtype complex128"),
        (np.datetime64("2026-01-01"), "it is a number of dtype datetime64"),
        (print, "it is a builtins.builtin_function_or_method, which cannot be stored"),
    ],
)
def test_what_cannot_be_stored(value, message):
    with pytest.raises(ValueError, match=message):
        Encoder("it").encode(value)


def test_an_estimator_that_is_fitted_in_part():
    model = krein.ExactKreinRidge(lam=0.1).fit(np.eye(3), np.arange(3.0))
    del model.lam_
    with pytest.raises(ValueError, match="it is fitted but lacks lam_"):
        Encoder("it").encode(model)
    model = krein.ExactKreinRidge(lam=0.1).fit(np.eye(3), np.arange(3.0))
    del model.n_features_in_
    with pytest.raises(ValueError, match="it is fitted but lacks n_features_in_"):
        Encoder("it").encode(model)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"a": 1}, "it is of an unknown kind None"),
        ({"@": []}, "it is of an unknown kind"),
        ({"@": "tuple", "items": {}}, "it must list its items"),
        ({"@": "dict", "items": []}, "it must list its items by name"),
        ({"@": "tuple"}, "it lacks its entry 'items'"),
        ({"@": "float", "value": "1e3"}, "it must be inf, -inf or nan"),
        ({"@": "objects", "items": [1, None]}, "it must be a list of labels"),
        ({"@": "objects", "items": "abc"}, "it must be a list of labels"),
        ({"@": "array", "name": "b"}, "it refers to an array 'b', which is not in the file"),
        ({"@": "scalar", "dtype": "<f2", "value": 1e9}, "it is 1000000000.0, which is not a float16"),
        ({"@": "scalar", "dtype": "<i8", "value": 1.5}, "it is not a number of a known type"),
        ({"@": "scalar", "dtype": "<U2", "value": "a"}, "it is not a number of a known type"),
        ({"@": "object", "tag": "kernel.gaussian", "arguments": []}, "it lists its parts as list, not by name"),
    ],
)
def test_trees_that_no_value_gives(tree, message):
    with pytest.raises(ValueError, match=message):
        Decoder({}).decode_whole(tree, "it")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_features_in_": None}, "n_features_in_ is missing"),
        ({"n_features_in_": 0}, "n_features_in_ must be at least 1, got 0"),
        ({"n_features_in_": 3}, "the feature map takes rows of 2 columns, but the model 3"),
        ({"feature_names_in_": np.array(["a"])}, "feature_names_in_ must name each of the 2 columns"),
    ],
)
def test_columns_that_do_not_fit(change, message, tmp_path):
    """As the numbers that scikit-learn keeps on an estimator would be in a forged file."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = krein.KreinRidge(krein.SignedFourierFeatures(n_components=8, random_state=0), lam=0.1).fit(X, X[:, 0])
    encoder = Encoder("it")
    tree = encoder.encode(model)
    learned = tree["learned"]
    for name, value in change.items():
        if value is None:
            del learned[name]
        else:
            learned[name] = encoder.encode(value, name)
    with pytest.raises(ValueError, match=message):
        Decoder(encoder.arrays).decode_whole(tree, "it")


def test_more_signs_than_columns():
    X = np.random.default_rng(0).normal(size=(30, 2))
    encoder = Encoder("it")
    tree = encoder.encode(krein.SignedFourierFeatures(n_components=8, random_state=0).fit(X))
    tree["learned"]["_n_features_out"] = 7
    with pytest.raises(ValueError, match=r"there are 7 output columns, but signs of shape \(8,\)"):
        Decoder(encoder.arrays).decode_whole(tree, "it")


def test_a_constructor_that_fails_in_any_way_refuses():
    @register("example.divides")
    @dataclasses.dataclass(frozen=True)
    class Divides:
        by: Any

        def __post_init__(self) -> None:
            1 / self.by

    for value in (0, "text"):
        tree = {"@": "object", "tag": "example.divides", "arguments": {"by": value}}
        with pytest.raises(ValueError, match=r"it is not a example\.divides"):
            Decoder({}).decode_whole(tree, "it")


def test_values_for_arithmetic():
    with pytest.raises(ValueError, match="here must hold numbers, got an array of shape"):
        check_field(np.array(["a"]), np.ndarray, "here", finite=True)
    with pytest.raises(ValueError, match="here contains NaN or infinity"):
        check_field((sp.csr_array([[np.nan]]), 1.0), tuple[Any, ...], "here", finite=True)
    check_field([np.array(["a"])], list, "here", finite=True, text=True)
    check_field(np.array([np.inf]), np.ndarray, "here", finite=False)
    assert scalar_from("<f4", float("nan"), "here").dtype == np.float32
    assert not fits({"a": 1}, dict[int, int])
