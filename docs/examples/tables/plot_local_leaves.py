"""
More rows: features, exact, and leaves
======================================

Three solvers for the same problem on a growing number of rows of *letter*, 400 to 1,600: on features, exactly, and in a tree
whose leaves are solved exactly.
"""

# %%
# Accuracy and time
# -----------------
# Only the solver is set. The time of exact solutions grows with the cube of the number of rows; they are the default up to 5,000
# rows, and leaves above.

import time

import krein
from krein.plotting import COLORS, dress, look_of, new_figure

letters = krein.datasets.load("letter")
X_test, y_test = letters.X_test[:2000], letters.y_test[:2000]
sizes = [400, 800, 1600]
scores, seconds = {}, {}
for solver in ("features", "exact", "local"):
    for size in sizes:
        started = time.process_time()
        model = krein.KreinRidgeClassifier(solver=solver, random_state=0)
        model.fit(letters.X_train[:size], letters.y_train[:size])
        seconds[solver, size] = time.process_time() - started
        scores[solver, size] = model.score(X_test, y_test)
    print(f"{solver:9}", "  ".join(f"{size}: {scores[solver, size]:.3f}" for size in sizes))

# %%
look = look_of("auto")
figure = new_figure(9.5, 3.6)
left, right = figure.subplots(1, 2)
for solver, color, marker in (("features", "negative", "s"), ("exact", "positive", "o"), ("local", "measure", "^")):
    line = {"color": COLORS[color], "marker": marker, "linewidth": 1.5, "label": f'solver="{solver}"'}
    left.plot(sizes, [scores[solver, size] for size in sizes], **line)
    right.plot(sizes, [seconds[solver, size] for size in sizes], **line)
for axes in (left, right):
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
right.set_yscale("log")
left.legend(frameon=False, labelcolor=look.ink, fontsize="small")
dress(left, look, xlabel="rows", ylabel="accuracy on 2,000 others")
dress(right, look, xlabel="rows", ylabel="processor seconds of a fit")
