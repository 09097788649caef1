"""Shared code of the commands that draw one figure of runs, from reading the runs to writing the file."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.cli.declared import Command, Declare, own_parameters, takes, with_parameters
from judge.cli.table_options import Criteria, EvalPrompts, Judges, PanelName, ParserName, PassRate, Picture, Runs, Width

_KEYWORD = inspect.Parameter.KEYWORD_ONLY
FreeWidth = Annotated[
    str | None,
    typer.Option("--width", help="width of the picture: column (3.03 in) or page (6.3 in); default: as needed"),
]


def figure_command(
    kind: type,
    helps: Mapping[str, str] | None = None,
    *,
    without: tuple[str, ...] = (),
    width: str | None = "page",
    perturbed: bool = False,
) -> Declare:
    """Decorator that makes a command from a function of a ratings table, options and a width in inches. The function
    returns a figure and a sentence about it.

    The command takes RUNs, the output file, one option for each field of `kind` (see `declared.takes`), the function's
    own further parameters, and the options criteria, judges, Eval-Prompts, panel, pass rate, width and parser. With
    `width` None the figure is as wide as its content, and the function gets None for `inches`. With `perturbed` the
    table holds perturbed stories too. File name and width are checked before any run is read.
    """

    def declare(function: Command) -> Command:
        own = own_parameters(function, without=("table", "options", "inches"))

        def work(options: Any, **values: Any) -> None:
            from judge.analysis.inputs.panels import people_said
            from judge.analysis.inputs.selection import Selection, narrowed
            from judge.cli.option_words import with_flags
            from judge.cli.reading_bar import reading_bar
            from judge.figures import page
            from judge.ratings_table import read

            output: Path = values["output"]
            page.check_suffix(output)
            inches = None if values["width"] is None else page.inches_of(values["width"])
            chosen = (values["criterion"], values["judge"], values["eval_prompt"])
            keep = Selection.of(*chosen, pass_rate=values["pass_rate"], panel=values["panel"])
            table = read(
                values["runs"],
                parser=values["parser"],
                explanations=False,
                telling=reading_bar,
                perturbed=perturbed,
            )
            table = narrowed(table, keep)
            further = {name: values[name] for name in own if name not in ("table", "options", "inches")}
            figure, sentence = function(table, options, inches, **further)
            page.write(figure, output)
            typer.echo(f"{output}: {'; '.join([sentence, *map(with_flags, people_said(table))])}")

        middle = [parameter for name, parameter in own.items() if name not in ("table", "options", "inches")]
        functools.update_wrapper(work, function)
        return takes(kind, helps, without=without)(with_parameters(work, _parameters(middle, width)))

    return declare


def _parameters(middle: Sequence[inspect.Parameter], width: str | None) -> list[inspect.Parameter]:
    """Parameters of a figure command: the shared ones, with `middle` (the options and the function's own parameters)
    between them. `width` is the default width.
    """
    return [
        _parameter("runs", Runs),
        _parameter("output", Picture),
        inspect.Parameter("options", _KEYWORD),
        *middle,
        _parameter("criterion", Criteria, None),
        _parameter("judge", Judges, None),
        _parameter("eval_prompt", EvalPrompts, None),
        _parameter("panel", PanelName, None),
        _parameter("pass_rate", PassRate, default=False),
        _parameter("width", FreeWidth if width is None else Width, width),
        _parameter("parser", ParserName, "ours"),
    ]


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, _KEYWORD, default=default, annotation=annotation)
