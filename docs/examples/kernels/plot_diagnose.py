"""
Diagnose a kernel and plot its measure
======================================

Can random features approximate my similarity? :func:`krein.diagnose` answers this; then plot the signed measure that the
library would draw from.
"""

# %%
# Three similarities
# ------------------
# A difference of Gaussians, the tangent kernel of a small ReLU network, and an arbitrary function.

import numpy as np

import krein
from krein.kernels import NTK, DeltaGaussian, Radial
from krein.plotting import plot_measure

mexican_hat = Radial(lambda z: (1 - z**2) * np.exp(-(z**2) / 2))
kernels = {"DeltaGaussian(1, 2)": DeltaGaussian(1.0, 2.0), "NTK": NTK(), "(1 − z²) exp(−z²/2)": mexican_hat}

for kernel in kernels.values():
    print(krein.diagnose(kernel, dim=8), "\n")

# %%
# The first has a closed form. The second is positive definite on the sphere, but as a function on all of space it has no
# finite measure: at antipodal points it has an infinite slope. The third was decided numerically.
#
# A closed form holds at all distances
# ------------------------------------
# Where the two Gaussians overlap their masses cancel, so the total is below 2.

kernel = kernels["DeltaGaussian(1, 2)"]
measure = krein.signed_measure(kernel, dim=8)
print(measure)
first = plot_measure(kernel, measure)

# %%
# Otherwise, only the distances of the data count
# -----------------------------------------------
# Unit vectors with non-negative entries are at most √2 apart. Up to this distance the NTK has a measure of small mass: a
# polynomial head that needs no sampling, and a few atoms.

kernel = kernels["NTK"]
measure = krein.signed_measure(kernel, dim=8, radius=2**0.5)
print(measure)
second = plot_measure(kernel, measure)

# %%
# The same works for your own function. The radius is the largest distance in the data.

measure = krein.signed_measure(mexican_hat, dim=8, radius=3.0)
print(measure)
third = plot_measure(mexican_hat, measure, title="(1 − z²) exp(−z²/2)")

# %%
# How many columns?
# -----------------
# The error of unbiased features can be predicted before anything is drawn.

for width in (64, 256, 1024):
    deviation = np.sqrt(krein.predicted_error(measure, [0.5, 1.5, 2.5], n_components=width))
    print(f"{width:5} columns: standard deviation {deviation.round(3)} at z = 0.5, 1.5, 2.5")
