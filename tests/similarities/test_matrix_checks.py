"""What counts as symmetric hangs on the type of the numbers, and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import krein
from krein import DistanceKernel, ExactKreinRidge, ExactKreinSVC, KreinMDS, KreinNystroem, SpectrumCorrection
from krein.similarities.matrix_checks import asymmetry_tolerance, check_kind, check_symmetric, symmetric_part


def symmetric(n: int = 40) -> np.ndarray:
    A = np.random.default_rng(0).normal(size=(n, n))
    return A + A.T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_difference_is_refused_from_the_tolerance_on(dtype):
    A = symmetric().astype(dtype)
    largest, tol = np.abs(A).max(), asymmetry_tolerance(dtype)
    A[3, 7] += dtype(0.5 * tol * largest)
    assert check_symmetric(A, "A") == pytest.approx(0.5 * tol * largest, rel=1e-2)
    A[3, 7] += dtype(2.0 * tol * largest)
    with pytest.raises(ValueError, match=r"A must be symmetric, but entries \((3, 7|7, 3)\).*\(K \+ K.T\) / 2"):
        check_symmetric(A, "A")


def test_single_precision_is_given_more_than_its_rounding():
    rng = np.random.default_rng(0)
    X, M = (rng.normal(size=shape).astype(np.float32) for shape in ((60, 200), (200, 200)))
    bilinear = X @ (M + M.T) @ X.T
    gap = np.abs(bilinear - bilinear.T).max() / np.abs(bilinear).max()
    assert 1e-8 < gap < 0.05 * asymmetry_tolerance(np.float32)
    assert check_symmetric(bilinear, "it") > 0.0


def test_sparse_and_long_matrices_are_compared_in_stripes(monkeypatch):
    monkeypatch.setattr("krein.similarities.matrix_checks._STRIPE", 7)
    A = symmetric()
    A[np.abs(A) < 1.0] = 0.0
    assert check_symmetric(A, "A") == check_symmetric(sp.csr_array(A), "A") == 0.0
    A[30, 2] += 1.0
    for lopsided in (A, sp.csr_array(A)):
        with pytest.raises(ValueError, match=r"entries \((30, 2|2, 30)\)"):
            check_symmetric(lopsided, "A")
    np.testing.assert_array_equal(symmetric_part(A), (A + A.T) / 2)


def test_the_symmetric_part_of_a_symmetric_matrix_is_itself():
    A = symmetric()
    assert symmetric_part(A) is A
    B = A.copy()
    B[0, 1] += 1e-12
    part = symmetric_part(B)
    np.testing.assert_array_equal(part, part.T)
    assert B[0, 1] != B[1, 0]  # the given matrix is left alone


def test_nothing_to_compare():
    assert check_symmetric(np.empty((0, 0)), "A") == 0.0
    assert check_symmetric(np.zeros((3, 3)), "A") == 0.0


K = np.exp(-np.abs(np.arange(9.0)[:, None] - np.arange(9.0)))
D = np.abs(np.arange(9.0)[:, None] - np.arange(9.0))
Y = np.arange(9) % 2
TAKE_SIMILARITIES = {
    "diagnosis": lambda A: krein.diagnose(A),
    "machine": lambda A: ExactKreinSVC("precomputed").fit(A, Y),
    "ridge": lambda A: ExactKreinRidge("precomputed").fit(A, Y),
    "landmarks": lambda A: KreinNystroem("precomputed", 4).fit(A),
    "a block of landmarks": lambda A: KreinNystroem("precomputed", 4, landmarks=np.arange(4)).fit(A[:, :4]),
    "a block and its landmarks": lambda A: KreinNystroem("precomputed", 4, landmarks=A[:4, :4]).fit(A[:, :4]),
    "correction": lambda A: SpectrumCorrection().fit(A),
}
TAKE_DISTANCES = {
    "diagnosis": lambda A: krein.diagnose(A, distance=True),
    "machine": lambda A: ExactKreinSVC(DistanceKernel("precomputed")).fit(A, Y),
    "chosen": lambda A: ExactKreinRidge(DistanceKernel("precomputed", "auto", "auto")).fit(A, Y),
    "landmarks": lambda A: KreinNystroem(DistanceKernel("precomputed"), 4).fit(A),
    "chosen by landmarks": lambda A: KreinNystroem(DistanceKernel("precomputed", "auto", "auto"), 4).fit(A, Y),
    "scaling": lambda A: KreinMDS().fit(A),
}


@pytest.mark.parametrize("door", TAKE_SIMILARITIES)
def test_distances_given_as_similarities_are_stopped(door):
    TAKE_SIMILARITIES[door](K)
    with pytest.raises(ValueError, match=r"zeros on its diagonal and no negative entry.*distance"):
        TAKE_SIMILARITIES[door](D)


@pytest.mark.parametrize("door", TAKE_DISTANCES)
def test_similarities_given_as_distances_are_stopped(door):
    TAKE_DISTANCES[door](D)
    with pytest.raises(ValueError, match=r"object 0 has a distance of 1 from itself.*similarities"):
        TAKE_DISTANCES[door](K)
    with pytest.raises(ValueError, match=r"one is -8|[Nn]egative"):
        TAKE_DISTANCES[door](-D)


def test_who_insists_is_heard():
    """The matrix of a graph has zeros on its diagonal and is a similarity."""
    graph = (D == 1.0).astype(float)
    assert krein.diagnose(graph, distance=False).signature == (4, 1, 4)  # a path: 2 cos(πk / 10)
    as_it_is = ExactKreinRidge(DistanceKernel("precomputed", scale=1.0, form="distance"), lam=0.1).fit(graph, Y)
    with_ones = ExactKreinRidge("precomputed", lam=0.1).fit(graph - 1e-300, Y)  # entries below zero are no distances
    np.testing.assert_allclose(as_it_is.predict(graph), with_ones.predict(graph), rtol=1e-9)


def test_the_kind_of_a_matrix_does_not_hang_on_its_unit():
    for unit in (1e-200, 1.0, 1e200):
        for matrix in (unit * K, sp.csr_array(unit * K), unit * (D - 1.0)):
            check_kind(matrix, distance=False, way_out="")
        check_kind(unit * D, distance=True, way_out="")
        check_kind(unit * (D + 1e-4), distance=True, way_out="")  # a diagonal of rounding
        for wrong, distance in ((D, False), (sp.csr_array(D), False), (K, True), (D - 1.0, True)):
            with pytest.raises(ValueError, match="; look again"):
                check_kind(unit * wrong, distance=distance, way_out="look again")
    check_kind(np.zeros((3, 3)), distance=False, way_out="")
    check_kind(np.zeros((3, 3)), distance=True, way_out="")
