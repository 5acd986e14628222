"""
Which letters are confused
==========================

A classifier with default settings is fitted on 3,000 rows of *letter*; the figure shows which letters it confuses on 6,000
others.
"""

# %%
# The matrix
# ----------
# Blue cells are correct, orange cells wrong; the darker a cell, the larger its share of the rows of the true letter.

import numpy as np
from sklearn.metrics import confusion_matrix

import krein
from krein.plotting import plot_confusion

letters = krein.datasets.load("letter")
names = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
y, y_test = names[letters.y_train[:3000]], names[letters.y_test]
model = krein.KreinRidgeClassifier(random_state=0).fit(letters.X_train[:3000], y)
predicted = model.predict(letters.X_test)
print("chosen:", model.choice_.kernel)
plot_confusion(y_test, predicted)

# %%
# The pairs that are confused most often, in both directions together, are those that people confuse as well.

counts = confusion_matrix(y_test, predicted)
pairs = np.triu(counts + counts.T, 1)
for place in np.argsort(-pairs, axis=None)[:6]:
    i, j = np.unravel_index(place, pairs.shape)
    print(f"{names[i]} and {names[j]}: {pairs[i, j]} times")
