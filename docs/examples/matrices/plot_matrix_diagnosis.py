"""
What is this matrix?
====================

Four matrices of similarities between the same objects: positive, positive with noise, indefinite, and distances that are not
Euclidean. `krein.diagnose` distinguishes them and gives reasons.
"""

# %%
# Positive definite except for noise in the entries
# -------------------------------------------------
# Negative directions found in one half of the objects are not found in the other half.
import numpy as np

import krein

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
y = np.where(X[:, 0] * X[:, 1] > 0, "same sign", "other")
gauss = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
errors = np.triu(rng.normal(scale=0.05, size=gauss.shape))
noisy = gauss + errors + errors.T
print(krein.diagnose(noisy, y=y))

# %%
# Indefinite by nature
# --------------------
# The hyperbolic tangent has negative eigenvalues of the size of the positive ones, the same in every sample of objects.
diagnosis = krein.diagnose(np.tanh(X @ X.T - 1.0), y=y)
print(diagnosis)
diagnosis.plot()
diagnosis.plot_objects()

# %%
# Distances
# ---------
# City-block distances are a metric and yet not Euclidean: a quarter of the spectrum is negative, and here the negative part
# predicts the labels. `KreinMDS` finds coordinates of the objects, with the sign of every axis.
city = np.abs(X[:, None] - X).sum(axis=2)
print(krein.diagnose(city, distance=True, y=y))
model = krein.KreinMDS(n_components=6).fit(city)
print("signs of the axes", model.signature_, "eigenvalues", model.eigenvalues_.round(1))

# %%
# Which model learns best from it
# -------------------------------
# Nested cross-validation; the corrections before scikit-learn's ``SVC`` treat new objects consistently.
H = np.eye(300) - 1.0 / 300
print(krein.compare(-0.5 * H @ city**2 @ H, y, folds=3))
