"""The first box: sentences and the answers of a summary, one set of numbers behind both."""

from __future__ import annotations

import html
import re

from judge.show.report import ReportInputs
from judge.show.report.sections import headline


def test_the_demos_questions_are_answered(demo_material: ReportInputs) -> None:
    answers = headline.answers(demo_material)
    verdicts = {answer.question: answer.verdict and answer.verdict.text for answer in answers}
    assert verdicts["What share of the ratings is missing?"] == "nothing"
    assert verdicts["Does the judge agree with itself?"] == "poor"
    assert verdicts["Does the judge agree with the labels?"] in ("none shown", "some agreement")
    assert verdicts["What limits these figures?"] is None


def test_the_box_is_the_summary_of_one_row_in_its_words(demo_material: ReportInputs) -> None:
    inputs = demo_material
    first, asked, others = headline.headline_blocks(inputs)
    (found,) = inputs.summary.datasets
    said = html.unescape(re.sub(r"<[^>]+>", "", first))
    assert f"About {found.row}." in said
    for answer in found.answers:
        assert answer.question in said
        assert answer.verdict is None or answer.verdict.text in said
        assert answer.label == "missing" or all(sentence in said for sentence in answer.sentences)
    assert all(command in said for command in (*found.commands[:-1], *inputs.summary.caveats))
    # A page does not advise to make itself.
    assert found.commands[-1].startswith("judge report ")
    assert found.commands[-1] not in said
    # What was asked, in the words of the criteria and of the prompts' descriptions.
    assert "Coherence: how much the story makes sense; 1 to 5, with guidelines." in html.unescape(asked)
    assert "Eval-Prompt ep2: A rating, then its explanation." in asked
    # What is about all rows stands apart, and folded.
    assert "over 12 cells" not in said
    assert "over 12 cells" in others
    assert others.startswith("<details>")
    assert inputs.evidence.correlations is inputs.correlations
