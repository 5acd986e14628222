"""Accuracy on four sets of time series with one elastic distance, where all choices are made on the training series.

    python benchmarks/elastic_sets.py

Needs aeon, which has the series in its wheel (OSULeaf until version 1.6). The machine takes power and scale of its similarity
from the labels it is fitted on. The distance is the one with the smaller rate of errors on training series held out, the mean
over the four sets: five times five stratified folds of each, dealt by a fixed seed, power and scale chosen anew without the fold
held out. The test series have no part in any choice. Distances are computed once for each set and distance.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

from krein import DistanceKernel, ExactKreinSVC

try:
    from aeon import datasets
    from aeon.distances import pairwise_distance
except ImportError:  # main says so
    datasets = None

SETS = {
    "GunPoint": "load_gunpoint",
    "ArrowHead": "load_arrow_head",
    "ItalyPowerDemand": "load_italy_power_demand",
    "OSULeaf": "load_osuleaf",
}
DISTANCES = ("msm", "twe")
FOLDS = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0)


@dataclass(frozen=True)
class Result:
    """Of one set with one distance."""

    held_out: float  # rate of errors on training series held out
    nearest: float  # accuracy of the nearest neighbor on test series
    machine: float  # accuracy of the Kreĭn machine on test series


def result(name: str, distance: str) -> Result:
    """Choose and fit on the training series, then test."""
    load = getattr(datasets, SETS[name])
    (X, y), (X_new, y_new) = load(split="train"), load(split="test")
    among = pairwise_distance(X, method=distance)
    across = pairwise_distance(X_new, X, method=distance)
    machine = ExactKreinSVC(DistanceKernel("precomputed", power="auto", scale="auto"), C=100.0)
    held_out = 1.0 - float(cross_val_score(machine, among, y, cv=FOLDS, error_score="raise").mean())
    nearest = float(np.mean(y[across.argmin(axis=1)] == y_new))
    return Result(held_out, nearest, machine.fit(among, y).score(across, y_new))


def main() -> None:
    """Print the table and the choice."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    if datasets is None:
        raise SystemExit("the series and their distances are those of aeon: pip install aeon")
    columns = [(what, distance) for what in ("held_out", "nearest", "machine") for distance in DISTANCES]
    print(f"{'':<17}{'held-out error':>16}{'1-NN, test':>16}{'machine, test':>16}")
    print(f"{'':<17}" + "".join(f"{distance:>8}" for _, distance in columns))
    rows = []
    for name in SETS:
        found = {distance: result(name, distance) for distance in DISTANCES}
        rows.append([getattr(found[distance], what) for what, distance in columns])
        print(f"{name:<17}" + "".join(f"{value:8.3f}" for value in rows[-1]), flush=True)
    means = dict(zip(columns, np.mean(rows, axis=0), strict=True))
    print(f"{'mean':<17}" + "".join(f"{value:8.3f}" for value in means.values()))
    chosen = min(DISTANCES, key=lambda distance: means["held_out", distance])
    errors = ", ".join(f"{distance} {means['held_out', distance]:.4f}" for distance in DISTANCES)
    print(f"held-out errors: {errors}; chosen: {chosen}, test accuracy {means['machine', chosen]:.3f}")


if __name__ == "__main__":
    main()
