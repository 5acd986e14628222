"""
How to choose landmarks
=======================

Nyström compares all rows with a few landmarks. This example compares three rules for landmarks on *letter*, at equal numbers.
"""

# %%
# Three rules
# -----------
# Landmarks are drawn uniformly; or are the centers of k-means; or are pivots, each drawn in proportion to the part of the
# similarity that the ones before leave unexplained.

import numpy as np
from sklearn.decomposition import PCA

import krein
from krein.kernels import DeltaGaussian
from krein.plotting import COLORS, dress, look_of, new_figure

letters = krein.datasets.load("letter")
X, X_test = krein.datasets.minmax_unit(letters.X_train[:3000], letters.X_test[:500])
kernel = DeltaGaussian(1.0, 10.0)
exact = kernel(X_test)
rules, widths, seeds = ("uniform", "pivoted", "kmeans"), (16, 32, 64, 128, 256), range(3)
errors, placed = {}, {}
for rule in rules:
    for width in widths:
        found = []
        for seed in seeds:
            features = krein.KreinNystroem(kernel, n_components=width, landmarks=rule, random_state=seed).fit(X)
            found.append(np.linalg.norm(features.approximate(X_test) - exact) / np.linalg.norm(exact))
        errors[rule, width] = np.mean(found)
        if width == 64:
            placed[rule] = features.landmarks_
    print(f"{rule:8}", " ".join(f"{errors[rule, width]:.5f}" for width in widths))

# %%
# The mean of three seeds, and the places of 64 landmarks on the two leading components of the rows.

look = look_of("auto")
figure = new_figure(9.5, 3.6)
left, right = figure.subplots(1, 2)
plane = PCA(2).fit(X)
right.plot(*plane.transform(X).T, ".", color=look.ink + "30", markersize=2)
for rule, color, marker in zip(rules, ("negative", "positive", "measure"), "s^o", strict=True):
    left.loglog(widths, [errors[rule, width] for width in widths], marker + "-", color=COLORS[color], label=rule)
    right.plot(*plane.transform(placed[rule]).T, marker, color=COLORS[color], markersize=4)
left.set_xticks(widths, [str(width) for width in widths])
left.minorticks_off()
left.legend(frameon=False, labelcolor=look.ink)
dress(left, look, xlabel="landmarks", ylabel="relative error on new rows")
dress(right, look, xlabel="first component of the rows", ylabel="second")
