"""
Elastic distances of time series
================================

The data are GunPoint: 50 training series and 150 test series, with the distances of `aeon <https://www.aeon-toolkit.org>`_. (This
page has output if aeon was installed when it was built; it takes 25 s of processor time.)
"""

# %%
# Warping is not Euclidean
# ------------------------
import numpy as np
from aeon.datasets import load_gunpoint
from aeon.distances import pairwise_distance

import krein

X, y = load_gunpoint(split="train")
X_new, y_new = load_gunpoint(split="test")
everyone, labels = np.concatenate([X, X_new]), np.concatenate([y, y_new])
diagnosis = krein.diagnose(pairwise_distance(everyone, method="dtw"), distance=True, y=labels)
print(diagnosis)
diagnosis.plot()
diagnosis.plot_objects()

# %%
# Power and scale from the labels
# -------------------------------
# Distances of training series are computed once; power and scale are those whose ridge model has the least error on held-out
# series.
for metric in ("dtw", "msm", "twe"):
    kernel = krein.DistanceKernel(metric, power="auto", scale="auto")
    model = krein.ExactKreinSVC(kernel, C=100.0).fit(X, y)
    chosen = model.similarity_.function
    nearest = y[pairwise_distance(X_new, X, method=metric).argmin(axis=1)]
    print(
        f"{metric}: nearest neighbor {np.mean(nearest == y_new):.3f}, Kreĭn machine {model.score(X_new, y_new):.3f} "
        f"with power {chosen.power} and scale {chosen.scale:.3g}, {model.n_negative_} negative eigenvalues"
    )

# %%
# Landmarks for many series
# -------------------------
# Only distances to 25 landmarks are computed.
features = krein.KreinNystroem(krein.DistanceKernel("twe"), n_components=25, random_state=0)
model = krein.KreinRidgeClassifier(features).fit(X, y)
print(f"25 landmarks: {model.score(X_new, y_new):.3f}")
