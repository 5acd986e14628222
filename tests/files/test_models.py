"""Model files: bit for bit the same predictions, no pickles, and a reason for every file that is refused."""

import json
import os
import re
import stat
import zipfile

import numpy as np
import pytest
from archives import npy, pack, unpack

from krein.estimators.learners.exact import ExactKreinRidge, ExactKreinSVC
from krein.estimators.learners.logistic import KreinLogistic
from krein.estimators.learners.pca import KreinPCA
from krein.estimators.learners.ridge import KreinRidge, KreinRidgeClassifier
from krein.estimators.learners.svm import KreinSVC
from krein.estimators.maps.fourier import SignedFourierFeatures
from krein.estimators.maps.nystroem import KreinNystroem
from krein.estimators.maps.tuned import TunedFeatures
from krein.files import models
from krein.files.models import ModelFileError, load_model, read_header, save_model
from krein.kernels import NTK, DeltaGaussian, Gaussian, Laplacian, Radial, SphericalPolynomial
from krein.similarities import DistanceKernel

RNG = np.random.default_rng(0)
X = RNG.uniform(0.05, 1.0, size=(300, 5))
Y = np.cos(5 * X[:, 0]) + X[:, 1]
LABELS = np.array(["red", "green", "ultramarine"])[np.digitize(Y, [0.3, 0.9])]


def fourier(kernel=None, **options):
    return SignedFourierFeatures(kernel=kernel, n_components=64, random_state=0, **options)


MODELS = {
    "ridge": lambda: KreinRidge(fourier(DeltaGaussian(0.5, 2.0))).fit(X, Y),
    "ridge, several targets": lambda: KreinRidge(fourier(), regularizer="two", lam=(1e-3, 1e-2)).fit(X, np.c_[Y, -Y]),
    "ridge, sum of kernels": lambda: KreinRidge(fourier(2 * Gaussian(1.0) - 0.5 * Laplacian(0.7))).fit(X, Y),
    "classifier": lambda: KreinRidgeClassifier(fourier(NTK())).fit(X, LABELS),
    "classifier, unbiased": lambda: KreinRidgeClassifier(fourier(SphericalPolynomial(2, 2), weights="unbiased")).fit(
        X, LABELS
    ),
    "classifier, projected": lambda: KreinRidgeClassifier(fourier(weights="projected")).fit(X, LABELS),
    "classifier, object labels": lambda: KreinRidgeClassifier(fourier()).fit(X, LABELS.astype(object)),
    "classifier, nystroem": lambda: KreinRidgeClassifier(KreinNystroem(n_components=30, random_state=0)).fit(X, LABELS),
    "scaled": lambda: KreinRidge(TunedFeatures(None, scaling="minmax", features=fourier(Gaussian(1.0)))).fit(X, Y),
    "chosen and exact": lambda: KreinRidge().fit(X, Y),
    "chosen features": lambda: KreinRidge(TunedFeatures(n_components=20), solver="features", random_state=0).fit(X, Y),
    "chosen features, lifted": lambda: KreinRidge(TunedFeatures([NTK()], 20), solver="features", random_state=0).fit(
        X, Y
    ),
    "local, learned metric": lambda: KreinRidge(TunedFeatures([NTK()], 20), solver="local", random_state=0).fit(X, Y),
    "svc": lambda: KreinSVC(fourier()).fit(X, LABELS),
    "logistic": lambda: KreinLogistic(fourier(), regularizer="two").fit(X, LABELS),
    "exact ridge": lambda: ExactKreinRidge(DeltaGaussian(), lam=0.1).fit(X[:50], Y[:50]),
    "exact svc": lambda: ExactKreinSVC().fit(X[:50], LABELS[:50]),
    "random state object": lambda: KreinRidge(fourier(), lam=0.1, random_state=np.random.RandomState(3)).fit(X, Y),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_loaded_model_predicts_bit_for_bit_the_same(name, dtype, tmp_path):
    model = MODELS[name]()
    path = tmp_path / "model.krein"
    model.save(path)
    again = load_model(path)
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.predict(X.astype(dtype)), model.predict(X.astype(dtype)))
    if name != "random state object":
        assert repr(again) == repr(model)
    # and the copy can be copied
    again.save(path)
    np.testing.assert_array_equal(load_model(path).predict(X), model.predict(X))


