"""Fitted maps and models as formulas of array operations, for other runtimes: ONNX and PyTorch."""

from krein.export.expression import Expression, rows_input
from krein.export.onnx_file import onnx_model
from krein.export.torch_module import torch_module
from krein.export.translate import translate

__all__ = ["Expression", "rows_input", "translate", "onnx_model", "torch_module"]
