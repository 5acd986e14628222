"""
A map of shapes with a negative axis
====================================

:class:`krein.KreinMDS` finds coordinates that reproduce distances, where some axes count negatively: points far apart on such an
axis are *closer* than they look. The example uses shapes of digits, with a distance that is not a metric.
"""

# %%
# Distances to landmarks
# ----------------------
# 300 digits are placed by all their distances, 100 more afterwards by their distances to these.

import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from scipy.ndimage import distance_transform_edt
from sklearn.datasets import load_digits

import krein
from krein.plotting import COLORS, dress, look_of, new_figure

digits = load_digits()
dark, label = digits.images[:400] >= 8, digits.target[:400]
way = np.array([distance_transform_edt(~one) for one in dark])
one_way = np.einsum("ipq,jpq->ij", dark / dark.sum(axis=(1, 2), keepdims=True), way)
D = np.maximum(one_way, one_way.T)
scaling = krein.KreinMDS(n_components=12).fit(D[:300, :300])
print("eigenvalues", scaling.eigenvalues_.round(1))
places = scaling.transform(D[300:, :300])

# %%
# How well are the distances of new digits to old ones reproduced, with the signs and with the positive axes only?

old = scaling.embedding_
squares = np.square(places[:, None] - old[None])
for name, signs in (("all axes, with signs", scaling.signature_), ("positive axes only", scaling.signature_ > 0)):
    error = np.linalg.norm(squares @ signs - D[300:, :300] ** 2) / np.linalg.norm(D[300:, :300] ** 2)
    print(f"{name:21} relative error of squared distances {error:.3f}")

# %%
# New digits on the two largest positive axes, and on the largest positive and the largest negative one.

look = look_of("auto")
figure = new_figure(9.5, 4.4)
positive, negative = np.flatnonzero(scaling.signature_ > 0), np.flatnonzero(scaling.signature_ < 0)
for axes, pair in zip(figure.subplots(1, 2), ((positive[0], positive[1]), (positive[0], negative[0])), strict=True):
    axes.plot(places[:, pair[0]], places[:, pair[1]], ",", color=look.ink)
    for place, image, digit in zip(places, digits.images[300:400], label[300:], strict=True):
        color = list(COLORS.values())[digit % 6]
        ink = np.zeros((8, 8, 4))
        ink[..., :3] = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        ink[..., 3] = image / 16
        axes.add_artist(AnnotationBbox(OffsetImage(ink, zoom=1.6), place[list(pair)], frameon=False))
    names = [f"axis of eigenvalue {scaling.eigenvalues_[i]:.0f}" for i in pair]
    dress(axes, look, xlabel=names[0], ylabel=names[1])
