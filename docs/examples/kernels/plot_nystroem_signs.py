"""
Nyström with and without signs
==============================

Scikit-learn's ``Nystroem`` takes the singular values of the landmark block. For an indefinite kernel these are the absolute
eigenvalues, so the map converges to another kernel: more landmarks do not help. :class:`krein.KreinNystroem` keeps the signs.
"""

# %%
# The hyperbolic tangent on letters
# ---------------------------------
import numpy as np
from sklearn.kernel_approximation import Nystroem

import krein
from krein.plotting import plot_widths

letters = krein.datasets.load("letter")
X, X_test = krein.datasets.minmax_unit(letters.X_train[:2000], letters.X_test[:500])


def tangent(A, B):
    """tanh of scaled products, as SVC(kernel="sigmoid") has it."""
    return np.tanh(4.0 * A @ B.T - 3.0)


exact = tangent(X_test, X_test)
print(f"negative eigenfraction {krein.diagnose(exact).negative_fraction:.3f}")
widths = [8, 16, 32, 64, 128, 256]
ours, theirs = "KreinNystroem", "scikit-learn's Nystroem"
errors = {ours: [], theirs: []}
for width in widths:
    signed = krein.KreinNystroem(tangent, n_components=width, random_state=0).fit(X)
    plain = Nystroem(kernel="sigmoid", gamma=4.0, coef0=-3.0, n_components=width, random_state=0).fit(X)
    Z = plain.transform(X_test)
    for name, product in ((ours, signed.approximate(X_test)), (theirs, Z @ Z.T)):
        errors[name].append(np.linalg.norm(product - exact) / np.linalg.norm(exact))
    print(f"{width:4} landmarks: {errors[ours][-1]:.4f} and {errors[theirs][-1]:.4f}")

# %%
lines = {name: list(zip(widths, values, strict=True)) for name, values in errors.items()}
plot_widths(lines, title="tanh(4 x·y − 3) on letter")
