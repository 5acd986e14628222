"""Files made to do harm, with checksums that are right: each is refused, or is a model that predicts finite values.

Mutations are seeded and judged in processes of their own, so that a crash is a failed test and not a dead run. The seeds of a
longer campaign are set from outside: ``KREIN_HOSTILE_SEEDS=1000:1500 pytest tests/files/test_hostile_models.py``.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import struct
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from archives import HEADER, array, npy, pack, unpack
from hostile_sources import LABELS, MODELS, OF_MATRICES, X, Y, nystroem, rows_for
from mutations import mutate

import krein
from krein.files.models import ModelFileError, load_model
from krein.files.values import csr_from
from krein.kernels import DeltaGaussian

HERE = Path(__file__).parent
ALL = MODELS | OF_MATRICES


def _seeds() -> range:
    first, _, last = os.environ.get("KREIN_HOSTILE_SEEDS", "0:25").partition(":")
    return range(int(first), int(last))


def test_every_estimator_that_saves_is_among_them():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {type(model()) for model in ALL.values()}
    public = {getattr(home, name) for home in (krein, krein.baselines) for name in home.__all__}
    assert {one for one in public if inspect.isclass(one) and hasattr(one, "save")} <= made


def test_mutated_files(tmp_path):
    """All in one process: starting Python takes longer than judging the files of a model."""
    done = {}
    for number, (name, make) in enumerate(ALL.items()):
        folder = tmp_path / f"{number:02d}"
        folder.mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make().save(folder / "source")
        np.save(folder / "rows.npy", rows_for(name))
        for seed in _seeds():
            file = folder / f"{seed:06d}.krein"
            done[str(file)] = f"{name}, seed {seed}, {mutate(folder / 'source', file, seed)}"
    judged = subprocess.run(
        [sys.executable, str(HERE / "judge_models.py"), *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        check=False,
    )
    wrong, seen = [], 0
    for line in judged.stdout.splitlines():
        file, _, rest = line.partition("\t")
        verdict, _, reason = rest.partition("\t")
        seen += 1
        if verdict not in ("refused", "predicts", "declines"):
            words = ast.literal_eval(reason) if reason else f"the process died with code {judged.returncode}"
            wrong.append(f"{done[file]}: {words}")
    assert not wrong, "\n".join(wrong)
    assert seen == len(done), judged.stderr


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.krein"
    krein.ExactKreinRidge(DeltaGaussian(), lam=0.1).fit(X[:30], Y[:30]).save(path)
    return path


def refused(path, message):
    """That a file is refused, and at how many bytes of memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=message):
            load_model(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


SMALL = 2**24  # bytes of memory that refusing a small file may take


class TestMemory:
    """Nothing is believed before it is compared with the size of the file."""

    def test_compressed_members(self, path):
        header, members = unpack(path)
        pack(path, header, {**members, "dual_coef_.npy": npy(np.zeros(2**25))}, compression=zipfile.ZIP_DEFLATED)
        assert path.stat().st_size < 2**20
        assert refused(path, "is compressed, and models are not") < SMALL

    @pytest.mark.parametrize("shape", [b"(1000000000000,)", b"(30, 1000000000)", b"(999999999999999999, 99)"])
    def test_shapes_that_are_not_those_of_the_bytes(self, path, shape):
        header, members = unpack(path)
        data = members["dual_coef_.npy"].replace(b"(30,), }".ljust(len(shape) + 3), shape + b", }")
        assert data != members["dual_coef_.npy"]
        pack(path, header, {**members, "dual_coef_.npy": data})
        assert refused(path, "which do not make an array of shape") < SMALL

    def test_a_directory_that_lies(self, path):
        data = bytearray(path.read_bytes())
        at = data.rindex(b"PK\x01\x02", 0, data.index(b"PK\x05\x06"))
        for size in (20, 24):  # of the last member, packed and unpacked
            data[at + size : at + size + 4] = struct.pack("<I", 2**31)
        path.write_bytes(bytes(data))
        assert refused(path, "claim to be larger than the file") < SMALL

    def test_members_that_share_their_bytes(self, path):
        """One member's bytes under many names: each is small, all together are not."""
        header, members = unpack(path)
        pack(path, header, {**members, "dual_coef_.npy": npy(np.zeros(2**16))})
        data = path.read_bytes()
        end = data.index(b"PK\x05\x06")
        start = data.index(b"PK\x01\x02")
        directory, tail = data[start:end], bytearray(data[end:])
        entries = [b"PK\x01\x02" + part for part in directory.split(b"PK\x01\x02")[1:]]
        big = next(entry for entry in entries if b"dual_coef_" in entry)
        copies = [big.replace(b"dual_coef_", b"dual_c%04d" % i) for i in range(2000)]
        everything = b"".join([*entries, *copies])
        struct.pack_into("<HHI", tail, 8, len(entries) + 2000, len(entries) + 2000, len(everything))
        path.write_bytes(data[:start] + everything + bytes(tail))
        assert refused(path, "damaged") < SMALL

    def test_a_large_directory(self, path):
        header, members = unpack(path)
        pack(path, header, {**members, **{f"a{i}.npy": b"" for i in range(20_000)}})
        assert refused(path, "its directory takes") < SMALL

    def test_a_large_directory_behind_the_records_of_large_files(self, path):
        """An archive beyond 4 GiB says the size of its directory elsewhere, and may lie about size and place."""
        data = path.read_bytes()
        end, start = data.index(b"PK\x05\x06"), data.index(b"PK\x01\x02")
        for size, at, message in ((end - start, 0, ""), (9 * 2**20, 0, "takes 9,4"), (9, 8, "where it should be")):
            large = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 4, 4, size, start)
            locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end + at, 1)
            path.write_bytes(data[:end] + large + locator + data[end:])
            if message:
                assert refused(path, message) < SMALL
            else:
                load_model(path)

    def test_a_large_header(self, path):
        header, members = unpack(path)
        header["notes"] = {"text": "x" * 2**24}
        pack(path, header, members)
        assert refused(path, "'header.json' takes") < SMALL

    def test_many_objects(self, path):
        """A list that claims a length has to have it."""
        header, members = unpack(path)
        header["model"]["learned"]["feature_names_in_"] = {"@": "objects", "shape": [500_000_000], "items": []}
        pack(path, header, members)
        assert refused(path, "an unknown entry 'shape'") < SMALL

    def test_an_array_used_twice(self, path):
        """Each use would be a copy."""
        header, members = unpack(path)
        header["model"]["learned"]["X_fit_"] = [{"@": "array", "name": "dual_coef_"}] * 1000
        pack(path, header, members)
        assert refused(path, "belongs to something else") < SMALL


