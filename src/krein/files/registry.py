"""The one list of classes that may appear in a model file, each under a tag that outlives its place in the source, and `save`."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, get_type_hints

from krein.files.values import check_field, fits

__all__ = ["Argument", "Entry", "SavableMixin", "entry_for", "entry_of", "register"]

Class = TypeVar("Class", bound=type)
Upgrade = Callable[[dict[str, Any]], dict[str, Any]]

_TAG = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
# Modules that register the classes of this library; imported when a class or a tag is not known yet.
_TABLES = ("krein.files.library", "krein.estimators.model_tags", "krein.baselines.model_tags")
# Learned attributes that may hold text, by the conventions of scikit-learn; and what objects are.
_LABELS = ("classes_", "feature_names_in_", "data")
# What scikit-learn itself keeps on a fitted estimator, if it does.
_COMMON: dict[str, Any] = {
    "n_features_in_": int,  # but see SavableMixin._has_columns
    "feature_names_in_": Any,
    "_n_features_out": int,
    "_sklearn_output_config": dict[str, str],
}


class Argument(NamedTuple):
    """An argument of a constructor, or a learned attribute: its type, and whether a file must have it.

    What has a default was added later, and files from before do without.
    """

    hint: Any
    required: bool


@dataclass(frozen=True)
class Entry:
    """A class that may appear in a model file.

    Parameters
    ----------
    tag : str
    cls : type
    learned_types : mapping of str to annotation
        Learned attributes that are stored, and what they are.
    unbounded : sequence of str
        Fields and learned attributes whose numbers need not be finite.
    unstored : sequence of str
        Arguments with a default that say how to work, not what is learned, and are left out of files.
    upgrade : callable or None
        Turns the arguments in a file of an earlier version, as JSON has them, into those of today.
    """

    tag: str
    cls: type
    learned_types: Mapping[str, Any] = field(default_factory=dict)
    unbounded: Sequence[str] = ()
    unstored: Sequence[str] = ()
    upgrade: Upgrade | None = None

    @property
    def is_estimator(self) -> bool:
        """Whether instances have learned attributes besides the arguments of their constructor."""
        return issubclass(self.cls, SavableMixin)

    def check(self, name: str, argument: Argument, value: Any, path: str) -> None:
        """An error if an argument or a learned attribute is not what it must be, or not finite.

        Single numbers given to a constructor are its own affair: a radius may well be infinite.
        """
        finite = name not in self.unbounded and (self.is_estimator or not isinstance(value, float))
        check_field(value, argument.hint, path, finite=finite, text=name in _LABELS)

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """What the constructor takes and files have; the parameters of an estimator are checked by its fit."""
        parameters = inspect.signature(self.cls).parameters
        if dataclasses.is_dataclass(self.cls):
            hints = get_type_hints(self.cls)
        else:
            hints = {} if self.is_estimator else get_type_hints(self.cls.__init__)  # type: ignore[misc]  # of this very class
        return {
            name: Argument(hints.get(name, Any), parameter.default is inspect.Parameter.empty)
            for name, parameter in parameters.items()
            if name not in self.unstored
        }

    @cached_property
    def learned(self) -> dict[str, Argument]:
        """Learned attributes of a fitted estimator; one that may be None may be missing."""
        if not self.is_estimator:
            return {}
        found = {name: Argument(hint, False) for name, hint in _COMMON.items()}
        return found | {name: Argument(hint, not _admits_none(hint)) for name, hint in self.learned_types.items()}

    @property
    def may_be_none(self) -> tuple[str, ...]:
        """Learned attributes that are None if a file does not have them."""
        return tuple(name for name, one in self.learned.items() if _admits_none(one.hint))


_by_tag: dict[str, Entry] = {}
_by_class: dict[type, Entry] = {}


def register(
    tag: str,
    *,
    learned: Mapping[str, Any] | None = None,
    unbounded: Sequence[str] = (),
    unstored: Sequence[str] = (),
    upgrade: Upgrade | None = None,
) -> Callable[[Class], Class]:
    """Let instances of a class be part of model files, under a tag that stays when the class is renamed or moved.

    The class is a dataclass, an estimator with `SavableMixin`, or any class whose constructor stores its arguments under their own
    names. It is rebuilt by calling it, so that its constructor can check the values.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from krein.files.registry import entry_for, register
    >>> @register("example.point")
    ... @dataclass(frozen=True)
    ... class Point:
    ...     x: float = 0.0
    >>> entry_for("example.point").cls.__name__
    'Point'
    """
    if not _TAG.fullmatch(tag):
        raise ValueError(f"a tag is lower-case words joined by hyphens or dots, got {tag!r}")

    def enter(cls: Class) -> Class:
        known = _by_tag.get(tag)
        if known is not None and _name(known.cls) != _name(cls):
            raise ValueError(f"the tag {tag!r} belongs to {_name(known.cls)} already and cannot name {_name(cls)}")
        if cls in _by_class and _by_class[cls].tag != tag:
            raise ValueError(f"{_name(cls)} has the tag {_by_class[cls].tag!r} already; a class has one")
        _by_tag[tag] = _by_class[cls] = Entry(tag, cls, learned or {}, unbounded, unstored, upgrade)
        return cls

    return enter


def entry_of(kind: type) -> Entry | None:
    """The entry of a class."""
    return _found(_by_class, kind)


def entry_for(tag: str) -> Entry | None:
    """The entry under a tag."""
    return _found(_by_tag, tag)


def _found(entries: Mapping[Any, Entry], key: Any) -> Entry | None:
    for table in _TABLES:
        if key in entries:
            break
        importlib.import_module(table)
    return entries.get(key)


def _admits_none(hint: Any) -> bool:
    return hint is not Any and fits(None, hint)


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


class SavableMixin:
    """Gives an estimator ``save``, and a hook that checks what was read from a file.

    A class that is to be saved is registered under a tag with its learned attributes
    (`krein.files.registry.register`); these and its parameters are what a file holds.
    """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `krein.load_model` reads.

        The file is a zip archive of ``.npy`` arrays and a JSON header, without pickles. It is written beside its final
        place and renamed, so that a failure leaves a previous file as it was. A ``random_state`` that is an object and no seed
        is stored as None.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        ModelFileError
            If the model is not fitted, if it holds something that cannot be saved, or if the path cannot be written.
        """
        from krein.files.models import ModelFileError, save_model  # late: models are made of savable classes

        if not any(name.endswith("_") and not name.startswith("_") for name in vars(self)):
            raise ModelFileError(f"this {type(self).__name__} has learned nothing yet; call fit, then save")
        save_model(self, path)

    def _has_columns(self) -> bool:
        """Whether the fitted model takes rows of a certain number of columns, as all do but those of objects."""
        return True

    def _check_loaded(self) -> None:
        """Raise ValueError if learned attributes read from a file do not fit each other; called after all are set."""
