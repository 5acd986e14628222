"""
An indefinite similarity that scikit-learn cannot handle
========================================================

Scores of pairs, such as alignment scores or ratings by people, form a matrix of similarities, which need not be positive definite.
This example shows such a matrix, what scikit-learn does with it, and what this library does instead.
"""

# %%
# Similarities with a negative part that matters
# ----------------------------------------------
# Points of space-time, in three groups: the similarity of two points is how much their positions agree *minus* how much
# their times agree. The groups differ in time, so only the negative part distinguishes them.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.svm import SVC

import krein

rng = np.random.default_rng(0)
n = 360
label = rng.integers(3, size=n)
angle = rng.uniform(0, 2 * np.pi, size=n)
position = np.c_[np.cos(angle), np.sin(angle)] + 0.2 * rng.normal(size=(n, 2))
when = 1.4 * (label - 1)[:, None] + 0.25 * rng.normal(size=(n, 1))


def similarity(i, j):
    """Gaussian in position minus a steeper one in time."""
    near = np.exp(-np.square(position[i][:, None] - position[j][None]).sum(axis=-1) / 8)
    simultaneous = np.exp(-np.square(when[i] - when[j].T))
    return near - 2 * simultaneous


train, test = np.arange(240), np.arange(240, n)
K, K_test = similarity(train, train), similarity(test, train)
values = np.linalg.eigvalsh(K)
print(f"eigenvalues from {values[0]:.1f} to {values[-1]:.1f}; {np.mean(values < -1e-9):.0%} of them negative")

# %%
# What scikit-learn does
# ----------------------
# ``KernelPCA`` raises an error if it computes all eigenvalues. ``SVC`` takes the matrix without a warning, although its problem is
# no longer convex and the solver may stop anywhere: here it stops at a classifier that is worse than guessing.

try:
    KernelPCA(kernel="precomputed", eigen_solver="dense").fit(K)
except ValueError as error:
    print("KernelPCA:", str(error)[:88], "…")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    machine = SVC(kernel="precomputed", C=10.0, max_iter=100_000).fit(K, label[train])
print(
    f"SVC:           test accuracy {machine.score(K_test, label[test]):.2f}, {machine.n_support_.sum()} support vectors"
)

# %%
# The same matrix in a Kreĭn space
# --------------------------------
# `ExactKreinSVC` solves a convex problem on the flipped spectrum and transforms the solution back, so that new points are
# compared by the similarity itself. `KreinNystroem` computes features with signs, which any learner of the library takes: here
# ridge, and principal components.

exact = krein.ExactKreinSVC(kernel="precomputed", C=10.0).fit(K, label[train])
print(f"ExactKreinSVC: test accuracy {exact.score(K_test, label[test]):.2f}, {exact.support_.size} support vectors")

features = krein.KreinNystroem(kernel="precomputed", n_components=40, random_state=0)
ridge = krein.KreinRidgeClassifier(features=features).fit(K, label[train])
print(f"KreinRidge on 40 Nyström features: test accuracy {ridge.score(K_test, label[test]):.2f}")

components = krein.KreinPCA(features=features, n_components=4).fit(K)
for value in components.eigenvalues_:
    print(f"component with eigenvalue {value:8.1f}")

# %%
# The largest component is negative: it is time. Clipping negative eigenvalues would remove the one direction in which the groups
# differ.

negative = int(np.argmax(components.signature_ < 0))
positive = int(np.argmax(components.signature_ > 0))
T = components.transform(K_test)
fig, ax = plt.subplots(figsize=(6, 4))
for group in range(3):
    rows = label[test] == group
    ax.scatter(T[rows, positive], T[rows, negative], s=18, label=f"group {group + 1}")
ax.set_xlabel(f"largest positive component ({components.eigenvalues_[positive]:.0f})")
ax.set_ylabel(f"largest negative component ({components.eigenvalues_[negative]:.0f})")
ax.legend()
fig.tight_layout()
plt.show()
