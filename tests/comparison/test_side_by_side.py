"""Models side by side: folds, scores that are kept, the table and the page."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from krein import KreinLogistic, KreinRidgeClassifier, KreinSVC
from krein.comparison import (
    Contender,
    FoldScore,
    KeptComparison,
    ModelComparison,
    choose_contenders,
    chosen_by,
    compare_models,
    cross_validation,
    table_contenders,
)
from krein.comparison.cross_validation import split_rows

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.standard_normal(90) > 0, "yes", "no")
LINEAR = Contender("linear", "linear <model>", LogisticRegression(), ours=True, note="as it is")
CONSTANT = Contender("constant", "constant", DummyClassifier())
BROKEN = Contender("broken", "broken", DummyClassifier(strategy="constant", constant="<no class>"))


def test_scores_are_those_of_cross_validation():
    found = compare_models(X, Y, [CONSTANT, LINEAR], task="classification", folds=3, seed=4)
    expected = cross_val_score(LogisticRegression(), X, Y, cv=StratifiedKFold(3, shuffle=True, random_state=4))
    assert [score.score for score in found.scores if score.contender == "linear"] == pytest.approx(list(expected))
    best, worst = found.summaries()
    assert (best.contender, worst.contender) == (LINEAR, CONSTANT)
    assert best.mean == pytest.approx(expected.mean())
    assert best.deviation == pytest.approx(expected.std(ddof=1))
    assert found.complete


def test_a_precomputed_matrix_is_split_in_rows_and_columns():
    K, machine = rbf_kernel(X), SVC(kernel="precomputed")
    found = compare_models(K, Y, [Contender("svc", "SVC", machine)], task="classification", folds=3)
    expected = [
        machine.fit(K[np.ix_(train, train)], Y[train]).score(K[np.ix_(test, train)], Y[test])
        for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(K, Y)
    ]
    assert [score.score for score in found.scores] == expected


def test_one_that_fails_does_not_stop_the_others():
    found = compare_models(X, Y, [BROKEN, LINEAR], task="classification", folds=2)
    first, last = found.summaries()
    assert first.folds == 2
    assert math.isnan(last.mean)
    assert "no class" in last.failure
    assert found.table().rows[1][1] == "failed"
    page = found.page("here")
    assert "Models that failed" in page
    assert "<no class>" not in page


def test_regression_is_scored_by_r2():
    found = compare_models(X, X[:, 0], [Contender("mean", "mean", DummyRegressor())], task="regression", folds=4)
    assert found.measure == "R²"
    assert all(score.score <= 0.0 for score in found.scores)


@pytest.mark.parametrize(
    ("y", "folds", "message"),
    [
        (["a"] * 10, 2, "at least 2 classes"),
        (["a"] * 8 + ["b"] * 2, 3, "got 2 of class b for 3 folds; use fewer folds"),
        (["a", "b"], 1, "folds"),
        (["a", "b"], 3, "2 rows"),
    ],
)
def test_folds_that_cannot_be_made(y, folds, message):
    with pytest.raises(ValueError, match=message):
        split_rows(np.array(y), task="classification", folds=folds, seed=0)


class TestKept:
    def comparison(self, out, **options):
        return KeptComparison(X, Y, [CONSTANT, LINEAR], out, task="classification", folds=3, **options)

    def test_an_interrupted_one_continues_and_ends_as_a_whole_one(self, tmp_path, monkeypatch):
        real, calls = cross_validation._score, []

        def stopped(*arguments):
            if len(calls) == 3:
                raise KeyboardInterrupt
            calls.append(arguments)
            return real(*arguments)

        with monkeypatch.context() as patched:
            patched.setattr(cross_validation, "_score", stopped)
            with pytest.raises(KeyboardInterrupt):
                self.comparison(tmp_path / "a").run()
        kept = self.comparison(tmp_path / "a").result
        assert len(kept.scores) == 3
        assert not kept.complete
        assert "3 of 6 fits" in kept.page("here")
        again = self.comparison(tmp_path / "a").run()
        whole = self.comparison(tmp_path / "b").run()
        assert [(s.contender, s.fold, s.score) for s in again.scores] == [
            (s.contender, s.fold, s.score) for s in whole.scores
        ]
        assert again.scores[:3] == kept.scores

    def test_scores_of_other_data_folds_or_seeds_are_not_used(self, tmp_path):
        self.comparison(tmp_path).run()
        assert not self.comparison(tmp_path, seed=1).result.scores
        other = KeptComparison(X + 1, Y, [LINEAR], tmp_path, task="classification", folds=3)
        assert not other.result.scores
        assert len(self.comparison(tmp_path).result.scores) == 6

    def test_what_failed_is_tried_again(self, tmp_path):
        one = KeptComparison(X, Y, [BROKEN], tmp_path, task="classification", folds=2)
        assert all(score.failure for score in one.run().scores)
        assert not one.result.scores

    def test_data_of_a_contender_are_part_of_what_is_compared(self, tmp_path):
        def kept(data):
            own = replace(LINEAR, data=data)
            return KeptComparison(None, Y, [own], tmp_path, task="classification", folds=3)

        found = kept(X).run()
        assert [score.score for score in found.scores] == [
            score.score for score in compare_models(X, Y, [LINEAR], task="classification", folds=3).scores
        ]
        assert len(kept(X).result.scores) == 3
        assert not kept(X + 1).result.scores

    def test_lines_of_others_are_passed_over(self, tmp_path):
        whole = self.comparison(tmp_path).run()
        lines = (tmp_path / "scores.jsonl").read_text().splitlines()
        other = json.dumps({**json.loads(lines[0]), "extra": 1})
        (tmp_path / "scores.jsonl").write_text("\n".join(['{"key": "j"}', other, *lines, lines[0], '{"torn']))
        assert self.comparison(tmp_path).result.scores == whole.scores


def test_table_and_page():
    scores = (
        FoldScore("linear", 0, 0.5, 1.0, 0.1, "C 1"),
        FoldScore("linear", 1, 0.7, 3.0, 0.3, "C 1"),
        FoldScore("constant", 0, 0.25, 0.25, 0.02),
    )
    found = ModelComparison("classification", 2, (CONSTANT, LINEAR), scores)
    table = found.table()
    assert table.rows[0] == ("linear <model>", "0.6000 ± 0.1414", "2.0", "0.2", "C 1")
    assert table.rows[1] == ("constant", "0.2500 (1 of 2 folds)", "0.25", "0.02", "")
    assert table.best == {(0, 1), (1, 2)}
    assert repr(found).splitlines()[1].split()[0] == "model"
    page = found.page("A & B", ["90 rows"], "krein compare <file>")
    for text in ("A &amp; B", "90 rows", "linear &lt;model&gt;", "<svg", "as it is", "compare &lt;file&gt;"):
        assert text in page
    assert "prefers-color-scheme: dark" in page
    assert "<script" not in page
    assert "<table" in found._repr_html_()


def test_nothing_done_yet_has_a_page():
    assert "0 of 4 fits" in ModelComparison("classification", 2, (CONSTANT, LINEAR), ()).page("here")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_contenders_for_tables(task):
    known = table_contenders(task, 60, 3)
    names = [one.name for one in known]
    assert len(set(names)) == len(names)
    assert {"krein-ridge", "svc", "svc-tuned", "rbf-sampler", "nystroem", "neighbors", "boosting"} <= set(names)
    assert all(one.note for one in known)
    assert [one.name for one in choose_contenders(known, ["svc", "krein-ridge"])] == ["krein-ridge", "svc"]
    with pytest.raises(ValueError, match="methods must be"):
        choose_contenders(known, ["svm"])
    target = Y if task == "classification" else X[:, 0] ** 2
    quick = [one for one in known if not one.name.startswith("krein")]
    found = compare_models(X, target, quick, task=task, folds=2)
    assert not [score.failure for score in found.scores if score.failure]
    chosen = {score.contender: score.chosen for score in found.scores}
    assert chosen["svc-tuned"].startswith("C ")
    assert chosen["nystroem"].startswith("alpha")


def test_what_was_chosen_is_found_behind_a_pipeline():
    search = GridSearchCV(SVC(), {"C": [2.0]}, cv=2)
    assert chosen_by(make_pipeline(StandardScaler(), search).fit(X, Y)) == {"chosen": "C 2"}
    assert chosen_by(DummyClassifier().fit(X, Y)) == {}


@pytest.mark.parametrize("learner", [KreinRidgeClassifier, KreinLogistic, KreinSVC])
def test_what_a_learner_of_ours_chose(learner):
    model = learner(random_state=0).fit(X, Y)
    found = chosen_by(model)
    (best,) = [trial for trial in model.choice_.trials if trial.chosen]
    assert found["kernel"] == best.family
    assert found["chosen"].startswith(best.family)
    assert found["chosen"].endswith(model.solver_)
    assert found["indefinite"] == model.choice_.indefinite
