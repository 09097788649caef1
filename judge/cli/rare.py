"""Rare options, taken as `--set KEY=VALUE` and listed at the end of the help, and `--quiet` and `--full`."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.models import OptionInfo

from judge.cli.declared import RARE, own_parameters, with_parameters

# Parameter of a command that holds the words of ``--set``.
SET = "rare_options"

# Attribute of a command's function that holds its rare options by name.
KEYS = "rare_options"

# Parameters of commands: no progress messages, and everything that there is. A context's `meta` holds them.
EVERYWHERE = ("quiet", "full")

_CONTEXT = "given_context"
_WIDTH = 76


def joined(app: typer.Typer) -> typer.Typer:
    """`app` with one ``--set KEY=VALUE`` in place of rare options, and no ``--quiet`` of its commands' own. A command
    with another ``--set``, such as that of a run.yaml's keys, keeps its rare options."""
    for command in app.registered_commands:
        if command.callback is not None:
            parameters = own_parameters(command.callback, without=())
            options = {} if _has_own_set(parameters) else rare_options(parameters)
            if options or {*EVERYWHERE} & parameters.keys():
                command.callback = _joined(command.callback, parameters, options)
            if options:
                command.epilog = "\b\n" + "\n".join([*listed(options), *([command.epilog] if command.epilog else [])])
    for group in app.registered_groups:
        if group.typer_instance is not None:
            joined(group.typer_instance)
    return app


def rare_options(parameters: Mapping[str, inspect.Parameter]) -> dict[str, inspect.Parameter]:
    return {name: each for name, each in parameters.items() if name in RARE and _option(each) is not None}


def listed(options: Mapping[str, inspect.Parameter]) -> list[str]:
    """Lines of help: what ``--set`` takes, a key each, with its default."""
    lines = ["Rare options, each given as --set KEY=VALUE:"]
    width = max(map(len, options))
    for name, each in options.items():
        default = f" [default: {_shown(each.default)}]" if _shown(each.default) else ""
        allowed = f" ({', '.join(map(str, get_args(kind)))})" if get_origin(kind := _kind(each)) is Literal else ""
        text = f"{name.ljust(width)}  {getattr(_option(each), 'help', None) or ''}{allowed}{default}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent=" " * (width + 4))
    return lines


def set_words(options: Mapping[str, inspect.Parameter], words: Iterable[str]) -> dict[str, Any]:
    """Values of rare options from KEY=VALUE words; a key that takes several may be given again. Raises SpecError for
    another form, an unknown key, a value of another type, and a second value where one is taken."""
    from judge.base.errors import SpecError, unknown

    values: dict[str, Any] = {}
    for each in words:
        key, equals, text = each.partition("=")
        name = key.strip().replace("-", "_")
        if not equals:
            raise SpecError(f"--set {each} is not KEY=VALUE", hint=f"keys: {', '.join(options)}")
        if name not in options:
            raise SpecError(unknown("--set", name, options))
        kind = _kind(options[name])
        if get_origin(kind) is list:
            values.setdefault(name, []).append(_read(name, text, get_args(kind)[0], None))
        elif name in values:
            raise SpecError(f"--set {name} is given twice", hint="leave one of them out")
        else:
            values[name] = _read(name, text, kind, _option(options[name]))
    return values


def _joined(
    command: Callable[..., Any], parameters: Mapping[str, inspect.Parameter], options: dict[str, inspect.Parameter]
) -> Callable[..., Any]:
    context = next((name for name, each in parameters.items() if each.annotation is typer.Context), None)

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        seen = values[context] if context else values.pop(_CONTEXT)
        given = set_words(options, values.pop(SET, None) or ())
        for name in given:
            # A command that asks whether an option was given is told of those given by --set, too.
            seen.set_parameter_source(name, seen.get_parameter_source(SET))
        everywhere = {name: seen.meta.get(name, False) for name in EVERYWHERE if name in parameters}
        return command(**{name: each.default for name, each in options.items()} | values | given | everywhere)

    def keys(incomplete: str) -> list[str]:
        return [f"{name}=" for name in options if name.startswith(incomplete)]

    vars(run)[KEYS] = options
    words = typer.Option("--set", metavar="KEY=VALUE", help="a rare option (below)", autocompletion=keys)
    added = [_keyword(SET, Annotated[list[str] | None, words], None)] if options else []
    if context is None:
        added.append(_keyword(_CONTEXT, typer.Context, inspect.Parameter.empty))
    kept = [each for name, each in parameters.items() if name not in {*options, *EVERYWHERE}]
    return with_parameters(run, [*kept, *added])


def _has_own_set(parameters: Mapping[str, inspect.Parameter]) -> bool:
    options = filter(None, map(_option, parameters.values()))
    # typer takes the first flag of an annotation for a default until it reads the command.
    return any("--set" in (each.default, *(each.param_decls or ())) for each in options)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _option(parameter: inspect.Parameter) -> OptionInfo | None:
    """None for an argument, and for what is no word of the command line."""
    told = get_args(parameter.annotation)[1:] if get_origin(parameter.annotation) is Annotated else ()
    return next((each for each in told if isinstance(each, OptionInfo)), None)


def _kind(parameter: inspect.Parameter) -> Any:
    """Without the None of an option that was not given."""
    kind = get_args(parameter.annotation)[0]
    parts = [each for each in get_args(kind) if each is not type(None)]
    return parts[0] if len(parts) == 1 and get_origin(kind) not in (list, Literal) else kind


def _read(name: str, text: str, kind: Any, option: OptionInfo | None) -> Any:
    from pydantic import Field, TypeAdapter, ValidationError

    from judge.base.errors import OptionError

    bounded: Any = Annotated[kind, Field(ge=option.min, le=option.max)] if option and kind in (int, float) else kind
    try:
        return TypeAdapter(bounded).validate_strings(text)
    except ValidationError as error:
        allowed = [str(word) for word in get_args(kind)] if get_origin(kind) is Literal else []
        told = error.errors()[0]["msg"]
        raise OptionError(name, text, "" if allowed else told[:1].lower() + told[1:], allowed=allowed) from error


def _shown(default: Any) -> str:
    if default is True or default is False:
        return "yes" if default else "no"
    return "" if default in (None, (), inspect.Parameter.empty) else str(default)
