"""Signed random Fourier features as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from krein.estimators.maps.base import SignedFeatureMap, default_kernel
from krein.features import FeatureMap, FeatureRecipe, FittedMap, fit_map
from krein.features.region import Region
from krein.features.width_search import WidthSearch
from krein.kernels import Kernel
from krein.measures import MeasureRecipe, SignedMeasure
from krein.measures.build import as_measure_recipe
from krein.sampling import Sampler, as_sampler
from krein.similarities import as_kernel

__all__ = ["SignedFourierFeatures"]


@final
class SignedFourierFeatures(SignedFeatureMap):
    r"""Random features with a signature for any radial kernel, positive definite or not.

    .. math:: k(x, x') \approx \sum_c \sigma_c\,\phi_c(x)\,\phi_c(x'), \qquad \sigma_c = \pm1

    The kernel is represented by a signed measure on the range of distances of the data (:func:`krein.signed_measure`): a
    polynomial head that is reproduced exactly, and a tail of least mass that is sampled. With ``weights="unbiased"`` this is a
    corrected form of Algorithm 1 of the paper [1]_; the default refits the signed weights on pairs of training rows, which is
    far more accurate.

    Parameters
    ----------
    kernel : Kernel or str, default=None
        From :mod:`krein.kernels`; None is ``DeltaGaussian()``.
    n_components : int or "auto", default=512
        Number of output columns: those of the head, then a cosine and a sine for each frequency, then columns of zeros if an odd
        column is left over or the head alone is the kernel. ``"auto"``: the smallest number that meets `error` on held-out
        training rows, with the kind of weights that costs least; if none meets it, the most accurate map found, with a warning.
    error : float, default=1e-3
        Relative Frobenius error of the kernel matrix that ``n_components="auto"`` must meet.
    weights : {"auto", "calibrated", "unbiased", "projected"}, default="auto"
        ``"auto"``: calibrated, or the kind that ``n_components="auto"`` finds. ``"calibrated"``: signed weights fitted by least
        squares on pairs of training rows, never worse than the unbiased weights on held-out pairs. ``"unbiased"``: the weights of
        the measure, independent of the data. ``"projected"``: the best signed combinations of a dictionary of more columns on a
        sample of training rows; the most accurate per output column, at a higher cost per row.
    sampler : str or Sampler, default="orthogonal"
        ``"monte_carlo"``, ``"rejection"``, ``"importance"``, ``"orthogonal"``, ``"hadamard"``, ``"quasi_monte_carlo"``,
        ``"leverage"``, or an instance from :mod:`krein.sampling`, such as ``Orthogonal(allocation="neyman")``.
    measure : MeasureRecipe or "auto", default="auto"
        How the measure is found: method, degree of the head, tolerance, cut; see :class:`krein.MeasureRecipe`.
    radius : float or "auto", default="auto"
        Largest distance at which the kernel is represented. ``"auto"``: 2 on the sphere, or √2 if no training entry is negative;
        elsewhere the diameter of the training rows.
    normalize : bool or "auto", default="auto"
        Whether rows are scaled to unit length first. ``"auto"`` does so for kernels on the sphere that require it.
    dictionary : {"auto", "waves", "landmarks"}, default="auto"
        The functions that ``weights="projected"`` combines. ``"waves"``: cosines, sines and a head. ``"landmarks"``: kernel
        sections :math:`k(\cdot, l)` at landmarks l, the centers of clusters of training rows. ``"auto"``: whichever is best on
        held-out rows. Kernel sections have the fast decay of a smooth kernel's spectrum, and fit in less time.
    oversampling : int or "auto", default="auto"
        Columns of the dictionary per column kept by ``weights="projected"``. ``"auto"`` is 4 for waves, and 2 with kernel
        sections.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    signature_ : ndarray of shape (n_components,)
        ±1 for each output column. ``(Z * signature_) @ Z.T`` approximates k, and ``Z @ Z.T`` the sum of its two parts.
    rank_ : int
        Number of columns that are not zero for all rows. A polynomial kernel may need fewer than ``n_components``: the head is
        then the kernel itself, and the columns beyond its rank are zero, named ``zero0+`` and so on.
    error_estimate_ : float
        Relative Frobenius error of the kernel matrix: measured on training rows held out from every choice or, with
        ``weights="unbiased"``, predicted from the measure.
    n_components_ : int
        Number of output columns.
    width_search_ : WidthSearch or None
        The widths that ``n_components="auto"`` tried, with their errors and costs; ``print`` shows it as a table.
    map_ : FittedMap
        The fitted map; the next three attributes are parts of it.
    measure_ : SignedMeasure
        The measure that the frequencies were drawn from; zero if there are no frequencies.
    feature_map_ : FeatureMap
    region_ : Region
        The region that contains the training rows; rows outside it cause a warning in `transform`.
    kernel_ : Kernel
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    `fit` uses at most about ten thousand rows, drawn at random (it reads all rows once, to check that they are finite).
    Choices by held-out error keep the simpler candidate unless another is better by half a percent. `transform` takes
    O(n d n_components) time, or O(n S (d + n_components)) with a dictionary of S columns; it needs memory for the output and at
    most 64 MiB more, and may be called from several threads.

    References
    ----------
    .. [1] F. Liu, X. Huang, Y. Chen and J. A. K. Suykens. "Fast learning in reproducing kernel Kreĭn spaces via signed
       measures". AISTATS, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.random.default_rng(0).normal(size=(300, 5))
    >>> f = krein.SignedFourierFeatures(krein.kernels.DeltaGaussian(1.0, 3.0), 128, random_state=0)
    >>> Z = f.fit_transform(X)
    >>> Z.shape, sorted(set(f.signature_.tolist()))
    ((300, 128), [-1.0, 1.0])
    >>> K = f.kernel_(X)
    >>> bool(np.linalg.norm(f.approximate(X) - K) < 0.1 * np.linalg.norm(K))
    True
    """

    map_: FittedMap
    kernel_: Kernel
    _stands_for: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "kernel": default_kernel,
        "sampler": as_sampler,
        "measure": as_measure_recipe,
    }

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int | str = 512,
        *,
        error: float = 1e-3,
        weights: str = "auto",
        sampler: str | Sampler = "orthogonal",
        measure: str | MeasureRecipe = "auto",
        radius: float | str = "auto",
        normalize: bool | str = "auto",
        dictionary: str = "auto",
        oversampling: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.error = error
        self.weights = weights
        self.sampler = sampler
        self.measure = measure
        self.radius = radius
        self.normalize = normalize
        self.dictionary = dictionary
        self.oversampling = oversampling
        self.random_state = random_state

    def _fit_map(self, X: Any, y: Any, rng: np.random.Generator) -> FittedMap:
        recipe = FeatureRecipe(
            as_kernel(self.kernel),
            self.n_components,
            error=self.error,
            weights=self.weights,
            sampler=as_sampler(self.sampler),
            measure=as_measure_recipe(self.measure),
            radius=self.radius,
            normalize=self.normalize,
            dictionary=self.dictionary,
            oversampling=self.oversampling,
        )
        self.kernel_ = recipe.kernel
        return fit_map(recipe, X, rng)

    @property
    def feature_map_(self) -> FeatureMap:
        """Columns and weights."""
        return self.map_.feature_map

    @property
    def measure_(self) -> SignedMeasure:
        """The measure that the frequencies were drawn from."""
        return self.map_.measure

    @property
    def region_(self) -> Region:
        """The region that contains the training rows."""
        return self.map_.region

    @property
    def error_estimate_(self) -> float:
        """Relative error of the kernel matrix."""
        return self.map_.error_estimate

    @property
    def n_components_(self) -> int:
        """Number of output columns."""
        return int(self.map_.signature.size)

    @property
    def width_search_(self) -> WidthSearch | None:
        """The widths that ``n_components="auto"`` tried; None if the width was given."""
        return self.map_.search

    @property
    def rank_(self) -> int:
        """Number of columns that are not zero for all rows."""
        return self.map_.rank

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns, by part, kind and sign.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self, "signature_")
        return np.asarray(self.map_.names(), dtype=object)

    def _check_loaded(self) -> None:
        learned = vars(self)
        if "signature_" not in learned:  # saved before it was fitted
            return
        if not isinstance(learned.get("map_"), FittedMap) or not isinstance(learned.get("kernel_"), Kernel):
            raise ValueError("a fitted SignedFourierFeatures needs its map_, a FittedMap, and its kernel_")
        super()._check_loaded()
        sections = self.map_.feature_map.sections
        if sections is not None and sections.kernel != self.kernel_:
            raise ValueError(f"the map has sections of {sections.kernel!r}, but the model has kernel {self.kernel_!r}")
        if self.map_.feature_map.dim != learned.get("n_features_in_"):
            raise ValueError(
                f"the map takes rows of {self.map_.feature_map.dim} columns, but the model {learned.get('n_features_in_')}"
            )
