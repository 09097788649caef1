"""Labels on the page: a verdict by balanced accuracy, matrices and tables; nothing where nothing is labelled."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from judge.base.records import Scale
from judge.ratings.ratings_table import RatingsTable
from judge.show.report.inputs import ReportInputs, ReportOptions
from judge.show.report.sections import agreement as label_words
from tests.labels.tables import labelled_table

GOLDEN = Path(__file__).parents[2] / "golden_tables" / "inputs"


def inputs(table: RatingsTable) -> ReportInputs:
    return ReportInputs(("toy",), ReportOptions(resamples=100), (), table, ())


def table(right: float, *, yes: float = 0.5, known: bool = True, **more: object) -> RatingsTable:
    """People who mostly agree, and a judge that is right so often, or else says Yes so often."""
    rng = np.random.default_rng(1)
    truth = rng.random(96) < 0.4
    people = np.where(rng.random((96, 3)) < 0.9, truth[:, None], ~truth[:, None]).astype(float)
    judge = np.where(rng.random(96) < right, truth, rng.random(96) < yes).astype(float)
    judge[:2] = np.nan
    prompt = np.arange(96) // 4
    return labelled_table({"A": people}, {"m": {"A": judge}}, story_prompt=prompt, known=known, **more)


@pytest.mark.parametrize(
    ("right", "verdict"),
    [
        (0.0, "not told apart from chance, below people"),
        (0.4, "above chance, below people"),
        (1.0, "above chance, above people"),
    ],
)
def test_the_verdict_goes_by_chance_and_one_person(right: float, verdict: str) -> None:
    found = label_words.label_answer(inputs(table(right)), "toy", "")
    assert found is not None
    assert found.question == "Are the judge's labels those of people?"
    assert found.verdict is not None
    assert found.verdict.text == verdict
    assert found.sentences[0].startswith("On toy, A, m, ep1 has a balanced accuracy of 0.")
    assert "An uninformed judge has a balanced accuracy of 0.50 and kappa 0." in found.sentences[0]
    assert "judge minus person" in found.sentences[2]
    assert found.sentences[-1].startswith("2 of 96 do not count")


def test_a_yes_bias_is_in_the_sentences() -> None:
    found = label_words.label_answer(inputs(table(0.1, yes=0.95)), "toy", "")
    assert found is not None
    assert found.sentences[1].startswith("It says Yes to 9")
    assert " of them, people to " in found.sentences[1]


def test_unknown_raters_leave_chance_alone() -> None:
    found = label_words.label_answer(inputs(table(1.0, known=False)), "toy", "")
    assert found is not None
    assert found.verdict is not None
    assert found.verdict.text == "above chance"
    assert any("it is not recorded who gave which label" in sentence for sentence in found.sentences)


def test_the_part_holds_matrices_and_tables() -> None:
    made = "".join(label_words.label_blocks(inputs(table(0.5))))
    assert "Labels beside people" in made
    assert 'id="confusion-0' in made or "confusion-0" in made
    for title in ("Labels of judges beside people", "Confusion matrix, No / Yes", "Judges beside one person"):
        assert title in made


def test_numbers_have_no_such_part() -> None:
    numbers = inputs(table(0.5, scales={"A": Scale(0, 1, 1)}))
    assert label_words.label_blocks(numbers) == []
    assert label_words.label_answer(numbers, "toy", "") is None


def test_a_report_takes_the_pass_rate_as_a_criterion_and_counts_what_was_asked(tmp_path: Path) -> None:
    shutil.copy(GOLDEN / "labelled.csv", tmp_path / "imported.csv")
    shutil.copy(GOLDEN / "labelled.json", tmp_path / "manifest.json")
    plain = ReportInputs.read([tmp_path], ReportOptions(resamples=20))
    passed = ReportInputs.read([tmp_path], ReportOptions(resamples=20, pass_rate=True))
    assert "pass rate" in {row.subject.criterion for row in passed.correlations.rows}
    assert "pass rate" not in {row.subject.criterion for row in plain.correlations.rows}
    assert passed.coverage.total == plain.coverage.total
