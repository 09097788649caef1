"""Command `judge run`: its options, and the choice of the way that they name. Each way is a module of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, assert_never

import typer

from judge.base.errors import SpecError
from judge.cli.declared import flags_given
from judge.cli.run_ask import Batch, RunOptions, Way, way_of
from judge.cli.table_options import Form, Limit, OtherJudges, Overrides, Quiet, with_flags

if TYPE_CHECKING:
    from judge.asking.run_folder import ResultFolder
    from judge.base.records import Subject


# Way `judge run RUN --merge`: combines the shards of a run, each written by a separate process, into one journal. The
# implementation is in `judge.asking.execution`.


def merge(run: Path, overrides: Sequence[str], *, output: Path | None, partial: bool) -> None:
    """Join a run's shards into each judge's result folder; exit code 3 if repeats are missing. Every answer enters
    exactly once, however often this is run. Raises RunFolderError for shards of another plan, and, without `partial`,
    for missing and incomplete ones."""
    from judge.asking.execution.part_merge import join
    from judge.asking.execution.plan_part import parts_in
    from judge.asking.run_folder.layout import definition_in_force

    missing = False
    for result in _with_parts(run, output):
        _, _, first = parts_in(result)[0]
        spec, file = definition_in_force(first, overrides)
        joined = join(spec, file, result, partial=partial)
        for notice in joined.notices:
            sys.stderr.write(f"{with_flags(notice)}\n")
        shards = f"{joined.parts} shard{'' if joined.parts == 1 else 's'}"
        given_up = f", {joined.failed} given up" if joined.failed else ""
        typer.echo(
            f"{spec.judge}: {shards} merged, {joined.answered} answers new{given_up}; "
            f"{joined.totals.answered} of {joined.planned} in {result.path}"
        )
        if joined.missing:
            missing = True
            again = f"{result.path} --retry" if joined.totals.failed else f"{run}"
            sys.stderr.write(f"{joined.missing} repeats are missing; go on with: judge run {again}\n")
    if missing:
        raise typer.Exit(3)


def _with_parts(run: Path, output: Path | None) -> Sequence[ResultFolder]:
    """Those with shards to merge; RunFolderError for none."""
    from judge.asking.execution.plan_part import parts_in
    from judge.asking.run_folder import ResultFolder
    from judge.asking.run_folder.layout import definition_of, results_beside
    from judge.base.errors import RunFolderError

    folder = output or run
    if parts_in(ResultFolder(folder)):
        return [ResultFolder(folder)]
    results = (
        [] if output is not None else [result for result in results_beside(definition_of(run)) if parts_in(result)]
    )
    if not results:
        raise RunFolderError(f"{folder} has no shards", hint="judge run RUN --shard 1/N, 2/N... makes them")
    return results


# Way `judge run RUN --serve-command`: prints the command that starts a vLLM server for a run.


def print_serve_command(run: Path, overrides: Sequence[str]) -> None:
    """Print the fitting `vllm serve` line for each base_url; assumptions go to stderr, so that it can be run."""
    from judge.asking.execution.preparation import dataset_of, first_comparisons, planned_comparisons
    from judge.asking.plan import make_plan
    from judge.asking.plan.serving import serving
    from judge.asking.run_definition.spec import load_run_spec
    from judge.asking.run_folder.layout import definition_of

    definition = definition_of(run)
    plan = make_plan(load_run_spec(definition, overrides), folder=definition.parent)
    dataset = dataset_of(plan, definition.parent)
    subjects: Iterable[Subject] = dataset.stories()
    if plan.compares:
        planned = planned_comparisons(plan, definition.parent, dataset)
        subjects = first_comparisons(plan, dataset, planned, len(planned))
    server = serving(plan, subjects)
    for line in server.commands:
        print(line)
    for note in server.notes:
        sys.stderr.write(f"# {with_flags(note)}\n")


# Way `judge run RUN --retry`: requests failed repeats again and, as an option, those whose answers could not be
# parsed.


def ask_again(run: Path, overrides: Sequence[str], *, unparsed: bool, quiet: bool) -> None:
    """Request repeats again that were given up; exit code 3 if some are still missing. To request answers again because
    of what they say biases the sample: `unparsed` does so explicitly, keeps the first answers in the journal, and every
    table notes it."""
    from judge.asking.execution.plan_part import part_of
    from judge.asking.execution.session import Again, Sitting, sit, sit_side_by_side
    from judge.asking.run_folder import resolve
    from judge.asking.run_folder.layout import budget_of, definition_in_force
    from judge.cli.run_sittings import report, report_all

    sittings = []
    for folder in resolve([run]):
        spec, file = definition_in_force(folder, overrides)
        again: Again = "unparsed" if unparsed else "failed"
        sittings.append(Sitting(spec, file, folder, again=again, quiet=quiet, part=part_of(folder)))
    if len(sittings) > 1:
        missing = report_all(sit_side_by_side(sittings, max_cost=budget_of(run, overrides)))
    else:
        missing = report(sittings[0], sit(sittings[0]))
    if missing:
        raise typer.Exit(3)


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

    Exit code 3 means that repeats are missing, or batches not at their end. --retry requests again what was given
    up. With --unparsed it also requests what holds no rating, which biases the sample: the first answers stay in
    the journal, and every table notes it. Exit code 4 means that the certificate does not cover this run.

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
            from judge.cli.run_ask import ask

            ask(run, options)
        case "--retry":
            ask_again(run, options.overrides, unparsed=unparsed, quiet=options.quiet)
        case "--merge":
            merge(run, options.overrides, output=options.output, partial=partial)
        case "--serve-command":
            print_serve_command(run, options.overrides)
        case "--batch submit":
            from judge.cli.run_sittings import submit

            submit(run, options.overrides, options.judges, options.limit)
        case "--batch status":
            from judge.cli.run_sittings import status

            status(run, options.form)
        case "--batch collect":
            from judge.cli.run_sittings import collect

            collect(run)
        case "--print-schema":
            from judge.asking.run_definition.spec import json_schema

            print(json.dumps(json_schema(), indent=2))
        case _:
            assert_never(way)
