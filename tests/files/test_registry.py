"""The registry of classes in model files: all that is needed is there, and no tag ever goes."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pytest

import krein
import krein.baselines
from krein.files.registry import Entry, SavableMixin, entry_for, entry_of, register
from krein.files.trees import Decoder, Encoder
from krein.files.values import describe, fits
from krein.kernels import NAMED_KERNELS, Gaussian, Kernel, Radial
from krein.sampling import SAMPLERS
from krein.similarities import DistanceKernel, PrecomputedSimilarity, Similarity

# Tags of released versions; lines are added, never changed: files with these tags are out there.
TAGS = [
    "kernel.gaussian",
    "kernel.laplacian",
    "kernel.matern",
    "kernel.cauchy",
    "kernel.delta-gaussian",
    "kernel.spherical-polynomial",
    "kernel.arc-cosine",
    "kernel.ntk",
    "kernel.sigmoid",
    "kernel.geodesic-gaussian",
    "kernel.multiquadric",
    "kernel.log",
    "kernel.thin-plate",
    "kernel.sum",
    "kernel.product",
    "kernel.scaled",
    "kernel.inner-polynomial",
    "kernel.ramp",
    "sampler.monte-carlo",
    "sampler.rejection",
    "sampler.importance",
    "sampler.orthogonal",
    "sampler.hadamard",
    "sampler.quasi-monte-carlo",
    "sampler.leverage",
    "atoms",
    "head",
    "signed-measure",
    "frequencies",
    "fast-frequencies",
    "region",
    "head-basis",
    "feature-map",
    "fitted-map",
    "measure-recipe",
    "similarity.kernel",
    "similarity.precomputed",
    "similarity.callable",
    "objects",
    "fitted-nystroem",
    "fitted-correction",
    "distance-kernel",
    "normal-scores",
    "placement",
    "kernel-model",
    "trial",
    "trials",
    "choice",
    "fitted-embedding",
    "fourier-columns",
    "frequency-mixture",
    "positive-mixture",
    "krein.ridge",
    "krein.ridge-classifier",
    "krein.svc",
    "krein.pca",
    "krein.exact-ridge",
    "krein.exact-svc",
    "krein.signed-fourier-features",
    "krein.nystroem",
    "krein.tuned-features",
    "krein.spectrum-correction",
    "krein.mds",
    "baseline.tensor-sketch",
    "baseline.tensorized-random-projection",
    "baseline.double-gaussian-mixture",
    "baseline.spherical-random-features",
    "baseline.arc-cosine-features",
    "baseline.random-maclaurin",
]


def concrete(base: type) -> set[type]:
    """All classes of the library below a base that can be made."""
    found = set()
    for cls in base.__subclasses__():
        found |= concrete(cls) | ({cls} if not inspect.isabstract(cls) else set())
    return {cls for cls in found if cls.__module__.startswith("krein.") and not cls.__name__.startswith("_")}


@pytest.mark.parametrize("tag", TAGS)
def test_tags(tag):
    entry = entry_for(tag)
    assert entry is not None
    assert entry_of(entry.cls) is entry
    assert entry.arguments is not None  # all annotations can be resolved
    assert bool(entry.learned) == issubclass(entry.cls, SavableMixin)


@pytest.mark.parametrize("cls", sorted(concrete(SavableMixin), key=str), ids=lambda cls: cls.__name__)
def test_every_estimator_is_registered(cls):
    # the arms of the reproduction are fitted and forgotten
    assert (entry_of(cls) is None) == cls.__module__.startswith("krein.paper.")


@pytest.mark.parametrize(
    "cls",
    sorted({*NAMED_KERNELS.values(), *SAMPLERS.values(), *concrete(Kernel)} - {Radial}, key=str),
    ids=lambda cls: cls.__name__,
)
def test_every_kernel_and_sampler_is_registered(cls):
    """But `Radial`, which holds a function."""
    assert entry_of(cls) is not None


def test_estimators_are_looked_for_where_they_register_themselves():
    assert entry_for("krein.ridge").cls is krein.KreinRidge
    assert entry_for("baseline.tensor-sketch").cls is krein.baselines.TensorSketch
    assert entry_for("os.system") is None
    assert entry_of(Radial) is None


def test_nothing_in_a_file_depends_on_where_a_class_is(monkeypatch):
    """What is written of a kernel is the same when its class has moved."""
    before = Encoder("it").encode(Gaussian(2.0))
    assert before == {"@": "object", "tag": "kernel.gaussian", "arguments": {"scale": 2.0}}
    monkeypatch.setattr(Gaussian, "__module__", "krein.elsewhere")
    assert Encoder("it").encode(Gaussian(2.0)) == before
    assert Decoder({}).decode_whole(before, "it") == Gaussian(2.0)


def test_one_class_one_tag():
    with pytest.raises(ValueError, match=r"belongs to .*Gaussian already"):
        register("kernel.gaussian")(Radial)
    with pytest.raises(ValueError, match=r"has the tag 'kernel\.gaussian' already"):
        register("example.gaussian")(Gaussian)
    for tag in ("", "Upper", "krein.files:Region", "two words", ".a", "a..b"):
        with pytest.raises(ValueError, match="lower-case words"):
            register(tag)


def test_constructors_are_called():
    """Forged arguments meet the same checks as anybody's."""
    tree = {"@": "object", "tag": "kernel.gaussian", "arguments": {"scale": -1.0}}
    with pytest.raises(ValueError, match=r"it is not a kernel\.gaussian: scale must be positive"):
        Decoder({}).decode_whole(tree, "it")

    calls = []

    @register("example.counted")
    @dataclass(frozen=True)
    class Counted:
        value: int
        added_later: float = 1.5

        def __post_init__(self) -> None:
            calls.append(self.value)

    found = Decoder({}).decode_whole({"@": "object", "tag": "example.counted", "arguments": {"value": 3}}, "it")
    assert calls == [3]
    assert found == Counted(3, 1.5)  # a file from before the second field


