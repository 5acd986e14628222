"""
Shapes of handwritten digits
============================

How similar are two shapes? The modified Hausdorff distance uses the distances from each point of one shape to the nearest point of
the other. It is not a metric, and the similarities computed from it are indefinite. Should their negative part be kept?
"""

# %%
# A distance between two sets of points
# -------------------------------------
# Each image of 8 × 8 pixels is the set of its dark pixels. The distance of Dubuisson and Jain (1994) is the mean distance from a
# point of one set to the nearest point of the other, the larger of the two directions.

import numpy as np
from scipy.ndimage import distance_transform_edt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import krein
from krein.plotting import COLORS, dress, look_of, new_figure

digits = load_digits()
dark = digits.images >= 8
way = np.array([distance_transform_edt(~one) for one in dark])  # from every pixel to the nearest dark one
one_way = np.einsum("ipq,jpq->ij", dark / dark.sum(axis=(1, 2), keepdims=True), way, optimize=True)
all_distances = np.maximum(one_way, one_way.T)
D, label = all_distances[:900, :900], digits.target[:900]

# %%
# Diagnosis
# ---------
# Squared distances become similarities by centering, as in classical scaling. A third of the spectrum is negative. The negative
# directions of one half of the digits are found in the other half as well, and ridge predicts better with them than without.

H = np.eye(len(D)) - 1.0 / len(D)
K = -0.5 * H @ D**2 @ H
diagnosis = krein.diagnose(K, y=label)
print(diagnosis)

# %%
# Which model learns best from it?
# --------------------------------
# Nested cross-validation, with ``SVC`` on the unchanged matrix and after the usual corrections. Nearest neighbors need only the
# distances.

methods = ["krein-svc", "krein-logistic", "krein-ridge", "svc-raw", "svc-clip", "svc-flip"]
found = krein.compare(K, label, folds=3, methods=methods)
print(found)
thirds = StratifiedKFold(3, shuffle=True, random_state=0)
neighbors = cross_val_score(KNeighborsClassifier(metric="precomputed"), D, label, cv=thirds).mean()
print(f"five nearest neighbors: {neighbors:.3f}")

# %%
# The matrix and the result in one figure: ``SVC`` loses ten points on the unchanged matrix, without a warning.

look = look_of("auto")
figure = new_figure(9.5, 3.4)
left, right = figure.subplots(1, 2, width_ratios=[1.1, 1.0])
values = diagnosis.spectrum.values[::-1]
shown = np.concatenate([values[:40], values[-40:]])
left.bar(np.arange(80), shown, color=[COLORS["positive" if value > 0 else "negative"] for value in shown])
left.set_yscale("symlog", linthresh=1.0)
left.set_xticks([0, 39.5, 79], ["largest", "…", "smallest"])
title = f"{len(D)} digits: {diagnosis.negative_fraction:.0%} of the spectrum is negative"
dress(left, look, xlabel="eigenvalues, 40 from each end", ylabel="eigenvalue", title=title)
scores = [(100 * one.mean, one.contender.label, one.contender.ours) for one in found.summaries()]
scores = sorted([*scores, (100 * neighbors, "5 nearest neighbors", False)])
bars = right.barh(
    [name for _, name, _ in scores],
    [score for score, _, _ in scores],
    color=[COLORS["measure"] if ours else look.ink + "a0" for _, _, ours in scores],
)
right.bar_label(bars, fmt="%.1f", color=look.ink, padding=3, fontsize="small")
right.set_xlim(80, 98)
dress(right, look, xlabel="", ylabel="", title="accuracy on new digits, %")
right.grid(False, axis="y")

# %%
# Without the matrix
# ------------------
# A correction of the spectrum needs the distances of all pairs, and those of a new digit to all others. Landmarks need neither:
# here 25 to 400 of 1,200 digits, and as many distances for a new one. The curves are of the same landmarks, with the negative part
# of the spectrum and without it; each is the mean of three draws. The whole matrix is better, but only if its signs are seen to.

kernel = krein.DistanceKernel("precomputed", power=2.0, form="negative", scale=1.0)
order = np.random.default_rng(0).permutation(len(all_distances))
train, new = order[:1200], order[1200:]
known, asked = all_distances[np.ix_(train, train)], all_distances[np.ix_(new, train)]
y, y_new = digits.target[train], digits.target[new]
widths, kept, dropped = [25, 50, 100, 200, 400], [], []
for width in widths:
    pairs = []
    for seed in range(3):
        features = krein.KreinNystroem(kernel, width, random_state=seed)
        Z, Z_new = features.fit_transform(known), features.transform(asked)
        positive = features.signature_ > 0
        without = LogisticRegression(C=10.0, max_iter=1000).fit(Z[:, positive], y).score(Z_new[:, positive], y_new)
        pairs.append((krein.KreinLogistic(features=features).fit(known, y).score(asked, y_new), without))
    both = 100 * np.mean(pairs, axis=0)
    kept.append(both[0])
    dropped.append(both[1])
    print(f"{width} landmarks: {both[0]:.1f} % with the negative part, {both[1]:.1f} % without")
center = np.eye(len(known)) - 1.0 / len(known)
whole = krein.ExactKreinSVC("precomputed", C=10.0).fit(center @ -(known**2) @ center, y)
means = (known**2).mean(axis=0)
new_rows = -(asked**2) + means + (asked**2).mean(axis=1, keepdims=True) - means.mean()
plain = SVC(kernel="precomputed", C=10.0).fit(center @ -(known**2) @ center, y)
ends = 100 * whole.score(new_rows, y_new), 100 * plain.score(new_rows, y_new)
print(f"whole matrix: {ends[0]:.1f} % by ExactKreinSVC, {ends[1]:.1f} % by SVC as it is")

figure = new_figure(5.4, 3.8)
axes = figure.subplots()
axes.plot(widths, kept, "o-", color=COLORS["measure"], label="krein: negative part kept")
axes.plot(widths, dropped, "s--", color=COLORS["negative"], label="negative part dropped")
axes.plot([1200], ends[:1], "D", color=COLORS["measure"])
axes.plot([1200], ends[1:], "X", markersize=8, color=look.ink)
for words, end, shift in (("all pairs,\nkrein", ends[0], -14), ("all pairs,\nSVC as it is", ends[1], 0)):
    place = {"xytext": (-10, shift), "textcoords": "offset points", "ha": "right", "va": "center"}
    axes.annotate(words, (1200, end), color=look.ink, **place)
axes.set_xscale("log")
axes.set_xticks([*widths, 1200], [*map(str, widths), "1,200"])
axes.minorticks_off()
axes.legend(loc="lower left", bbox_to_anchor=(0.12, 0.0), frameon=False, labelcolor=look.ink)
dress(axes, look, xlabel="distances for each new digit", ylabel="", title="accuracy on new digits, %")

# %%
# Another way from distances to similarities
# ------------------------------------------
# An exponential of the distance is nearly positive definite. Its negative part is small, and here it is the better similarity:
# try several similarities before you correct one.

similarity = np.exp(-D / np.median(D))
print(f"negative eigenfraction {krein.diagnose(similarity).negative_fraction:.3f}")
print(krein.compare(similarity, label, folds=3, methods=["krein-ridge", "svc-raw"]))