@pytest.mark.parametrize(
    "features",
    [fourier(NTK()), fourier(weights="projected"), KreinNystroem(kernel=NTK(), n_components=20, random_state=0)],
)
def test_feature_maps_and_components(features, tmp_path):
    path = tmp_path / "map.krein"
    model = KreinPCA(features, 4).fit(X)
    model.save(path)
    np.testing.assert_array_equal(load_model(path).transform(X), model.transform(X))
    fitted = features.fit(X)
    save_model(fitted, path)
    np.testing.assert_array_equal(load_model(path).transform(X), fitted.transform(X))


def test_a_machine_of_few_rows_is_read_again(tmp_path):
    """Before: costs that no fold could try have no score, and the file was refused."""
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    model = ExactKreinSVC().fit(X, y)
    assert not np.isfinite(model.cv_scores_).all()
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load_model(tmp_path / "model.npz").cv_scores_, model.cv_scores_)


def test_names_of_columns_and_notes_are_kept(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = KreinRidge(fourier(), lam=0.1).fit(frame, Y)
    save_model(model, tmp_path / "m", notes={"columns": list("abcde"), "note": "naïve"})
    assert read_header(tmp_path / "m")["notes"] == {"columns": list("abcde"), "note": "naïve"}
    again = load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[list("edcba")])


def test_the_file_is_an_npz_archive_with_a_json_header(tmp_path):
    path = tmp_path / "m.npz"
    model = KreinRidge(fourier(), lam=0.1).fit(X, Y)
    model.save(path)
    with np.load(path, allow_pickle=False) as archive:
        arrays = [archive[name] for name in archive.files if name != "header.json"]
    assert any(a.size == model.coef_.size and (a.ravel() == model.coef_).all() for a in arrays)
    header = read_header(path)
    assert header["format"] == 2
    assert header["class"] == "KreinRidge"


def test_sums_over_rows_are_not_kept_and_partial_fit_says_so(tmp_path):
    model = KreinRidge(fourier(), lam=0.1).fit(X, Y)
    model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="loaded from a file"):
        load_model(tmp_path / "m").partial_fit(X, Y)
    load_model(tmp_path / "m").fit(X, Y)


