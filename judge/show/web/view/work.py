"""The process of one background job: `python -m judge.show.web.view.work KIND ...`, started by module `jobs`. It writes
only computed files, completely or in transactions, and can therefore be killed at any time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.asking.run_folder import ResultFolder
from judge.base.errors import JudgeError
from judge.base.wording import PLAIN, written
from judge.show.web.view.jobs import SENTENCE
from judge.show.web.view.runs import write_kept

if TYPE_CHECKING:
    from judge.analysis.disagreement_tables import Disagreement
    from judge.base.records import Scale

# Disagreements kept.
TOP = 100


def main(arguments: Sequence[str]) -> int:
    """Exit code of one job; `arguments` are its kind, the results' fingerprint, and its own. A JudgeError is a sentence
    on stderr, with its own exit code."""
    kind, state, *rest = arguments
    if hasattr(os, "nice"):  # Unix
        os.nice(10)
    try:
        KINDS[kind](state, *rest)
    except JudgeError as error:
        hint = written(error.hint or "", PLAIN)
        sys.stderr.write(written(error.sentence, PLAIN) + (f" ({hint})" if hint else ""))
        return SENTENCE
    return 0


def _index(_: str, folder: str, file: str) -> None:
    from judge.show.web.view.index import update

    update(ResultFolder(Path(folder)), Path(file))


def _map(state: str, folder: str, file: str) -> None:
    from judge.show.web.view.map import convert

    convert(ResultFolder(Path(folder)), Path(file), state)


def _tables(state: str, into: str, *folders: str) -> None:
    # Each kind is written as soon as it is computed; a table that cannot be is replaced by the reason.
    from judge.asking.run_folder.layout import comparing
    from judge.base.printing.output import plain
    from judge.questions.charts.forest import Forest
    from judge.show.web.view.tables import Answers

    began = time.monotonic()
    compare, rate = comparing(folders)
    answers = Answers(rate, compare)
    for name in answers.names():
        file = Path(into) / f"view-{name}.json"
        try:
            shown = answers.shown(name)
            data: dict[str, Any] = {"tables": [plain(output) for output in shown if not isinstance(output, Forest)]}
            data["pictures"] = [asdict(output) for output in shown if isinstance(output, Forest)]
        except JudgeError as error:
            data = {"tables": [], "problem": written(error.sentence, PLAIN)}
        write_kept(file, {"state": state, "seconds": time.monotonic() - began, **data})
        began = time.monotonic()


def _summary(state: str, into: str, *folders: str) -> None:
    from judge.base.printing.output import plain
    from judge.questions.summary.kept import summaries_of
    from judge.questions.summary.screen import summary_tables
    from judge.show.pages.verdict_box import summary_boxes

    data: dict[str, Any] = {"tables": [], "boxes": []}
    try:
        summaries = summaries_of(folders, named=list(dict.fromkeys(str(Path(folder).parent) for folder in folders)))
        data["tables"] = [plain(table) for summary in summaries for table in summary_tables(summary)]
        data["boxes"] = [box for summary in summaries for box in summary_boxes(summary)]
    except JudgeError as error:
        data["problem"] = written(error.sentence, PLAIN)
    write_kept(Path(into) / "view-summary.json", {"state": state, **data})


def _disagreements(state: str, into: str, between: str, *folders: str) -> None:
    from judge.analysis.disagreements import disagreements
    from judge.analysis.options.table_options import DisagreementsOptions, from_words
    from judge.ratings.ratings_table import read

    options = from_words(DisagreementsOptions, between=between, top=TOP)
    file = Path(into) / f"view-disagreements-{between}.json"
    try:
        table = read(folders)
        result = disagreements(table, options)
    except JudgeError as error:
        write_kept(file, {"state": state, "rows": [], "problem": written(error.sentence, PLAIN)})
        return
    rows = [
        {key: value for key, value in row.record.items() if key != "text"} | _words(row, result.scale_of(row))
        for row in result.rows
    ]
    notes = [sentence for note in result.notes if (sentence := written(note, None))]
    labels = bool(table.facts) and all(fact.labels_note for fact in table.facts)
    write_kept(
        file,
        {
            "state": state,
            "rows": rows,
            "raters": "labels" if labels else "people",
            "stories": result.stories,
            "signature": result.signature,
            "notes": list(dict.fromkeys(notes)),
        },
    )


def _words(row: Disagreement, scale: Scale | None) -> dict[str, Any]:
    """None for a rating without a label, such as a mean; {} without a scale."""
    if scale is None:
        return {}
    people = None if row.people is None else scale.label_of(row.people.mean)
    return {"words": {"people": people, "sides": [scale.label_of(side.mean) for side in row.sides]}}


def _audit(state: str, into: str, file: str) -> None:
    from judge.base.printing.output import plain
    from judge.explanations.audit.printed import audit_tables
    from judge.explanations.audit.report import report
    from judge.explanations.audit.store import read_audit

    kept = Path(into) / "view-audit.json"
    try:
        tables = [plain(table) for table in audit_tables(report(read_audit(Path(file))))]
    except JudgeError as error:
        write_kept(kept, {"state": state, "tables": [], "problem": written(error.sentence, PLAIN)})
        return
    write_kept(kept, {"state": state, "tables": tables})


KINDS: dict[str, Callable[..., None]] = {
    "index": _index,
    "map": _map,
    "tables": _tables,
    "summary": _summary,
    "disagreements": _disagreements,
    "audit": _audit,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
