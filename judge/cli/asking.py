"""Commands that ask a question of runs: each is made from the question, reads the runs, and prints the answer."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.cli.declared import given, offered, with_parameters
from judge.cli.table_options import (
    Criteria,
    EvalPrompts,
    Form,
    Full,
    Judges,
    PanelName,
    ParserName,
    PassRate,
    Runs,
    Width,
    is_picture,
)

if TYPE_CHECKING:
    from judge.base.printing.tables import Table
    from judge.questions.answer import Answer, Way
    from judge.questions.question import Question

# Many small decompositions: threads of the linear algebra only get into each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="file for the output; .png, .svg or .pdf: a picture"),
]
_Ratings = Annotated[
    Path | None, typer.Option("--ratings", metavar="FOLDER", help="result folder to write the combined ratings to")
]
# Choice of what is shown that matters on a screen only: files hold whole texts.
_FULL_TEXT = "full_text"
# The exit code where a check that options declare did not hold.
NOT_MET = 4
# Everything on the screen; a way may have more to show then.
_FULL = "full"


def command_of(question: Question) -> Any:
    """Function with the question's options as typer's parameters, which prints the answer."""

    def ask(**values: Any) -> None:
        _ask(question, values)

    ask.__doc__, ask.__name__ = inspect.cleandoc(question.text), question.name
    shared = [
        inspect.Parameter("context", _KEYWORD, annotation=typer.Context),
        _shared("runs", Runs, inspect.Parameter.empty),
    ]
    ways = question.ways.values()
    of_all = [
        _shared("criterion", Criteria),
        _shared("judge", Judges),
        _shared("eval_prompt", EvalPrompts),
        _shared("panel", PanelName),
        _shared("pass_rate", PassRate, default=False),
        *([] if _FULL in question.options else [_shared("full", Full, default=False)]),
        _shared("form", Form, "table"),
        _shared("output", _output(question)),
        *([_shared("ratings", _Ratings)] if any(way.ratings for way in ways) else []),
        *([_shared("width", Width, "page")] if any(way.picture for way in ways) else []),
        _shared("parser", ParserName, "ours"),
    ]
    after = [each for each in of_all if not all(each.name in way.without for way in ways)]
    of_frame = {name for way in ways for name in way.of_frame}
    own = [option for name, option in question.options.items() if name not in of_frame]
    return with_parameters(ask, [*shared, *offered(own), *after])


def _output(question: Question) -> Any:
    files = [way.file for way in question.ways.values() if way.file]
    if not files:
        return _Output
    return Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help=files[0].text)]


def _shared(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, _KEYWORD, default=default, annotation=annotation)


def _ask(question: Question, values: Mapping[str, Any]) -> None:
    from judge.analysis.options.selection import Selection
    from judge.cli.table_options import reading_bar
    from judge.questions.source import Source

    form, output, folder = values["form"], values["output"], values.get("ratings")
    words = given(values["context"], question.options, values)
    own = question.way(words)[1].own
    if form != "table" and _FULL_TEXT in own:
        words[_FULL_TEXT] = True
    if _FULL in own and values[_FULL]:
        words[_FULL] = True
    way, options, _ = question.chosen(words)
    inches = _inches(question, way, values) if is_picture(output) and not way.file else None
    chosen = (values["criterion"], values.get("judge"), values["eval_prompt"])
    restricted = {name: values[name] for name in ("pass_rate", "panel") if name in values}
    keep = Selection.of(*chosen, people=way.people(options), **restricted)
    parser = values.get("parser", "ours")
    source = Source(values["runs"], parser, (keep,), explanations=way.explanations, telling=reading_bar)
    answers = [question.ask(each, **words) for each in (source.kinds() if way.kinds else [source])]
    if inches is not None:
        _draw(answers[0], output, inches)
    else:
        _print(answers, form, output, full=values.get(_FULL, False))
    if folder is not None:
        _write(answers[0], folder)
    failed = [answer.failed for answer in answers if answer.failed]
    if failed:
        if not (way.file and output):  # what was written has said it
            sys.stderr.write("".join(f"{question.name}: {each}\n" for each in failed))
        raise typer.Exit(NOT_MET)


def _inches(question: Question, way: Way, values: Mapping[str, Any]) -> float:
    """SpecError if this way to answer has no picture, before anything is read."""
    from judge.base.errors import SpecError
    from judge.questions.figures import panels

    if way.picture is None:
        drawn = [name for name, each in question.ways.items() if each.picture is not None]
        hint = f"--layout {' or '.join(drawn)} has one" if drawn else "a .csv, .md or .json file holds its tables"
        raise SpecError("this answer has no picture", hint=hint)
    return panels.inches_of(values["width"])


def _draw(answer: Answer, output: Path, inches: float) -> None:
    from judge.analysis.inputs.selection import people_said
    from judge.cli.table_options import with_flags
    from judge.questions.figures import panels

    panels.write(answer.figure(inches), output)
    said = people_said(answer.table) if answer.way.coverage != "none" else ()
    typer.echo("; ".join([str(output), *map(with_flags, said)]))


def _write(answer: Answer, folder: Path) -> None:
    """As a result folder of imported ratings."""
    from judge.base.errors import SpecError
    from judge.exchange.imported_folder import write_folder

    if answer.way.ratings is None:
        raise SpecError("there are no ratings to write")
    imported = answer.way.ratings(answer.value, answer.table)
    write_folder(folder, imported)
    typer.echo(f"{imported.judge}: ratings in {folder}", err=True)


def _print(answers: Sequence[Answer], form: str, output: Path | None, *, full: bool) -> None:
    from judge.cli.table_options import emit

    way = answers[0].way
    told = form == "table" and (output is None or way.file is not None)
    if told and way.screen is not None:
        sys.stdout.write("\n".join(way.screen(answer.value) for answer in answers))
        return
    tables = [table for answer in answers for table in _tables(answer, form, told=told or form == "json")]
    emit(tables, form, None if way.file else output, full=full)
    if way.file and output is not None:
        sys.stderr.write(f"{way.file.write(answers[0].value, output)}\n")


def _tables(answer: Answer, form: str, *, told: bool) -> list[Table]:
    """With a line on what was answered."""
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.inputs.selection import asked_for
    from judge.cli.table_options import FLAGS

    printed = list(answer.told(FLAGS) if told else answer.printed(FLAGS))
    if answer.way.coverage == "none" or not (answer.table.frame["source"] == "judge").any():
        return printed
    counted = printed[:1] if answer.way.coverage == "first" else printed
    dropped = getattr(answer.options, "drop_systems", ())
    return [*with_coverage(asked_for(answer.table), counted, form, dropped), *printed[len(counted) :]]