class TestRefused:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "model.krein"
        ExactKreinRidge(DeltaGaussian(), lam=0.1).fit(X[:30], Y[:30]).save(path)
        return path

    def rewrite(self, path, change):
        """The file with its header changed by a function, and a checksum that is right."""
        header, members = unpack(path)
        change(header)
        pack(path, header, members)

    @pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
    def test_cut_short(self, path, share):
        data = path.read_bytes()
        path.write_bytes(data[: int(share * len(data))])
        with pytest.raises(ModelFileError, match="cut short"):
            load_model(path)

    def test_every_flipped_byte_is_noticed_or_harmless(self, path):
        data = path.read_bytes()
        expected = load_model(path).predict(X)
        for position in np.random.default_rng(1).integers(0, len(data), 60):
            broken = bytearray(data)
            broken[position] ^= 0x55
            path.write_bytes(bytes(broken))
            try:
                found = load_model(path).predict(X)
            except ModelFileError:
                continue
            np.testing.assert_array_equal(found, expected)  # a byte of the archive's own book-keeping

    def test_newer_and_older_formats(self, path):
        self.rewrite(path, lambda header: header.update(format=3, krein="9.0"))
        with pytest.raises(ModelFileError, match=r"format 3, written by krein 9\.0.*upgrade krein"):
            load_model(path)
        self.rewrite(path, lambda header: header.update(format=1, krein="0.1.0"))
        with pytest.raises(
            ModelFileError, match=r"format 1, written by krein 0\.1\.0;.*train the model again or use krein 0\.1"
        ):
            load_model(path)

    def test_a_file_of_format_1(self, path):
        """As krein 0.1 wrote it: the checksum in the header, arrays a0, a1, …"""
        header = {
            "format": 1,
            "krein": "0.1.0",
            "class": "KreinRidge",
            "notes": {},
            "model": {},
            "checksum": "sha256:0",
        }
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a0.npy", npy(np.zeros(3)))
            archive.writestr("header.json", json.dumps(header))
        with pytest.raises(ModelFileError, match=r"format 1, written by krein 0\.1\.0"):
            load_model(path)

    def test_changed_without_the_checksum(self, path):
        data = path.read_bytes()
        assert data.count(b'"lam": 0.1') == 1
        path.write_bytes(data.replace(b'"lam": 0.1', b'"lam": 0.2'))
        with pytest.raises(ModelFileError, match="damaged"):  # the archive's own checksum
            load_model(path)
        path.write_bytes(data)
        header, members = unpack(path)
        header["model"]["arguments"]["lam"] = 0.2
        with zipfile.ZipFile(path) as archive:
            checksum = archive.read("checksum.txt")
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in {
                "header.json": json.dumps(header).encode(),
                **members,
                "checksum.txt": checksum,
            }.items():
                archive.writestr(name, content)
        with pytest.raises(ModelFileError, match="checksum does not match"):
            load_model(path)

    @pytest.mark.parametrize("tag", ["os.system", "krein.ridge-regression", "builtins", "", 3, None, ["krein.ridge"]])
    def test_unknown_tags(self, path, tag):
        self.rewrite(path, lambda header: header["model"].update(tag=tag))
        with pytest.raises(ModelFileError, match="which no class of this version of krein has"):
            load_model(path)

    def test_a_header_of_something_else(self, path):
        self.rewrite(path, lambda header: header.pop("notes"))
        with pytest.raises(ModelFileError, match="is not that of a model"):
            load_model(path)

    def test_a_member_that_no_model_has(self, path):
        header, members = unpack(path)
        pack(path, header, {**members, "notes.txt": b"hello"})
        with pytest.raises(ModelFileError, match=r"a member 'notes\.txt', which no model has"):
            load_model(path)
        pack(path, header, {**members, "b.npy": b"hello"})
        with pytest.raises(ModelFileError, match=r"its member 'b\.npy' is not an array"):
            load_model(path)
        with zipfile.ZipFile(path, "w") as file:
            for name, data in {"header.json": json.dumps(header), **members}.items():
                file.writestr(name, data)
        with pytest.raises(ModelFileError, match=r"it has no checksum\.txt"):
            load_model(path)

    def test_a_part_is_no_model(self, path):
        self.rewrite(path, lambda header: header.update(model=header["model"]["arguments"]["kernel"]))
        with pytest.raises(ModelFileError, match="nothing refers to the array"):
            load_model(path)
        header, _ = unpack(path)
        pack(path, header, {})
        with pytest.raises(ModelFileError, match="holds a DeltaGaussian, not a model"):
            load_model(path)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda model: model["learned"].update(junk_=1), "a part 'junk_', which krein.exact-ridge does not have"),
            (lambda model: model["arguments"].update(junk=1), "a part 'junk', which krein.exact-ridge does not have"),
            (lambda model: model["learned"].pop("lam_"), "no 'lam_', which krein.exact-ridge must have"),
            (
                lambda model: model["learned"].update(n_features_in_="five"),
                "n_features_in_ must be int, got a value of type str",
            ),
            (lambda model: model["learned"].update(n_features_in_=0), "n_features_in_ must be at least 1"),
            (
                lambda model: model["arguments"]["kernel"]["arguments"].update(a="one"),
                "kernel.a must be float, got a value of type str",
            ),
            (
                lambda model: model["arguments"]["kernel"]["arguments"].update(a=-1.0),
                "kernel is not a kernel.delta-gaussian",
            ),
            (lambda model: model["learned"]["dual_coef_"].update(name="X_fit_"), "belongs to something else"),
            (
                lambda model: model["learned"].update(lam_={"@": "float", "value": "nan"}),
                "lam_ contains NaN or infinity",
            ),
            (lambda model: model["learned"].update(lam_={"@": "pickle", "value": "x"}), "of an unknown kind 'pickle'"),
            (lambda model: model["learned"].update(lam_=10**30), "beyond 64 bits"),
            (lambda model: model.update(more=1), "an unknown entry 'more'"),
        ],
    )
    def test_fields(self, path, change, message):
        self.rewrite(path, lambda header: change(header["model"]))
        with pytest.raises(ModelFileError, match=re.escape(message)):
            load_model(path)

    @pytest.mark.parametrize(
        "array",
        [
            np.array([{"a": 1}], dtype=object),
            np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]),
            np.zeros(3, dtype="M8[s]"),
            np.zeros(3, dtype=">f8"),
            np.zeros(3, dtype=np.longdouble),
            np.zeros(3, dtype="S4"),
            np.zeros(3, dtype="V8"),
        ],
        ids=lambda a: str(a.dtype),
    )
    def test_arrays_of_other_kinds(self, path, array):
        header, members = unpack(path)
        pack(path, header, {**members, "dual_coef_.npy": npy(array, allow_pickle=True)})
        with pytest.raises(ModelFileError, match="not an array of plain numbers or text"):
            load_model(path)

    def test_other_files(self, path):
        path.write_text("hello")
        with pytest.raises(ModelFileError, match="not a model file"):
            load_model(path)
        np.savez(path.with_suffix(".npz"), a=1)
        with pytest.raises(ModelFileError, match="not written by krein"):
            load_model(path.with_suffix(".npz"))
        with pytest.raises(FileNotFoundError):
            load_model(path.with_name("absent"))


