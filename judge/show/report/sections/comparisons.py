"""Sections on comparisons: of two stories by judges, and of Eval-Prompts and judges with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from judge.analysis.comparison import tables as comparison_tables
from judge.analysis.comparison.contrasts import Entry
from judge.analysis.comparison.result import Comparison, compared
from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.coverage import counts
from judge.analysis.options.table_options import CompareOptions, Factor
from judge.analysis.preference.ranked import Topic, answer, tables
from judge.analysis.preference.standings import Systems
from judge.base.errors import JudgeError
from judge.questions.charts import estimates
from judge.questions.charts import preferences as chart
from judge.questions.charts.shared import SIGNS
from judge.show.pages import charts
from judge.show.report.blocks import failed, figure, folded, heading, items, prose, shown
from judge.show.report.inputs import ReportInputs

# Section that compares Eval-Prompts and judges with each other: sentences, then folded tables.

# With more pairs than this, each side is compared with the first alone.
MOST_PAIRS = 60

# More contrasts than this are counted, and their sentences folded.
MOST_SENTENCES = 2

_NAMES: dict[Factor, str] = {"eval_prompt": "Eval-Prompts", "judge": "Judges"}


def comparison_blocks(inputs: ReportInputs) -> list[Markup]:
    """Comparisons of Eval-Prompts, and then of judges, if there are at least two."""
    parts: list[Markup] = []
    sides: tuple[tuple[Factor, Sequence[str], int], ...] = (
        ("eval_prompt", inputs.eval_prompts, len(inputs.judges)),
        ("judge", inputs.judges, len(inputs.eval_prompts)),
    )
    for by, names, others in sides:
        if len(names) < 2:
            continue
        try:
            parts += list(_compared(inputs, by, names, others))
        except JudgeError as error:
            parts.append(failed(f"{_NAMES[by]} cannot be compared", error))
    return parts or [prose("There is only one judge with one Eval-Prompt, so there is nothing to compare.")]


def _compared(inputs: ReportInputs, by: Factor, names: Sequence[str], others: int) -> Iterator[Markup]:
    options = _options(inputs, by, names, others)
    yield heading(f"{_NAMES[by]} compared on the same stories")
    comparison = compared(inputs.table, options)
    in_words = inputs.raters.worded
    sentences = [f"{_where(comparison, entry)}{in_words(entry.sentence)}" for entry in comparison.entries]
    if len(sentences) <= MOST_SENTENCES:
        yield items(sentences)
    else:
        yield prose(inputs.raters.worded(_counted(comparison)))
    if any(entry.means["tau"].defined for entry in comparison.entries):
        chart = estimates.contrasts(comparison, _NAMES[by], resamples=options.resamples, raters=inputs.raters)
        yield figure(charts.forest(chart, f"contrasts-{by.replace('_', '-')}", width=230), chart.caption)
    if len(sentences) > MOST_SENTENCES:
        yield folded(f"All {len(sentences)} contrasts, a sentence each", items(sentences))
    for table in comparison_tables.tables(comparison, pairs=True):
        yield shown(table, inputs, folded=True)


def _options(inputs: ReportInputs, by: Factor, names: Sequence[str], others: int) -> CompareOptions:
    pairs = len(names) * (len(names) - 1) // 2 * others
    chosen: dict[str, Any] = {} if pairs <= MOST_PAIRS else {"baseline": names[0]}
    return CompareOptions(
        by=by,
        drop_systems=inputs.options.drop_systems,
        resamples=inputs.options.resamples,
        permutations=inputs.options.permutations,
        seed=inputs.options.seed,
        **chosen,
    )


def _counted(comparison: Comparison) -> str:
    """Of the contrasts (pairs) that differ by an interval over story-prompts, how many also do over systems."""
    prompts = [entry for entry in comparison.entries if leaves_zero_out(entry.means["tau"])]
    both = [entry for entry in prompts if leaves_zero_out(entry.means["tau_both"])]
    total = len(comparison.entries)
    return (
        f"Of {total} contrasts, {len(prompts)} differ in agreement with people (mean over criteria) by more than new "
        f"story-prompts would explain, {len(both)} of these by more than new systems would explain too. Intervals are "
        "each for one contrast; the table of agreement has the tests adjusted over the whole family."
    )


def _where(comparison: Comparison, entry: Entry) -> str:
    """`Beluga-13B: ` if its members share this, unless all contrasts do."""
    name = comparison_tables.shared_name(entry, comparison)
    return f"{name}: " if name else ""


def preference_blocks(inputs: ReportInputs) -> list[Markup]:
    """Preferences stated by judges and people, and those implied by ratings."""
    comparison = inputs.preferences
    parts = [prose(answer(comparison)), *_pictures(comparison.systems)]
    parts += [shown(table, inputs) for table in tables(comparison, ["agreement", "order"], answered=False)]
    behind = tables(comparison, ["systems", "stories", "transitivity"], answered=False)
    return [*parts, *(shown(table, inputs, folded=True) for table in behind)]


def preference_agreement_blocks(inputs: ReportInputs) -> list[Markup]:
    """Agreement with people, of baselines without a judge too, and by difference in length."""
    read = (
        "Two rows need no judge: the longer story wins, and the control. It reads nothing but the surface of a text, "
        "and predicts pairs of story-prompts it was not fitted on. A judge below them has not been shown to read the "
        "stories."
    )
    tables_shown = _tables(inputs, "agreement")
    nothing = prose("No people's preferences or ratings of these stories are known, so agreement cannot be estimated.")
    return [prose(read), *tables_shown] if tables_shown else [nothing]


def order_blocks(inputs: ReportInputs) -> list[Markup]:
    """How the order shown affects the preference, beyond random variation."""
    return _tables(inputs, "order") or [prose("No judge compared.")]


def preference_system_blocks(inputs: ReportInputs) -> list[Markup]:
    """The systems' strengths and wins, as charts and tables."""
    parts = [*_pictures(inputs.preferences.systems), *_tables(inputs, "systems", folded=True)]
    return parts or [prose("All stories that were compared are of one system.")]


