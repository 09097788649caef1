"""The first box: sentences and the answers of a summary, one set of numbers behind both."""

from __future__ import annotations

from pathlib import Path

from judge.report import ReportInputs, ReportOptions
from judge.report.sections import first_box, headline


def test_the_demos_questions_are_answered(demo_run: Path) -> None:
    answers = headline.answers(ReportInputs.read([demo_run], ReportOptions(resamples=60)))
    verdicts = {answer.question: answer.verdict and answer.verdict.text for answer in answers}
    assert verdicts["What share of the ratings is missing?"] == "nothing"
    assert verdicts["Does the judge agree with itself?"] == "poor"
    assert verdicts["Does the judge agree with the labels?"] in ("none shown", "some agreement")
    assert verdicts["What limits these figures?"] is None


def test_the_box_has_the_answers_of_the_summary(demo_run: Path) -> None:
    inputs = ReportInputs.read([demo_run], ReportOptions(resamples=60))
    answers = {answer.question: answer for answer in first_box.answers(inputs)}
    (found,) = inputs.summary.datasets
    verdict = answers["May it replace an annotator?"].verdict
    assert verdict is not None
    assert verdict.text == "cannot be tested"
    assert answers["What next?"].sentences == found.commands
    assert next(iter(answers)) == headline.WORTH
    assert inputs.evidence.correlations is inputs.correlations
