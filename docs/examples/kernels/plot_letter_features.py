"""
Features with a signature, and a classifier on them
===================================================

From rows to signed features to a model, on the 26 letters of the *letter* data.
"""

# %%
# Features
# --------
# The map takes the largest distance from the rows, finds a measure, and fits the weights of the frequencies. Every column has a
# sign.

import numpy as np
from sklearn.linear_model import RidgeClassifier

import krein
from krein import datasets
from krein.kernels import NTK
from krein.plotting import COLORS, dress, look_of, new_figure

data = datasets.load("letter")
X, X_test = datasets.minmax_unit(data.X_train[:3000], data.X_test[:2000])
features = krein.SignedFourierFeatures(kernel=NTK(), n_components=256, random_state=0).fit(X)
print(features.measure_)
print(f"{np.sum(features.signature_ > 0)} positive and {np.sum(features.signature_ < 0)} negative columns")
print(f"estimated relative error of the kernel {features.error_estimate_:.4f}")

# %%
# The kernel matrix is the *signed* product. Without the signs it is another matrix.

Z = features.transform(X_test[:500])
exact = NTK()(X_test[:500])
with_signs = (Z * features.signature_) @ Z.T
without = Z @ Z.T
for name, product in {"with signs": with_signs, "without": without}.items():
    print(f"{name:11} relative error {np.linalg.norm(product - exact) / np.linalg.norm(exact):.4f}")

look = look_of("auto")
figure = new_figure(9.5, 3.6)
pairs = np.triu_indices(500, 1)
chosen = np.random.default_rng(0).choice(pairs[0].size, 1500, replace=False)
for axes, (name, product, color) in zip(
    figure.subplots(1, 2),
    [("with the signature", with_signs, "positive"), ("without", without, "negative")],
    strict=True,
):
    axes.plot(exact[pairs][chosen], product[pairs][chosen], ".", markersize=3, color=COLORS[color])
    ends = [exact.min(), exact.max()]
    axes.plot(ends, ends, color=look.ink, linewidth=1)
    dress(axes, look, xlabel="kernel", ylabel="product of features", title=name)

# %%
# A classifier
# ------------
# A linear model on the features is a kernel model on the data. The regularizer is chosen by exact leave-one-out residuals.

model = krein.KreinRidgeClassifier(features).fit(X, data.y_train[:3000])
linear = RidgeClassifier().fit(X, data.y_train[:3000])
print(f"accuracy on {len(X_test)} test rows")
print(f"  linear model on the 16 columns  {linear.score(X_test, data.y_test[:2000]):.3f}")
print(f"  the same on 256 signed features {model.score(X_test, data.y_test[:2000]):.3f}")
