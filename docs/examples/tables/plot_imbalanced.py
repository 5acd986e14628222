"""
One letter of twenty-six
========================

Find the *H* among capital letters: 35 of 1,000 training rows. A model that finds none has an accuracy of 97 %. This example shows
the effects of class weights and of the threshold.
"""

# %%
# Ranking and threshold
# ---------------------
# A classifier ranks rows by its margin; rows above the threshold are predicted as *H*. A curve shows all thresholds.

from sklearn.metrics import average_precision_score, precision_recall_curve, precision_score, recall_score
from sklearn.model_selection import TunedThresholdClassifierCV

import krein
from krein.plotting import COLORS, dress, look_of, new_figure

letters = krein.datasets.load("letter")
X, y = letters.X_train[:1000], letters.y_train[:1000] == 7
X_test, y_test = letters.X_test[:4000], letters.y_test[:4000] == 7
print(f"{y.sum()} of {len(y)} training rows, {y_test.sum()} of {len(y_test)} test rows")
plain = krein.KreinRidgeClassifier(random_state=0).fit(X, y)
even = krein.KreinRidgeClassifier(class_weight="balanced", random_state=0).fit(X, y)
cut = TunedThresholdClassifierCV(plain, scoring="f1", cv=3).fit(X, y)

# %%
# Weights raise the number of alarms and make the ranking worse; a threshold chosen on held-out rows keeps the better ranking.

look = look_of("auto")
figure = new_figure(6.4, 3.8)
axes = figure.subplots()
for name, model, color in (("no weights", plain, "positive"), ("balanced weights", even, "negative")):
    margin = model.decision_function(X_test)
    precision, recall, _ = precision_recall_curve(y_test, margin)
    worth = average_precision_score(y_test, margin)
    axes.plot(recall, precision, color=COLORS[color], linewidth=1.5, label=f"{name}, average precision {worth:.2f}")
for name, model, color, marker in (
    ("its own cut", plain, "positive", "o"),
    ("its own cut", even, "negative", "o"),
    ("cut for F1", cut, "positive", "s"),
):
    found = model.predict(X_test)
    place = recall_score(y_test, found), precision_score(y_test, found)
    print(f"{name:12} finds {place[0]:.0%} of the letters, {place[1]:.0%} of its alarms are true")
    axes.plot(*place, marker, color=COLORS[color], markersize=8)
    axes.annotate(name, place, xytext=(8, 4), textcoords="offset points", color=look.ink, fontsize="small")
axes.legend(frameon=False, labelcolor=look.ink, fontsize="small", loc="lower left")
dress(axes, look, xlabel="share of the letters that are found", ylabel="share of alarms that are true")
