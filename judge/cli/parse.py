"""Command `judge parse`: reads the rating out of each answer and prints one row for each answer. The parsers are in
`judge.answers.parsing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.answers.parsing.answers_file import (
    Compared,
    pair_labels_fault,
    parse_comparisons,
    read_comparisons,
    summary,
)
from judge.answers.parsing.verdict import CHOICES, VERSION
from judge.base.errors import SpecError
from judge.base.files import write_output
from judge.base.printing.tables import Column, Table
from judge.base.records import Structured
from judge.cli.table_options import Full, Output, ParserName, Rows, with_flags
from judge.version import __version__

if TYPE_CHECKING:
    from judge.answers.parsing.answers_file import AnswerLine, Parsed
    from judge.base.records import Scale


# With --pair: which of two stories each answer prefers.


def verdicts(path: Path, labels: str | None, criterion: str | None, structured: Structured) -> Table:
    """All answers in a file with the preference that each states; texts are not shortened. `labels` are words for
    (first, second, tie), separated by commas; `criterion` is for answers without one."""
    if not path.is_file():
        raise SpecError(f"--pair reads a file, and {path} is none", hint='give JSON Lines with {"text": "..."} a line')
    parsed = parse_comparisons(read_comparisons(path, _choices(labels), criterion), structured)
    passed = dict.fromkeys(key for line in parsed for key in line.answer.passed)
    keys = ("line", *passed, "preference", "status", "flags", "explanation")
    rows = [line.row() for line in parsed]
    return Table(
        "Verdicts",
        [Column(key, key) for key in keys],
        rows,
        _pairs_signature(path, parsed),
        [summary([compared.verdict.status for compared in parsed])],
    )


def _choices(labels: str | None) -> tuple[str, ...]:
    if labels is None:
        return CHOICES
    words = [" ".join(part.split()) for part in labels.split(",")]
    wrong = pair_labels_fault(words)
    if wrong is not None:
        raise SpecError(f"--labels {wrong}", hint="with --pair write first,second,tie, e.g. --labels A,B,C")
    return tuple(words)


def _pairs_signature(path: Path, parsed: list[Compared]) -> str:
    names = ",".join(sorted({line.answer.criterion or "unnamed" for line in parsed}))
    labels = ",".join(sorted({"/".join(line.answer.choices) for line in parsed}))
    lost = sum(line.verdict.preference is None for line in parsed) / len(parsed)
    asked = f"{path.name}:{len(parsed)}|crit:{names}|labels:{labels}"
    return f"{asked}|parser:{VERSION}|unparsed:{lost:.1%}|v{__version__}"


_FORMS = "form of the rows: table, jsonl, json, csv, md or latex"
_WHOLE = ("jsonl", "json", "csv")
_SNIPPET = 60
_SCALE = "1-5"
_Labels = Annotated[
    str | None,
    typer.Option(
        "--labels", metavar="A,B,...", help="labels in place of a scale, lowest first; with --pair: first,second,tie"
    ),
]
_Positive = Annotated[
    str | None, typer.Option("--positive", metavar="LABEL", help="label that counts as yes, of two labels")
]
_RatingPattern = Annotated[
    str | None,
    typer.Option(
        "--rating-pattern", metavar="REGEX|$.PATH", help="only place where a rating is read, e.g. 'Score: (\\d)'"
    ),
]


_Source = Annotated[str, typer.Argument(metavar="FILE|RUN", help='JSON Lines with {"text": "..."}, or a run')]
_Diff = Annotated[
    bool, typer.Option("--diff", help="table of only those answers that ours and as-published read differently")
]
_Criterion = Annotated[str | None, typer.Option("--criterion", help="criterion that the answers rate, e.g. Coherence")]
_Scale = Annotated[str, typer.Option("--scale", help="scale as LOWEST-HIGHEST, e.g. 1-5 or 1-5/0.5")]
_Pair = Annotated[bool, typer.Option("--pair", help="answers that compare two stories, in place of ratings")]
_Structured = Annotated[Structured, typer.Option("--structured", help="form of answer that was requested")]


def parse(
    source: _Source,
    diff: _Diff = False,
    criterion: _Criterion = None,
    scale: _Scale = _SCALE,
    labels: _Labels = None,
    positive: _Positive = None,
    pair: _Pair = False,
    parser: ParserName = "ours",
    structured: _Structured = "none",
    rating_pattern: _RatingPattern = None,
    full: Full = False,
    form: Annotated[Rows, typer.Option("--format", metavar="FORM", help=_FORMS)] = "table",
    output: Output = None,
) -> None:
    """Table of answers with the rating, status, flags and explanation that the parser reads in each.

    The rating is only what the answer states; no other answer becomes a number. A line may have `criterion`, `scale`,
    `finish_reason`, `reasoning` and `story` (the text that was judged, whose numbers are not read as ratings); all
    other keys are kept. The text may also be under `response`. A RUN (its run.yaml, folder or result folder) has its
    own criteria, scales and form of answers; nothing is requested again.

    With --labels (or criteria of a RUN that have labels) a rating is the position of a label, counted from 0, and a
    column `label` names it. The parser reads only labels that the answer states, and no synonyms.

    With --pair an answer compares two stories: a preference (first, second or tie) replaces the rating. A line may have
    `labels` ([first, second, tie]; default: A, B and C) and `tie_offered`.

    Example: judge parse answers.jsonl --criterion Coherence -o ratings.csv

    Example: judge parse comparisons.jsonl --pair --labels "Story 1,Story 2,Tie"

    Example: judge parse answers.jsonl --labels No,Yes --set positive=Yes

    Example: judge parse runs/mans-roc --set diff=true
    """
    from judge.answers.parsing.answers_file import read_answers
    from judge.answers.parsing.ours.from_story import check_pattern
    from judge.base.choices import form_of

    written = form_of(form, output)
    if rating_pattern is not None:
        check_pattern(rating_pattern, where="--set rating_pattern")
    path, mode = Path(source), structured
    if pair:
        own = {"--set scale": scale != _SCALE, "--set parser": parser != "ours"}
        _refuse(own | {"--set diff": diff, "--set rating_pattern": rating_pattern, "--set positive": positive})
        _print(_verdicts(path, labels, criterion, structured, whole=written in _WHOLE), written, output, full=full)
        return
    if path.is_dir() or path.suffix in (".yaml", ".yml"):
        if labels is not None or positive is not None:
            raise SpecError("--labels and --set positive are for a file: a run brings its own criteria")
        answers, mode = _run_answers(path, rating_pattern)
    else:
        _refuse_missing(path)
        answers = read_answers(path, criterion, _scale(scale, labels, positive), rating_pattern)
    if diff:
        _print(_difference(path, answers, mode), written, output, full=full)
    else:
        _print(_judgments(path, answers, parser, mode, whole=written in _WHOLE), written, output, full=full)


def _refuse_missing(path: Path) -> None:
    if not path.is_file():
        raise SpecError(f"{path} does not exist", hint='give JSON Lines with {"text": "..."} a line, or a run')


def _verdicts(path: Path, labels: str | None, criterion: str | None, mode: Structured, *, whole: bool) -> Table:

    table = verdicts(path, labels, criterion, mode)
    return table if whole else replace(table, rows=[_cut(row) for row in table.rows])


def _refuse(options: Mapping[str, object]) -> None:
    """SpecError if an option of ratings stands with --pair."""
    for option, given in options.items():
        if given:
            raise SpecError(f"{option} is for ratings", hint=f"leave out {option}, or --pair")


def _scale(scale: str, labels: str | None, positive: str | None) -> Scale:
    from judge.answers.parsing.answers_file import parse_labels, parse_scale

    if labels is None:
        if positive is not None:
            raise SpecError("--set positive names one of two labels", hint="add --labels, e.g. --labels No,Yes")
        return parse_scale(scale)
    if scale != _SCALE:
        raise SpecError("--set scale and --labels are two kinds of scale", hint="give one of them")
    return parse_labels(labels, positive)


def _run_answers(run: Path, rating_pattern: str | None) -> tuple[list[AnswerLine], Structured]:
    from functools import lru_cache

    from judge.answers.journal import JournalReader
    from judge.answers.parsing.answers_file import AnswerLine
    from judge.asking.run_folder import resolve
    from judge.base.records import Criterion

    lines: list[AnswerLine] = []
    modes: set[Structured] = set()
    for folder in resolve([run]):
        with JournalReader(folder.journal) as journal:
            definition = journal.meta()["definition"]
            patterns = definition.get("rating_patterns", {})
            text_of = lru_cache(maxsize=1024)(journal.text_of)
            modes.add(definition["structured"])
            criteria = {record["name"]: Criterion.of(record) for record in definition["criteria_records"]}
            joint = definition.get("joint", {})
            for answer in journal.answers():
                if answer.response is None:
                    continue
                together = tuple(criteria[name] for name in joint.get(answer.eval_prompt, ()))
                for criterion in together or (criteria[answer.criterion],):
                    passed = {
                        "judge": folder.path.name,
                        "story": answer.story,
                        "criterion": criterion.name,
                        "eval_prompt": answer.eval_prompt,
                        "repeat": answer.repeat,
                    }
                    lines.append(
                        AnswerLine(
                            len(lines) + 1,
                            answer.response,
                            criterion,
                            passed,
                            text_of(answer.story),
                            rating_pattern or patterns.get(answer.eval_prompt),
                            together,
                        )
                    )
    if len(modes) != 1:
        raise SpecError(f"{run} has no answers, or judges asked in different ways ({', '.join(sorted(modes))})")
    return lines, modes.pop()


def _judgments(path: Path, answers: Sequence[AnswerLine], name: str, structured: Structured, *, whole: bool) -> Table:
    from judge.answers.parsing import parser as load
    from judge.answers.parsing.answers_file import LABEL, parse_answers
    from judge.base.printing.tables import Column, Table

    chosen = load(name)
    parsed = parse_answers(answers, chosen, structured)
    notes = [summary([answer.judgment.status for answer in parsed])]
    if chosen.imputes:
        imputed = sum("imputed" in p.judgment.flags for p in parsed)
        notes.append(f"{chosen.version} imputes: {imputed} of {len(parsed)} ratings are 3 because the rule says so")
    passed = dict.fromkeys(key for line in parsed for key in line.answer.passed)
    label = (LABEL,) if any(line.answer.criterion.scale.labels for line in parsed) else ()
    keys = ("line", *passed, "rating", *label, "status", "flags", "explanation")
    rows = [line.row() if whole else _cut(line.row()) for line in parsed]
    columns = [Column(key, key, digits=1 if key == "rating" else 2, main=key in ("rating", "status")) for key in keys]
    return Table("Judgments", columns, rows, _signature(path, parsed, chosen.version), notes)


def _difference(path: Path, answers: Sequence[AnswerLine], structured: Structured) -> Table:
    """Answers that this parser and the HANNA study's read differently."""
    from judge.answers.parsing import parser as load
    from judge.answers.parsing.answers_file import differing, parse_answers
    from judge.base.printing.tables import Column, Table

    ours, published = load("ours"), load("as-published")
    first = parse_answers(answers, ours, structured)
    pairs = differing(first, parse_answers(answers, published, structured))
    rows = [
        {
            "line": a.answer.line,
            "criterion": a.answer.criterion.name or None,
            "ours": f"{a.judgment.rating:g}" if a.judgment.rating is not None else a.judgment.status,
            "as_published": f"{b.judgment.rating:g}{' (imputed)' if 'imputed' in b.judgment.flags else ''}",
            "flags": ";".join(a.judgment.flags) or None,
            "text": _snippet(a.answer.response.text),
        }
        for a, b in pairs
    ]
    imputed = sum("imputed" in b.judgment.flags for _, b in pairs)
    note = f"{len(pairs)} of {len(answers)} answers are read differently; in {imputed} of them as-published put 3"
    titles = {"as_published": "as-published"}
    columns = [
        Column(key, titles.get(key, key)) for key in ("line", "criterion", "ours", "as_published", "flags", "text")
    ]
    signature = _signature(path, first, f"{ours.version},{published.version}")
    return Table(
        "Answers read differently", columns, rows, signature, (f"{note} where it found no number on the scale",)
    )


