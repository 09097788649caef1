"""Commands `judge report`, `view` and `reproduce`: a page of results, local pages over all runs, studies' tables."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.base.choices import RESAMPLES
from judge.cli.declared import flag, refuse_flags
from judge.cli.table_options import (
    DropSystem,
    Form,
    PanelName,
    ParserName,
    PassRate,
    Quiet,
    Resamples,
    Runs,
    ScoresFiles,
    Seed,
)

# Options of `judge reproduce` that some studies take.
_OF_SOME = ("choice", "measures", "resamples", "seed")

_Studies = Annotated[
    list[str] | None,
    typer.Argument(metavar="[STUDY...]", help="study, such as hanna, or all; default: the list of all"),
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


def reproduce(
    ctx: typer.Context,
    studies: _Studies = None,
    list_: _List = False,
    table: _Table = None,
    differences: _Differences = False,
    choice: _Choice = None,
    measures: _Measures = False,
    resamples: _Resamples = RESAMPLES,
    seed: Seed = 1,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """Every published number of a study, beside the results of its recipe and of ours on its released files.

    StoryER's rows named floor are scores that read no story, or only its surface. Art or Artifice's recipe counts every
    answer that does not start with yes as No; ours leaves out answers without a label. Exit code 4 where a number that
    should match the printed one does not.

    The list says which tables are reproduced, computable from your own data, or why not; it needs none of the files.
    The word all writes a folder with a page on every study's judges; what is already in it is not computed again.

    Example: judge reproduce hanna --table eval_prompt_overall

    Example: judge reproduce openmeva --list

    Example: judge reproduce all -o atlas
    """
    from judge.base.errors import SpecError
    from judge.cli.table_options import emit
    from judge.reproduce import cell

    if studies == ["all"]:
        _atlas(ctx, output, seed)
        return
    names = _known(studies or [])
    machine = form in ("json", "csv")
    if list_ or not names:
        refuse_flags(ctx, (*map(flag, _OF_SOME), "--table", "--set differences"), "the list of tables")
        emit(cell.listing_tables(names or list(cell.STUDIES), machine=machine), form, output)
        return
    if len(names) > 1:
        raise SpecError("the numbers are of one study", hint=f"judge reproduce {names[0]}, or --list for all")
    name = names[0]
    options = cell.STUDIES[name].options
    refuse_flags(ctx, [flag(each) for each in _OF_SOME if each not in options], f"study {name}")
    if measures:
        off = _measured(name, form, output)
    else:
        from judge.reproduce.printing import study_tables
        from judge.reproduce.study import Options

        module: Any = importlib.import_module(f"judge.reproduce.{name.replace('-', '_')}")
        counted = resamples if "resamples" in options else 0
        chosen = Options(choice=choice, resamples=counted, seed=seed)
        printed, off = study_tables(module.study, chosen, table, differences=differences, machine=machine)
        emit(printed, form, output)
    if off:
        raise typer.Exit(4)


def _atlas(ctx: typer.Context, output: Path | None, seed: int) -> None:
    from judge.base.errors import SpecError
    from judge.reproduce.atlas import write_atlas

    others = ("--list", "--table", "--set differences", "--format", *map(flag, _OF_SOME[:-1]))
    refuse_flags(ctx, others, "all studies")
    if output is None:
        raise SpecError("all studies need a folder for their pages", hint="judge reproduce all -o atlas")
    page = write_atlas(output, seed, lambda line: typer.echo(line, err=True))
    typer.echo(str(page))


def _known(studies: list[str]) -> list[str]:
    """SpecError for a name that is no study, and for the former command's word."""
    from judge.base.errors import SpecError, unknown
    from judge.reproduce.cell import STUDIES

    if studies[:1] == ["list"]:
        raise SpecError("list is no study", hint=f"judge reproduce {' '.join([*studies[1:], '--list'])}")
    for name in studies:
        if name not in STUDIES:
            raise SpecError(unknown("study", name, STUDIES))
    return studies


def _measured(name: str, form: Any, output: Path | None) -> bool:
    """Whether a number is off that should match."""
    from judge.cli.table_options import emit
    from judge.reproduce import released_measures

    measured = released_measures.hanna() if name == "hanna" else released_measures.openmeva()
    emit(measured, form, output)
    return name == "openmeva" and bool(released_measures.off(measured))


