"""Numbers that users hand over: where there is something else, the error names what it is in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.utils.validation import validate_data

__all__ = ["checked_rows", "numbers_in"]

_NO_NUMBER = re.compile(
    r"could not convert|argument must be a string|Complex data|dtype='numeric'|setting an array element|invalid literal"
)
_STRINGS = re.compile(r"array=\['|array=\[\"")


@contextmanager
def numbers_in(name: str) -> Iterator[None]:
    """Around a conversion to numbers: an error of numpy that some entry is none says which argument has it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        text = str(error)
        if "Found array with dim 3" in text:
            raise ValueError(
                f"{text} For series of several channels name a distance as kernel, such as 'msm'."
            ) from error
        if "Expected 2D array" in text and _STRINGS.search(text):
            raise ValueError(
                f"{name} must be rows of numbers, got strings; name a distance as kernel, such as 'levenshtein', or encode them"
            ) from error
        if not _NO_NUMBER.search(text) or re.search(rf"\b{name}\b", text):
            raise
        encode = (
            "; encode text as numbers first, or name a distance as kernel, such as 'levenshtein' for strings"
            if name.startswith("X")
            else ""
        )
        raise type(error)(f"{name} must hold real numbers: {text}{encode}") from error


def checked_rows(estimator: Any, X: Any, **options: Any) -> Any:
    """Rows as scikit-learn's ``validate_data`` gives them; entries that are no numbers are said to be in X."""
    with numbers_in("X"):
        return validate_data(estimator, X, **options)