class TestNesting:
    @pytest.mark.parametrize("depth", [200, 100_000, 4_000_000])
    @pytest.mark.parametrize("brackets", ["[]", "{}", "["])
    def test_deep_json(self, path, depth, brackets):
        _, members = unpack(path)
        opening = '{"a":' if brackets == "{}" else "["
        closing = {"[]": "]", "{}": "}", "[": ""}[brackets]
        text = '{"format": 2, "model": ' + opening * depth + "0" + closing * depth + "}"
        pack(path, text.encode()[: 2**24], members)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(10**6)  # as some programs do: then the stack would overflow before Python notices
        try:
            assert refused(path, "nested more than 100 deep") < 8 * SMALL
        finally:
            sys.setrecursionlimit(limit)

    def test_brackets_in_text_do_not_count(self, path):
        header, members = unpack(path)
        header["notes"] = {"text": '"[{\\' * 500}
        pack(path, header, members)
        load_model(path)

    def test_text_without_an_end(self, path):
        _, members = unpack(path)
        pack(path, b'{"format": 2, "a": "' + b'\\"' * 2**20, members)
        refused(path, "damaged")


class TestArchive:
    def rebuilt(self, path, change):
        with zipfile.ZipFile(path) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zipfile itself warns of names given twice
            with zipfile.ZipFile(path, "w") as archive:
                for name, data in change(members):
                    archive.writestr(name, data)

    def test_names_given_twice(self, path):
        self.rebuilt(path, lambda members: [*members, members[-2]])
        refused(path, "two members of one name")

    def test_without_a_checksum(self, path):
        self.rebuilt(path, lambda members: members[:-1])
        refused(path, "has no checksum")

    def test_encrypted(self, path):
        data = bytearray(path.read_bytes())
        data[data.index(b"PK\x01\x02") + 8] |= 1
        path.write_bytes(bytes(data))
        refused(path, "encrypted")

    def test_with_a_comment(self, path):
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = b"hello"
        refused(path, "does not end as an archive does")

    def test_pipes_and_devices_do_not_hang(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        refused(tmp_path / "pipe", "a device or a pipe")
        refused(os.devnull, "a device or a pipe")

    @pytest.mark.parametrize(
        "text", [b"", b"null", b"[]", b'{"format": NaN}', b'{"format": true}', b"\xff\xfe", b"9" * 10_000]
    )
    def test_headers_that_are_none(self, path, text):
        _, members = unpack(path)
        pack(path, text, members)
        refused(path, "damaged")

    def test_a_header_of_numbers_without_end(self, path):
        header, members = unpack(path)
        text = json.dumps(header).replace('"lam": 0.1', '"lam": ' + "9" * 100_000)
        pack(path, text.encode(), members)
        assert HEADER not in members
        refused(path, "damaged|beyond 64 bits")


class TestStates:
    """Values that numpy or scipy would take as they are, and that would then be read beyond their ends."""

    def changed(self, path, model, change):
        model.save(path)
        header, members = unpack(path)
        change(header["model"], members)
        pack(path, header, members)

    def test_rows_of_a_kernel_model_that_are_no_matrix(self):
        X = np.random.default_rng(0).normal(size=(30, 3))
        model = krein.KreinRidge(random_state=0).fit(X, X[:, 0]).model_
        with pytest.raises(ValueError, match="rows must have two dimensions"):
            replace(model, rows=model.rows[:, :, None])

    def test_rows_of_leaves_that_are_too_narrow(self, tmp_path):
        X = np.random.default_rng(0).normal(size=(30, 3))
        model = krein.KreinRidge(solver="local", random_state=0).fit(X, X[:, 0])
        local = model.model_.local
        leaves = replace(local.leaves, rows=np.ascontiguousarray(local.leaves.rows[:, 1:]))
        model.model_ = replace(model.model_, local=replace(local, leaves=leaves))
        model.save(tmp_path / "m")
        refused(tmp_path / "m", "the leaves do not fit")

    def test_rows_of_a_kernel_model_that_are_too_narrow(self, tmp_path):
        X = np.random.default_rng(0).normal(size=(30, 3))
        model = krein.KreinRidge(random_state=0).fit(X, X[:, 0])
        model.model_ = replace(model.model_, rows=np.ascontiguousarray(model.model_.rows[:, 1:]))
        model.save(tmp_path / "m")
        refused(tmp_path / "m", "the kernel model has rows of")

    @pytest.mark.parametrize(
        "parts",
        [
            {"indices": [0, 2, 3, 9]},
            {"indices": [0, 2, -1, 1]},
            {"indices": [2, 0, 1, 3]},
            {"indices": [2, 2, 1, 3]},
            {"indices": [0, 2, 1]},
            {"indices": np.array([0, 2, 1, 3], dtype=np.int16)},
            {"indices": np.array([0, 2, 1, 3], dtype=np.int64)},
            {"indices": [0.0, 2.0, 1.0, 3.0]},
            {"indptr": [0, 2, 3, 5]},
            {"indptr": [0, 3, 2, 4]},
            {"indptr": [1, 2, 3, 4]},
            {"indptr": [0, 2, 3, 3]},
            {"indptr": [0, 2, 4]},
            {"indptr": [0, 2, 3, 2**31 - 1]},
            {"data": [1.0, 2.0, 3.0]},
            {"data": [[1.0], [2.0], [3.0], [4.0]]},
            {"data": ["1", "2", "3", "4"]},
            {"shape": [3, 2]},
            {"shape": [3, -5]},
            {"shape": [3]},
            {"shape": "3, 5"},
            {"shape": [3, 5.0]},
            {"data": None},
        ],
        ids=str,
    )
    def test_sparse_matrices(self, parts):
        right = {
            "data": np.arange(4.0),
            "indices": np.array([0, 2, 1, 3], dtype=np.int32),
            "indptr": np.array([0, 2, 3, 4], dtype=np.int32),
            "shape": [3, 5],
        }
        assert csr_from(**right, path="here").nnz == 4
        for name, value in parts.items():
            whole = isinstance(value, list) and name in ("indices", "indptr") and isinstance(value[0], int)
            right[name] = np.array(value, dtype=np.int32) if whole else value if name == "shape" else np.array(value)
        with pytest.raises(ValueError, match=r"sparse|ind|NaN"):
            csr_from(**right, path="here")

    def test_a_sparse_matrix_in_a_file(self, tmp_path):
        model = krein.baselines.TensorSketch(n_components=16, random_state=0).fit(X)

        def break_it(tree, members):
            name = next(name for name in sorted(members) if name.endswith("indices.npy"))
            members[name] = npy(array(members[name]) + 100)

        self.changed(tmp_path / "m", model, break_it)
        refused(tmp_path / "m", "ind")

    def test_truth_values_and_characters_that_are_none(self, tmp_path):
        model = krein.KreinRidgeClassifier(nystroem(), lam=0.1).fit(X, LABELS)
        path = tmp_path / "m"
        self.changed(
            path, model, lambda _, members: members.update({"classes_.npy": members["classes_.npy"][:-4] + b"\xff" * 4})
        )
        refused(path, "not characters")
        model = krein.KreinRidgeClassifier(nystroem(), lam=0.1).fit(X, Y > 0.5)
        self.changed(
            path, model, lambda _, members: members.update({"classes_.npy": members["classes_.npy"][:-1] + b"\x07"})
        )
        refused(path, "neither true nor false")
