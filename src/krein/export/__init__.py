"""Fitted maps and models as formulas of array operations, for other runtimes: ONNX and PyTorch."""

from krein.export.expression import Expression, rows_input
from krein.export.runtimes import onnx_model, torch_module
from krein.export.translate import translate

__all__ = ["Expression", "rows_input", "translate", "onnx_model", "torch_module"]
