"""How a measure is to be found, checked when it is said."""

from __future__ import annotations

import math

import pytest
from sklearn.base import clone

import krein
from krein.measures import MeasureRecipe
from krein.measures.build import as_measure_recipe


def test_auto():
    assert as_measure_recipe("auto") == MeasureRecipe() == MeasureRecipe("auto", "auto", "auto", None)
    recipe = MeasureRecipe(tol=0.1)
    assert as_measure_recipe(recipe) is recipe
    for wrong in ("best", None, 0.1, MeasureRecipe):
        with pytest.raises(ValueError, match=r"measure must be (one of )?'auto' or a krein.MeasureRecipe, got"):
            as_measure_recipe(wrong)
    assert krein.MeasureRecipe is MeasureRecipe


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"method": "magic"}, ValueError, "'auto', 'closed_form', 'fourier', 'least_mass', got 'magic'"),
        ({"head_degree": 3}, ValueError, r"head_degree must be at most 2 \(-1 is no head\), got 3"),
        ({"head_degree": -2}, ValueError, r"head_degree must be at least -1 \(-1 is no head\), got -2"),
        ({"head_degree": 1.0}, TypeError, "head_degree must be an integer"),
        ({"head_degree": "some"}, ValueError, r"'auto' or -1 \(no head\), 0, 1 or 2, got 'some'"),
        ({"head_degree": None}, TypeError, "head_degree must be an integer"),
        ({"tol": 0.0}, ValueError, "tol must be positive"),
        ({"tol": math.nan}, ValueError, "tol must be finite"),
        ({"tol": "small"}, ValueError, "'auto' or a positive number, got 'small'"),
        ({"tol": None}, TypeError, "tol must be a real number"),
        ({"method": "fourier", "truncate": -1.0}, ValueError, "truncate must be positive"),
        ({"truncate": 10.0}, ValueError, "truncate .* method='fourier' only, got method='auto'"),
        ({"method": "least_mass", "truncate": 10.0}, ValueError, "method='fourier' only"),
        ({"method": "closed_form", "truncate": 10.0}, ValueError, "method='fourier' only"),
    ],
)
def test_is_checked_when_it_is_made(wrong, error, message):
    with pytest.raises(error, match=message):
        MeasureRecipe(**wrong)


def test_parameters_by_name():
    recipe = MeasureRecipe(head_degree=1)
    assert recipe.get_params() == {"method": "auto", "head_degree": 1, "tol": "auto", "truncate": None}
    assert recipe.with_params(method="fourier", truncate=10.0) == MeasureRecipe("fourier", 1, "auto", 10.0)
    assert recipe == MeasureRecipe(head_degree=1)
    with pytest.raises(
        ValueError, match=r"MeasureRecipe\(.* has no parameter 'tolerance'; its parameters are method, head"
    ):
        recipe.with_params(tolerance=0.1)
    with pytest.raises(ValueError, match="tol must be positive"):
        recipe.with_params(tol=-0.1)
    assert clone(recipe) == recipe
    assert hash(clone(recipe)) == hash(recipe)
