"""Section on a table of ratings not made by this program: how its columns were read, and which data are missing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from judge.analysis.classes import Classes
from judge.analysis.correlation import Correlations
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE, Kind
from judge.analysis.inputs.candidates import Subject
from judge.base.printing.tables import Column, Table
from judge.base.wording import PLAIN, written
from judge.exchange.imported_folder import write_folder
from judge.exchange.tables.checked_table import Checked
from judge.questions.summary.result import Answer
from judge.show.report.blocks import items, prose, shown
from judge.show.report.inputs import ReportInputs, ReportOptions
from judge.show.report.sections import headline

_BARS: dict[str, Kind] = {"person": CEILING, "control": CONTROL}


def answers(inputs: ReportInputs) -> Iterator[Answer]:
    """Answers for the box at the top, on what cannot be computed."""
    if inputs.checked is not None and inputs.checked.untold:
        yield Answer(
            "What cannot be computed from the file?", tuple(untold.sentence for untold in inputs.checked.untold)
        )


def without(inputs: ReportInputs) -> frozenset[str]:
    """Names of sections that the table has no data for."""
    absent = {"explanations", "audit", "contamination"}
    if len(inputs.judges) < 2:
        absent.add("comparison")
    if inputs.table.frame["repeat"].isna().all() and not any(fact.repeats > 1 for fact in inputs.table.facts):
        absent.add("consistency")
    return frozenset(absent)


def file_blocks(inputs: ReportInputs) -> list[Markup]:
    """How columns were read, with the command that repeats it, and what cannot be computed."""
    checked = inputs.checked
    if checked is None:
        return []
    how = "Columns that were not named were guessed from their names and cells." if checked.guessed else ""
    parts = [
        prose(
            f"{checked.path.name} has {checked.rows:,} rows. {how} This command repeats the reading:".replace("  ", " ")
        ),
        Markup("<pre>{}</pre>").format(inputs.options.command),
    ]
    notes = [written(note, None) or written(note, PLAIN) for note in (*checked.reading, *checked.notes)]
    if notes:
        parts.append(items(notes, kind="notes"))
    parts.append(shown(columns_table(checked), inputs, folded=False))
    if checked.untold:
        parts.append(shown(untold_table(checked), inputs, folded=False))
    return parts


def columns_table(checked: Checked) -> Table:
    """What each column of the file was read as, and which were not read."""
    guess = checked.columns
    named: list[tuple[str, str | None, str]] = [(option, None, column) for option, column in guess.fields.items()]
    named += [("judge", "named in the column of raters", name) for name in guess.judge_names]
    for role, read in (("judge", guess.judges), ("human", guess.people)):
        named += [(role, "the row's criterion" if c.criterion == "*" else c.criterion, c.column) for c in read]
    together: dict[tuple[str, str | None], list[str]] = {}
    for what, of, column in named:
        together.setdefault((what, of), []).append(column)
    rows = [
        {"what": what, "column": ", ".join(columns), "of": of, "how": "guessed" if what in guess.guessed else "said"}
        for (what, of), columns in together.items()
    ]
    left = guess.reading.left_out(guess.used) if guess.reading is not None else []
    rows += [{"what": "not read", "column": ", ".join(left), "of": None, "how": None}] if left else []
    columns = [Column("what", "read as"), Column("column", "column", wrap=44), Column("of", "of"), Column("how", "how")]
    return Table("How the columns are read", columns, rows, "")


def untold_table(checked: Checked) -> Table:
    """What cannot be computed, and the data that each needs."""
    columns = [
        Column("missing", "not in the file", wrap=22),
        Column("therefore", "so", wrap=30),
        Column("closes", "what would provide it", wrap=20),
    ]
    rows = [
        {"missing": untold.missing, "therefore": untold.therefore, "closes": untold.closes} for untold in checked.untold
    ]
    return Table("What cannot be computed from the file", columns, rows, _signature(checked))


def answers_table(answers_given: list[Answer], checked: Checked) -> Table:
    columns = [
        Column("question", "question", wrap=18),
        Column("answer", "answer", wrap=18),
        Column("because", "because", wrap=38),
    ]
    rows = [
        {
            "question": answer.question,
            "answer": answer.verdict.text if answer.verdict else None,
            "because": " ".join((*((f"({answer.verdict.rule})",) if answer.verdict else ()), *answer.sentences)),
        }
        for answer in answers_given
    ]
    return Table("What the file shows", columns, rows, _signature(checked))


def agreement_table(result: Correlations) -> Table:
    """Agreement over all stories of each judge, of one person with the others, and of the control."""
    columns = [
        Column("criterion", "criterion"),
        Column("judge", "judge"),
        Column("tau", "tau-b x100", digits=1, factor=100),
        Column("person", "one person x100", digits=1, factor=100),
        Column("control", "control x100", digits=1, factor=100),
        Column("stories", "stories"),
    ]
    rows = []
    for row in result.rows:
        if row.kind == JUDGE:
            beside = {name: row.beside[kind].bar[0] for name, kind in _BARS.items() if kind in row.beside}
            rows.append({**_who(row.subject), "tau": row.estimate, **beside, "stories": row.stories})
    notes = (
        f"{result.statistic} with people's means, over all stories, with 95 % intervals",
        "one person: against the mean of the others; control: a regression on the surface of the texts, out of fold",
    )
    return Table("Agreement with people", columns, rows, result.signature, notes)


def systems_table(over_systems: Correlations, within: Classes) -> Table:
    """Agreement over system means, and the lowest and highest within a system."""
    columns = [
        Column("criterion", "criterion"),
        Column("judge", "judge"),
        Column("means", "system means x100", digits=1, factor=100),
        Column("lowest_system", "lowest in"),
        Column("lowest", "tau-b x100", digits=1, factor=100),
        Column("highest_system", "highest in"),
        Column("highest", "tau-b x100", digits=1, factor=100),
    ]
    parts = {_who_key(row.subject): row.parts for row in within.rows if row.factor == "system"}
    rows = []
    for row in over_systems.rows:
        if row.kind != JUDGE:
            continue
        row_cells = {**_who(row.subject), "means": row.estimate}
        mine = sorted(parts.get(_who_key(row.subject), ()), key=lambda part: part.value.value or 0.0)
        for name, part in zip(("lowest", "highest"), (mine[:1], mine[-1:]), strict=True):
            row_cells |= {f"{name}_system": part[0].name, name: part[0].value} if part else {}
        rows.append(row_cells)
    notes = ("the page has every system; among many systems, the lowest and the highest are so partly by chance",)
    return Table("By system", columns, rows, over_systems.signature, notes)


def _who(subject: Subject) -> dict[str, Any]:
    asked = f" ({subject.eval_prompt})" if subject.eval_prompt not in (None, "-") else ""
    return {"criterion": subject.criterion, "judge": f"{subject.judge}{asked}"}


def _who_key(subject: Subject) -> tuple[str | None, ...]:
    return subject.dataset, subject.judge, subject.eval_prompt, subject.criterion


def _signature(checked: Checked) -> str:
    return f"{checked.path.name}:{checked.rows}rows|sha256:{checked.digest[:12]}"


# Report on a table of ratings from outside; it is analysed like a run in a temporary folder.


@contextmanager
def inputs_of(checked: Checked, options: ReportOptions, keep: Path | None = None) -> Iterator[ReportInputs]:
    """Context with a report's inputs for the checked table, as a result folder: `keep`, or a temporary one."""
    with tempfile.TemporaryDirectory(prefix="judge-check-") as temporary:
        folder = write_folder(keep or Path(temporary) / checked.path.stem, checked.ratings)
        inputs = ReportInputs.read([folder.path], options)
        yield replace(inputs, runs=(str(keep or Path("runs") / checked.path.stem),), checked=checked)


def checked_tables(inputs: ReportInputs, checked: Checked) -> list[Table]:
    """Answers to the main questions, agreement (where the data allow), what cannot be computed, and columns' roles."""
    tables = [answers_table(headline.answers(inputs), checked)]
    if inputs.has_people:
        tables.append(agreement_table(inputs.correlations))
        if any(len(matrix.systems) > 1 for matrix in inputs.matrices):
            tables.append(systems_table(inputs.correlations_over_systems, inputs.classes))
    return [columns_table(checked), *tables, untold_table(checked)]
