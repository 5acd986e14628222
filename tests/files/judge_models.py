"""Loads every model file of some folders and predicts with it; run as a process of its own, which may die without ending the tests.

    python judge_models.py FOLDER ...

One line a file: its path, a verdict (``refused``, ``predicts``, ``declines`` or ``WRONG``) and the reason.
"""

from __future__ import annotations

import resource
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np

import krein
from krein._core.errors import SimilarityError
from krein.files.models import ModelFileError

ADDRESS_SPACE = 6 * 2**30  # bytes: a file that asks for more than this is a failure
# what numpy says of shapes that do not fit; a model that got so far was not checked
UNCHECKED = ("matmul", "broadcast", "operands", "cannot reshape", "mismatch", "dimension")


def judge(path: Path, X: np.ndarray, kinds: str) -> tuple[str, str]:
    """What becomes of a file."""
    try:
        model = krein.load_model(path)
    except ModelFileError as error:
        return "refused", str(error)
    if not hasattr(model, "predict") and not hasattr(model, "transform"):
        return "WRONG", "neither predicts nor transforms"
    try:
        found = np.asarray(model.predict(X) if hasattr(model, "predict") else model.transform(X))
    except TypeError as error:
        said = str(error)  # of a parameter, which are read as they are and checked by whoever uses them
        return ("declines" if " must be " in said else "WRONG"), f"TypeError: {said}"
    except ValueError as error:  # NotFittedError among them
        said = str(error)
        # of a SimilarityError the rest of the words are the distance's own, which says what it does not take
        unchecked = not isinstance(error, SimilarityError) and any(word in said for word in UNCHECKED)
        return ("WRONG" if unchecked else "declines"), f"{type(error).__name__}: {said}"
    if found.shape[:1] != X.shape[:1] or found.dtype.kind not in kinds:
        return "WRONG", f"shape {found.shape}, dtype {found.dtype}"
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        return "WRONG", "not finite"
    return "predicts", ""


def main(folder: Path) -> None:
    """Judge all files in the order of their names."""
    X = np.load(folder / "rows.npy")
    for path in sorted(folder.glob("*.krein")):
        sys.stdout.write(f"{path}\t")
        sys.stdout.flush()
        try:
            verdict, reason = judge(path, X, "fUOiub")
        except Exception as error:  # any other exception is what is looked for
            verdict, reason = "WRONG", "".join(traceback.format_exception(error))[-1500:]
        sys.stdout.write(f"{verdict}\t{reason!r}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    warnings.simplefilter("ignore")
    for argument in sys.argv[1:]:
        main(Path(argument))
