"""
Five tasks, from import to accuracy
===================================

Strings, series of many lengths, sets, graphs, and a matrix of distances: objects that are not rows of numbers. Each is learned
from and cross-validated in one line, as ``kernel`` takes the name of a distance, any function of two objects, or
``"precomputed"``. Beside it stands what scikit-learn or aeon need for the same, on the same folds.
"""

# %%
# The objects
# -----------
# Five views of scikit-learn's handwritten digits, and the series of aeon's GunPoint, each cut at a random start.

from collections import Counter

import numpy as np
from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier
from aeon.datasets import load_gunpoint
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import SVC

import krein
from krein.plotting import COLORS, dress, look_of, new_figure

digits = load_digits()
images, label = digits.images[:400], digits.target[:400]
words = ["/".join("".join(" .:#"[int(v) // 5] for v in row).strip() for row in image) for image in images]
sets = [frozenset(zip(*np.nonzero(image >= 8), strict=True)) for image in images]
graphs = [
    {one: [two for two in dark if 0 < abs(one[0] - two[0]) + abs(one[1] - two[1]) <= 2] for one in dark}
    for dark in sets
]
points = [np.array(sorted(dark), dtype=float) for dark in sets]
gunpoint, who = load_gunpoint()
starts = np.random.default_rng(0).integers(0, 30, len(gunpoint))
series = [one[0, start:] for one, start in zip(gunpoint, starts, strict=True)]
found = {}


def cross_validated(model, X, y):
    return cross_val_score(model, X, y, cv=3).mean()


# %%
# Strings
# -------
# The outline of a digit as text, compared by edit distance.

print(words[0])
ours = cross_validated(krein.ExactKreinSVC("levenshtein"), words, label)

# %%
# scikit-learn takes the matrix of all distances, which is computed first; a new string needs its distances to all others.

D = cdist(words, words, scorer=Levenshtein.distance)
theirs = cross_validated(KNeighborsClassifier(metric="precomputed"), D, label)
found["strings"] = ours, theirs

# %%
# Series of many lengths
# ----------------------
# Elastic distances compare series that start anywhere.

ours = cross_validated(krein.ExactKreinSVC("msm"), series, who)

# %%
# aeon has the same distance for its nearest neighbors.

theirs = cross_validated(KNeighborsTimeSeriesClassifier(distance="msm"), [one[None] for one in series], who)
found["series"] = ours, theirs

# %%
# Sets
# ----
# The dark pixels of a digit, compared by what two sets share.

ours = cross_validated(krein.ExactKreinSVC("jaccard"), sets, label)

# %%
# scikit-learn takes rows of indicators.

rows = MultiLabelBinarizer().fit_transform([map(str, dark) for dark in sets]).astype(bool)
theirs = cross_validated(KNeighborsClassifier(metric="jaccard"), rows, label)
found["sets"] = ours, theirs

# %%
# Graphs
# ------
# Dark pixels are nodes, and near ones are joined. Two graphs are as similar as the kinds of edges that they share, in proportion to
# all that one of them has. Any such function is taken as it is.


def kinds(graph):
    ends = ((one, two) for one in graph for two in graph[one])
    return Counter((len(graph[a]), len(graph[b]), b[0] - a[0], b[1] - a[1], a[0] // 3) for a, b in ends)


def shared(one, other):
    a, b = kinds(one), kinds(other)
    return (a & b).total() / (1 + (a | b).total())


ours = cross_validated(krein.ExactKreinSVC(shared), graphs, label)

# %%
# scikit-learn takes the matrix, which is written as a double loop.

K = np.array([[shared(one, other) for other in graphs] for one in graphs])
theirs = cross_validated(SVC(kernel="precomputed"), K, label)
found["graphs"] = ours, theirs

# %%
# A matrix of distances
# ---------------------
# The modified Hausdorff distance between two sets of points.

near = [[np.hypot(*(one[:, None] - other).transpose(2, 0, 1)) for other in points] for one in points]
D = np.array([[max(d.min(0).mean(), d.min(1).mean()) for d in row] for row in near])
ours = cross_validated(krein.ExactKreinSVC(krein.DistanceKernel("precomputed")), D, label)

# %%
# And with scikit-learn:

theirs = cross_validated(KNeighborsClassifier(metric="precomputed"), D, label)
found["distances"] = ours, theirs

# %%
# Accuracies
# ----------
# With the objects at hand krein took one line for each task, from the class to the accuracy; scikit-learn or aeon took two for
# strings, sets and graphs, and one for series and distances.

for task, (ours, theirs) in found.items():
    print(f"{task:10s} krein {ours:.3f}, scikit-learn or aeon {theirs:.3f}")

look = look_of("auto")
figure = new_figure(7.0, 3.2)
axes = figure.subplots()
place = np.arange(len(found))
for shift, who_is, color in ((-0.2, 0, COLORS["measure"]), (0.2, 1, look.ink + "a0")):
    heights = [100 * pair[who_is] for pair in found.values()]
    bars = axes.bar(place + shift, heights, 0.38, color=color, label=("krein", "scikit-learn or aeon")[who_is])
    axes.bar_label(bars, fmt="%.0f", padding=2, fontsize=9, color=look.ink)
axes.set_xticks(place, list(found))
axes.set_ylim(0, 125)
axes.set_yticks([0, 25, 50, 75, 100])
axes.legend(loc="upper center", ncols=2, fontsize=9, frameon=False, labelcolor=look.ink)
dress(axes, look, xlabel="", ylabel="", title="accuracy, %")
axes.grid(False, axis="x")
