"""Command `judge reproduce`: recomputes published tables from the files that their studies released. The implementation
is in `judge.reproduce`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.table_options import Form, Seed

if TYPE_CHECKING:
    from judge.reproduce.study import Options, Study

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_Table = Annotated[str | None, typer.Option("--table", help="table whose cells are listed")]
_Differences = Annotated[
    bool,
    typer.Option(
        "--differences", help="cells only where the printed number, the study's recipe and ours are not all equal"
    ),
]
_Resamples = Annotated[
    int, typer.Option("--resamples", help="number of resamples for confidence intervals; 0: no intervals")
]
_Output = Annotated[Path | None, typer.Option("-o", "--output", help="file for the output, in place of the screen")]


@app.command("hanna")
def hanna(
    table: _Table = None,
    differences: _Differences = False,
    choice: Annotated[
        str | None,
        typer.Option(
            "--choice", help="single difference from the study's recipe, e.g. on-scale; --table choices lists them"
        ),
    ] = None,
    measures: Annotated[
        bool,
        typer.Option("--measures", help="different table: how well each of the 72 released measures is reproduced"),
    ] = False,
    resamples: _Resamples = 1000,
    seed: Seed = 1,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """Every published number of the HANNA study, beside the results of its recipe and of ours on its released files.

    Exit code 4 where a number that should match the printed one does not.

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
        bool,
        typer.Option(
            "--measures", help="different table: Table 11, measures' correlations with people (takes a minute)"
        ),
    ] = False,
    resamples: _Resamples = 1000,
    seed: Seed = 1,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """Published numbers of OpenMEVA's MANS: agreement, system means, counts, and what sorted ratings do not allow.

    Example: judge reproduce openmeva
    """
    from judge.reproduce import openmeva as module
    from judge.reproduce.study import Options

    if measures:
        from judge.cli.option_words import emit
        from judge.reproduce import released_measures

        measured = released_measures.openmeva()
        emit(measured, form, output)
        if released_measures.off(measured):
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
    """StoryER's 321 printed numbers: which can be reproduced, and what guessing gives on the released samples.

    Rows named floor are scores that read no story, or only its surface. Exit code 4 where a number that should match
    the printed one does not.

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
    """Published numbers of Art or Artifice: its judges against the majority of experts, and experts' agreement.

    The study's recipe counts every answer that does not start with yes as No; ours, printed beside it, leaves out
    answers without a label. Exit code 4 where a number that should match the printed one does not.

    Example: judge reproduce ttcw --table ttcw_judges
    """
    from judge.reproduce import ttcw as module
    from judge.reproduce.study import Options

    options = Options(resamples=resamples, seed=seed)
    _emit(module.study, options, table, differences, form, output)


@app.command("list")
def list_(
    studies: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STUDY...]", help="study: hanna, openmeva, storyer or ttcw; default: all"),
    ] = None,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """List of the studies' tables: reproduced, computable from your own data, or the reason why not.

    The list needs none of the studies' files.

    Example: judge reproduce list openmeva
    """
    from judge.cli.option_words import emit
    from judge.reproduce import listing

    printed = listing.listing_tables(studies or list(listing.TITLES), machine=form in ("json", "csv"))
    emit(printed, form, output)


def _emit(
    study: Callable[[Options], Study],
    options: Options,
    table: str | None,
    differences: bool,
    form: str,
    output: Path | None,
) -> None:
    from judge.cli.option_words import emit
    from judge.reproduce.printing import study_tables

    printed, off = study_tables(study, options, table, differences=differences, machine=form in ("json", "csv"))
    emit(printed, form, output)
    if off:
        raise typer.Exit(4)
