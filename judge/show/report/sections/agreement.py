"""Sections on judges' agreement with people and with themselves, on labels, and on how ratings are distributed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from markupsafe import Markup

from judge.analysis import classes, correlation, labels
from judge.analysis.agreement import correlation_grid, replacement
from judge.analysis.agreement.correlation_grid import Layout
from judge.analysis.correlation import Correlations
from judge.analysis.correlation.margins import of_panels, table_of
from judge.analysis.distributions import distributions
from judge.analysis.distributions import table as shares_table
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE
from judge.analysis.labels import ConfusionRow
from judge.analysis.options.signature import abbreviations
from judge.analysis.options.table_options import DistributionOptions
from judge.analysis.reliability.consistency import tables as consistency_tables
from judge.base.estimate import Estimate
from judge.questions.charts import distributions as distribution_chart
from judge.questions.charts import estimates
from judge.questions.charts.confusion import confusion_map
from judge.questions.charts.heatmap import heat_map
from judge.questions.charts.shared import worded
from judge.questions.summary.result import Answer
from judge.questions.summary.rules import of_labels
from judge.show.pages import charts
from judge.show.report.blocks import figure, folded, heading, prose, shown
from judge.show.report.inputs import ReportInputs
from judge.show.report.sections import audit as audit_words

# Section on the distribution of human and judge ratings, as small histograms.


def rating_blocks(inputs: ReportInputs) -> list[Markup]:
    """A chart and a table of human and judge ratings for each dataset."""
    options = DistributionOptions(drop_systems=inputs.options.drop_systems)
    counted, parts = distributions(inputs.table, options), []
    for number, counts in enumerate(counted):
        picture = distribution_chart.distributions(counts, inputs.raters_of(counts.dataset))
        parts.append(figure(charts.distributions(picture, f"shares-{number}"), picture.caption))
    return [*parts, *(shown(shares_table(counts), inputs, folded=True) for counts in counted)]


# Section on judges' labels against human labels: the answer at the top, tables and confusion matrices.

_READ_CONFUSION = (
    "Balanced accuracy is the mean of the shares of each of people's labels that a judge finds. A judge that knows "
    "nothing has one over the number of labels, however often it gives each. Accuracy alone rewards the most "
    "common label. A refusal or an answer that was not read is no label."
)


def label_answer(inputs: ReportInputs, dataset: str, on: str) -> Answer | None:
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
        question, tuple(raters.worded(sentence) for sentence in _label_sentences(best, len(judges))), of_labels(best)
    )


def label_blocks(inputs: ReportInputs) -> list[Markup]:
    """Confusion matrices of each dataset, and every table; [] without labels."""
    confusions = inputs.confusions
    if confusions is None:
        return []
    parts = [heading(inputs.raters.worded("Labels beside people's")), prose(_READ_CONFUSION)]
    for number, matrix in enumerate(inputs.matrices):
        rows = [row for row in confusions.main(matrix.dataset) if row.kind != CONTROL]
        if any(row.counts for row in rows):
            heat = confusion_map(confusions, rows, matrix.dataset, inputs.raters_of(matrix.dataset))
            parts.append(figure(charts.heat_map(heat, f"confusion-{number}"), heat.caption))
    return [*parts, *(shown(table, inputs) for table in labels.tables(confusions))]


def _label_sentences(best: ConfusionRow, rows: int) -> Iterator[str]:
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


# Section on agreement of judges with themselves over repeats. Agreement between people is shown for comparison.

_FORM = "ICC(1,1)"


def replacement_blocks(inputs: ReportInputs) -> list[Markup]:
    """The alternative annotator test of every judge and Eval-Prompt, or why there is none."""
    result = inputs.replacement
    rates = [row.winning_rate for row in result.tests if row.kind == JUDGE]
    if not any(rate.defined for rate in rates):
        reasons = dict.fromkeys(str(rate.reason) for rate in rates if rate.reason)
        return [prose(f"No judge can be tested: {'; '.join(reasons) or 'no judge was run'}.")]
    return [
        prose(replacement.verdict(result)),
        prose(
            "A judge may replace a person where it passes the alternative annotator test and agrees with people more "
            "than every uninformed judge. Nothing may show that it lies below one more person."
        ),
        shown(replacement.tables(result)[0], inputs),
    ]


def consistency_blocks(inputs: ReportInputs) -> list[Markup]:
    """Agreement of judges with themselves, and a chart of ICC(1,1) if any value is defined."""
    result = inputs.consistency
    judged = [estimate for cell in result.judged if (estimate := cell.estimate(_FORM))]
    parts = []
    if any(estimate.defined for estimate in judged):
        dots = estimates.repeats(
            result,
            _FORM,
            dataset=", ".join(matrix.dataset for matrix in inputs.matrices),
            short=abbreviations(inputs.table),
            controls={fact.judge for fact in inputs.table.facts if fact.control},
            signature=result.signature,
            raters=inputs.raters,
        )
        parts.append(figure(charts.forest(dots, "consistency-dots"), dots.caption))
        parts.append(prose("High consistency is not validity: a judge that always answers 3 is consistent."))
    else:
        reasons = dict.fromkeys(estimate.reason or "undefined" for estimate in judged)
        parts.append(prose(f"Consistency over repeats: {'; '.join(reasons) or 'no judge was run'}."))
    return [*parts, *(shown(table, inputs) for table in consistency_tables(result))]


_READ = (
    "Two reference values stand beside a judge where they exist. One more person is the agreement of one person with "
    "the mean of the others, and minus one more person compares the judge with the same means; the control"
)
_READ_LABELS = (
    "No person rated these stories, so one more person is not known: judges are compared with labels. One reference "
    "value is given for every judge: the control"
)
_READ_CONTROL = (
    " reads nothing but the surface of a text (length, repetition, vocabulary) and never saw the stories "
    "it is shown on. A judge below the control has not been shown to read the story."
)


def agreement_blocks(inputs: ReportInputs) -> list[Markup]:
    """Agreement over all stories, with a bar chart, and then over system means."""
    if not inputs.has_people:
        return [prose("No people's ratings of these stories are known, so agreement with people cannot be estimated.")]
    markup = [prose((_READ_LABELS if inputs.raters.labels_note else _READ) + _READ_CONTROL)]
    result = inputs.correlations
    grids = _layouts(inputs, result)
    for number, grid in enumerate(grids):
        raters = inputs.raters_of(grid.dataset)
        heat = heat_map(grid, raters)
        markup.append(figure(charts.heat_map(heat, f"heat-{number}"), heat.caption))
        if sum(row.kind not in (CEILING, CONTROL) for row in grid.rows) > 1 or len(grid.criteria) > 1:
            dots = estimates.correlations(grid, raters)
            markup.append(figure(charts.forest(dots, f"dots-{number}"), dots.caption))
    markup += [shown(table, inputs, folded=True) for table in correlation_grid.tables(grids)]
    markup.append(shown(table_of(result, inputs.margins, of_panels(result)), inputs))
    for table in correlation.tables(result):
        markup.append(shown(table, inputs, folded=True, title=f"{table.title}, every row, with missing ratings"))
    if inputs.classes.rows:
        markup += [shown(table, inputs, folded=True) for table in classes.tables(inputs.classes)]
    return [*markup, *audit_words.audit_agreement_blocks(inputs), *_over_systems(inputs), *label_blocks(inputs)]


def _layouts(inputs: ReportInputs, result: Correlations) -> list[Layout]:
    # One more person is left out where no person rated the stories.
    return [
        replace(grid, rows=tuple(row for row in grid.rows if row.kind != CEILING))
        if inputs.raters_of(grid.dataset).labels_note
        else grid
        for grid in correlation_grid.layouts(result)
    ]


def _over_systems(inputs: ReportInputs) -> Iterator[Markup]:
    grids = _layouts(inputs, inputs.correlations_over_systems)
    parts = []
    for number, grid in enumerate(grids):
        heat = heat_map(grid, inputs.raters_of(grid.dataset))
        parts.append(figure(charts.heat_map(heat, f"heat-systems-{number}"), heat.caption))
    tables = [shown(table, inputs) for table in correlation_grid.tables(grids)]
    yield folded("Over system means", *parts, *tables)