def _signature(path: Path, parsed: Sequence[Parsed], version: str) -> str:
    from judge.version import __version__

    names = ",".join(sorted({p.answer.criterion.name or "unnamed" for p in parsed}))
    scales = ",".join(sorted({_scale_word(p.answer.criterion.scale) for p in parsed}))
    lost = sum(p.judgment.rating is None for p in parsed) / len(parsed)
    asked = f"{path.name}:{len(parsed)}|crit:{names}|scale:{scales}"
    return f"{asked}|parser:{version}|unparsed:{lost:.1%}|v{__version__}"


def _scale_word(scale: Scale) -> str:
    """`1-5`, or labels with a plus after the positive one: `No/Yes+`."""
    if not scale.labels:
        return f"{scale.min:g}-{scale.max:g}"
    return "/".join(label + ("+" if label == scale.positive else "") for label in scale.labels)


def _print(table: Table, form: str, output: Path | None, *, full: bool) -> None:
    if form == "jsonl":
        _print_lines(table, output)
        return
    from judge.cli.table_options import emit

    emit(table, form, output, full=full)


def _print_lines(table: Table, output: Path | None) -> None:
    """The signature and notes go to stderr."""
    import json

    lines = [
        json.dumps({**row, "flags": row["flags"].split(";") if row["flags"] else []}, ensure_ascii=False)
        for row in table.rows
    ]
    text = "".join(line + "\n" for line in lines)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_output(output, text)
    for note in (table.signature, *table.notes):
        typer.echo(with_flags(note), err=True)


def _cut(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: (_snippet(item) or None) if isinstance(item, str) else _plain(item) for key, item in row.items()}


def _plain(item: object) -> object:
    return item if item is None or isinstance(item, int | float) else _snippet(str(item))


def _snippet(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _SNIPPET else one_line[: _SNIPPET - 1] + "…"
