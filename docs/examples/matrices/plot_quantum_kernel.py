"""
A quantum kernel with finitely many shots
=========================================

A fidelity is a probability, estimated by counting. The matrix of exact fidelities is positive semidefinite; that of counts is not.
(This page has output if qiskit was installed when it was built; it takes 3 s.)
"""

# %%
# From states to counts
# ---------------------
import numpy as np
from qiskit.circuit.library import zz_feature_map
from qiskit.quantum_info import Statevector
from sklearn.datasets import load_iris
from sklearn.preprocessing import MinMaxScaler

import krein

X, y = load_iris(return_X_y=True)
X = MinMaxScaler((0.0, np.pi / 2)).fit_transform(X)
circuit = zz_feature_map(4, reps=2)
states = np.array([Statevector(circuit.assign_parameters(x)).data for x in X])
exact = np.clip(np.abs(states.conj() @ states.T) ** 2, 0.0, 1.0)
print("exact fidelities:", krein.diagnose(exact).verdict)

rng = np.random.default_rng(0)
for shots in (32, 128, 1024):
    counts = np.triu(rng.binomial(shots, exact) / shots, 1)
    K = counts + counts.T + np.eye(len(X))
    found = krein.diagnose(K, y=y, noise=0.5 / np.sqrt(shots))
    print(
        f"{shots} shots: {found.verdict}, negative eigenfraction {found.negative_fraction:.3f}, accuracy "
        f"{found.scores.kept:.3f} with and {found.scores.dropped:.3f} without the negative part"
    )

# %%
# What to do
# ----------
# The negative part is noise: use the nearest positive semidefinite matrix with ones on the diagonal, and correct new objects
# consistently.
print(found)
found.plot()
print(krein.compare(K, y, methods=["svc-raw", "svc-clip", "svc-flip", "krein-ridge"]))
