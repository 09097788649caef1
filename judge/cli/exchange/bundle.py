"""Command `judge bundle`: writes runs into one archive for artifact review. The implementation is in
`judge.exchange.bundle.archive`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.option_words import with_flags
from judge.cli.table_options import Quiet, Runs, Seed

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def bundle(
    runs: Runs,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="file for the archive; default: RUN-bundle.zip in this folder")
    ] = None,
    without_texts: Annotated[
        bool, typer.Option("--without-texts", help="hashes in place of stories and story-prompts")
    ] = False,
    with_batches: Annotated[
        bool, typer.Option("--with-batches", help="additional files batches.json and batches/")
    ] = False,
    resamples: Annotated[
        int, typer.Option("--resamples", min=1, help="number of resamples for confidence intervals in its tables")
    ] = 1000,
    seed: Seed = 1,
    quiet: Quiet = False,
) -> None:
    """Write runs as one archive for artifact review: definition, journal, manifest, tables, checksums; no keys.

    judge status FILE.zip --verify checks it on any machine. Works while a run is being written.

    Example: judge bundle runs/hanna -o hanna-artifact.zip
    """
    from judge.exchange.bundle.archive import BundleChoices
    from judge.exchange.bundle.archive import bundle as make
    from judge.exchange.bundle.tables import TableChoices

    choices = BundleChoices(not without_texts, with_batches, TableChoices(resamples=resamples, seed=seed))
    result = make(
        [Path(run) for run in runs], output, choices, lambda step: None if quiet else typer.echo(step, err=True)
    )
    for note in result.notes:
        typer.echo(f"note: {with_flags(note)}", err=True)
    typer.echo(f"{result.path}: {result.files} files, {result.rows} ratings, {result.bytes / 1e6:.1f} MB")
    if not without_texts:
        typer.echo(
            "it holds the stories' texts, under their dataset's licence; --without-texts leaves them out", err=True
        )
    typer.echo(f"check it anywhere: judge status {result.path} --verify", err=True)
