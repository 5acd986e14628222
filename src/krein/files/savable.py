"""What an estimator needs in order to be written to a file and to be read back."""

from __future__ import annotations

import os

__all__ = ["SavableMixin"]


class SavableMixin:
    """Gives an estimator ``save``, and a hook that checks what was read from a file.

    A class that is to be saved is registered under a tag with its learned attributes
    (`krein.files.registry.register`); these and its parameters are what a file holds.
    """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `krein.load_model` reads.

        The file is a zip archive of ``.npy`` arrays and a JSON header, without pickles. It is written beside its final
        place and renamed, so that a failure leaves a previous file as it was.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        ModelFileError
            If the model holds something that cannot be saved, or if the path cannot be written.
        """
        from krein.files.models import save_model  # late: models are made of savable classes

        save_model(self, path)

    def _has_columns(self) -> bool:
        """Whether the fitted model takes rows of a certain number of columns, as all do but those of objects."""
        features = vars(self).get("features_")
        return features._has_columns() if isinstance(features, SavableMixin) else True

    def _inner_columns(self) -> int | None:
        """Columns that the feature map within takes: those of the model, unless it places rows first."""
        return vars(self).get("n_features_in_")

    def _check_loaded(self) -> None:
        """Raise ValueError if learned attributes read from a file do not fit each other; called after all are set."""
