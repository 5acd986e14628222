"""
How a kernel is chosen from the data
====================================

A learner with default settings tries kernels at several length scales on *letter* and chooses the one with the least error on
left-out rows. Held-out rows show whether the choice was good.
"""

# %%
# The choice
# ----------
# All candidates are scored on 240 rows, the best of them on more, the last few on all. Errors are those of a ridge model on
# left-out rows, relative to the error of a constant.

import krein
from krein.plotting import COLORS, dress, look_of, new_figure, plot_trials

letters = krein.datasets.load("letter")
X, y = letters.X_train[:800], letters.y_train[:800]
X_test, y_test = letters.X_test[:2000], letters.y_test[:2000]
model = krein.KreinRidgeClassifier(random_state=0).fit(X, y)
print("chosen:", model.choice_.kernel)
tried = plot_trials(model.choice_.trials)

# %%
# Was the choice good?
# --------------------
# The same learner, restricted to one family of kernels at a time. The figure shows the error on 240 rows, where all candidates are
# compared, against the accuracy on new rows: this error only has to put the good kernels on the short list.

from krein.kernels import NTK, Cauchy, Gaussian, Laplacian, Matern  # noqa: E402  # beside its use

families = {"Gaussian": Gaussian(), "Cauchy": Cauchy(), "Matérn": Matern(), "Laplacian": Laplacian(), "NTK": NTK()}
points = {}
for name, kernel in families.items():
    one = krein.KreinRidgeClassifier(krein.TunedFeatures([kernel], random_state=0)).fit(X, y)
    error = min(trial.error for trial in one.choice_.trials if trial.n_rows == 240)
    points[name] = error, one.score(X_test, y_test)
    print(f"{name:10} leave-one-out error {error:.3f}, accuracy on new rows {points[name][1]:.3f}")
print(f"chosen from all: accuracy on new rows {model.score(X_test, y_test):.3f}")

look = look_of("auto")
figure = new_figure(6.0, 3.6)
axes = figure.subplots()
for (name, (error, score)), color in zip(points.items(), COLORS.values(), strict=False):
    axes.plot(error, score, "o", color=color, markersize=8)
    axes.annotate(name, (error, score), xytext=(8, -3), textcoords="offset points", color=look.ink)
axes.axhline(model.score(X_test, y_test), color=look.ink, linewidth=1.0, linestyle="--", label="chosen from all")
axes.margins(x=0.2)
axes.legend(frameon=False, labelcolor=look.ink)
dress(axes, look, xlabel="least leave-one-out error of 240 rows", ylabel="accuracy on new rows")
