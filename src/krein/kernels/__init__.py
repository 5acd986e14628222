"""Kernels: radial functions on ℝ^d or on the unit sphere, their Gram matrices and their algebra."""

from krein.kernels.algebra import Product, Scaled, Sum
from krein.kernels.euclidean import Cauchy, DeltaGaussian, Gaussian, Laplacian, Log, Matern, Multiquadric, ThinPlate
from krein.kernels.kernel import Kernel, Radial
from krein.kernels.parse import NAMED_KERNELS, kernel_name, parse_kernel
from krein.kernels.sphere import NTK, ArcCosine, GeodesicGaussian, Sigmoid, SphericalPolynomial

__all__ = [
    "Kernel",
    "Gaussian",
    "Laplacian",
    "Matern",
    "Cauchy",
    "DeltaGaussian",
    "SphericalPolynomial",
    "ArcCosine",
    "NTK",
    "Sigmoid",
    "GeodesicGaussian",
    "Multiquadric",
    "Log",
    "ThinPlate",
    "Radial",
    "Sum",
    "Product",
    "Scaled",
    "NAMED_KERNELS",
    "kernel_name",
    "parse_kernel",
]
