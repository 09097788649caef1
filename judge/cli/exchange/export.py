"""`judge export`: what a run holds or lacks, as files for other programs. The work is in `exchange`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.run_options import Failed, Limit, NewerLimit, OneByOne, Overrides

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Files for other programs."""


@app.command("batch")
def batch(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="run.yaml, its folder, or a result folder")],
    limit: Limit = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="file to write")] = Path("batch.jsonl"),
    split: Annotated[
        int, typer.Option(min=1, max=50_000, help="lines in a file at most; more files are numbered")
    ] = 50_000,
    judge: Annotated[str | None, typer.Option(help="judge in place of the file's")] = None,
    set_: Overrides = None,
    one_by_one: OneByOne = False,
    failed: Failed = False,
    max_completion_tokens: NewerLimit = False,
) -> None:
    """Write what the run still lacks as OpenAI-batch JSON Lines, for `vllm run-batch` and providers' batch APIs.

    The requests are those `judge run` would send. Files keep to 50,000 lines and 200 MB. Results come back
    by `judge import batch`.

    Example: judge export batch runs/hanna-api -o hanna.jsonl
    """
    from judge.errors import RunFolderError
    from judge.exchange.batch.requests import export, numbered, wanted

    name = numbered(output)
    there = [path for path in (output, name(1)) if path.exists()]
    if there:
        raise RunFolderError(
            f"{there[0]} exists already, and may hold what was sent", hint="delete it, or name another file with -o"
        )
    asked = wanted(
        run,
        list(set_ or []),
        judge=judge,
        limit=limit,
        one_by_one=one_by_one,
        failed=failed,
        max_completion_tokens=max_completion_tokens,
    )
    found = export(asked, name, most_lines=split)
    names = [str(part.path) for part in found.parts]
    if len(found.parts) == 1:
        found.parts[0].path.rename(output)
        names = [str(output)]
    if found.in_flight:
        typer.echo(f"{found.in_flight} repeats are left out: submitted batches hold them (judge batch status {run})")
    if not names:
        typer.echo(f"nothing to export: {asked.result.path} lacks nothing that is to be asked")
        return
    for shown, part in zip(names, found.parts, strict=True):
        typer.echo(f"{shown}: {part.lines} lines, {part.repeats} repeats, {part.bytes / 1e6:.2f} MB")
    typer.echo(f"answer them elsewhere, then: judge import batch {asked.result.path} RESULTS")