class TestUnwritable:
    def test_names_that_would_not_be_read_again(self, tmp_path, monkeypatch):
        model = ExactKreinRidge(lam=0.1).fit(X[:20], Y[:20])
        with pytest.raises(ModelFileError, match=r"an array cannot be called 'é\.npy' in a file"):
            models._write_archive(tmp_path / "m", {}, {"é": X})
        monkeypatch.setattr(models, "_MOST_HEADER_BYTES", 100)
        with pytest.raises(ModelFileError, match="more than the 100 of a file; use shorter ones"):
            model.save(tmp_path / "m")
        assert not list(tmp_path.iterdir())

    def test_functions_cannot_be_saved_and_the_old_file_stays(self, tmp_path):
        path = tmp_path / "m"
        path.write_text("previous")
        model = ExactKreinRidge(Radial(lambda z: np.exp(-z)), lam=0.1).fit(X[:20], Y[:20])
        with pytest.raises(ModelFileError, match=r"holds a function.*named kernel"):
            model.save(path)
        model = ExactKreinRidge(lambda A, B: A @ B.T, lam=0.1).fit(X[:20], Y[:20])
        with pytest.raises(ModelFileError, match=r"ExactKreinRidge.kernel is a .*function.*kernel='precomputed'"):
            model.save(path)
        model = ExactKreinRidge(DistanceKernel(lambda a, b: abs(a[0] - b[0])), lam=0.1).fit(X[:20], Y[:20])
        with pytest.raises(ModelFileError, match=r"kernel.metric is a .*function.*DistanceKernel\('cityblock'\)"):
            model.save(path)
        assert path.read_text() == "previous"
        assert os.listdir(tmp_path) == ["m"]

    def test_what_the_refusal_of_a_function_says_to_use_can_be_saved(self, tmp_path):
        rows, new = X[:20], X[20:30]
        K, K_new = (np.abs(A[:, None] - rows).sum(axis=2) for A in (rows, new))
        for kernel, A, B in (
            (DistanceKernel("cityblock"), rows, new),
            (DistanceKernel("precomputed"), K, K_new),
            ("precomputed", np.exp(-K), np.exp(-K_new)),
        ):
            model = ExactKreinRidge(kernel, lam=0.1).fit(A, Y[:20])
            model.save(tmp_path / "m")
            np.testing.assert_array_equal(load_model(tmp_path / "m").predict(B), model.predict(B))

    def test_no_such_folder_and_a_folder(self, tmp_path):
        model = ExactKreinRidge(lam=0.1).fit(X[:20], Y[:20])
        with pytest.raises(ModelFileError, match="cannot write"):
            model.save(tmp_path / "absent" / "m")
        with pytest.raises(ModelFileError, match="it is a folder"):
            model.save(tmp_path)

    def test_a_failure_half_way_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "m"
        path.write_text("previous")
        model = ExactKreinRidge(lam=0.1).fit(X[:20], Y[:20])

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(ModelFileError, match="No space left on device"):
            model.save(path)
        assert path.read_text() == "previous"
        assert os.listdir(tmp_path) == ["m"]

    def test_permissions_are_those_of_an_ordinary_file(self, tmp_path):
        ExactKreinRidge(lam=0.1).fit(X[:20], Y[:20]).save(tmp_path / "m")
        (tmp_path / "ordinary").write_text("")
        assert stat.S_IMODE(os.stat(tmp_path / "m").st_mode) == stat.S_IMODE(os.stat(tmp_path / "ordinary").st_mode)


@pytest.mark.parametrize(
    "name", ["SphericalRandomFeatures", "DoubleGaussianMixture", "TensorSketch", "ArcCosineFeatures"]
)
def test_rival_maps_take_part(name, tmp_path):
    rivals = pytest.importorskip("krein.baselines")
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = getattr(rivals, name)(n_components=32, random_state=0).fit(unit)
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").transform(unit), model.transform(unit))
