"""krein train and krein predict, as functions: a table in, a model out, and back."""

import os
import warnings

import numpy as np
import pytest

import krein
from krein.cli.predict import predict
from krein.cli.train import train
from krein.files.models import ModelFileError, load_model, read_header, read_model, save_model
from krein.files.tables import TableError

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("rich")

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(400, 3)) * [1.0, 100.0, 0.01] + [0.0, 50.0, 3.0]
SCORE = np.cos(4 * X[:, 0]) + (X[:, 1] - 100) / 50
FRAME = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(
    colour=np.where(SCORE > 0.3, "red", "blue"), grade=np.digitize(SCORE, [0.0, 0.6]), score=SCORE
)


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        columns = {name: frame[name].to_numpy() for name in frame}
        np.savez(path, **{k: v.astype(str) if v.dtype.kind == "O" else v for k, v in columns.items()})
    return path


def read(path, column):
    if path.suffix == ".npz":
        with np.load(path) as archive:
            return archive[column]
    frame = pandas.read_csv(path) if path.suffix == ".csv" else pandas.read_parquet(path)
    return frame[column].to_numpy()


# Three grades from 300 rows: 0.94 to 0.97 of 100 new rows are right with a fixed λ of 1e-3 to 1e-6, and 0.86 to 0.94 (16 seeds)
# with the λ that so few rows choose, which is often too small. The largest grade alone is 0.58. Two colors: 0.95 of 100 new rows
# has a standard error of 0.022, and three of them are allowed for.
@pytest.mark.parametrize("ending", [".csv", ".npz", ".parquet"])
@pytest.mark.parametrize(
    ("target", "task", "least"),
    [("colour", "classification", 0.88), ("grade", "classification", 0.8), ("score", "regression", 0.98)],
)
def test_train_and_predict(tmp_path, ending, target, task, least):
    columns = ["a", "b", "c", target]
    data = write(FRAME.loc[:299, columns], tmp_path / f"train{ending}")
    new = write(FRAME.loc[300:, columns], tmp_path / f"new{ending}")
    model, out = tmp_path / "model.krein", tmp_path / f"out{ending}"
    report = train(data, target, model, kernel="gaussian(0.7)", n_components=128, chunk_rows=70)
    assert report["n_rows"] == 300
    assert report["n_columns"] == 3
    found = predict(model, new, out, chunk_rows=33)
    assert found["n_rows"] == 100
    assert found["R2" if task == "regression" else "accuracy"] > least
    learner = load_model(model)
    expected = learner.predict(FRAME.loc[300:, ["a", "b", "c"]].to_numpy())
    values = read(out, target)
    if task == "regression":
        np.testing.assert_allclose(values, expected, rtol=1e-12)
        assert found["R2"] == pytest.approx(learner.score(X[300:], SCORE[300:]))
    else:
        np.testing.assert_array_equal(values.astype(str), expected.astype(str))
    assert read_header(model)["notes"]["columns"] == ["a", "b", "c"]


@pytest.mark.parametrize(("target", "least"), [("colour", 0.88), ("grade", 0.8), ("score", 0.95)])
def test_with_nothing_set_the_data_choose(tmp_path, target, least):
    data = write(FRAME.loc[:299, ["a", "b", "c", target]], tmp_path / "train.csv")
    new = write(FRAME.loc[300:, ["a", "b", "c", target]], tmp_path / "new.csv")
    report = train(data, target, tmp_path / "m")
    assert report["solver"] == "exact"
    assert report["n_components"] is None
    (best,) = [trial for trial in load_model(tmp_path / "m").choice_.trials if trial.chosen]
    assert report["kernel"] == repr(best.kernel)
    assert report["criterion"] == pytest.approx(best.error)
    assert "left-out rows" in report["criterion_is"]
    assert predict(tmp_path / "m", new, tmp_path / "out.csv")["R2" if target == "score" else "accuracy"] > least
    features = train(data, target, tmp_path / "m", solver="features", n_components=64)
    assert (features["solver"], features["n_components"]) == ("features", 64)
    assert load_model(tmp_path / "m").choice_.trials


def test_columns_are_found_by_name_and_the_target_may_be_absent(tmp_path):
    data = write(FRAME[["a", "b", "c", "score"]], tmp_path / "train.csv")
    train(data, "score", tmp_path / "m", kernel="gaussian", n_components=64)
    one = write(FRAME[["c", "colour", "b", "a"]], tmp_path / "one.csv")
    other = write(FRAME[["a", "b", "c"]], tmp_path / "other.parquet")
    assert "R2" not in predict(tmp_path / "m", one, tmp_path / "1.csv")
    predict(tmp_path / "m", other, tmp_path / "2.npz")
    np.testing.assert_allclose(read(tmp_path / "1.csv", "score"), read(tmp_path / "2.npz", "score"), rtol=1e-9)


