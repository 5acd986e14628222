"""What model files hold of the rival maps and their parts: tags and learned attributes, which are part of the file format."""

from __future__ import annotations

from krein.baselines.arc_cosine import ArcCosineFeatures
from krein.baselines.double_mixture import DoubleGaussianMixture
from krein.baselines.fourier import FourierColumns
from krein.baselines.frequency_mixture import FrequencyMixture
from krein.baselines.inner_product import InnerPolynomial, Ramp
from krein.baselines.positive_mixture import PositiveMixture
from krein.baselines.random_maclaurin import RandomMaclaurin
from krein.baselines.spherical import SphericalRandomFeatures
from krein.baselines.tensor_sketch import TensorSketch
from krein.baselines.tensorized import TensorizedRandomProjection
from krein.files.registry import register

__all__: list[str] = []

_MAP = ("kernel_", "signature_")

register("kernel.inner-polynomial")(InnerPolynomial)
register("kernel.ramp")(Ramp)
register("fourier-columns")(FourierColumns)
register("frequency-mixture")(FrequencyMixture)
register("positive-mixture")(PositiveMixture)
register("baseline.tensor-sketch", learned=(*_MAP, "_sketches"))(TensorSketch)
register("baseline.tensorized-random-projection", learned=(*_MAP, "_amplitude", "_levels", "_complex_levels"))(
    TensorizedRandomProjection
)
register("baseline.double-gaussian-mixture", learned=(*_MAP, "positive_", "negative_", "_parts"))(DoubleGaussianMixture)
register("baseline.spherical-random-features", learned=(*_MAP, "fit_time_", "mixture_", "_columns"))(
    SphericalRandomFeatures
)
register(
    "baseline.arc-cosine-features",
    learned=(*_MAP, "n_steps_", "n_ramps_", "_tangent", "_split", "_steps", "_ramps", "_head", "_scale"),
)(ArcCosineFeatures)
register(
    "baseline.random-maclaurin",
    learned=(*_MAP, "degrees_", "coefficients_", "series_error_", "_linear", "_levels", "_amplitudes"),
)(RandomMaclaurin)
