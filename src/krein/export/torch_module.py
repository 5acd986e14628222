"""A formula as a PyTorch module."""

from __future__ import annotations

from typing import Any

from krein._core.errors import ExportError
from krein.export.expression import Expression, ordered

__all__ = ["torch_module"]


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
