"""Section on stress tests: perturbations that judges miss or that change their ratings, a chart of detection, and
tables."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from judge.analysis.stress.printed import tables
from judge.base.errors import JudgeError
from judge.questions.charts import stress as chart
from judge.show.pages import charts
from judge.show.report.blocks import failed, figure, prose, shown
from judge.show.report.inputs import ReportInputs


def blocks(inputs: ReportInputs) -> list[Markup]:
    return list(_blocks(inputs))


def _blocks(inputs: ReportInputs) -> Iterator[Markup]:
    stress = inputs.stress
    if stress is None:
        yield prose("No story of these runs was perturbed.")
        return
    box, *evidence = tables(stress)
    yield prose(
        "Perturbed stories are set against the very stories that they were made of. All other sections are about the "
        "stories as they were."
    )
    yield shown(box, inputs)
    for number, dataset in enumerate(dict.fromkeys(row.subject.dataset for row in stress.rows)):
        try:
            picture = chart.forest(stress, dataset)
            yield figure(charts.forest(picture, f"stress-{number}", width=230), picture.caption)
        except JudgeError as error:
            yield failed(f"Detection on {dataset} cannot be drawn", error)
    for table in evidence:
        yield shown(table, inputs, folded=True)
