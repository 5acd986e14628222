"""A formula as an ONNX model and as a PyTorch module."""

from __future__ import annotations

from typing import Any

import numpy as np

from krein._core.errors import ExportError
from krein.export.expression import Expression, ordered

__all__ = ["onnx_model", "torch_module"]

_OPSET = 17
_FLATTEST = 1e-6  # sine of an angle that is divided by: smaller ones are rounding
_OPERATORS = {
    **{"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "matmul": "MatMul", "at_least": "Max", "at_most": "Min"},
    **{"cos": "Cos", "sin": "Sin", "exp": "Exp", "log": "Log", "sqrt": "Sqrt"},
}


def onnx_model(formula: Expression, *, n_features: int, n_outputs: int, output: str) -> Any:
    """The model: float32 rows named ``X`` in, float32 values out.

    Everything between is computed in double precision: the coefficients of kernel models are large and cancel.
    """
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ModuleNotFoundError as error:
        raise ExportError(
            "export to ONNX needs the package onnx; install it with: pip install 'krein[export]'"
        ) from error
    steps = ordered(formula)
    names = {id(step): f"t{i}" for i, step in enumerate(steps)}
    nodes, constants = [], []
    for step in steps:
        name, inputs = names[id(step)], [names[id(one)] for one in step.inputs]
        if step.operation == "constant":
            constants.append(numpy_helper.from_array(np.asarray(step.value), name))
        elif step.operation == "concat":
            nodes.append(helper.make_node("Concat", inputs, [name], axis=1))
        elif step.operation == "gather":
            constants.append(numpy_helper.from_array(np.asarray(step.value), f"{name}_columns"))
            nodes.append(helper.make_node("Gather", [*inputs, f"{name}_columns"], [name], axis=1))
        elif step.operation == "sum":
            constants.append(numpy_helper.from_array(np.array([1], dtype=np.int64), f"{name}_axis"))
            nodes.append(helper.make_node("ReduceSum", [*inputs, f"{name}_axis"], [name], keepdims=1))
        elif step.operation == "arccos":
            nodes += _arccos(inputs[0], name, constants)
        elif step.operation == "input":
            nodes.append(helper.make_node("Cast", ["X"], [name], to=TensorProto.DOUBLE))
        else:
            nodes.append(helper.make_node(_OPERATORS[step.operation], inputs, [name]))
    nodes.append(helper.make_node("Cast", [names[id(formula)]], [output], to=TensorProto.FLOAT))
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


def _arccos(cosine: str, angle: str, constants: list[Any]) -> list[Any]:
    """Runtimes have the arc cosine in single precision only; two steps of Newton's method give it in double precision."""
    from onnx import TensorProto, helper, numpy_helper

    flat = f"{angle}_flat"
    constants.append(numpy_helper.from_array(np.array([[_FLATTEST]]), flat))
    nodes = [
        helper.make_node("Cast", [cosine], [f"{angle}_single"], to=TensorProto.FLOAT),
        helper.make_node("Acos", [f"{angle}_single"], [f"{angle}_rough"]),
        helper.make_node("Cast", [f"{angle}_rough"], [f"{angle}_0"], to=TensorProto.DOUBLE),
    ]
    for step in range(2):
        here, following = f"{angle}_{step}", angle if step else f"{angle}_1"
        nodes += [
            helper.make_node("Cos", [here], [f"{here}_cos"]),
            helper.make_node("Sin", [here], [f"{here}_sin"]),
            helper.make_node("Max", [f"{here}_sin", flat], [f"{here}_slope"]),
            helper.make_node("Sub", [f"{here}_cos", cosine], [f"{here}_left"]),
            helper.make_node("Div", [f"{here}_left", f"{here}_slope"], [f"{here}_step"]),
            helper.make_node("Add", [here, f"{here}_step"], [following]),
        ]
    return nodes


def torch_module(formula: Expression) -> Any:
    """A module whose ``forward`` takes rows; its numbers are buffers in float64, and ``.float()`` makes them float32."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ExportError("export to PyTorch needs the package torch, which is not installed") from error

    functions: dict[str, Any] = {
        **{"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "matmul": torch.matmul},
        **{"at_least": torch.maximum, "at_most": torch.minimum, "concat": lambda *parts: torch.cat(parts, dim=1)},
        **{"cos": torch.cos, "sin": torch.sin, "exp": torch.exp, "log": torch.log, "sqrt": torch.sqrt},
        **{"arccos": torch.arccos, "sum": lambda rows: rows.sum(dim=1, keepdim=True)},
        "gather": lambda rows, columns: rows[:, columns],
    }
    steps = ordered(formula)
    numbers = {id(step): i for i, step in enumerate(steps)}

    class Formula(torch.nn.Module):
        """Operations in order; each result is kept until the rows are done."""

        def __init__(self) -> None:
            super().__init__()
            for i, step in enumerate(steps):
                if step.value is not None:
                    self.register_buffer(f"value{i}", torch.tensor(step.value))

        def forward(self, rows: Any) -> Any:
            results: list[Any] = []
            for i, step in enumerate(steps):
                inputs = [results[numbers[id(one)]] for one in step.inputs]
                if step.operation == "input":
                    results.append(rows)
                elif step.operation == "constant":
                    results.append(getattr(self, f"value{i}"))
                elif step.operation == "gather":
                    results.append(functions["gather"](*inputs, getattr(self, f"value{i}")))
                else:
                    results.append(functions[step.operation](*inputs))
            return results[-1]

    return Formula()
