"""The one exception of this room."""

__all__ = ["DatasetError"]


class DatasetError(OSError):
    """A data set could not be had: missing, corrupt, not to be downloaded, or not to be stored.

    It is an :class:`OSError`, as scikit-learn's ``fetch_*`` functions raise, so that existing handlers keep working.
    The message says which file or address was tried and what to do next.
    """
