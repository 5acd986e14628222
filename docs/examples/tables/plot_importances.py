"""
Which columns matter
====================

A metric learned from the data stretches the columns that the target depends on and shrinks the others. The table is scikit-learn's
diabetes set of 442 people: ten columns, and the progression of the disease within a year.
"""

# %%
# Learn the metric
# ----------------
# The kernel compares rows in the metric, which is learned from the gradients of the model itself. The importance of a column is its
# share in the mean squared derivative of the prediction.

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score

import krein
from krein.plotting import plot_importances

table = load_diabetes(as_frame=True, scaled=False)
X, y = table.data, table.target
features = krein.TunedFeatures(metric="learned", random_state=0).fit(X, y)
importances = features.feature_importances_
plot_importances(importances, X.columns, title="progression of diabetes")
for name, share in sorted(zip(X.columns, importances, strict=True), key=lambda pair: -pair[1])[:3]:
    print(f"{name}: {share:.0%}")

# %%
# A blood value (s5, the logarithm of triglycerides) and the body mass index are the most important.
#
# Does it help?
# -------------
# On a small table it may not help, because there are few rows to learn a metric from.

learned, equal = krein.KreinRidge(features), krein.KreinRidge(random_state=0)
for name, model in (("learned metric", learned), ("columns of equal worth", equal)):
    scores = cross_val_score(model, X, y, cv=3)
    print(f"{name:22} R² {np.mean(scores):.3f} ± {np.std(scores):.3f}")
