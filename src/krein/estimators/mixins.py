"""What estimators have in common: parameters of frozen objects inside them, and files for other runtimes."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from krein._core.checks import FrozenParams
from krein._core.files import whole_file
from krein.export import Expression, onnx_model, rows_input, torch_module

__all__ = ["ExportMixin", "FrozenParamsMixin"]


class FrozenParamsMixin(BaseEstimator):
    """Lets grid searches reach into kernels, measures and samplers, which cannot be changed in place.

    scikit-learn sets ``kernel__a`` by ``set_params`` of the kernel that it finds. Kernels and their like are values, so
    the owner replaces the whole object by ``kernel.with_params(a=...)``. A subclass says in `_stands_for` what object a value
    such as None, ``"auto"`` or a name stands for.
    """

    _stands_for: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of frozen objects inside, such as ``kernel__a``, replace the object.

        Parameters
        ----------
        **params : values by name
            ``kernel=...`` and ``kernel__a=...`` may be given together: the object first, then its parameters.

        Returns
        -------
        self
        """
        own = self.get_params(deep=False)
        inner: dict[str, dict[str, Any]] = {}
        for name in list(params):
            owner, delimiter, rest = name.partition("__")
            if delimiter and owner in own:
                part = self._object(owner, params.get(owner, own[owner]))
                if isinstance(part, FrozenParams):
                    inner.setdefault(owner, {})[rest] = params.pop(name)
        changed = {
            owner: self._object(owner, params.get(owner, own[owner])).with_params(**values)
            for owner, values in inner.items()
        }
        super().set_params(**params | changed)
        return self

    def _object(self, name: str, value: Any) -> Any:
        """What the value of a parameter stands for."""
        return self._stands_for[name](value) if name in self._stands_for else value


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