def test_classes_with_a_plain_constructor():
    @register("example.plain")
    class Plain:
        def __init__(self, size: int, name: str = "none") -> None:
            self.size, self.name = size, name

    tree = Encoder("it").encode(Plain(3, "some"))
    assert tree["arguments"] == {"size": 3, "name": "some"}
    assert vars(Decoder({}).decode_whole(tree, "it")) == {"size": 3, "name": "some"}
    with pytest.raises(ValueError, match=r"it\.size must be int"):
        Decoder({}).decode_whole({**tree, "arguments": {"size": "3"}}, "it")


def test_learned_attributes_are_named():
    entry = Entry("example.none", krein.KreinRidge, {"coef_": np.ndarray, "extra_": float | None})
    assert entry.learned["coef_"].required
    assert not entry.learned["extra_"].required
    assert entry.may_be_none == ("extra_",)
    model = krein.ExactKreinRidge(lam=0.1).fit(np.eye(3), np.arange(3.0))
    model.surprise_ = 1
    with pytest.raises(ValueError, match="surprise_ is learned, but ExactKreinRidge is not registered with it"):
        Encoder("it").encode(model)


class Shaped(Protocol):
    shape: tuple[int, ...]


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        (1, int, True),
        (np.int64(1), int, True),
        (True, int, False),
        (1.0, int, False),
        (1, float, True),
        (np.float32(1), float, True),
        (True, float, False),
        ("1", float, False),
        (np.True_, bool, True),
        (1, bool, False),
        (None, None, True),
        (None, float | None, True),
        ("a", Literal["a", "b"], True),
        ("c", Literal["a", "b"], False),
        (True, Literal[1], False),
        ((1.0, 2.0), tuple[float, ...], True),
        ((1.0, "b"), tuple[float, ...], False),
        ((1.0,), tuple[float, float], False),
        ([1.0], tuple[float, ...], False),
        ([1, 2], list[int], True),
        ({"a": 1}, dict[str, int], True),
        ({"a": "b"}, dict[str, int], False),
        (np.zeros(3), np.ndarray, True),
        (np.zeros(3), npt.NDArray[np.float64], True),
        ([0.0], np.ndarray, False),
        (Gaussian(), Kernel, True),
        ("gaussian", Kernel, False),
        (object(), Any, True),
        (3, Shaped, True),
    ],
)
def test_annotations(value, hint, expected):
    assert fits(value, hint) is expected
    assert describe(hint)


@pytest.mark.parametrize(("takes_blocks", "call"), [(True, "blocks"), (False, "pairs"), (None, "auto")])
def test_a_similarity_of_an_earlier_version_is_read(takes_blocks, call):
    """It was an object of three parts, of which the first could be another one around a function."""
    distance = {"@": "object", "tag": "distance-kernel", "arguments": {"metric": "cityblock", "scale": 2.0}}
    arguments = {"kernel": distance, "takes_blocks": takes_blocks, "symmetrize": "average"}
    tree = {"@": "object", "tag": "similarity.callable", "arguments": arguments}
    expected = Similarity(DistanceKernel("cityblock", scale=2.0), call=call, symmetrize="average")
    assert Decoder({}).decode_whole(tree, "model") == expected
    wrapped = {"@": "object", "tag": "similarity.function", "arguments": {"function": distance, "blocks": None}}
    arguments["kernel"] = wrapped
    assert Decoder({}).decode_whole(tree, "model") == expected
    tree = {"@": "object", "tag": "similarity.precomputed", "arguments": {"kernel": None, "symmetrize": "error"}}
    assert Decoder({}).decode_whole(tree, "model") == PrecomputedSimilarity()


def test_parameters_that_estimators_had_before_are_left_out():
    arguments = {"kernel": None, "call": "pairs", "symmetrize": "error", "n_jobs": 2, "cache": None, "verbose": False}
    for tag in ("krein.nystroem", "krein.exact-ridge", "krein.exact-svc"):
        tree = {"@": "object", "tag": tag, "arguments": arguments, "learned": {}}
        assert Decoder({}).decode_whole(tree, "model").kernel is None


def test_a_file_does_not_say_where_values_are_kept():
    encoder = Encoder("model")
    tree = encoder.encode(Similarity(DistanceKernel("cityblock"), n_jobs=2, cache="somewhere", verbose=True))
    assert sorted(tree["arguments"]) == ["call", "function", "symmetrize"]