def test_a_large_mean_does_not_take_the_digits_of_the_score(tmp_path):
    far = FRAME[["a", "b", "c"]].assign(score=SCORE + 1e9)
    data = write(far, tmp_path / "far.parquet")
    train(data, "score", tmp_path / "m", kernel="gaussian", n_components=64)
    found = predict(tmp_path / "m", data, tmp_path / "p.npz", chunk_rows=90)["R2"]
    assert found == pytest.approx(load_model(tmp_path / "m").score(X, SCORE + 1e9), abs=1e-6)


def test_train_is_fit_on_the_rows_in_memory(tmp_path):
    data = write(FRAME[["a", "b", "c", "score"]], tmp_path / "train.parquet")
    train(data, "score", tmp_path / "m", kernel="gaussian", n_components=64, scaling="none", chunk_rows=90)
    model = load_model(tmp_path / "m")
    again = type(model)(**model.get_params(deep=False)).fit(X, SCORE)
    np.testing.assert_allclose(model.predict(X), again.predict(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("target", ["grade", "score"])
def test_the_report_says_what_chose_the_strength(tmp_path, target):
    data = write(FRAME[["a", "b", "c", target]], tmp_path / "train.csv")
    report = train(data, target, tmp_path / "m", kernel="gaussian(0.7)", n_components=64)
    assert "mean squared error" in report["criterion_is"]
    model = load_model(tmp_path / "m")
    assert report["criterion"] == model.scores_[list(model.lams_).index(model.lam_)]
    if target == "grade":
        assert 0.0 <= report["criterion"] < 0.5  # that of a constant is 0.67 for three classes
    given = train(data, target, tmp_path / "m", kernel="gaussian(0.7)", n_components=64, lam=1e-3)
    assert "criterion" not in given
    assert given["lam"] == 1e-3


def test_notes_are_not_believed(tmp_path):
    """The notes of a model file are as good as whoever wrote it."""
    data = write(FRAME[["a", "b", "c", "score"]], tmp_path / "train.csv")
    train(data, "score", tmp_path / "m", kernel="gaussian", n_components=32, lam=0.1)
    model, notes = read_model(tmp_path / "m")
    for change, message in (
        ({"columns": ["a", "b"]}, "do not fit the model"),
        ({"columns": "abc"}, "not written by krein train"),
        ({"columns": [["a"], "b", "c"]}, "not written by krein train"),
        ({"target": 3}, "not written by krein train"),
        ({"task": "classification"}, "do not fit the model"),
        ({"task": ["regression"]}, "not written by krein train"),
    ):
        save_model(model, tmp_path / "other", notes={**notes, **change})
        with pytest.raises(ModelFileError, match=message):
            predict(tmp_path / "other", data, tmp_path / "out.csv")


class TestFailures:
    @pytest.fixture
    def previous(self, tmp_path):
        path = tmp_path / "model.krein"
        path.write_text("previous")
        yield path
        assert path.read_text() == "previous"
        assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]

    def test_text_in_a_number_column(self, tmp_path, previous):
        frame = FRAME[["a", "b", "c", "score"]].astype({"b": object})
        frame.loc[250, "b"] = "n.a."
        with pytest.raises(TableError, match=r"row 251, column 'b' is 'n\.a\.'"):
            train(write(frame, tmp_path / "d.csv"), "score", previous, kernel="ntk", chunk_rows=100)

    def test_parquet_cut_short(self, tmp_path, previous):
        data = write(FRAME, tmp_path / "d.parquet")
        data.write_bytes(data.read_bytes()[:-500])
        with pytest.raises(TableError, match="cut short"):
            train(data, "score", previous, kernel="ntk")

    def test_other_mistakes(self, tmp_path, previous):
        data = write(FRAME[["a", "b", "score"]], tmp_path / "d.csv")
        with pytest.raises(TableError, match="no column 'price'"):
            train(data, "price", previous, kernel="ntk")
        with pytest.raises(ValueError, match="unknown kernel 'gauss'"):
            train(data, "score", previous, kernel="gauss")
        with pytest.raises(ValueError, match="task must be"):
            train(data, "score", previous, kernel="ntk", task="guess")
        one = write(FRAME[["a", "b"]].assign(y="same"), tmp_path / "one.csv")
        with pytest.raises(ValueError, match="at least 2 classes"):
            train(one, "y", previous, kernel="gaussian", n_components=32)

    def test_unwritable_paths_are_found_before_the_work(self, tmp_path, monkeypatch):
        with pytest.raises(ModelFileError, match="cannot write"):
            train(tmp_path / "absent.csv", "y", tmp_path / "no" / "model", kernel="ntk")
        with pytest.raises(ModelFileError, match="it is a folder"):
            train(tmp_path / "absent.csv", "y", tmp_path, kernel="ntk")
        with pytest.raises(TableError, match=r"\.csv, \.tsv, \.npz or \.parquet"):
            predict(tmp_path / "m", tmp_path / "d.csv", tmp_path / "out.txt")

    def test_a_damaged_model(self, tmp_path, previous):
        data = write(FRAME, tmp_path / "d.csv")
        with pytest.raises(ModelFileError, match="not a model file"):
            predict(previous, data, tmp_path / "out.csv")
        assert not (tmp_path / "out.csv").exists()


class TestTablesAsPeopleHaveThem:
    """A semicolon and a decimal comma, names of rows, columns to leave out, and rows whose target is what is asked for."""

    def test_separator_decimal_mark_drop_and_names_of_rows(self, tmp_path):
        frame = FRAME[["a", "b", "c", "score"]].assign(name=[f"r{i}" for i in range(400)], remark="none")
        frame.to_csv(tmp_path / "d.csv", sep=";", decimal=",", index=False)
        how = {"sep": ";", "decimal": ","}
        with pytest.raises(TableError, match=r"has one column, 'a;b;c;score;name;remark'.*--sep ';'"):
            train(tmp_path / "d.csv", "score", tmp_path / "m")
        with pytest.raises(TableError, match=r"column 'name' is 'r0', not a number; leave the column out \(--drop\)"):
            train(tmp_path / "d.csv", "score", tmp_path / "m", kernel="ntk", **how)
        with pytest.raises(TableError, match="no column 'nam'"):
            train(tmp_path / "d.csv", "score", tmp_path / "m", kernel="ntk", drop=["nam"], **how)
        report = train(tmp_path / "d.csv", "score", tmp_path / "m", kernel="ntk", drop=["name", "remark"], **how)
        assert report["n_columns"] == 3
        found = predict(tmp_path / "m", tmp_path / "d.csv", tmp_path / "out.csv", name="name", sep=";", decimal=",")
        assert found["R2"] > 0.9
        out = pandas.read_csv(tmp_path / "out.csv")
        assert list(out) == ["name", "score"]
        assert out["name"].tolist() == frame["name"].tolist()

    def test_tabs_by_the_name_of_the_file(self, tmp_path):
        FRAME[["a", "b", "c", "score"]].to_csv(tmp_path / "d.tsv", sep="\t", index=False)
        train(tmp_path / "d.tsv", "score", tmp_path / "m", kernel="ntk")
        predict(tmp_path / "m", tmp_path / "d.tsv", tmp_path / "out.tsv", name="a")
        assert list(pandas.read_csv(tmp_path / "out.tsv", sep="\t")) == ["a", "score"]

    def test_row_numbers_of_pandas_are_no_column(self, tmp_path):
        FRAME[["a", "b", "score"]].to_csv(tmp_path / "d.csv")
        with pytest.warns(UserWarning, match="column 1, which pandas writes as the names of rows, is left out"):
            report = train(tmp_path / "d.csv", "score", tmp_path / "m", kernel="ntk")
        assert report["n_columns"] == 2
        named = FRAME[["a", "b", "score"]].set_index(np.arange(400) % 7)
        named.to_parquet(tmp_path / "d.parquet")
        with pytest.warns(UserWarning, match="is left out"):
            report = train(tmp_path / "d.parquet", "score", tmp_path / "m", kernel="ntk")
        assert report["n_columns"] == 2

    @pytest.mark.parametrize("ending", [".csv", ".parquet"])
    @pytest.mark.parametrize("target", ["colour", "grade", "score"])
    @pytest.mark.filterwarnings("ignore:the whole numbers")
    def test_rows_whose_target_is_blank_are_the_ones_to_predict(self, tmp_path, ending, target):
        columns = ["a", "b", "c", target]
        train(write(FRAME[columns], tmp_path / "d.csv"), target, tmp_path / "m", kernel="ntk")
        some = FRAME[columns].copy()
        some.loc[::2, target] = None
        data = write(some, tmp_path / f"new{ending}")
        found = predict(tmp_path / "m", data, tmp_path / "out.csv", chunk_rows=70)
        assert (found["n_rows"], found["rows_with_a_target"]) == (400, 200)
        truth = FRAME[target].to_numpy()[1::2]
        mine = read(tmp_path / "out.csv", target)[1::2]
        if target == "score":
            expected = 1 - np.square(mine - truth).sum() / np.square(truth - truth.mean()).sum()
        else:
            expected = (mine == truth).mean()
        assert found["R2" if target == "score" else "accuracy"] == pytest.approx(expected, rel=1e-9)
        some[target] = None
        data = write(some, tmp_path / f"new{ending}")
        assert not {"R2", "accuracy"} & predict(tmp_path / "m", data, tmp_path / "out.csv").keys()

    def test_probabilities(self, tmp_path):
        model = krein.KreinLogistic(krein.SignedFourierFeatures(n_components=32, random_state=0), lam=0.1)
        model.fit(X, FRAME["colour"].to_numpy())
        notes = {"columns": ["a", "b", "c"], "target": "colour", "task": "classification", "data": "d"}
        save_model(model, tmp_path / "m", notes=notes)
        data = write(FRAME[["a", "b", "c"]], tmp_path / "d.csv")
        predict(tmp_path / "m", data, tmp_path / "out.csv", proba=True, chunk_rows=70)
        out = pandas.read_csv(tmp_path / "out.csv")
        assert list(out) == ["colour", "proba_blue", "proba_red"]
        np.testing.assert_allclose(out[["proba_blue", "proba_red"]].to_numpy(), model.predict_proba(X), rtol=1e-6)
        numbers = write(FRAME[["a", "b", "c", "score"]], tmp_path / "n.csv")
        train(numbers, "score", tmp_path / "r", kernel="ntk")
        with pytest.raises(ValueError, match="KreinRidge has no probabilities; leave --proba out"):
            predict(tmp_path / "r", numbers, tmp_path / "out.csv", proba=True)

    def test_probabilities_of_what_was_trained(self, tmp_path):
        data = write(FRAME[["a", "b", "c", "colour"]], tmp_path / "d.csv")
        train(data, "colour", tmp_path / "m")
        predict(tmp_path / "m", data, tmp_path / "out.csv", proba=True)
        out = pandas.read_csv(tmp_path / "out.csv")
        np.testing.assert_allclose(out.proba_blue + out.proba_red, 1.0, atol=1e-6)
        assert ((out.proba_red > 0.5) == (out.colour == "red")).all()

    def test_a_table_is_not_overwritten_by_what_is_made_of_it(self, tmp_path):
        data = write(FRAME[["a", "b", "score"]], tmp_path / "d.csv")
        before = data.read_bytes()
        train(data, "score", tmp_path / "m", kernel="ntk")
        (tmp_path / "link.csv").symlink_to(data)
        for out in (data, tmp_path / "link.csv"):
            with pytest.raises(TableError, match="is read by this command and would be overwritten"):
                predict(tmp_path / "m", data, out)
            with pytest.raises(ModelFileError, match="is read by this command and would be overwritten"):
                train(data, "score", out, kernel="ntk")
        assert data.read_bytes() == before


class TestWhatTrainTells:
    def test_an_error_that_people_know(self, tmp_path):
        data = write(FRAME[["a", "b", "c", "score"]], tmp_path / "d.csv")
        report = train(data, "score", tmp_path / "m")
        assert 0.9 < report["R2"] <= 1.0
        assert "accuracy" not in report
        assert report["of_a_constant"] < 0.05
        assert report["measured_on"] == "80 rows left out, learned from 320"
        report = train(write(FRAME[["a", "b", "c", "colour"]], tmp_path / "d.csv"), "colour", tmp_path / "m")
        assert 0.8 < report["accuracy"] <= 1.0
        assert 0.3 < report["of_a_constant"] < 0.75

    def test_a_model_that_has_learned_nothing(self, tmp_path):
        rows = np.arange(200)
        data = write(pandas.DataFrame({"a": rows, "y": np.where(rows % 2, "odd", "even")}), tmp_path / "d.csv")
        with pytest.warns(UserWarning, match="no better than a constant, beyond chance: accuracy of 40 rows"):
            train(data, "y", tmp_path / "m", kernel="gaussian(1)", lam=1e3)
        data = write(pandas.DataFrame({"a": rows % 3, "y": (-1.0) ** (rows // 3 % 2) + 0.5}), tmp_path / "d.csv")
        with pytest.warns(UserWarning, match="no better than a constant, beyond chance: R2"):
            train(data, "y", tmp_path / "m", task="regression", kernel="gaussian(1)")

    def test_numbers_taken_for_classes(self, tmp_path):
        data = write(FRAME[["a", "b", "c", "grade"]], tmp_path / "d.csv")
        with pytest.warns(UserWarning, match="'grade' were taken for 3 classes; use --task regression"):
            train(data, "grade", tmp_path / "m", kernel="ntk")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            train(data, "grade", tmp_path / "m", kernel="ntk", task="classification")
            two = write(FRAME[["a", "b", "c"]].assign(y=FRAME["grade"] > 0), tmp_path / "d.csv")
            train(two, "y", tmp_path / "m", kernel="ntk")
