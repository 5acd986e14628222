"""The exceptions of this library, each for one thing that can go wrong."""

from __future__ import annotations

__all__ = [
    "ClusterError",
    "DatasetError",
    "ExportError",
    "ModelFileError",
    "OutOfReachError",
    "SimilarityError",
    "SingularSystemError",
    "TableError",
]


class OutOfReachError(ValueError):
    """No measure of useful mass comes within the tolerance asked for; the message says what would."""


class SingularSystemError(ValueError):
    """The Kreĭn system has no stable solution at the λ asked for."""


class SimilarityError(ValueError):
    """A similarity of two objects could not be had; the message says of which two, why, and what to do."""


class ModelFileError(ValueError):
    """A model file cannot be read, or a model cannot be written; the message says why and what to do."""


class ExportError(ValueError):
    """A map or model has a part that another runtime cannot compute; the message names it."""


class TableError(ValueError):
    """A file is not the table it should be; the message names the file and, where it can, the row and the column."""


class ClusterError(RuntimeError):
    """A fit on a cluster was ended by the cluster, not by the rows; the message says what to do."""


class DatasetError(OSError):
    """A data set could not be had: missing, corrupt, not to be downloaded, or not to be stored.

    It is an :class:`OSError`, as scikit-learn's ``fetch_*`` functions raise, so that existing handlers keep working.
    The message says which file or address was tried and what to do next.
    """
