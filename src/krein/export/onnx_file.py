"""A formula as an ONNX model."""

from __future__ import annotations

from typing import Any

import numpy as np

from krein._core.errors import ExportError
from krein.export.expression import Expression, ordered

__all__ = ["onnx_model"]

_OPSET = 17
_OPERATORS = {
    **{"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "matmul": "MatMul", "at_least": "Max", "at_most": "Min"},
    **{"cos": "Cos", "sin": "Sin", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "arccos": "Acos"},
}


def onnx_model(formula: Expression, *, n_features: int, n_outputs: int, output: str) -> Any:
    """The model: float32 rows named ``X`` in, float32 values out.

    Parameters
    ----------
    formula : Expression
    n_features, n_outputs : int
        Columns that go in and come out.
    output : str
        Name of what comes out.

    Returns
    -------
    onnx.ModelProto
    """
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ModuleNotFoundError as error:
        raise ExportError("export to ONNX needs the package onnx; install it with: pip install 'krein[export]'") from error
    steps = ordered(formula)
    names = {id(step): "X" if step.operation == "input" else f"t{i}" for i, step in enumerate(steps)}
    names[id(formula)] = output
    nodes, constants = [], []
    for step in steps:
        name, inputs = names[id(step)], [names[id(one)] for one in step.inputs]
        if step.operation == "constant":
            constants.append(numpy_helper.from_array(_single(step.value), name))
        elif step.operation == "concat":
            nodes.append(helper.make_node("Concat", inputs, [name], axis=1))
        elif step.operation == "gather":
            constants.append(numpy_helper.from_array(np.asarray(step.value), f"{name}_columns"))
            nodes.append(helper.make_node("Gather", [*inputs, f"{name}_columns"], [name], axis=1))
        elif step.operation == "sum":
            constants.append(numpy_helper.from_array(np.array([1], dtype=np.int64), f"{name}_axis"))
            nodes.append(helper.make_node("ReduceSum", [*inputs, f"{name}_axis"], [name], keepdims=1))
        elif step.operation != "input":
            nodes.append(helper.make_node(_OPERATORS[step.operation], inputs, [name]))
    graph = helper.make_graph(
        nodes,
        "krein",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, n_features])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, [None, n_outputs])],
        constants,
    )
    model = helper.make_model(graph, producer_name="krein", opset_imports=[helper.make_opsetid("", _OPSET)])
    model.ir_version = 8  # what goes with the opset: runtimes refuse files newer than they are
    checker.check_model(model)
    return model


def _single(value: np.ndarray | None) -> np.ndarray:
    """The numbers in single precision, or an error where they do not fit."""
    assert value is not None
    with np.errstate(over="ignore"):
        single = value.astype(np.float32)
    if not np.isfinite(single).all():
        raise ExportError("the model has numbers that single precision cannot hold; scale the data before fitting")
    return single
