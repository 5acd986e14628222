"""Seeded changes to a model file: most get a checksum that is right, some are bits that flip and bytes that are lost."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from archives import array, npy, pack, unpack

TAGS = [
    "atoms",
    "head",
    "region",
    "frequencies",
    "feature-map",
    "kernel.gaussian",
    "kernel.sum",
    "krein.ridge",
    "krein.nystroem",
]
LEAVES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    7,
    10**6,
    2**62,
    10**30,
    0.5,
    -0.5,
    1e300,
    "",
    "text",
    "precomputed",
    [],
    {},
    [[]],
]
LEAVES += [{"@": "float", "value": "inf"}, {"@": "float", "value": "nan"}, {"@": "tuple", "items": []}]

Header, Members = dict[str, Any], dict[str, bytes]
Mutation = Callable[[Header, Members, np.random.Generator], None]


def mutate(source: Path, target: Path, seed: int) -> str:
    """Write a changed copy of a model file; what was changed, in a word."""
    rng = np.random.default_rng(seed)
    if rng.random() < DAMAGED:
        damage = DAMAGES[int(rng.integers(len(DAMAGES)))]
        target.write_bytes(damage(source.read_bytes(), rng))
        return damage.__name__
    header, members = unpack(source)
    chosen = MUTATIONS[int(rng.integers(len(MUTATIONS)))]
    chosen(header, members, rng)
    if not isinstance(header, dict) or "raw" not in header:
        pack(target, header, members)
    else:
        pack(target, header["raw"], members)
    return chosen.__name__


def flip_bits(data: bytes, rng: np.random.Generator) -> bytes:
    """One to eight bits anywhere in the file."""
    found = bytearray(data)
    for at in rng.integers(len(data), size=int(rng.integers(1, 9))):
        found[at] ^= 1 << int(rng.integers(8))
    return bytes(found)


def cut(data: bytes, rng: np.random.Generator) -> bytes:
    """The end, the beginning or a piece in the middle is lost."""
    one, other = sorted(int(at) for at in rng.integers(len(data), size=2))
    return [data[:one], data[other:], data[:one] + data[other:]][int(rng.integers(3))]


def overwrite(data: bytes, rng: np.random.Generator) -> bytes:
    """A piece replaced by another of the same file, or by zeros."""
    size, at, other = (int(rng.integers(1, limit)) for limit in (200, len(data), len(data)))
    piece = data[other : other + size] if rng.integers(2) else b"\0" * size
    return data[:at] + piece + data[at + len(piece) :]


def spots(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Containers and keys of every value below the model, so that it can be replaced."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from spots(tree[key])


def pick(items: list[Any], rng: np.random.Generator) -> Any:
    return items[int(rng.integers(len(items)))]


def member(members: Members, rng: np.random.Generator) -> str:
    return str(pick(sorted(members), rng))


def resize(header: Header, members: Members, rng: np.random.Generator) -> None:
    """Rows or columns added or taken away, or the array of another shape."""
    name = member(members, rng)
    values = array(members[name])
    axis = int(rng.integers(max(1, values.ndim)))
    changes: list[Callable[[], np.ndarray]] = [
        lambda: values[..., None],
        lambda: values.reshape(-1),
        lambda: values.T,
        lambda: values[:0],
        lambda: np.zeros(()),
    ]
    if values.ndim and values.shape[axis]:
        changes += [
            lambda: np.delete(values, -1, axis=axis),
            lambda: np.concatenate([values, np.take(values, [0], axis=axis)], axis=axis),
            lambda: np.repeat(values, 50, axis=axis),
        ] * 3
    members[name] = npy(np.ascontiguousarray(pick(changes, rng)()))


def retype(header: Header, members: Members, rng: np.random.Generator) -> None:
    """Another dtype, also such as no model has."""
    name = member(members, rng)
    values = array(members[name])
    if values.dtype.kind not in "biuf":
        values = np.arange(float(values.size)).reshape(values.shape)
    dtype = pick(
        ["f4", "f8", "i8", "i4", "i1", "u1", "u8", "?", "c16", "U7", ">f8", "f2", "longdouble", "M8[s]", "S3"], rng
    )
    with np.errstate(all="ignore"):
        members[name] = npy(values.astype(dtype))


def revalue(header: Header, members: Members, rng: np.random.Generator) -> None:
    """Some entries changed."""
    name = member(members, rng)
    values = np.array(array(members[name]))
    if not values.size:
        return
    where = rng.integers(values.size, size=int(rng.integers(1, 4)))
    if values.dtype.kind == "f":
        values.reshape(-1)[where] = pick([np.nan, np.inf, -np.inf, 0.0, -1.0, 3.0, 1e6, 1e-300], rng)
    elif values.dtype.kind in "iu":
        values.reshape(-1)[where] = pick([0, 1, 100, np.iinfo(values.dtype).max], rng)
    else:
        values.reshape(-1).view(np.uint8)[where] = 255
    members[name] = npy(values)


def reorder(header: Header, members: Members, rng: np.random.Generator) -> None:
    """The same bytes, said to be stored by columns."""
    name = member(members, rng)
    members[name] = members[name].replace(b"'fortran_order': False", b"'fortran_order': True ", 1)
    if rng.integers(2):
        members[name] = npy(np.asfortranarray(array(npy_fixed(members[name]))))


def npy_fixed(data: bytes) -> bytes:
    return data.replace(b"'fortran_order': True ", b"'fortran_order': False", 1)


def lie(header: Header, members: Members, rng: np.random.Generator) -> None:
    """A shape in the array's own header that is not that of its bytes."""
    name = member(members, rng)
    start = members[name].index(b"'shape': (") + len(b"'shape': (")
    end = members[name].index(b")", start)
    shape = pick(
        [b"1000000000000,", b"3,", b"", b"-1,", b"5, 5", b"1, 999999999999999999", b"0,", b"1e3,", b"((((1,"], rng
    )
    members[name] = (
        members[name][:start] + shape.ljust(end - start)[: max(len(shape), end - start)] + members[name][end:]
    )


