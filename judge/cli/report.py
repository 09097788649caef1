"""Command `judge report`: writes the results of runs to one HTML file, with a methods text for a paper. The
implementation is in `judge.show.report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from judge.base.choices import RESAMPLES
from judge.cli.table_options import DropSystem, PanelName, ParserName, PassRate, Quiet, Resamples, Runs, ScoresFiles

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

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


@app.command()
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
    from judge.explanations.audit.file.store import AuditStore

    if output is not None and output.suffix.lower() not in (".html", ".htm", ""):
        raise SpecError(f"{output}: the report is an HTML page", hint=f"-o {output.with_suffix('.html')}")
    if audit is not None:
        AuditStore.open(audit, writing=False).close()
    for file in scores:
        scores_file.read(file)
