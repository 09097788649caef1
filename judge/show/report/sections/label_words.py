"""Section on judges' labels against human labels: the answer at the top, tables and confusion matrices."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from judge.analysis import labels
from judge.analysis.inputs.bars import CEILING, CONTROL
from judge.analysis.labels import ConfusionRow
from judge.base.estimate import Estimate
from judge.questions.charts.confusion import confusion
from judge.questions.charts.shared import worded
from judge.questions.summary.result import Answer
from judge.questions.summary.rules import of_labels
from judge.show.pages import charts
from judge.show.report.blocks import figure, heading, prose, shown
from judge.show.report.inputs import ReportInputs

_READ = (
    "Balanced accuracy is the mean of the shares of each of people's labels that a judge finds: a judge that knows "
    "nothing has one over the number of labels, however often it gives each. Accuracy alone rewards the most "
    "common label. A refusal or an answer that was not read is no label."
)


def answer(inputs: ReportInputs, dataset: str, on: str) -> Answer | None:
    """How well labels agree, for the row with the highest balanced accuracy; None without labels to compare. `on` ends
    the question, such as the dataset's name."""
    confusions = inputs.confusions
    rows = () if confusions is None else confusions.main(dataset)
    judges = [row for row in rows if row.kind not in (CEILING, CONTROL)]
    if confusions is None or not judges:
        return None
    raters = inputs.raters_of(dataset)
    defined = [row for row in judges if row.statistics["balanced_accuracy"].defined]
    question = f"Are the judge's labels those of {raters.noun}{on}?"
    if not defined:
        reason = judges[0].statistics["balanced_accuracy"].reason
        return Answer(question, (f"Balanced accuracy is {reason}.",))
    best = max(defined, key=lambda row: row.statistics["balanced_accuracy"].value or 0.0)
    return Answer(
        question, tuple(raters.worded(sentence) for sentence in _sentences(best, len(judges))), of_labels(best)
    )


def blocks(inputs: ReportInputs) -> list[Markup]:
    """Confusion matrices of each dataset, and every table; [] without labels."""
    confusions = inputs.confusions
    if confusions is None:
        return []
    parts = [heading(inputs.raters.worded("Labels beside people's")), prose(_READ)]
    for number, matrix in enumerate(inputs.matrices):
        rows = [row for row in confusions.main(matrix.dataset) if row.kind != CONTROL]
        if any(row.counts for row in rows):
            heat = confusion(confusions, rows, matrix.dataset, inputs.raters_of(matrix.dataset))
            parts.append(figure(charts.heat_map(heat, f"confusion-{number}"), heat.caption))
    return [*parts, *(shown(table, inputs) for table in labels.tables(confusions))]


def _sentences(best: ConfusionRow, rows: int) -> Iterator[str]:
    subject, numbers = best.subject, best.statistics
    name = ", ".join(part for part in (subject.judge, subject.eval_prompt) if part)
    over = "all binary criteria, stories x criteria" if best.is_all else subject.criterion
    flattered = f" (the highest of {rows} rows on these same stories, which flatters it)" if rows > 1 else ""
    f1 = f"F1 of {best.positive}" if best.positive else "F1, mean over labels,"
    yield (
        f"On {subject.dataset}, {over}, {name} has a balanced accuracy of {_worded(numbers['balanced_accuracy'])}"
        f"{flattered}, {f1} {_worded(numbers['f1'])} and kappa {_worded(numbers['kappa'])}, over {best.n:,} labels. "
        f"An uninformed judge has a balanced accuracy of {best.chance:.2f} and kappa 0."
    )
    people, judge = best.prevalence(best.by_people), best.prevalence(best.by_judge)
    if people is not None and judge is not None:
        yield f"It says {best.positive} to {100 * judge:.0f} % of them, people to {100 * people:.0f} %."
    beside = best.beside.get("balanced_accuracy")
    if beside is None:
        yield "Agreement between people is unknown, because it is not recorded who gave which label."
    elif beside.over.value is None:
        yield f"It cannot be compared with one person: {beside.over.reason}."
    else:
        yield (
            f"Against the majority of the others one person reaches {_worded(beside.people)} and the judge "
            f"{_worded(beside.judge)}: judge minus person {_worded(beside.over)}."
        )
    lost = sum(best.lost.values())
    if lost:
        yield f"{lost:,} of {best.items:,} do not count: without a label of the judge, or with a tie."


def _worded(estimate: Estimate) -> str:
    return worded(estimate, factor=1, digits=2)
