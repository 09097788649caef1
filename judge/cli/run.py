"""`judge run`: plan, forecast, ask, journal. Running it again goes on where it stopped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from judge.execution.session import Result, Sitting
    from judge.plan import Forecast
    from judge.plan.forecast import Measured
    from judge.run_folder import ResultFolder
    from judge.run_spec import RunSpec

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def run(
    run: Annotated[Path | None, typer.Argument(metavar="RUN", help="A run.yaml or its folder.")] = None,
    judge: Annotated[list[str] | None, typer.Option(help="Judge instead of the file's; again for more.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N stories of the plan.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the forecast and ask nothing.")] = False,
    pilot: Annotated[int | None, typer.Option(min=1, help="Ask about N stories, then forecast the whole.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Stop before spending more (dollars).")] = None,
    reuse: Annotated[Path | None, typer.Option(help="Result folder whose answers to equal queries to take.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Result folder (with one judge).")] = None,
    engine: Annotated[str, typer.Option(help="Who drives the run: async (this process) or ray.")] = "async",
    ray_address: Annotated[str, typer.Option(help="Ray cluster (auto, HOST:PORT), or local to start one.")] = "local",
    ray_actors: Annotated[int | None, typer.Option(min=1, help="Ray clients (HTTP) or engines (vLLM).")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    form: Annotated[str, typer.Option("--format", help="Of the forecast: table, json, csv, md or latex.")] = "table",
    print_schema: Annotated[bool, typer.Option("--print-schema", help="Print run.yaml's JSON Schema.")] = False,
) -> None:
    """Ask a judge everything RUN defines; every answer is kept, and running again asks only what is missing.

    Exit code 3 means that repeats are missing: `judge retry RUN` asks those that failed again.

    Example: judge run runs/mans-roc --judge openai/my-model --set base_url=http://127.0.0.1:8000/v1 --pilot 20
    """
    from judge.errors import SpecError, unknown
    from judge.execution.session import Sitting
    from judge.run_folder.layout import ResultFolder, definition_of, folder_for
    from judge.run_spec import json_schema, load_run_spec

    if print_schema:
        import json

        print(json.dumps(json_schema(), indent=2))
        return
    if run is None:
        raise SpecError("judge run needs a RUN: a run.yaml or its folder", hint="judge init NAME writes one")
    definition = definition_of(run)
    overrides = list(set_ or [])
    if max_cost is not None:
        overrides.append(f"max_cost={max_cost}")
    judges = judge or [load_run_spec(definition, overrides).judge]
    if engine not in ("async", "ray"):
        raise SpecError(unknown("engine", engine, ("async", "ray")))
    if engine == "async" and (ray_actors is not None or ray_address != "local"):
        raise SpecError("--ray-address and --ray-actors go with --engine ray", hint="add --engine ray")
    if output is not None and len(judges) > 1:
        raise SpecError("--output names one result folder, and there are several judges", hint="leave --output out")
    missing = False
    for name in judges:
        spec = load_run_spec(definition, [*overrides, f"judge={name}"])
        result = ResultFolder(output) if output else folder_for(definition, spec.name, spec.judge, spec.revision)
        if dry_run:
            _print_forecast(spec, definition.parent, result, limit, form)
        else:
            sitting = Sitting(spec, definition.parent, result, limit=limit or pilot, reuse=reuse, quiet=quiet)
            missing |= _sit(sitting, engine, ray_address, ray_actors)
            if pilot is not None:
                _print_forecast(spec, definition.parent, result, limit, form)
    if missing:
        raise typer.Exit(3)


def _sit(sitting: Sitting, engine: str, ray_address: str, ray_actors: int | None) -> bool:
    """One sitting; True where repeats are missing at its end."""
    from judge.exchange.batch_ledger import in_flight_note
    from judge.in_force.words import warnings

    if (waiting := in_flight_note(sitting.result)) is not None:
        sys.stderr.write(f"{waiting} of this run are not collected yet; what is asked here too is paid for twice\n")
    if not sitting.quiet:
        sys.stderr.write(f"{sitting.spec.judge} -> {sitting.result.path}\n")
        sys.stderr.writelines(f"{warning}\n" for warning in warnings(sitting.spec))
    if engine == "ray":
        from judge.execution.ray_engine import Cluster, sit_on_ray

        return report(sitting, sit_on_ray(sitting, Cluster(ray_address, ray_actors)))
    from judge.execution.session import sit

    return report(sitting, sit(sitting))


def report(sitting: Sitting, ended: Result) -> bool:
    """Say how a sitting ended; True where repeats are missing. Raises where nothing at all was answered."""
    from judge.dollars import dollars
    from judge.errors import JudgeError
    from judge.journal import JournalReader

    outcomes, totals, where = ended.outcomes, ended.totals, sitting.result.path
    if totals.answered == 0:
        cause: Any = outcomes.cause
        if cause is None:
            with JournalReader(sitting.result.journal) as journal:
                cause = journal.latest_error()
            cause = JudgeError(cause[1] if cause else outcomes.stopped or "nothing was asked")
        raise JudgeError(f"no query was answered: {cause}", hint=cause.hint)
    parts = [f"{outcomes.answered} answered"]
    if ended.reused:
        parts.append(f"{ended.reused} reused")
    if totals.failed:
        parts.append("given up: " + ", ".join(f"{count} {kind}" for kind, count in totals.failed.items()))
    if outcomes.retries:
        parts.append(f"{outcomes.retries} retries")
    if outcomes.known_cost:
        parts.append(dollars(outcomes.known_cost))
    if not sitting.quiet:
        sys.stderr.write(f"{', '.join(parts)}; {totals.answered} of {ended.planned} in {where}\n")
    if outcomes.stopped and outcomes.cause is not None:
        raise JudgeError(
            f"stopped: {outcomes.stopped}", hint=outcomes.cause.hint or f"then go on with: judge run {where.parent}"
        )
    if outcomes.stopped and ended.missing:
        sys.stderr.write(f"stopped: {outcomes.stopped}; the same command goes on\n")
    elif ended.missing and totals.failed:
        sys.stderr.write(f"{ended.missing} repeats are missing; ask the failed ones again: judge retry {where}\n")
    elif ended.missing and sitting.again is not None:
        sys.stderr.write(f"{ended.missing} repeats were never asked; go on with: judge run {where.parent}\n")
    return ended.missing > 0


def _print_forecast(spec: RunSpec, folder: Path, result: ResultFolder, limit: int | None, form: str) -> None:
    from judge.execution.pilot import measure
    from judge.execution.preparation import dataset_of, first_stories
    from judge.plan import forecast, load_prices, make_plan
    from judge.tables import emit

    plan = make_plan(spec, folder=folder)
    dataset = dataset_of(plan, folder)
    count = dataset.expected.get("stories") or sum(1 for _ in dataset.stories())
    measured = measure(result, plan)
    found = forecast(
        plan,
        first_stories(dataset, limit),
        min(count, limit or count),
        price=load_prices(spec.judge, spec.base_url, spec.engine),
        one_call=spec.generation.seed is None,
        measured=measured,
    )
    emit(_forecast_table(spec, found, measured), form)


def _forecast_table(spec: RunSpec, found: Forecast, measured: Measured | None) -> Any:
    from judge.execution.progress import duration
    from judge.tables import Column, Table

    row = {
        "stories": found.stories,
        "queries": found.queries,
        "answers": found.answers,
        "calls": found.calls,
        "prompt_tokens": found.prompt_tokens,
        "completion_tokens": found.completion_tokens,
        "cost": found.cost,
        "batch_cost": found.batch_cost,
        "time": None if found.seconds is None else duration(found.seconds),
        "parsed": None if measured is None else measured.parsed,
    }
    columns = [
        Column("stories", "stories"),
        Column("queries", "queries"),
        Column("answers", "answers"),
        Column("prompt_tokens", "tokens in"),
        Column("completion_tokens", "tokens out"),
        Column("cost", "cost", money=True),
        Column("batch_cost", "batch", money=True),
        Column("time", "time"),
        Column("parsed", "parsed %", 1, 100),
    ]
    signature = f"{spec.dataset}|judge:{spec.judge}|ep:{','.join(spec.eval_prompts)}|rep:{spec.repeats}"
    return Table("Forecast", columns, [row], signature, list(_forecast_notes(spec, found, measured)))


def _forecast_notes(spec: RunSpec, found: Forecast, measured: Measured | None) -> Iterator[str]:
    """What the forecast rests on, in sentences."""
    from judge.in_force.words import warnings
    from judge.plan import load_prices
    from judge.plan.prices import how_to_price, reports_cost

    yield found.basis
    yield from warnings(spec)
    if spec.repeats > 1:
        shape = f"the {found.answers:,} answers come in {found.calls:,} requests, each of which reads its prompt once"
        if measured is None and found.calls < found.answers:
            shape += (
                f"; from a server that gives one answer to a request they come in {found.answers:,}, "
                f"with {spec.repeats} times the prompt tokens (--pilot N finds out)"
            )
        yield shape
    price = load_prices(spec.judge, spec.base_url, spec.engine)
    if spec.judge.partition("/")[0] in ("surface", "recorded", "scripted"):
        yield f"{spec.judge} asks no server and costs nothing"
    elif spec.judge.partition("/")[0] in ("vllm", "hf") and price is None:
        yield f"{spec.judge} runs on this machine: no tokens are paid for"
    elif measured is not None and measured.cost is not None:
        yield "cost as the server named it in the pilot"
    elif price is not None:
        yield f"price: {price.words()}"
    elif reports_cost(spec.base_url):
        yield "the server names the cost of each answer: --pilot N measures it"
    else:
        yield f"no price is known for {spec.judge}: {how_to_price(spec.judge)}"
    if found.seconds is None:
        yield "the time is known after a pilot: judge run RUN --pilot 20"
