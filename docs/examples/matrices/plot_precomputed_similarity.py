"""
A similarity that is not positive definite
==========================================

Dynamic time warping compares series that run at different speeds. A similarity such as one minus the scaled distance is symmetric
but has large negative eigenvalues, so methods for positive definite kernels do not apply. `KreinNystroem` takes the
unchanged matrix, keeps the signs, and gives features for any linear model.
"""

# %%
# Three shapes, each stretched at random
# --------------------------------------
import matplotlib.pyplot as plt
import numpy as np
from scipy import linalg
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from krein import KreinNystroem

rng = np.random.default_rng(0)
LENGTH = 40


def draw(shape):
    """One series: a shape on a warped clock, with noise."""
    steps = rng.gamma(0.6, size=LENGTH)
    clock = np.cumsum(steps) / steps.sum()
    values = [np.sin(2 * np.pi * clock), np.sign(np.sin(2 * np.pi * clock)), 4 * np.abs(clock - 0.5) - 1][shape]
    return values + 0.15 * rng.normal(size=LENGTH)


labels = rng.integers(3, size=450)
series = np.array([draw(label) for label in labels])
train, test = np.arange(300), np.arange(300, 450)

fig, axes = plt.subplots(1, 3, figsize=(9, 2.2), sharey=True)
for shape, ax in enumerate(axes):
    ax.plot(series[labels == shape][:4].T, lw=1)
    ax.set_title(["sine", "square", "triangle"][shape])
fig.tight_layout()


# %%
# Dynamic time warping, all pairs at once
# ---------------------------------------
# The recursion over cells is sequential, but all pairs of series take each step together.
def warping_distance(A, B):
    """DTW distances between the rows of two matrices."""
    cost = np.full((LENGTH + 1, len(A), len(B)), np.inf)
    cost[0] = 0.0
    for i in range(LENGTH):
        row = np.full_like(cost, np.inf)
        for j in range(LENGTH):
            step = np.abs(A[:, None, i] - B[None, :, j])
            row[j + 1] = step + np.minimum(np.minimum(cost[j], cost[j + 1]), row[j])
        cost = row
    return cost[-1]


distances = warping_distance(series, series[train])
K = 1.0 - distances / np.median(distances)
square = (K[train] + K[train].T) / 2
eigenvalues = linalg.eigvalsh(square)
print(f"eigenvalues from {eigenvalues.min():.1f} to {eigenvalues.max():.1f}, {np.mean(eigenvalues < 0):.0%} negative")

# %%
# Features that keep the negative part
# ------------------------------------
# ``fit`` takes the square matrix of the training series, ``transform`` the rectangular one of new series (rows) to training
# series (columns). Scikit-learn's ``Nystroem`` would approximate the matrix with all eigenvalues made positive.
features = KreinNystroem(kernel="precomputed", n_components=40, oversampling=4, random_state=0).fit(square)
approximation = features.approximate(square)
values, vectors = linalg.eigh(square)
positive = (vectors * np.abs(values)) @ vectors.T
size = np.linalg.norm(square)
print(f"relative error of 40 signed features:        {np.linalg.norm(approximation - square) / size:.3f}")
print(f"of the matrix with absolute eigenvalues |K|: {np.linalg.norm(positive - square) / size:.3f}")

model = make_pipeline(features, LogisticRegression(max_iter=1000)).fit(square, labels[train])
print(f"accuracy on new series: {model.score(K[test], labels[test]):.3f}")

# %%
fig, ax = plt.subplots(figsize=(6, 3))
order = np.argsort(-np.abs(values))[:60]
ax.stem(
    np.where(values[order] > 0, values[order], np.nan), linefmt="C0-", markerfmt="C0o", basefmt=" ", label="positive"
)
ax.stem(
    np.where(values[order] < 0, -values[order], np.nan), linefmt="C3-", markerfmt="C3o", basefmt=" ", label="negative"
)
ax.set(
    yscale="log", xlabel="rank by absolute value", ylabel="|eigenvalue|", title="The spectrum of a warping similarity"
)
ax.legend()
fig.tight_layout()
plt.show()