def swap_members(header: Header, members: Members, rng: np.random.Generator) -> None:
    """Two arrays exchanged."""
    one, other = member(members, rng), member(members, rng)
    members[one], members[other] = members[other], members[one]


def drop_or_add_member(header: Header, members: Members, rng: np.random.Generator) -> None:
    """An array too few or too many."""
    if rng.integers(2):
        del members[member(members, rng)]
    else:
        members[pick(["extra.npy", "notes.txt", "../up.npy", "a b.npy", "sub/"], rng)] = npy(np.zeros(3))


def replace_leaf(header: Header, members: Members, rng: np.random.Generator) -> None:
    """Any value of the tree replaced by another."""
    container, key = pick(list(spots(header["model"])), rng)
    container[key] = copy.deepcopy(pick(LEAVES, rng))


def nudge_number(header: Header, members: Members, rng: np.random.Generator) -> None:
    """A number replaced by one of the same type."""
    found = [(c, k) for c, k in spots(header["model"]) if isinstance(c[k], int | float) and not isinstance(c[k], str)]
    if found:
        container, key = pick(found, rng)
        value = container[key]
        container[key] = (
            not value
            if isinstance(value, bool)
            else type(value)(value * pick([-1, 0, 2, 100], rng) + pick([0, 1], rng))
        )


def flip_text(header: Header, members: Members, rng: np.random.Generator) -> None:
    """A text replaced by one that stands elsewhere in the tree."""
    found = [(c, k) for c, k in spots(header["model"]) if isinstance(c[k], str)]
    container, key = pick(found, rng)
    other, where = pick(found, rng)
    container[key] = other[where]


def swap_values(header: Header, members: Members, rng: np.random.Generator) -> None:
    """Two values of the tree exchanged."""
    found = list(spots(header["model"]))
    (one, key), (other, where) = pick(found, rng), pick(found, rng)
    one[key], other[where] = copy.deepcopy(other[where]), copy.deepcopy(one[key])


def swap_tag(header: Header, members: Members, rng: np.random.Generator) -> None:
    """An object said to be another."""
    found = [c for c, k in spots({"root": header["model"]}) if k == "tag"]
    pick(found, rng)["tag"] = pick([*TAGS, "os.system", "builtins", "", None, 3], rng)


def rename_key(header: Header, members: Members, rng: np.random.Generator) -> None:
    """A key dropped, renamed or added."""
    found = [(c, k) for c, k in spots(header["model"]) if isinstance(c, dict)]
    container, key = pick(found, rng)
    value = container.pop(key)
    if rng.integers(3):
        container[pick(["junk", "__class__", "coef_", "_check_loaded", "tag", "@"], rng)] = value
    if not rng.integers(3):
        container[key] = value


def nest(header: Header, members: Members, rng: np.random.Generator) -> None:
    """Lists within lists within lists."""
    depth = int(pick([50, 101, 10_000, 1_000_000], rng))
    container, key = pick(list(spots(header["model"])), rng)
    container[key] = "HERE"
    text = json.dumps(header)
    header["raw"] = text.replace(
        '"HERE"', pick(["[" * depth + "]" * depth, '{"@":' * depth + "1" + "}" * depth], rng)
    ).encode()


def rewrite_header(header: Header, members: Members, rng: np.random.Generator) -> None:
    """The top of the header changed."""
    key = pick(["format", "krein", "class", "notes", "model"], rng)
    header[key] = copy.deepcopy(pick([*LEAVES, 2, 3], rng))


MUTATIONS: list[Mutation] = [
    *(resize, resize, resize, retype, retype, revalue, revalue, reorder, lie, swap_members, swap_members),
    *(drop_or_add_member, replace_leaf, replace_leaf, replace_leaf, nudge_number, nudge_number, flip_text, swap_values),
    *(swap_tag, rename_key, nest, rewrite_header),
]
DAMAGED = 0.2  # of all files: damaged as they are, so that the checksum is wrong
DAMAGES = (flip_bits, cut, overwrite)
