"""Command `judge run`: its options, and the choice of the way that they name. Each way is a module of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal, assert_never

import typer

from judge.base.errors import SpecError
from judge.cli.declared import flags_given
from judge.cli.run_options import Limit, OtherJudges, Overrides
from judge.cli.runs.ways import Batch, RunOptions, Way, way_of
from judge.cli.table_options import Form, Quiet

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_Run = Annotated[
    Path | None,
    typer.Argument(
        metavar="RUN", help="run.yaml or its folder; --retry, --merge, --batch: also a result folder or a generate.yaml"
    ),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="forecast only; nothing is requested")]
_Pilot = Annotated[
    int | None,
    typer.Option(min=1, help="number of stories (or pairs) to request first, before a forecast of the whole run"),
]
_Shard = Annotated[str | None, typer.Option(metavar="i/N", help="part i of N parts; --merge joins them")]
_Reuse = Annotated[Path | None, typer.Option(help="result folder whose answers to identical queries are reused")]
_Output = Annotated[Path | None, typer.Option("--output", "-o", help="result folder to write (with one judge)")]
_Engine = Annotated[Literal["async", "ray"], typer.Option(help="program that sends the requests: this process, or Ray")]
_RayAddress = Annotated[str, typer.Option(help="address of a Ray cluster (auto, HOST:PORT), or local to start one")]
_RayActors = Annotated[int | None, typer.Option(min=1, help="number of Ray clients (HTTP) or engines (vLLM)")]
_Certificate = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="certificate that must cover the judge; exit code 4 otherwise"),
]
_Summary = Annotated[
    bool | None,
    typer.Option("--summary/--no-summary", help="output of judge summary at the end; default: on a terminal"),
]
_Retry = Annotated[bool, typer.Option("--retry", help="repeats that were given up (errors, timeouts, filtered), again")]
_Unparsed = Annotated[
    bool,
    typer.Option("--unparsed", help="with --retry: answers without a readable rating too"),
]
_Merge = Annotated[bool, typer.Option("--merge", help="join the shards into the result folder of each judge")]
_Partial = Annotated[
    bool,
    typer.Option("--partial", help="with --merge: the present shards, although others are missing or unfinished"),
]
_Batch = Annotated[
    Batch | None,
    typer.Option(
        "--batch",
        metavar="STEP",
        help="provider's batch API: submit (send what is missing), status (show progress), collect (fetch the answers)",
    ),
]
_ServeCommand = Annotated[
    bool, typer.Option("--serve-command", help="vllm serve line for each base_url of the run, and nothing else")
]
_PrintSchema = Annotated[bool, typer.Option("--print-schema", help="JSON Schema of run.yaml, and nothing else")]


@app.command()
def run(
    ctx: typer.Context,
    run: _Run = None,
    judge: OtherJudges = None,
    set_: Overrides = None,
    limit: Limit = None,
    dry_run: _DryRun = False,
    pilot: _Pilot = None,
    shard: _Shard = None,
    reuse: _Reuse = None,
    output: _Output = None,
    engine: _Engine = "async",
    ray_address: _RayAddress = "local",
    ray_actors: _RayActors = None,
    quiet: Quiet = False,
    form: Form = "table",
    require_certificate: _Certificate = None,
    summary: _Summary = None,
    retry: _Retry = False,  # noqa: ARG001  read by `flags_given`, like the other options that only name a way
    unparsed: _Unparsed = False,
    merge: _Merge = False,  # noqa: ARG001
    partial: _Partial = False,
    batch: _Batch = None,
    serve_command: _ServeCommand = False,  # noqa: ARG001
    print_schema: _PrintSchema = False,  # noqa: ARG001
) -> None:
    """Send every request that RUN defines to its judge, and keep each answer; running again sends only what is missing.

    Exit code 3 means that repeats are missing, or batches not at their end. --retry requests again what was given up;
    with --unparsed also what holds no rating, which biases the sample: the first answers stay in the journal, and every
    table notes it. Exit code 4 means that the certificate does not cover this run.

    Example: judge run runs/mans-roc --judge openai/my-model --set base_url=http://127.0.0.1:8000/v1 --pilot 20

    Example: judge run runs/hanna --retry

    Example: judge run runs/hanna-api --batch submit
    """
    way = way_of(flags_given(ctx), batch)
    if way != "--print-schema" and run is None:
        raise SpecError("judge run needs a RUN: a run.yaml or its folder", hint="judge init NAME writes one")
    options = RunOptions(
        list(dict.fromkeys(judge or [])),
        set_ or [],
        limit,
        dry_run,
        pilot,
        shard,
        reuse,
        output,
        engine,
        ray_address,
        ray_actors,
        quiet,
        form,
        require_certificate,
        summary,
    )
    go(way, run or Path(), options, unparsed=unparsed, partial=partial)


def go(way: Way, run: Path, options: RunOptions, *, unparsed: bool, partial: bool) -> None:
    """Go one way of `judge run`; only its module is imported."""
    match way:
        case "ask":
            from judge.cli.runs.ask import ask

            ask(run, options)
        case "--retry":
            from judge.cli.runs.retry import ask_again

            ask_again(run, options.overrides, unparsed=unparsed, quiet=options.quiet)
        case "--merge":
            from judge.cli.runs.merge import merge

            merge(run, options.overrides, output=options.output, partial=partial)
        case "--serve-command":
            from judge.cli.runs.serve_command import print_serve_command

            print_serve_command(run, options.overrides)
        case "--batch submit":
            from judge.cli.runs.batch import submit

            submit(run, options.overrides, options.judges, options.limit)
        case "--batch status":
            from judge.cli.runs.batch import status

            status(run, options.form)
        case "--batch collect":
            from judge.cli.runs.batch import collect

            collect(run)
        case "--print-schema":
            from judge.asking.run_definition.spec import json_schema

            print(json.dumps(json_schema(), indent=2))
        case _:
            assert_never(way)
