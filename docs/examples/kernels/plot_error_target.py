"""
The width for a target error
============================

How many columns does a kernel need? Set a target error, and ``n_components="auto"`` finds the smallest map that meets it on
held-out rows. The example uses three kernels on *letter*.
"""

# %%
# Targets and widths
# ------------------
import numpy as np

import krein
from krein.kernels import NTK, DeltaGaussian, Gaussian
from krein.plotting import COLORS, dress, look_of, new_figure

letters = krein.datasets.load("letter")
X, X_test = krein.datasets.minmax_unit(letters.X_train[:3000], letters.X_test[:500])
targets = [1e-1, 3e-2, 1e-2, 3e-3]
kernels = {"Gaussian(0.5)": Gaussian(0.5), "DeltaGaussian(1, 10)": DeltaGaussian(1.0, 10.0), "NTK": NTK()}
widths, errors = {}, {}
for name, kernel in kernels.items():
    exact = kernel(X_test)
    for target in targets:
        features = krein.SignedFourierFeatures(kernel, "auto", error=target, random_state=0).fit(X)
        widths[name, target] = features.signature_.size
        errors[name, target] = np.linalg.norm(features.approximate(X_test) - exact) / np.linalg.norm(exact)
    words = ", ".join(f"{target:g}: {widths[name, target]} columns" for target in targets)
    print(f"{name:21} {words}")

# %%
# On the right is the error on new rows: it should be on or below the line.

look = look_of("auto")
figure = new_figure(9.5, 3.6)
left, right = figure.subplots(1, 2)
for (name, _), color, marker in zip(kernels.items(), ("positive", "negative", "measure"), "os^", strict=True):
    line = {"color": COLORS[color], "marker": marker, "linewidth": 1.5}
    left.loglog(targets, [widths[name, target] for target in targets], label=name, **line)
    right.loglog(targets, [errors[name, target] for target in targets], **line)
right.plot(targets, targets, color=look.ink, linewidth=1)
for axes in (left, right):
    axes.invert_xaxis()
left.legend(frameon=False, labelcolor=look.ink, fontsize="small")
dress(left, look, xlabel="target error", ylabel="columns needed")
dress(right, look, xlabel="target error", ylabel="error on new rows")
