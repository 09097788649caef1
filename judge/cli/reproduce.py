"""Command `judge reproduce`: recomputes published tables from the files that their studies released. The implementation
is in `judge.reproduce`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from judge.cli.declared import refuse_flags
from judge.cli.table_options import Form, Seed

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

# Study (a module of `judge.reproduce`) -> options that it takes beside those of all; hanna takes every option.
TAKES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "hanna": ("--choice", "--measures", "--resamples", "--seed"),
        "openmeva": ("--measures", "--resamples", "--seed"),
        "storyer": (),
        "ttcw": ("--resamples", "--seed"),
    }
)

_Studies = Annotated[
    list[str] | None,
    typer.Argument(metavar="[STUDY...]", help="study: hanna, openmeva, storyer or ttcw; default: the list of all"),
]
_List = Annotated[bool, typer.Option("--list", help="list of the studies' tables, in place of their numbers")]
_Table = Annotated[str | None, typer.Option("--table", help="table whose cells are listed")]
_Differences = Annotated[
    bool,
    typer.Option(
        "--differences", help="cells only where the printed number, the study's recipe and ours are not all equal"
    ),
]
_Choice = Annotated[
    str | None,
    typer.Option(
        "--choice", help="hanna: single difference from its recipe, e.g. on-scale; --table choices lists them"
    ),
]
_Measures = Annotated[
    bool,
    typer.Option(
        "--measures",
        help="different table: how well each of hanna's 72 measures is reproduced, or openmeva's Table 11 (a minute)",
    ),
]
_Resamples = Annotated[
    int, typer.Option("--resamples", help="number of resamples for confidence intervals; 0: no intervals")
]
_Output = Annotated[Path | None, typer.Option("-o", "--output", help="file for the output, in place of the screen")]


@app.command()
def reproduce(
    ctx: typer.Context,
    studies: _Studies = None,
    list_: _List = False,
    table: _Table = None,
    differences: _Differences = False,
    choice: _Choice = None,
    measures: _Measures = False,
    resamples: _Resamples = 1000,
    seed: Seed = 1,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """Every published number of a study, beside the results of its recipe and of ours on its released files.

    StoryER's rows named floor are scores that read no story, or only its surface. Art or Artifice's recipe counts every
    answer that does not start with yes as No; ours leaves out answers without a label. Exit code 4 where a number that
    should match the printed one does not.

    The list says which tables are reproduced, computable from your own data, or why not; it needs none of the files.

    Example: judge reproduce hanna --table eval_prompt_overall

    Example: judge reproduce openmeva --list
    """
    from judge.base.errors import SpecError
    from judge.cli.table_options import emit

    names = _known(studies or [])
    machine = form in ("json", "csv")
    if list_ or not names:
        from judge.reproduce import published_tables as listing

        refuse_flags(ctx, (*TAKES["hanna"], "--table", "--differences"), "the list of tables")
        emit(listing.listing_tables(names or list(listing.TITLES), machine=machine), form, output)
        return
    if len(names) > 1:
        raise SpecError(
            "the numbers are of one study", hint=f"judge reproduce {names[0]}, or --list for the list of all"
        )
    name = names[0]
    refuse_flags(ctx, {*TAKES["hanna"]} - {*TAKES[name]}, f"study {name}")
    if measures:
        off = _measured(name, form, output)
    else:
        from judge.reproduce.printing import study_tables
        from judge.reproduce.study import Options

        module: Any = importlib.import_module(f"judge.reproduce.{name}")
        counted = resamples if "--resamples" in TAKES[name] else 0
        options = Options(choice=choice, resamples=counted, seed=seed)
        printed, off = study_tables(module.study, options, table, differences=differences, machine=machine)
        emit(printed, form, output)
    if off:
        raise typer.Exit(4)


def _known(studies: list[str]) -> list[str]:
    """SpecError for a name that is no study, and for the former command's word."""
    from judge.base.errors import SpecError, unknown

    if studies[:1] == ["list"]:
        raise SpecError("list is no study", hint=f"judge reproduce {' '.join([*studies[1:], '--list'])}")
    for name in studies:
        if name not in TAKES:
            raise SpecError(unknown("study", name, TAKES))
    return studies


def _measured(name: str, form: Any, output: Path | None) -> bool:
    """Whether a number is off that should match."""
    from judge.cli.table_options import emit
    from judge.reproduce import released_measures

    measured = released_measures.hanna() if name == "hanna" else released_measures.openmeva()
    emit(measured, form, output)
    return name == "openmeva" and bool(released_measures.off(measured))
