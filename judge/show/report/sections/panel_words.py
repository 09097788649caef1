"""Section on panels (groups of raters): sentences for the box at the top of the page, and tables."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from judge.analysis import panels
from judge.analysis.correlation.margins import Margin
from judge.analysis.panels import Difference
from judge.questions.charts.words import worded
from judge.show.report.blocks import heading, prose, shown
from judge.show.report.inputs import ReportInputs

_READ = (
    "People of several panels rated these stories. A judge may follow one panel and not another: then a correlation "
    "with all of them together describes neither."
)


def sentences(inputs: ReportInputs, best: Margin) -> Iterator[str]:
    """Sentences on panels (groups of raters) for the judge x Eval-Prompt that agrees best with people (`best`).

    If human ratings are restricted to one panel, that panel is named. Otherwise the agreement of `best` with people is
    compared between each pair of panels. A criterion is named if its correlation is positive with one panel and
    negative with the other, because a mean over criteria hides this. Nothing is said where no panel is known.
    """
    result = inputs.panels
    if result is None:
        if inputs.table.panel is not None:
            yield f"People are only those of the panel {inputs.table.panel}."
        return
    mine = [row for row in result.differences if _of(row, best)]
    means = [row for row in mine if row.averaged] or mine
    for row in means:
        yield _sentence(row)
    hidden = [row for row in mine if row not in means and row.verdict == "opposite"]
    for row in hidden:
        yield f"On {row.subject.criterion} the sign differs between panels: {_sides(row)}."
    others = [row for row in result.differences if row.verdict == "opposite" and row.subject.dataset == best.dataset]
    more = {(row.subject.judge, row.subject.eval_prompt) for row in others} - {(best.judge, best.eval_prompt)}
    if more:
        yield f"For {len(more)} further rows panels have opposite signs on some criterion."


def blocks(inputs: ReportInputs) -> list[Markup]:
    """HTML blocks with the tables of panels; [] where no panel is known."""
    result = inputs.panels
    if result is None:
        return []
    return [heading("Panels of people"), prose(_READ), *(shown(table, inputs) for table in panels.tables(result))]


def _of(row: Difference, best: Margin) -> bool:
    subject = row.subject
    return (subject.dataset, subject.run, subject.judge, subject.eval_prompt) == (
        best.dataset,
        best.run,
        best.judge,
        best.eval_prompt,
    )


def _sentence(row: Difference) -> str:
    if row.over.value is None:
        return f"Panels {row.first.panel} and {row.other.panel} cannot be compared: {row.over.why.fact}."
    sentence = {
        "opposite": "Panels disagree in sign, and no single figure represents people",
        "differ": "Panels differ, and no single figure represents people",
        "not told apart": "Panels do not differ significantly",
        None: "By panel, without an interval",
    }[row.verdict]
    return f"{sentence}: {_sides(row)} (difference {worded(row.over)})."


def _sides(row: Difference) -> str:
    first, other = row.first, row.other
    return (
        f"{worded(first.value)} with {first.panel}, {worded(other.value)} with {other.panel}, on the same "
        f"{row.stories:,} stories"
    )
