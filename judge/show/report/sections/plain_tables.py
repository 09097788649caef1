"""Sections that only show the tables of an analysis: coverage, systems, diagnostics, contamination."""

from __future__ import annotations

from markupsafe import Markup

from judge.analysis import diagnose
from judge.analysis.coverage import tables as coverage_tables
from judge.analysis.diagnose import Diagnosis
from judge.analysis.options.table_options import DiagnoseOptions, SystemsOptions
from judge.analysis.systems import tables
from judge.analysis.systems.systems import systems
from judge.base.printing.tables import Column, Table
from judge.contamination.tables import report_table
from judge.show.report.blocks import prose, shown
from judge.show.report.inputs import ReportInputs


def coverage_blocks(inputs: ReportInputs) -> list[Markup]:
    """HTML blocks on coverage: requests, answers and ratings, and how stories without ratings differ from stories with
    ratings.
    """
    summary, *others = coverage_tables.tables(inputs.coverage)
    sentence = f"Coverage: {coverage_tables.sentence(inputs.coverage.total)}."
    return [prose(sentence), shown(summary, inputs), *(shown(table, inputs, folded=True) for table in others)]


def system_blocks(inputs: ReportInputs) -> list[Markup]:
    """HTML blocks on systems: mean human and judge ratings, and the pairs of systems on which judges and people
    agree.
    """
    options = SystemsOptions(
        drop_systems=inputs.options.drop_systems, resamples=inputs.options.resamples, seed=inputs.options.seed
    )
    system_tables = tables.tables(systems(inputs.table, options))
    return [shown(table, inputs) for table in system_tables] or [prose("No system has a rating.")]


def diagnostic_blocks(inputs: ReportInputs) -> list[Markup]:
    """HTML blocks on tests for known failures of judges; tests without a significant result are shown in a folded
    table.
    """
    if not inputs.has_people:
        sentence = (
            "No people's ratings of these stories are known, and every test compares a judge with them: "
            "no test was made."
        )
        return [prose(sentence)]
    result = diagnose.diagnose(inputs.table, DiagnoseOptions(drop_systems=inputs.options.drop_systems))
    (significant,), (every,) = diagnose.tables(result), diagnose.tables(result, full=True)
    counted = diagnose.counted(result)
    return [
        prose(inputs.raters.worded(f"{counted[:1].upper()}{counted[1:]}.")),
        shown(_tally(result), inputs),
        shown(significant, inputs, folded=True),
        shown(every, inputs, folded=True, title=f"{every.title}: every test, significant or not"),
    ]


def _tally(result: Diagnosis) -> Table:
    """Table of counts of significant tests: one row per judge and Eval-Prompt, one column per kind of failure."""
    kinds = {finding.diagnostic: finding.kind.tail for finding in result.findings}
    tally: dict[tuple[str, str], dict[str, list[int]]] = {}
    for finding in result.findings:
        mine = tally.setdefault((finding.cell.judge, finding.cell.eval_prompt), {kind: [0, 0] for kind in kinds})
        if finding.test.p is not None:
            mine[finding.diagnostic][0] += finding.finds(result.options.alpha)
            mine[finding.diagnostic][1] += 1
    rows: list[dict[str, str | None]] = []
    for (judge, prompt), mine in tally.items():
        counted = {kind: f"{positive} of {total}" if total else None for kind, (positive, total) in mine.items()}
        rows.append({"judge": judge, "eval_prompt": prompt, **counted})
    columns = [Column("judge", "judge"), Column("eval_prompt", "eval prompt"), *(Column(kind, kind) for kind in kinds)]
    notes = (
        "significant tests (p not adjusted), of those that could be computed",
        f"tails of these tests: {', '.join(f'{name} {tail}' for name, tail in kinds.items())}",
        "a dash: no test could be made (see every test)",
    )
    return Table("Findings by kind", columns, rows, result.counts_signature, notes)


def contamination_blocks(inputs: ReportInputs) -> list[Markup]:
    """HTML blocks on whether models have seen the stories in training, or, without a scores file, with the command that
    makes one.
    """
    if inputs.contamination is None:
        return [
            prose(
                "Whether a judge has seen these stories in training was not measured. judge contamination score makes "
                "a scores file; judge report --contamination FILE shows its results here."
            )
        ]
    return [shown(report_table(inputs.contamination), inputs)]