def story_blocks(inputs: ReportInputs) -> list[Markup]:
    """How judges and people rank the stories of a story-prompt."""
    return _tables(inputs, "stories") or [prose("No story-prompt has three stories that were compared.")]


def transitivity_blocks(inputs: ReportInputs) -> list[Markup]:
    """Whether the preferences are consistent with one ranking."""
    return _tables(inputs, "transitivity") or [
        prose("No three stories were all compared with each other, so cycles cannot be counted.")
    ]


def preference_coverage_blocks(inputs: ReportInputs) -> list[Markup]:
    """How many comparisons were asked, answered and decided."""
    sentence = counts.sentence(inputs.verdicts)
    return [prose(f"Coverage: {sentence}."), *(shown(table, inputs) for table in counts.tables(inputs.verdicts))]


def _tables(inputs: ReportInputs, topic: Topic, *, folded: bool | None = None) -> list[Markup]:
    topic_tables = tables(inputs.preferences, [topic], answered=False)
    return [shown(table, inputs, folded=folded) for table in topic_tables]


def _pictures(systems: Systems) -> Iterator[Markup]:
    own = [standing for standing in systems.standings if standing.kind != "implied"]
    places = sorted(own, key=lambda standing: (standing.dataset, standing.criterion.casefold()))
    for number, (_, group) in enumerate(
        groupby(places, key=lambda standing: (standing.dataset, standing.criterion.casefold()))
    ):
        some = list(group)[: len(SIGNS)]
        drawn = chart.strengths(some, systems.signature)
        yield figure(charts.forest(drawn, f"strengths-{number}", width=230), drawn.caption)
        wins = chart.win_matrix(some, systems.signature)
        yield figure(charts.heat_map(wins, f"wins-{number}"), wins.caption)
