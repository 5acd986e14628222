"""
Are the probabilities reliable?
===============================

Is a letter in the first or the second half of the alphabet? Of the rows to which a model gives a probability of 80 %, four in
five should be. This example draws a reliability diagram on 4,000 held-out rows.
"""

# %%
# Four models with probabilities
# ------------------------------
# ``KreinLogistic`` chooses its regularization by the log-loss on held-out rows. The second model is the same with scikit-learn's
# calibration. The other two are models of scikit-learn, on standardized columns.

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import krein
from krein.plotting import COLORS, dress, look_of, new_figure

letters = krein.datasets.load("letter")
X, y = letters.X_train[:800], letters.y_train[:800] < 13
X_test, y_test = letters.X_test[:4000], letters.y_test[:4000] < 13
models = {
    "KreinLogistic": krein.KreinLogistic(random_state=0),
    "KreinLogistic, calibrated": CalibratedClassifierCV(krein.KreinLogistic(random_state=0), ensemble=False),
    "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression()),
    "GaussianNB": GaussianNB(),
}
chances = {name: model.fit(X, y).predict_proba(X_test)[:, 1] for name, model in models.items()}
for name, chance in chances.items():
    right = np.mean((chance > 0.5) == y_test)
    between = (chance > 0.1) & (chance < 0.9)
    told, true = np.maximum(chance, 1 - chance)[between], ((chance > 0.5) == y_test)[between]
    print(
        f"{name:26} log-loss {log_loss(y_test, chance):.3f}, accuracy {right:.3f}; between 10 and 90 %: "
        f"{between.sum()} rows, overconfident by {100 * (told.mean() - true.mean()):.0f} points"
    )

# %%
# On the diagonal the probabilities are correct. The linear model is close to it, but its probabilities are seldom near 0 or 1.
# ``KreinLogistic`` gives most rows probabilities near 0 or 1; fitted on 800 rows, it is overconfident on the others, by the points
# printed above. Calibration removes most of this, for six fits instead of one. The log-loss measures both effects, so models should
# be compared by it.

look = look_of("auto")
figure = new_figure(9.5, 3.8)
left, right = figure.subplots(1, 2)
left.plot([0, 1], [0, 1], color=look.ink, linewidth=1)
for (name, chance), color in zip(chances.items(), ("positive", "measure", "negative", "other"), strict=True):
    observed, given = calibration_curve(y_test, chance, n_bins=10)
    left.plot(given, observed, "o-", color=COLORS[color], linewidth=1.5, markersize=4, label=name)
    right.hist(chance, bins=20, range=(0, 1), histtype="step", color=COLORS[color], linewidth=1.5)
left.legend(frameon=False, labelcolor=look.ink, fontsize="small")
dress(left, look, xlabel="probability given", ylabel="share of rows where it is true", title="reliability")
dress(right, look, xlabel="probability given", ylabel="rows of 4,000", title="how often it is given")
