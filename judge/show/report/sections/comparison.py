"""Section that compares Eval-Prompts and judges with each other: sentences, then folded tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from judge.analysis.comparison import tables
from judge.analysis.comparison.result import Comparison, Entry
from judge.analysis.comparison.sentence import compared, leaves_zero_out
from judge.analysis.options.table_options import CompareOptions, Factor
from judge.base.errors import JudgeError
from judge.questions.charts import contrasts
from judge.show.pages import charts
from judge.show.report.blocks import failed, figure, folded, heading, items, prose, shown
from judge.show.report.inputs import ReportInputs

# With more pairs than this, each side is compared with the first alone.
MOST_PAIRS = 60

# More contrasts than this are counted, and their sentences folded.
MOST_SENTENCES = 2

_NAMES: dict[Factor, str] = {"eval_prompt": "Eval-Prompts", "judge": "Judges"}


def blocks(inputs: ReportInputs) -> list[Markup]:
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
    if any(entry.result.means["tau"].defined for entry in comparison.entries):
        chart = contrasts.forest(comparison, _NAMES[by], resamples=options.resamples, raters=inputs.raters)
        yield figure(charts.forest(chart, f"contrasts-{by.replace('_', '-')}", width=230), chart.caption)
    if len(sentences) > MOST_SENTENCES:
        yield folded(f"All {len(sentences)} contrasts, a sentence each", items(sentences))
    for table in tables.tables(comparison, pairs=True):
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
    prompts = [entry for entry in comparison.entries if leaves_zero_out(entry.result.means["tau"])]
    both = [entry for entry in prompts if leaves_zero_out(entry.result.means["tau_both"])]
    total = len(comparison.entries)
    return (
        f"Of {total} contrasts, {len(prompts)} differ in agreement with people (mean over criteria) by more than new "
        f"story-prompts would explain, {len(both)} of these by more than new systems would explain too. Intervals are "
        "each for one contrast; the table of agreement has the tests adjusted over the whole family."
    )


def _where(comparison: Comparison, entry: Entry) -> str:
    """`Beluga-13B: ` if its members share this, unless all contrasts do."""
    name = tables.shared_name(entry, comparison)
    return f"{name}: " if name else ""
