"""
What a choice from the data looks like
======================================

A learner with nothing set tries kernels at several length scales on *letter* and takes the one with the least error on rows left
out. Was it right? Rows that took no part in the choice say so.
"""

# %%
# The choice
# ----------
# All candidates on 240 rows, the best of them on more, the last few on all. Errors are those of a ridge model on rows left out,
# in units of the error of a constant.

import krein
from krein.plotting import COLORS, dress, look_of, new_figure, plot_trials

letters = krein.datasets.load("letter")
X, y = letters.X_train[:800], letters.y_train[:800]
X_test, y_test = letters.X_test[:2000], letters.y_test[:2000]
model = krein.KreinRidgeClassifier(random_state=0).fit(X, y)
print("chosen:", model.choice_.kernel)
tried = plot_trials(model.choice_.trials)

# %%
# Was it right?
# -------------
# The same learner, restricted to one family of kernels at a time. The error on 240 rows, where all candidates are compared, is
# set against the accuracy on new rows: it need only put the good ones on the short list.

from krein.kernels import NTK, Cauchy, Gaussian, Laplacian, Matern  # noqa: E402  # beside its use

families = {"Gaussian": Gaussian(), "Cauchy": Cauchy(), "Matérn": Matern(), "Laplacian": Laplacian(), "NTK": NTK()}
points = {}
for name, kernel in families.items():
    one = krein.KreinRidgeClassifier(krein.TunedFeatures([kernel], random_state=0)).fit(X, y)
    error = min(trial.error for trial in one.choice_.trials if trial.n_rows == 240)
    points[name] = error, one.score(X_test, y_test)
    print(f"{name:10} error left out {error:.3f}, accuracy on new rows {points[name][1]:.3f}")
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
dress(axes, look, xlabel="least error of 240 rows, left out", ylabel="accuracy on new rows")
