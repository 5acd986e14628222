"""What model files hold of the rival maps and their parts: tags and learned attributes, which are part of the file format."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from krein.baselines.arc_cosine import ArcCosineFeatures
from krein.baselines.double_mixture import DoubleGaussianMixture, FrequencyMixture
from krein.baselines.fourier import FourierColumns
from krein.baselines.inner_product import InnerPolynomial, Ramp
from krein.baselines.leverage import LeverageNystroem
from krein.baselines.random_maclaurin import RandomMaclaurin
from krein.baselines.spherical import PositiveMixture, SphericalRandomFeatures
from krein.baselines.tensor_sketch import TensorSketch
from krein.baselines.tensorized import TensorizedRandomProjection
from krein.files.registry import register
from krein.kernels import Kernel
from krein.nystroem import FittedNystroem

__all__: list[str] = []

_Array = np.ndarray
_MAP = {"kernel_": Kernel, "signature_": _Array}
_SKETCH = {**_MAP, "_sketches": list[sp.csr_array]}
_LEVELS = {**_MAP, "_amplitude": float, "_levels": tuple[_Array, ...], "_complex_levels": Any}
_TWO_MIXTURES = {
    **_MAP,
    "positive_": FrequencyMixture | None,
    "negative_": FrequencyMixture | None,
    "_parts": tuple[FourierColumns, FourierColumns],
}
_SPHERICAL = {**_MAP, "fit_time_": float, "mixture_": PositiveMixture, "_columns": FourierColumns, "_offset": float}
_UNITS = {"n_steps_": int, "n_ramps_": int, "_tangent": bool, "_split": bool, "_head": int, "_scale": float}
_POWERS = {"degrees_": _Array, "coefficients_": _Array, "series_error_": float, "_linear": float, "_amplitudes": _Array}

register("kernel.inner-polynomial")(InnerPolynomial)
register("kernel.ramp")(Ramp)
register("fourier-columns")(FourierColumns)
register("frequency-mixture")(FrequencyMixture)
register("positive-mixture")(PositiveMixture)
register("baseline.tensor-sketch", learned=_SKETCH)(TensorSketch)
register("baseline.tensorized-random-projection", learned=_LEVELS)(TensorizedRandomProjection)
register("baseline.double-gaussian-mixture", learned=_TWO_MIXTURES)(DoubleGaussianMixture)
register("baseline.spherical-random-features", learned=_SPHERICAL)(SphericalRandomFeatures)
register("baseline.arc-cosine-features", learned={**_MAP, **_UNITS, "_steps": _Array, "_ramps": _Array})(
    ArcCosineFeatures
)
register("baseline.leverage-nystroem", learned={**_MAP, "map_": FittedNystroem})(LeverageNystroem)
register("baseline.random-maclaurin", learned={**_MAP, **_POWERS, "_levels": tuple[_Array, ...]})(RandomMaclaurin)
