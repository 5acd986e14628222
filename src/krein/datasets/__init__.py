"""Named data sets, packaged, from a local folder or downloaded with a checksum, and the scaling used on them."""

from krein._core.errors import DatasetError
from krein.datasets.catalog import names
from krein.datasets.finding import cache_folder
from krein.datasets.loading import Dataset, load
from krein.datasets.scaling import MinMax, minmax_unit, unit

__all__ = ["load", "names", "Dataset", "DatasetError", "cache_folder", "MinMax", "minmax_unit", "unit"]
