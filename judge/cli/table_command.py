"""Shared code of the commands that print tables of runs, from reading the runs to printing."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge.cli.declared import Command, Declare, own_parameters, takes, with_parameters
from judge.cli.table_options import Criteria, EvalPrompts, Form, Judges, Output, PanelName, ParserName, PassRate, Runs

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_BEFORE = (inspect.Parameter("runs", _KEYWORD, annotation=Runs),)
_AFTER = (
    inspect.Parameter("criterion", _KEYWORD, default=None, annotation=Criteria),
    inspect.Parameter("judge", _KEYWORD, default=None, annotation=Judges),
    inspect.Parameter("eval_prompt", _KEYWORD, default=None, annotation=EvalPrompts),
    inspect.Parameter("panel", _KEYWORD, default=None, annotation=PanelName),
    inspect.Parameter("pass_rate", _KEYWORD, default=False, annotation=PassRate),
    inspect.Parameter("form", _KEYWORD, default="table", annotation=Form),
    inspect.Parameter("output", _KEYWORD, default=None, annotation=Output),
    inspect.Parameter("parser", _KEYWORD, default="ours", annotation=ParserName),
)


def _people_of(options: Any) -> Sequence[str | None]:
    return [getattr(options, "against", None)]


def table_command(
    kind: type,
    helps: Mapping[str, str] | None = None,
    *,
    without: tuple[str, ...] = (),
    explanations: bool = False,
    first_only: bool = False,
    perturbed: bool = False,
    people: Callable[[Any], Sequence[str | None]] = _people_of,
    prepare: Callable[[RatingsTable, Any, list[str], str], RatingsTable] | None = None,
) -> Declare:
    """Decorator that makes a command from a function of a ratings table and options that returns tables. Coverage of
    the ratings is printed before the tables.

    The command takes RUNs, one option for each field of `kind` (see `declared.takes`, also for `helps` and `without`),
    the function's own further parameters, and the shared options: criteria, judges, Eval-Prompts, panel, pass rate,
    form, output, parser. The function may declare `form` and `parser` to receive them. With `explanations` the table
    holds explanations too. With `first_only` the coverage is printed for the first table alone; with `perturbed` the
    table holds perturbed stories too. `people` is a function of the options; it returns the human raters' criteria that
    are kept even if other criteria are selected. `prepare` changes the table before it is counted and analysed; it
    receives the table read, the options, the RUNs and the parser's name.
    """

    def declare(function: Command) -> Command:
        own = own_parameters(function, without=("table", "options"))
        shared = {panel.name for panel in _AFTER} & set(own)

        def work(options: Any, **values: Any) -> None:
            from judge.analysis.coverage.tables import with_coverage
            from judge.analysis.inputs.pass_rate import asked_for
            from judge.analysis.inputs.selection import Selection, narrowed
            from judge.analysis.raters import Raters
            from judge.cli.option_words import FLAGS, emit
            from judge.cli.reading_bar import reading_bar
            from judge.printing.tables import worded
            from judge.ratings_table import read

            runs, form, output = values.pop("runs"), values["form"], values.pop("output")
            chosen = (values.pop("criterion"), values.pop("judge"), values.pop("eval_prompt"))
            panel, rate = values.pop("panel"), values.pop("pass_rate")
            keep = Selection.of(*chosen, people=people(options), pass_rate=rate, panel=panel)
            parser = values["parser"]
            read_ = functools.partial(read, parser=parser, explanations=explanations, perturbed=perturbed)
            table = narrowed(read_(runs, telling=reading_bar), keep)
            if prepare is not None:
                table = prepare(table, options, runs, parser)
            passed = {name: value for name, value in values.items() if name in own}
            raters = Raters.of_all(table)
            # Options in notes become flags first: words for labels are put into plain text.
            printed_tables = [raters.table(worded(each, FLAGS)) for each in function(table, options, **passed)]
            with_it, without_it = (printed_tables[:1], printed_tables[1:]) if first_only else (printed_tables, [])
            dropped = getattr(options, "drop_systems", ())
            emit([*with_coverage(asked_for(table), with_it, form, dropped), *without_it], form, output)

        middle = [parameter for name, parameter in own.items() if name not in ("table", "options", *shared)]
        options = inspect.Parameter("options", _KEYWORD)
        functools.update_wrapper(work, function)
        return takes(kind, helps, without=without)(with_parameters(work, [*_BEFORE, options, *middle, *_AFTER]))

    return declare
