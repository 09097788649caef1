"""`judge correlate --layout confusion`: majorities, ties, one person against the others, null judges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from sklearn import metrics

from judge.analysis import labels
from judge.analysis.inputs.bars import CEILING, CONTROL
from judge.analysis.labels import ConfusionRow, Confusions
from judge.analysis.labels.items import ALL, PASSED
from judge.analysis.options.agreement_options import ConfusionOptions
from judge.base.errors import SpecError
from judge.base.records import Scale
from judge.stats.agreement.confusion import majority, of_the_others
from tests.labels.tables import labelled_table

NAN = np.nan
PLAIN = ConfusionOptions(ci="none")


def drawn(n: int, raters: int, seed: int, q: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, q, n)
    people = np.where(rng.random((n, raters)) < 0.75, truth[:, None], rng.integers(0, q, (n, raters))).astype(float)
    judge = np.where(rng.random(n) < 0.7, truth, rng.integers(0, q, n)).astype(float)
    return people, judge


def only_judge(found: Confusions, criterion: str = "A") -> ConfusionRow:
    (row,) = [row for row in found.judges if row.subject.criterion == criterion]
    return row


def test_statistics_are_scikit_learns_of_majorities() -> None:
    people, judge = drawn(60, 3, 1)
    judge[:4] = NAN
    row = only_judge(labels.confusions(labelled_table({"A": people}, {"m": {"A": judge}}), PLAIN))
    said, most = judge[4:], (people.sum(axis=1) >= 2).astype(float)[4:]
    assert row.statistics["accuracy"].value == pytest.approx(metrics.accuracy_score(most, said))
    assert row.statistics["balanced_accuracy"].value == pytest.approx(metrics.balanced_accuracy_score(most, said))
    assert row.statistics["precision"].value == pytest.approx(metrics.precision_score(most, said))
    assert row.statistics["recall"].value == pytest.approx(metrics.recall_score(most, said))
    assert row.statistics["f1"].value == pytest.approx(metrics.f1_score(most, said))
    assert row.statistics["phi"].value == pytest.approx(metrics.matthews_corrcoef(most, said))
    assert row.statistics["kappa"].value == pytest.approx(metrics.cohen_kappa_score(most, said))
    assert np.array(row.counts).tolist() == metrics.confusion_matrix(most, said).tolist()
    assert row.prevalence(row.by_people) == pytest.approx(most.mean())
    assert row.prevalence(row.by_judge) == pytest.approx(said.mean())
    assert (row.n, row.items, row.lost["unlabelled"]) == (56, 60, 4)
    assert dict(row.subject.missing) == {"refused": 4}


def test_of_more_labels_f1_is_the_mean_over_them() -> None:
    people, judge = drawn(90, 3, 2, q=4)
    scale = Scale.of_labels(["bad", "poor", "fair", "good"])
    row = only_judge(labels.confusions(labelled_table({"A": people}, {"m": {"A": judge}}, scales={"A": scale}), PLAIN))
    most = majority(people, 4)
    keep = ~np.isnan(most.label)
    assert row.lost["people_tied"] == int(most.tied.sum()) > 0
    assert row.statistics["f1"].value == pytest.approx(metrics.f1_score(most.label[keep], judge[keep], average="macro"))
    assert row.positive is None
    assert row.prevalence(row.by_people) is None


def test_ties_are_no_label_and_are_counted() -> None:
    people = [[1, 0], [1, 1], [0, 0], [1, NAN], [NAN, NAN]]
    judge = [[1, 1], [1, 0], [0, 0], [1, NAN], [1, 1]]
    found = labels.confusions(labelled_table({"A": people}, {"m": {"A": judge}}), PLAIN)
    row = only_judge(found)
    assert np.array(row.counts).tolist() == [[1, 0], [0, 1]]
    assert dict(row.lost) == {"unlabelled": 0, "repeats_tied": 1, "people_tied": 1, "nobody": 1}
    assert row.items == row.n + sum(row.lost.values())
    assert "toy: people are tied on 1 of 5 stories x criteria: no label" in found.notes
    assert "toy: a judge's repeats are tied 1 times: no label" in found.notes
    assert "repeats tied 1, people tied 1, no person's label 1" in str(labels.tables(found)[0].rows[1]["lost"])


def one_out(people: np.ndarray, judge: np.ndarray) -> Iterator[tuple[int, list[float], list[float], list[float]]]:
    """Rater by rater: others' majorities, own labels and the judge's, story by story."""
    for rater in range(people.shape[1]):
        others, own, judges = [], [], []
        for i, row in enumerate(people):
            rest = [v for r, v in enumerate(row) if r != rater and not np.isnan(v)]
            ones = sum(rest)
            if np.isnan(row[rater]) or not rest or 2 * ones == len(rest):
                continue
            others.append(float(2 * ones > len(rest)))
            own.append(row[rater])
            judges.append(judge[i])
        yield rater, others, own, judges


def test_a_panels_ceiling_is_the_mean_over_its_raters() -> None:
    people, judge = drawn(80, 3, 3)
    judge[5] = NAN
    table = labelled_table({"A": people}, {"m": {"A": judge}, "other": {"A": np.ones(80)}})
    found = labels.confusions(table, PLAIN)
    ceiling = next(row for row in found.rows if row.kind == CEILING)
    expected, mine, beside = [], [], []
    for _, others, own, judges in one_out(people, judge):
        expected.append(metrics.balanced_accuracy_score(others, own))
        keep = ~np.isnan(judges)
        mine.append(metrics.balanced_accuracy_score(np.array(others)[keep], np.array(judges)[keep]))
        beside.append(metrics.balanced_accuracy_score(np.array(others)[keep], np.array(own)[keep]))
    assert ceiling.statistics["balanced_accuracy"].value == pytest.approx(np.mean(expected))
    row = next(row for row in found.judges if row.subject.judge == "m")
    sides = row.beside["balanced_accuracy"]
    assert sides.judge.value == pytest.approx(np.mean(mine))
    assert sides.people.value == pytest.approx(np.mean(beside))
    assert sides.over.value == pytest.approx(np.mean(mine) - np.mean(beside))


def test_a_pools_ceiling_gives_each_story_a_weight_of_one() -> None:
    rng = np.random.default_rng(4)
    people, judge = drawn(60, 6, 4)
    for row in people:
        row[rng.permutation(6)[:3]] = NAN
    found = labels.confusions(labelled_table({"A": people}, {"m": {"A": judge}}), PLAIN)
    ceiling = next(row for row in found.rows if row.kind == CEILING)
    right = total = judges_right = 0.0
    for _, others, own, judges in one_out(people, judge):
        right += sum(a == b for a, b in zip(others, own, strict=True)) / 3
        judges_right += sum(a == b for a, b in zip(others, judges, strict=True)) / 3
        total += len(others) / 3
    assert ceiling.statistics["accuracy"].value == pytest.approx(right / total)
    assert only_judge(found).beside["accuracy"].judge.value == pytest.approx(judges_right / total)
    assert any("people are a pool" in note for note in found.notes)
    assert ceiling.items == 180
    assert ceiling.lost["others_tied"] == 180 - round(3 * total)


def test_unknown_raters_have_a_majority_and_no_ceiling() -> None:
    people, judge = drawn(30, 3, 5)
    found = labels.confusions(labelled_table({"A": people}, {"m": {"A": judge}}, known=False), PLAIN)
    ceiling = next(row for row in found.rows if row.kind == CEILING)
    assert ceiling.statistics["kappa"].reason == "one more person unavailable: who gave which rating is not known"
    assert only_judge(found).n == 30
    assert not only_judge(found).beside
    assert [table.title.split(",")[0] for table in labels.tables(found)] == [
        "Labels of judges beside people's",
        "Confusion matrix",
    ]


def test_null_judges_know_nothing() -> None:
    people, judge = drawn(50, 3, 6)
    found = labels.confusions(labelled_table({"A": people}, {"m": {"A": judge}}))
    always, random = (row for row in found.rows if row.kind == CONTROL)
    most = people.sum(axis=1) >= 2
    assert always.subject.judge == f"always the commonest label ({'Yes' if most.mean() > 0.5 else 'No'})"
    assert always.statistics["accuracy"].value == pytest.approx(max(most.mean(), 1 - most.mean()))
    for row in (always, random):
        assert row.statistics["balanced_accuracy"].value == pytest.approx(0.5)
        assert row.statistics["kappa"].value == pytest.approx(0, abs=1e-12)
    p = most.mean()
    assert random.statistics["accuracy"].value == pytest.approx(p**2 + (1 - p) ** 2)
    assert random.statistics["f1"].value == pytest.approx(p)
    assert random.by_judge == pytest.approx(random.by_people)


def test_all_criteria_are_stories_times_criteria() -> None:
    one, judge_one = drawn(40, 3, 7)
    two, judge_two = drawn(40, 3, 8)
    judge_two[0] = NAN
    table = labelled_table({"A": one, "B": two}, {"m": {"A": judge_one, "B": judge_two}})
    found = labels.confusions(table, PLAIN)
    row, parts = only_judge(found, ALL), [only_judge(found, name) for name in "AB"]
    assert np.array(row.counts).tolist() == sum(np.array(part.counts) for part in parts).tolist()
    assert row.items == 80
    assert row.lost["unlabelled"] == 1
    assert dict(row.subject.missing) == {"refused": 1}
    assert row.labels == ("No", "Yes")


def test_criteria_with_other_words_meet_in_their_positive_labels() -> None:
    one, judge_one = drawn(40, 3, 9)
    turned = Scale.of_labels(["Pass", "Fail"], positive="Pass")
    table = labelled_table({"A": one, "B": 1 - one}, {"m": {"A": judge_one, "B": 1 - judge_one}}, scales={"B": turned})
    found = labels.confusions(table, PLAIN)
    row, part = only_judge(found, ALL), only_judge(found)
    assert row.labels == PASSED
    assert np.array(row.counts).tolist() == (2 * np.array(part.counts)).tolist()
    assert row.statistics["f1"].value == part.statistics["f1"].value == only_judge(found, "B").statistics["f1"].value


def test_intervals_draw_story_prompts_and_all_rows_the_same() -> None:
    prompt = np.repeat(np.arange(12), 5)
    people, judge = drawn(60, 3, 10)
    table = labelled_table({"A": people, "B": people}, {"m": {"A": judge, "B": judge}}, story_prompt=prompt)
    found = labels.confusions(table, ConfusionOptions(resamples=200))
    one, every = only_judge(found).statistics["kappa"], only_judge(found, ALL).statistics["kappa"]
    # The same stories twice: a story's criteria are drawn together, so the interval is no narrower.
    assert (every.value, every.low, every.high) == pytest.approx((one.value, one.low, one.high))
    assert one.low is not None
    assert "ci:boot-inputs/200/seed1" in found.signature
    again = labels.confusions(table, ConfusionOptions(resamples=200)).frame
    assert again.equals(found.frame)
    stories = labels.confusions(table, ConfusionOptions(resamples=200, ci="boot-stories"))
    assert only_judge(stories).statistics["kappa"].low != one.low


def test_frame_and_tables_come_from_the_same_value() -> None:
    people, judge = drawn(40, 3, 11)
    found = labels.confusions(labelled_table({"A": people}, {"m": {"A": judge}}), ConfusionOptions(resamples=50))
    frame = found.frame
    assert frame.attrs["signature"] == found.signature
    statistics, matrix, beside = labels.tables(found)
    line = frame[frame["kind"] == "judge"].iloc[0]
    printed = next(row for row in statistics.rows if row["kind"] == "judge")
    for name in labels.result.STATISTICS:
        assert (printed[name].value, printed[name].low) == (line[name], line[f"{name}_low"])
    cells = [row for row in matrix.rows if row["judge"] == "m"]
    for theirs, mine in product(("No", "Yes"), ("No", "Yes")):
        counted = next(row for row in cells if row["people"] == theirs)
        assert counted[mine] == line[f"people {theirs}, judge {mine}"]
    assert beside.rows[0]["kappa_over"].value == line["kappa_minus_people"]


def test_numbers_and_other_labels_are_left_out_with_a_word() -> None:
    people, judge = drawn(30, 3, 12)
    table = labelled_table({"A": people, "B": people + 2}, {"m": {"A": judge, "B": judge, "C": judge}})
    found = labels.confusions(table, PLAIN)
    assert "toy: people's ratings of B are no codes of its labels: left out" in found.notes
    alone = next(row for row in found.rows if row.subject.criterion == "C")
    assert str(alone.statistics["accuracy"].reason).startswith("people did not rate this criterion")
    numbers = labelled_table({"A": people}, {"m": {"A": judge}}, scales={"A": Scale(0, 1, 1)})
    with pytest.raises(SpecError, match="no criterion in these runs has labels"):
        labels.confusions(numbers, PLAIN)


def test_one_rater_is_the_label() -> None:
    people, judge = drawn(20, 1, 13)
    found = labels.confusions(labelled_table({"A": people}, {"m": {"A": judge}}), PLAIN)
    row = only_judge(found)
    assert row.statistics["accuracy"].value == pytest.approx((people[:, 0] == judge).mean())
    ceiling = next(row for row in found.rows if row.kind == CEILING)
    assert "no story was labelled by two people" in str(ceiling.statistics["accuracy"].reason)


def test_others_are_all_but_one() -> None:
    found = of_the_others(np.array([[1, 1, 0], [1, NAN, NAN]]), 2)
    assert found.label[0, 2] == 1
    assert found.tied[0].tolist() == [True, True, False]
    assert np.isnan(found.label[1, 0])
    assert found.label[1, 1] == 1
