"""Maps and models in other runtimes give what they give here."""

from __future__ import annotations

import numpy as np
import pytest

import krein
from krein._core.errors import ExportError
from krein.export import onnx_model, rows_input, torch_module, translate
from krein.export.expression import Expression, ordered
from krein.kernels import (
    NTK,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    GeodesicGaussian,
    Laplacian,
    Matern,
    Multiquadric,
    Radial,
    SphericalPolynomial,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
NEW = RNG.normal(size=(25, 4))


def fourier(kernel, **options):
    return krein.SignedFourierFeatures(kernel, 48, random_state=0, **options)


MAPS = {
    "waves": lambda: fourier(DeltaGaussian(1.0, 3.0)),
    "sphere": lambda: fourier(NTK(2)),
    "head of degree 2": lambda: fourier(Gaussian(4.0), measure=krein.MeasureRecipe(head_degree=2)),
    "fast transform": lambda: fourier(Gaussian(2.0), sampler="hadamard"),
    "waves projected": lambda: fourier(DeltaGaussian(1.0, 3.0), weights="projected", dictionary="waves"),
    "exact polynomial": lambda: fourier(SphericalPolynomial(2, 2)),
    **{
        f"landmarks, {kernel!r}": lambda kernel=kernel: krein.KreinNystroem(kernel, 32, random_state=0)
        for kernel in (
            *(Gaussian(2.0), Laplacian(2.0), Matern(2.0, 1.5), Matern(2.0, 2.5), Cauchy(2.0), DeltaGaussian(1.0, 3.0)),
            *(Multiquadric(1.0), ArcCosine(0), ArcCosine(1), NTK(), NTK(3), SphericalPolynomial(2, 3)),
            2 * Gaussian(1.0) - Laplacian(3.0),
        )
    },
    "sections": lambda: fourier(Matern(2.0, 1.5), weights="projected", dictionary="landmarks"),
}


@pytest.mark.parametrize("name", MAPS)
def test_a_formula_gives_the_features(name):
    model = MAPS[name]().fit(X)
    formula = translate(model.map_, rows_input())
    np.testing.assert_allclose(evaluated(formula, NEW), model.transform(NEW), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["waves", "sphere", "head of degree 2", "sections"])
def test_torch(name):
    torch = pytest.importorskip("torch")
    model = MAPS[name]().fit(X)
    module = torch_module(translate(model.map_, rows_input()))
    rows = torch.tensor(NEW, requires_grad=True)
    Z = module(rows)
    np.testing.assert_allclose(Z.detach().numpy(), model.transform(NEW), rtol=0, atol=1e-6)
    Z.sum().backward()
    step = 1e-5
    for j in range(NEW.shape[1]):
        moved = np.zeros(NEW.shape[1])
        moved[j] = step
        slope = (model.transform(NEW + moved) - model.transform(NEW - moved)).sum(axis=1) / (2 * step)
        np.testing.assert_allclose(rows.grad[:, j].numpy(), slope, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["waves", "sphere", "head of degree 2", "sections"])
def test_onnx(name):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model = MAPS[name]().fit(X)
    coef, intercept = RNG.normal(size=(3, 48)) / 48, RNG.normal(size=3)
    formula = translate(model.map_, rows_input()) @ coef.T + intercept
    made = onnx_model(formula, n_features=4, n_outputs=3, output="values")
    session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"X": NEW.astype(np.float32)})
    expected = model.transform(NEW) @ coef.T + intercept
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


Y = np.cos(X[:, 0]) + X[:, 1] ** 2
LABELS = np.digitize(Y, [0.5, 1.5])
MODELS = {
    "exact": lambda: krein.KreinRidge().fit(X, Y),
    "exact, classes": lambda: krein.KreinRidgeClassifier().fit(X, LABELS),
    "features": lambda: krein.KreinRidge(MAPS["sphere"]()).fit(X, np.c_[Y, -Y]),
    "chosen features": lambda: krein.KreinRidgeClassifier(solver="features", random_state=0).fit(X, LABELS),
    "svc": lambda: krein.KreinSVC(random_state=0).fit(X, LABELS),
    "logistic": lambda: krein.KreinLogistic(MAPS["waves"](), random_state=0).fit(X, LABELS),
    "tuned map": lambda: krein.TunedFeatures(random_state=0).fit(X, Y),
}


def values_of(model, rows):
    call = getattr(model, "decision_function", None) or getattr(model, "predict", None) or model.transform
    return call(rows).reshape(len(rows), -1)


@pytest.mark.parametrize("name", MODELS)
def test_models_as_formulas(name):
    model = MODELS[name]()
    found = evaluated(model._formula(rows_input()), NEW)
    assert found.shape[1] == model._n_values()
    np.testing.assert_allclose(found, values_of(model, NEW), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_models_in_other_runtimes(name, tmp_path):
    torch, runtime = pytest.importorskip("torch"), pytest.importorskip("onnxruntime")
    model = MODELS[name]()
    expected = values_of(model, NEW)
    np.testing.assert_allclose(model.to_torch()(torch.tensor(NEW)).numpy(), expected, rtol=0, atol=1e-6)
    model.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"X": NEW.astype(np.float32)})
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_a_map_without_a_formula():
    model = krein.baselines.TensorSketch(n_components=16, random_state=0).fit(X)
    for export in (model.to_torch, lambda: model.to_onnx("never-written.onnx")):
        with pytest.raises(ExportError, match="TensorSketch cannot be exported"):
            export()


@pytest.mark.parametrize("kernel", [GeodesicGaussian(0.9), Radial(np.tanh), Matern(1.0, 0.7)])
def test_what_cannot_be_exported(kernel):
    model = krein.KreinNystroem(kernel, 8, random_state=0).fit(X)
    with pytest.raises(ExportError, match="cannot be exported"):
        translate(model.map_, rows_input())


def test_a_similarity_of_the_users_own():
    model = krein.KreinNystroem(lambda A, B: A @ B.T, 8, random_state=0).fit(X)
    with pytest.raises(ExportError, match="cannot call the similarity"):
        translate(model.map_, rows_input())


def test_an_unknown_operation():
    with pytest.raises(ValueError, match="operation must be one of"):
        Expression("tan")


FUNCTIONS = {
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "matmul": np.matmul},
    **{"at_least": np.maximum, "at_most": np.minimum, "concat": lambda *parts: np.concatenate(parts, axis=1)},
    **{"cos": np.cos, "sin": np.sin, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "arccos": np.arccos},
    "sum": lambda rows: rows.sum(axis=1, keepdims=True),
}


def evaluated(formula: Expression, rows: np.ndarray) -> np.ndarray:
    """The formula computed with numpy."""
    results = {}
    for step in ordered(formula):
        inputs = [results[id(one)] for one in step.inputs]
        if step.operation == "input":
            results[id(step)] = rows
        elif step.operation == "constant":
            results[id(step)] = step.value
        elif step.operation == "gather":
            results[id(step)] = inputs[0][:, step.value]
        else:
            results[id(step)] = FUNCTIONS[step.operation](*inputs)
    return results[id(formula)]
