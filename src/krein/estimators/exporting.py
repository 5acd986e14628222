"""Fitted estimators for other runtimes: a file for ONNX, a module for PyTorch."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any

from sklearn.utils.validation import check_is_fitted

from krein._core.files import whole_file
from krein.export import Expression, onnx_model, rows_input, torch_module

__all__ = ["ExportMixin"]


class ExportMixin(ABC):
    """`to_onnx` and `to_torch`, from the formula of a fitted estimator."""

    n_features_in_: int

    @abstractmethod
    def _formula(self, rows: Expression) -> Expression:
        """Features, or values of the model, of raw rows."""

    @abstractmethod
    def _n_values(self) -> int:
        """Columns of what the formula gives."""

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator as an ONNX file: float32 rows ``X`` in, float32 ``values`` out.

        The values are those of `transform` for a map, of `predict` for a regression and of `decision_function` for a
        classifier, always with two axes: two classes have one column, positive for ``classes_[1]``.

        Parameters
        ----------
        path : path
            An existing file is replaced.

        Raises
        ------
        ExportError
            If a part has no ONNX operators: a similarity of your own, or a kernel without a closed form.
        """
        check_is_fitted(self)
        formula = self._formula(rows_input())
        made = onnx_model(formula, n_features=self.n_features_in_, n_outputs=self._n_values(), output="values")
        with whole_file(path) as file:
            file.write(made.SerializeToString())

    def to_torch(self) -> Any:
        """The fitted estimator as a PyTorch module, differentiable in its rows.

        Returns
        -------
        torch.nn.Module
            In float64; ``.float()`` makes it float32. It returns the values that `to_onnx` describes.

        Raises
        ------
        ExportError
            If a part has no operators, as in `to_onnx`.
        """
        check_is_fitted(self)
        return torch_module(self._formula(rows_input()))