def view(
    runs: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="folder that holds the runs")] = Path("runs"),
    host: Annotated[
        str, typer.Option(help="address of the pages; any other than loopback needs a key, which is printed")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="port of the pages; 0: any free port  [default: 8765 or the next]")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="browser window with the page, opened at the start")] = False,
    quiet: Quiet = False,
) -> None:
    """Serve local pages on all runs in FOLDER until Ctrl-C: progress, coverage, tables, judgments and explanations.

    Pages show runs while they go on, every judgment, and the map of explanations. A story or a pair of stories
    stands with all ratings and explanations by judges and people, and prompt variants side by side.

    Nothing is written except caches in the runs' derived/ folders.

    Example: judge view runs
    """
    from judge.show.web.server import check_installed, serve
    from judge.show.web.view.app import view_app

    check_installed()
    serve(
        lambda access: view_app(runs, access), host=host, port=port, title=f"runs in {runs}", quiet=quiet, open_=open_
    )


_Methods = Annotated[
    bool,
    typer.Option(
        "--methods",
        help="additional files NAME.methods.md, NAME.references.bib and NAME.checklist.md beside the page NAME.html",
    ),
]
_Page = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="file for the page; default: report.html beside run.yaml; for several RUNs: in this folder",
    ),
]
_Audit = Annotated[
    Path | None,
    typer.Option("--audit", metavar="FILE", help="audit file to include; default: audit.sqlite beside run.yaml"),
]


_Title = Annotated[str | None, typer.Option("--title", help="title of the page")]
_Examples = Annotated[int, typer.Option("--examples", help="number of example stories where judge and people differ")]
_Readings = Annotated[
    str,
    typer.Option(
        "--readings",
        help="judge's ratings compared with one person's: mean (of its repeats) or single (each repeat)",
    ),
]
_Permutations = Annotated[int, typer.Option("--permutations", help="number of permutations of a permutation test")]
_Seed = Annotated[int, typer.Option("--seed", help="seed of resamples, permutations and the sample on the map")]


def report(
    runs: Runs,
    output: _Page = None,
    methods: _Methods = False,
    title: _Title = None,
    drop_system: DropSystem = None,
    panel: PanelName = None,
    pass_rate: PassRate = False,
    audit: _Audit = None,
    contamination: ScoresFiles = None,
    examples: _Examples = 6,
    readings: _Readings = "mean",
    resamples: Resamples = RESAMPLES,
    permutations: _Permutations = 2000,
    seed: _Seed = 1,
    parser: ParserName = "ours",
    quiet: Quiet = False,
) -> None:
    """Write one HTML page of a run's results: figures, tables with signatures, texts, methods, a checklist.

    It needs no network and no other file, can be printed, and is readable without its script.

    Example: judge report runs/hanna --drop-system Human -o hanna.html --methods
    """
    from judge.show.report import ReportInputs, ReportOptions
    from judge.show.report.blocks import quoted
    from judge.show.report.write import default_output, write_methods, write_page

    _readable(output, audit, contamination or [])
    options = ReportOptions(
        title=title,
        drop_systems=tuple(drop_system or ()),
        panel=panel,
        pass_rate=pass_rate,
        resamples=resamples,
        permutations=permutations,
        readings=readings,
        seed=seed,
        parser=parser,
        audit=audit,
        contamination=tuple(contamination or ()),
        examples=examples,
        command=quoted(sys.argv[1:]),
    )
    inputs = ReportInputs.read(runs, options)
    output = output or default_output(inputs)
    size = write_page(inputs, output, quiet=quiet)
    typer.echo(f"{output}: {size / 1e6:.1f} MB")
    if methods:
        for path in write_methods(inputs, output):
            typer.echo(str(path))


def _readable(output: Path | None, audit: Path | None, scores: list[Path]) -> None:
    """Checked before the computation starts."""
    from judge.base.errors import SpecError
    from judge.contamination import scores_file
    from judge.explanations.audit.store import AuditStore

    if output is not None and output.suffix.lower() not in (".html", ".htm", ""):
        raise SpecError(f"{output}: the report is an HTML page", hint=f"-o {output.with_suffix('.html')}")
    if audit is not None:
        AuditStore.open(audit, writing=False).close()
    for file in scores:
        scores_file.read(file)
