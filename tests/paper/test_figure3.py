"""The verdicts of Figure 3 from made-up accuracies: held-out training rows choose the kind of map, test rows do not."""

from __future__ import annotations

import pytest

from krein.paper.figure3 import FIGURE3
from krein.paper.plan import Run
from krein.paper.records import Record

HIGHEST, NOBODY_AHEAD = FIGURE3.claims[1].test, FIGURE3.claims[2].test


def records(accuracies: dict[str, tuple[float, float]], dataset: str = "letter", seeds: int = 2) -> list[Record]:
    """Runs whose accuracy on held-out training rows and on test rows is given for each method."""
    return [
        Record(
            Run("figure3", dataset, "ntk", method, 32, 32, seed),
            {"held_out": held_out, "accuracy": accuracy + 0.01 * seed, "C": 1.0},
        )
        for method, (held_out, accuracy) in accuracies.items()
        for seed in range(seeds)
    ]


RIVALS = {"srf": (0.5, 0.7), "nystroem": (0.5, 0.8)}


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ({"projected": (0.9, 0.9), "default": (0.5, 0.1)}, "confirmed"),
        ({"projected": (0.6, 0.1), "default": (0.9, 0.9)}, "confirmed"),
        # the best on test rows was not the best on held-out rows, so it does not count
        ({"projected": (0.9, 0.7), "default": (0.6, 0.9)}, "not confirmed"),
        # among equals the projected one is taken, whatever its test accuracy
        ({"projected": (0.9, 0.7), "default": (0.9, 0.9)}, "not confirmed"),
    ],
)
def test_held_out_rows_choose_the_kind(ours, verdict):
    found = HIGHEST(records({**ours, **RIVALS}))
    assert found is not None
    assert found.status("corrected") == verdict
    assert found.status("literal") is None
    assert NOBODY_AHEAD(records({**ours, **RIVALS})).status("corrected") == verdict


def test_half_a_deviation_is_level():
    ours = {"projected": (0.9, 0.7975), "default": (0.5, 0.1)}  # the rival's deviation is 0.007
    assert HIGHEST(records({**ours, **RIVALS})).status("corrected") == "not confirmed"
    assert NOBODY_AHEAD(records({**ours, **RIVALS})).status("corrected") == "confirmed"


def test_each_seed_chooses_for_itself_and_the_counts_are_told():
    ours = {"projected": (0.9, 0.9), "default": (0.5, 0.1)}
    some = records({**ours, **RIVALS}, seeds=3)
    other = {"projected": (0.1, 0.9), "default": (0.5, 0.1)}
    found = HIGHEST([one for one in some if one.run.seed < 2] + records({**other, **RIVALS}, seeds=3)[2::3])
    assert "most accurate 2, default 1" in found.words


def test_a_seed_without_all_kinds_and_the_exception_do_not_count():
    ours = {"projected": (0.9, 0.9), "default": (0.5, 0.1)}
    everything = records({**ours, **RIVALS})
    assert HIGHEST([one for one in everything if one.run.method != "default"]) is None
    assert HIGHEST(records({**ours, **RIVALS}, dataset="cod_rna")) is None
