"""
Molecules as graphs
===================

The data are MUTAG, 188 molecules, from GraKeL. (This page has output if GraKeL was installed when it was built; it takes 5 s.)
"""

# %%
# A matching of atoms is not positive definite
# --------------------------------------------
# Atoms of two molecules are assigned to each other so that as many neighbors as possible agree.
from pathlib import Path

import grakel
import numpy as np
from scipy.optimize import linear_sum_assignment

import krein

folder = Path(grakel.__file__).parent / "tests/data/MUTAG"
edges = np.loadtxt(folder / "MUTAG_A.txt", delimiter=",", dtype=int) - 1
graph_of, kind, y = (
    np.loadtxt(folder / f"MUTAG_{name}.txt", dtype=int) for name in ("graph_indicator", "node_labels", "graph_labels")
)
around = np.zeros((kind.size, kind.max() + 1), dtype=int)
np.add.at(around, (edges[:, 0], kind[edges[:, 1]]), 1)
molecules = [(kind[nodes], around[nodes]) for nodes in (graph_of == number for number in np.unique(graph_of))]


def matching(one, other):
    """Worth of the best assignment of atoms, each pair of the same kind counting one and its common neighbors."""
    worth = 1.0 + np.minimum(one[1][:, None], other[1]).sum(axis=2)
    worth *= one[0][:, None] == other[0]
    return worth[linear_sum_assignment(worth, maximize=True)].sum()


K = np.array([[matching(one, other) for other in molecules] for one in molecules])
size = np.sqrt(np.diag(K))
K /= np.multiply.outer(size, size)
diagnosis = krein.diagnose(K, y=y)
print(diagnosis)
diagnosis.plot()
diagnosis.plot_objects()

# %%
# A positive definite kernel for comparison
# -----------------------------------------
graphs = []
for number in np.unique(graph_of):
    inside = [tuple(edge) for edge in edges.tolist() if graph_of[edge[0]] == number]
    nodes = np.flatnonzero(graph_of == number)
    graphs.append(grakel.Graph(dict.fromkeys(inside, 1), node_labels={int(v): int(kind[v]) for v in nodes}))
subtrees = grakel.WeisfeilerLehman(n_iter=4, normalize=True, base_graph_kernel=grakel.VertexHistogram)
for name, matrix in (("matching", K), ("subtrees", subtrees.fit_transform(graphs))):
    print(name, krein.compare(matrix, y, methods=["krein-ridge", "krein-svc", "svc-clip", "neighbors"]), sep="\n")
