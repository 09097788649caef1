"""The box of verdicts at the top of the report page: the answers of `judge summary`, about one row (a judge with an
Eval-Prompt) of each dataset. What the other rows say is folded below it.
"""

from __future__ import annotations

from markupsafe import Markup

from judge.show.pages.verdict_box import summary_boxes
from judge.show.report.blocks import folded, items
from judge.show.report.inputs import ReportInputs
from judge.show.report.sections import headline


def blocks(inputs: ReportInputs) -> list[Markup]:
    """HTML blocks with a box for each dataset of the summary, and the sentences over all rows."""
    others = [answer for answer in headline.answers(inputs) if answer.question != headline.WORTH]
    sentences = [f"{answer.question} {sentence}" for answer in others for sentence in answer.sentences]
    return [
        *summary_boxes(inputs.summary),
        folded("Agreement, losses and consistency over all rows, in sentences", items(sentences)),
    ]
