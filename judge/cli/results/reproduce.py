"""`judge reproduce`: the studies' published tables from their released files. The work is in `reproduce`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.table_options import Form, Seed

if TYPE_CHECKING:
    from judge.reproduce.study import Options, Study

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_Table = Annotated[str | None, typer.Option("--table", help="the cells of one table")]
_Differences = Annotated[
    bool, typer.Option("--differences", help="only cells where print, the study's recipe and ours are not all equal")
]
_Resamples = Annotated[int, typer.Option("--resamples", help="resamples for intervals; 0 for none")]
_Output = Annotated[Path | None, typer.Option("-o", "--output", help="file to write to")]


@app.command("hanna")
def hanna(
    table: _Table = None,
    differences: _Differences = False,
    choice: Annotated[
        str | None,
        typer.Option(
            "--choice", help="one difference alone in place of ours, e.g. on-scale; --table choices lists them"
        ),
    ] = None,
    measures: Annotated[
        bool, typer.Option("--measures", help="instead, how far each of the 72 released measures is reproduced")
    ] = False,
    resamples: _Resamples = 1000,
    seed: Seed = 1,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """The HANNA study: every published cell, what its recipe gives on the released files, and what ours gives.

    Exit code 4 where a cell that should match print does not.

    Example: judge reproduce hanna --table eval_prompt_overall
    """
    from judge.reproduce import hanna as module
    from judge.reproduce.study import Options

    if measures:
        from judge.cli.option_words import emit
        from judge.reproduce import released_measures

        emit(released_measures.hanna(), form, output)
        return
    options = Options(choice=choice, resamples=resamples, seed=seed)
    _emit(module.study, options, table, differences, form, output)


@app.command("openmeva")
def openmeva(
    table: _Table = None,
    differences: _Differences = False,
    measures: Annotated[
        bool, typer.Option("--measures", help="instead, Table 11: measures' correlations with people (a minute)")
    ] = False,
    resamples: _Resamples = 1000,
    seed: Seed = 1,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """OpenMEVA's MANS: agreement, system means and counts, and the statistics that sorted ratings do not allow.

    Example: judge reproduce openmeva
    """
    from judge.reproduce import openmeva as module
    from judge.reproduce.study import Options

    if measures:
        from judge.cli.option_words import emit
        from judge.reproduce import released_measures

        found = released_measures.openmeva()
        emit(found, form, output)
        if released_measures.off(found):
            raise typer.Exit(4)
        return
    options = Options(resamples=resamples, seed=seed)
    _emit(module.study, options, table, differences, form, output)


@app.command("storyer")
def storyer(
    table: _Table = None,
    differences: _Differences = False,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """StoryER: what can be done about each of its 321 printed cells, and what guessing gives on the released samples.

    Rows named floor are scores that read no story, or its surface alone. Exit code 4 where a cell that should match
    print does not.

    Example: judge reproduce storyer --table preference
    """
    from judge.reproduce import storyer as module
    from judge.reproduce.study import Options

    _emit(module.study, Options(resamples=0), table, differences, form, output)


@app.command("ttcw")
def ttcw(
    table: _Table = None,
    differences: _Differences = False,
    resamples: _Resamples = 1000,
    seed: Seed = 1,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """Art or Artifice: its judges against the majority of its experts, and how often experts agree.

    Beside what the study's recipe gives, which takes all that does not start with yes for No: ours, where answers
    without a label are left out. Exit code 4 where a cell that should match print does not.

    Example: judge reproduce ttcw --table ttcw_judges
    """
    from judge.reproduce import ttcw as module
    from judge.reproduce.study import Options

    options = Options(resamples=resamples, seed=seed)
    _emit(module.study, options, table, differences, form, output)


@app.command("list")
def list_(
    studies: Annotated[
        list[str] | None, typer.Argument(metavar="[STUDY...]", help="hanna, openmeva, storyer or ttcw; all without one")
    ] = None,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """Every table of the studies: reproduced, computable from your own data, or why not.

    Needs no file of the studies.

    Example: judge reproduce list openmeva
    """
    from judge.cli.option_words import emit
    from judge.reproduce import listing

    found = listing.tables(studies or list(listing.TITLES), machine=form in ("json", "csv"))
    emit(found, form, output)


def _emit(
    study: Callable[[Options], Study],
    options: Options,
    table: str | None,
    differences: bool,
    form: str,
    output: Path | None,
) -> None:
    from judge.cli.option_words import emit
    from judge.reproduce.printing import tables

    found, off = tables(study, options, table, differences=differences, machine=form in ("json", "csv"))
    emit(found, form, output)
    if off:
        raise typer.Exit(4)
