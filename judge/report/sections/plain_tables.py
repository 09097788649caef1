"""Sections that are an analysis' own tables: coverage, systems, diagnostics. Never computes a statistic."""

from __future__ import annotations

from markupsafe import Markup

from judge.analysis import diagnose
from judge.analysis.coverage import coverage
from judge.analysis.diagnose import DIAGNOSTICS
from judge.analysis.options.table_options import CoverageOptions, DiagnoseOptions, SystemsOptions
from judge.analysis.systems import tables
from judge.contamination.tables import report_table
from judge.printing.tables import Column, Table, worded
from judge.report.blocks import prose, shown
from judge.report.inputs import ReportInputs


def coverage_blocks(inputs: ReportInputs) -> list[Markup]:
    """What was asked, answered and rated; whether what was lost differs from what was kept."""
    options = CoverageOptions(drop_systems=inputs.options.drop_systems)
    summary, *others = coverage.tables(inputs.table, options)
    line = coverage.summary_line(inputs.table, drop_systems=inputs.options.drop_systems)
    sentence = line[:1].upper() + line[1:] + "."
    return [prose(sentence), shown(summary, inputs), *(shown(one, inputs, folded=True) for one in others)]


def system_blocks(inputs: ReportInputs) -> list[Markup]:
    """Means by people and judges, and which pairs of systems judges see as people do."""
    options = SystemsOptions(
        drop_systems=inputs.options.drop_systems, resamples=inputs.options.resamples, seed=inputs.options.seed
    )
    found = tables.tables(inputs.table, options)
    return [shown(table, inputs) for table in found] or [prose("No system has a rating.")]


def diagnostic_blocks(inputs: ReportInputs) -> list[Markup]:
    """Known ways to go wrong, as tests; every test that found nothing stands in the folded table."""
    if not inputs.has_people:
        sentence = (
            "Nobody's ratings of these stories are known, and every test sets a judge beside them: none was made."
        )
        return [prose(sentence)]
    options = DiagnoseOptions(drop_systems=inputs.options.drop_systems)
    (found,) = diagnose.tables(inputs.table, options)
    (every,) = diagnose.tables(inputs.table, options, full=True)
    told = [note for note in worded(found, None).notes if note not in inputs.general_notes]
    return [
        *(prose(inputs.raters.said(f"{note[:1].upper()}{note[1:]}.")) for note in told[:1]),
        shown(_tally(every, diagnose.signature_of_counts(inputs.table, options)), inputs),
        shown(found, inputs, folded=True),
        shown(every, inputs, folded=True, title=f"{every.title}: every test, found or not"),
    ]


def _tally(every: Table, signature: str) -> Table:
    """How many tests of each kind found something: a row a judge and Eval-Prompt, a column a kind of fault."""
    kinds = dict.fromkeys(str(row["diagnostic"]) for row in every.rows)
    tally: dict[tuple[str, str], dict[str, list[int]]] = {}
    for row in every.rows:
        mine = tally.setdefault((str(row["judge"]), str(row["eval_prompt"])), {kind: [0, 0] for kind in kinds})
        if row["p"] is not None:
            mine[str(row["diagnostic"])][0] += row["verdict"] != "-"
            mine[str(row["diagnostic"])][1] += 1
    rows: list[dict[str, str | None]] = []
    for (judge, prompt), mine in tally.items():
        counted = {kind: f"{found} of {of}" if of else None for kind, (found, of) in mine.items()}
        rows.append({"judge": judge, "eval_prompt": prompt, **counted})
    columns = [Column("judge", "judge"), Column("eval_prompt", "eval prompt"), *(Column(kind, kind) for kind in kinds)]
    notes = (
        "tests that found something, each for itself (p not adjusted), of those that could be made",
        f"tails of these tests: {', '.join(f'{name} {DIAGNOSTICS[name].tail}' for name in kinds)}",
        "a dash: no test could be made (see every test)",
    )
    return Table("Findings by kind", columns, rows, signature, notes)


def contamination_blocks(inputs: ReportInputs) -> list[Markup]:
    """Whether models have seen the stories, from scores files; without one, the command that makes it."""
    if inputs.contamination is None:
        return [
            prose(
                "Whether a judge has seen these stories in training was not measured. judge contamination score makes "
                "a scores file; judge report --contamination FILE shows it here."
            )
        ]
    return [shown(report_table(inputs.contamination), inputs)]
