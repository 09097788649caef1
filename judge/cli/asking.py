"""Commands that ask a question of runs: each is made from the question, reads the runs, and prints the answer."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
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
    after = [
        _shared("criterion", Criteria),
        _shared("judge", Judges),
        _shared("eval_prompt", EvalPrompts),
        _shared("panel", PanelName),
        _shared("pass_rate", PassRate, default=False),
        *([] if _FULL in question.options else [_shared("full", Full, default=False)]),
        _shared("form", Form, "table"),
        _shared("output", _Output),
        *([_shared("ratings", _Ratings)] if any(way.ratings for way in question.ways.values()) else []),
        *([_shared("width", Width, "page")] if any(way.picture for way in question.ways.values()) else []),
        _shared("parser", ParserName, "ours"),
    ]
    return with_parameters(ask, [*shared, *offered(question.options.values()), *after])


def _shared(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, _KEYWORD, default=default, annotation=annotation)


def _ask(question: Question, values: Mapping[str, Any]) -> None:
    from judge.analysis.inputs.selection import Selection
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
    inches = _inches(question, way, values) if is_picture(output) else None
    chosen = (values["criterion"], values["judge"], values["eval_prompt"])
    people = way.people(options)
    keep = Selection.of(*chosen, people=people, pass_rate=values["pass_rate"], panel=values["panel"])
    source = Source(values["runs"], values["parser"], (keep,), explanations=way.explanations, telling=reading_bar)
    answer = question.ask(source, **words)
    if inches is not None:
        _draw(answer, output, inches)
    else:
        _print(answer, form, output, full=values[_FULL])
    if folder is not None:
        _write(answer, folder)


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
    typer.echo("; ".join([str(output), *map(with_flags, people_said(answer.table))]))


def _write(answer: Answer, folder: Path) -> None:
    """As a result folder of imported ratings."""
    from judge.base.errors import SpecError
    from judge.exchange.imported_folder import write_folder

    if answer.way.ratings is None:
        raise SpecError("there are no ratings to write")
    imported = answer.way.ratings(answer.value, answer.table)
    write_folder(folder, imported)
    typer.echo(f"{imported.judge}: ratings in {folder}", err=True)


def _print(answer: Answer, form: str, output: Path | None, *, full: bool) -> None:
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.inputs.selection import asked_for
    from judge.cli.table_options import FLAGS, emit

    printed = list(answer.told(FLAGS) if form == "table" and output is None else answer.printed(FLAGS))
    if (answer.table.frame["source"] == "judge").any():
        counted = printed[:1] if answer.way.coverage_once else printed
        dropped = getattr(answer.options, "drop_systems", ())
        printed = [*with_coverage(asked_for(answer.table), counted, form, dropped), *printed[len(counted) :]]
    emit(printed, form, output, full=full)
