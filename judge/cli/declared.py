"""Command-line options made from a frozen dataclass, which declares types, defaults and permitted values once. The
flags, the check of values and the object that a command receives are derived from it."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

if TYPE_CHECKING:
    from judge.analysis.options.alternatives import Option


Command = Callable[..., Any]
Declare = Callable[[Command], Command]

# Flags that are not the field's name with hyphens.
FLAGS: Mapping[str, str] = {
    "drop_systems": "--drop-system",
    "systems": "--system",
    "columns": "--column",
    "overrides": "--set",
    "n": "-n",
    "models": "--model",
    "annotators": "--annotator",
    "as_": "--as",
}

# What stands for a value in help texts, where its type does not say it.
METAVARS: Mapping[str, str] = {
    "drop_systems": "SYSTEM",
    "against": "CRITERION",
    "given": "FEATURE",
    "members": "JUDGE",
    "own": "SYSTEM",
    "errors": "RULE",
    "baseline": "NAME",
    "family": "TEXT",
    "reference": "MODEL",
    "nonmembers": "FILE",
    "engine": "KEY=VALUE",
    "own_systems": "MODEL=SYSTEM",
    "models": "hf/NAME",
    "labelled": "FILE",
    "released": "MODEL=YYYY-MM",
}

# Options that few need: `--set KEY=VALUE` gives them.
RARE = frozenset(
    {
        *("adjust", "again", "all_criteria", "allocation", "alpha", "annotator", "as_published", "ask"),
        *("back_translations", "batch_size", "between", "bins", "blind", "bootstraps", "called"),
        *("candidates", "carry_over", "categories", "changes", "checks", "choice", "close", "cluster_on"),
        *("comments", "concurrency", "connections", "consent", "control", "core", "cut", "design", "diff"),
        *("difference", "differences", "engine", "epochs", "epsilon", "equivalence", "errors", "examples"),
        *("failed", "false", "family", "figure", "first_repeat", "flips", "foldings", "folds", "follow"),
        *("fpr", "full_distribution", "full_text", "given_as", "grammar", "grammar_label", "half_width"),
        *("hold_out", "holm_over", "icc", "interval_kind", "judged", "k", "keep", "keep_out_of_scale"),
        *("learning_rate", "least", "leave_out", "like", "long", "lowercase", "mark", "mask"),
        *("max_completion_tokens", "max_cost", "max_length", "mean_interval", "members", "metric"),
        *("min_cluster", "min_members", "missing", "most_lines", "name_by", "neighbours", "new_judge"),
        *("no_own", "nonmembers", "notes", "number_repeats", "old_judge", "one_by_one", "organization"),
        *("own", "own_systems", "pairs", "panel", "parser", "pass_rate", "pay", "people", "per_story"),
        *("permutations", "pilot_study", "plan", "points", "positions", "positive", "power", "practice"),
        *("predict", "prompts", "rank", "rated", "rater", "rater_price", "rating", "rating_pattern"),
        *("ratings", "readings", "recital", "reference", "refits", "register", "released", "reliability"),
        *("replace", "rescale_people", "revision", "rewriter", "roc", "rule", "sample", "scale", "score"),
        *("send", "sheet", "shots", "simulated", "split", "split_seed", "spread", "story_file"),
        *("story_prompt", "stride", "strip", "structured", "studies", "swap", "tagger", "target"),
        *("test_repeats", "themes", "threshold", "ties", "title", "together", "topics", "unrated"),
        *("validate_flags", "weights", "width", "window", "with_batches", "with_features", "with_measures"),
        *("without_texts", "wording", "words_per_minute", "workers"),
    }
)

# Help texts of fields that mean the same in every command.
HELP: Mapping[str, str] = {
    "drop_systems": "system to leave out, with all its stories; may be given several times",
    "against": "people's criterion that every criterion is compared with",
    "resamples": "number of resamples for confidence intervals",
    "seed": "seed of the resamples",
    "control": "row of the control judge",
    "ci": "units that are resampled for confidence intervals",
    "layout": "what is computed and shown",
}


def flag(name: str) -> str:
    """Flag of a field: `drop_systems` becomes ``--drop-system``, and a rare option ``--set folds``."""
    if name in RARE:
        return f"--set {name}"
    return FLAGS.get(name, f"--{name.replace('_', '-')}").partition("/")[0]


def takes(
    kind: type,
    helps: Mapping[str, str] | None = None,
    *,
    metavars: Mapping[str, str] | None = None,
    without: tuple[str, ...] = (),
    name: str = "options",
) -> Declare:
    """Decorator that replaces a command's parameter `name` by one option for each field of `kind`. `helps` and
    `metavars` take precedence over the constants `HELP` and `METAVARS`. Fields in `without` keep their defaults and get
    no option."""

    def declare(command: Command) -> Command:
        own = own_parameters(command, without=(name,))
        hints = get_type_hints(kind)
        options = [field for field in fields(kind) if field.name not in without]
        texts, words = {**HELP, **(helps or {})}, {**METAVARS, **(metavars or {})}
        all_options = [_Field(f.name, hints[f.name], f.default, texts[f.name]) for f in options]
        declared = [parameter(each, words.get(each.name)) for each in all_options]
        parameters = []
        for own_name, own_parameter in own.items():
            parameters += declared if own_name == name else [own_parameter]

        @functools.wraps(command)
        def run(**values: Any) -> Any:
            chosen = {each.name: values.pop(each.name) for each in all_options}
            return command(**{name: options_from(kind, chosen)}, **values)

        return with_parameters(run, parameters)

    return declare


def options_from(kind: type, values: Mapping[str, Any]) -> Any:
    """The dataclass filled from the command line; a repeatable flag not given becomes ()."""
    from judge.analysis.options.table_options import from_words

    hints = get_type_hints(kind)
    several = {name for name in values if get_origin(hints[name]) is tuple}
    return from_words(kind, **{name: tuple(v or ()) if name in several else v for name, v in values.items()})


def own_parameters(function: Callable[..., Any], *, without: tuple[str, ...]) -> dict[str, inspect.Parameter]:
    """Declared parameters, as keyword-only; annotations are evaluated except for those in `without`."""
    declared = inspect.signature(function).parameters
    written = {name: parameter.annotation for name, parameter in declared.items() if name not in without}
    holder = type("Written", (), {"__annotations__": written})
    scope = getattr(function, "__globals__", {})
    hints = get_type_hints(holder, globalns=scope, include_extras=True)
    return {
        name: parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints.get(name, parameter.annotation))
        for name, parameter in declared.items()
    }


def with_parameters(run: Callable[..., Any], parameters: list[inspect.Parameter]) -> Callable[..., Any]:
    """`run` with these parameters as its signature, for typer."""
    vars(run).pop("__wrapped__", None)  # else typer would read the inner function's parameters
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


class Declared(Protocol):
    """An option: its name, type, default (`MISSING`: it must be given) and help text."""

    @property
    def name(self) -> str: ...

    @property
    def hint(self) -> Any: ...

    @property
    def default(self) -> Any: ...

    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    hint: Any
    default: Any
    text: str


def parameter(option: Declared, metavar: str | None = None) -> inspect.Parameter:
    hint, name = option.hint, option.name
    default = inspect.Parameter.empty if option.default is MISSING else option.default
    written = FLAGS.get(name, f"--{name.replace('_', '-')}")
    if hint is bool and default is True and "/" not in written:
        written = f"{written}/--no-{written.removeprefix('--')}"
    if get_origin(hint) is tuple:
        hint, default = list[get_args(hint)[0]] | None, None  # type: ignore[misc]
    text, named = option.text or HELP[name], metavar or METAVARS.get(name)
    if get_origin(hint) is Literal:  # choices name themselves, where they fit the line
        choices = get_args(hint)
        wide = len(written) + len("|".join(map(str, choices))) > _CHOICES
        named, text = ("CHOICE", f"{text}: {', '.join(map(str, choices))}") if wide else (None, text)
    made = typer.Option(written, metavar=named, help=text)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[hint, made])


def offered(options: Iterable[Option]) -> list[inspect.Parameter]:
    """Parameters of a command that goes several ways; one that must be given in some may be left out."""
    parameters = []
    for each in options:
        needed = each.required and get_origin(each.hint) is not tuple
        optional = replace(each, hint=each.hint | None, default=None) if needed else each
        parameters.append(parameter(optional, each.metavar))
    return parameters


def given(context: typer.Context, options: Mapping[str, Declared], values: Mapping[str, Any]) -> dict[str, Any]:
    """Options given on the command line, by name; rare ones by ``--set``."""
    return {name: values[name] for name in options if name in values and _said(context.get_parameter_source(name))}


def _said(source: Any) -> bool:
    return source is not None and source.name == "COMMANDLINE"


def flags_given(context: typer.Context) -> list[str]:
    """Flags on the command line, such as ``--limit``, in the help text's order."""
    options = {str(each.name): each.opts[0] for each in context.command.params if each.param_type_name == "option"}
    options |= {name: flag(name) for name in getattr(context.command.callback, "rare_options", ())}
    return [told for name, told in options.items() if _said(context.get_parameter_source(name))]


def refuse_flags(context: typer.Context, flags: Iterable[str], by: str) -> None:
    """Raise SpecError for a flag that has no effect because of `by`."""
    from judge.base.errors import SpecError

    unwanted = {*flags}
    for each in flags_given(context):
        if each in unwanted:
            raise SpecError(f"{each} has no effect with {by}", hint=f"leave out {each}")


# Rare options, taken as `--set KEY=VALUE` and listed at the end of the help, and `--quiet` and `--full`.

# Parameter of a command that holds the words of ``--set``.
SET = "rare_options"

# Attribute of a command's function that holds its rare options by name.
KEYS = "rare_options"

# Parameters of commands: no progress messages, and everything that there is. A context's `meta` holds them.
EVERYWHERE = ("quiet", "full")

_CONTEXT = "given_context"
_WIDTH = 76
# Characters of a flag and its choices that fit a line of help, indented and in brackets.
_CHOICES = 70


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
