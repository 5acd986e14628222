"""The one place where a fit asks Dask for results, and where what goes wrong on a cluster is put into words."""

from __future__ import annotations

import sys
from concurrent.futures import CancelledError
from typing import Any

from krein._core.errors import ClusterError

__all__ = ["compute_all", "import_dask"]

_SMALLER = (
    "use smaller blocks (X.rechunk), a map of fewer columns (n_components), fewer threads or more memory for each worker "
    "(memory_limit)"
)


def import_dask() -> Any:
    """Dask with its arrays, or an error that names the extra."""
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise ImportError("Dask collections need dask.array; install it with: pip install 'krein[dask]'") from error
    return dask


def compute_all(*parts: Any, block: str = "") -> Any:
    """Compute Dask collections with the active scheduler.

    Errors of tasks come out as they were raised. Those of the cluster itself say what most likely happened and what to do.
    """
    try:
        return import_dask().compute(*parts)
    except MemoryError as error:
        raise MemoryError(f"a worker had no memory for a block{block}: {error}; {_SMALLER}") from error
    except CancelledError as error:
        raise ClusterError(
            f"the cluster failed before the fit was done, most likely because its scheduler is gone or was restarted: {error}; "
            "the model is as it was before the fit: connect a new distributed.Client and fit again"
        ) from error
    except Exception as error:
        if not _is_killed_worker(error):
            raise
        raise ClusterError(
            f"several workers died at the same block{block}, most likely for lack of memory: Dask stops a worker that uses "
            f"95 % of its memory limit; {_SMALLER}. The logs of the workers have the reason. Dask says: {error}"
        ) from error


def _is_killed_worker(error: Exception) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(error, distributed.scheduler.KilledWorker)
