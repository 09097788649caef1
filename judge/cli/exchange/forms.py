"""What `judge import` and `judge export` share: a command whose forms are records, chosen by ``--as``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.analysis.options.alternatives import options_of, refuse
from judge.analysis.options.table_options import from_words
from judge.base.errors import SpecError
from judge.cli.declared import given, offered, with_parameters
from judge.cli.option_words import with_flags
from judge.exchange.reader.registry import AS

_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def command_of(
    name: str,
    text: str,
    parts: str,
    forms: Mapping[str, Any],
    do: Callable[..., None],
    *,
    output: str,
    chooses: str,
) -> typer.Typer:
    """The command `name`, which takes several `parts`, ``-o``, ``--as`` and the options of all forms.

    `do` gets the parts, the output, the word of ``--as`` and the options that were given, by name. `output` is the help
    of ``-o``, and `chooses` that of ``--as``.
    """
    options = options_of(forms)

    def command(**values: Any) -> None:
        _refuse_former(name, values["parts"], forms)
        do(values["parts"], values["output"], values[AS], given(values["context"], options, values))

    lines = [f"{each.name.ljust(max(map(len, forms)))}  {each.text}" for each in forms.values()]
    command.__doc__ = "\n\n".join([text.split("\n\n", 1)[0], "\b\n" + "\n".join(lines), *text.split("\n\n")[1:]])
    command.__name__ = name
    own = [
        inspect.Parameter("context", _KEYWORD, annotation=typer.Context),
        inspect.Parameter("parts", _KEYWORD, annotation=Annotated[list[str], typer.Argument(metavar=parts)]),
        _optional("output", Path, typer.Option("-o", "--output", help=output)),
        _optional(AS, str, typer.Option("--as", metavar="FORM", help=chooses)),
    ]
    app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)
    app.command(name)(with_parameters(command, [*own, *offered(options.values())]))
    return app


def _optional(name: str, kind: type, option: Any) -> inspect.Parameter:
    return inspect.Parameter(name, _KEYWORD, default=None, annotation=Annotated[kind | None, option])


def _refuse_former(name: str, parts: Sequence[str], forms: Mapping[str, Any]) -> None:
    """Raise SpecError where the first part is a form, as if it were a command of its own, and no file."""
    form, *others = parts
    if form not in forms or Path(form).exists():
        return
    if form == "batch" and name == "import" and others:
        run, *others = others
        form = f"batch -o {run}"
    line = f"judge {name} {' '.join(others) or 'FILE'} --as {form}"
    raise SpecError(f"{parts[0]!r} is a form and no file", hint=f"{line}")


def words_of(forms: Mapping[str, Any], name: str, said: Mapping[str, Any]) -> Any:
    """The options of the form `name`, filled with those that were given. Raises SpecError for one that it refuses."""
    refuse(said, forms, AS, name)
    return from_words(forms[name].options, **said)


def say(line: str) -> None:
    """Print a line, with names of options written as flags."""
    typer.echo(with_flags(line))
