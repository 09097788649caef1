"""Command `judge run`: plans a run, prints a forecast, sends the requests and stores the answers in the journal. Run
again, it requests only what is missing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from judge.cli.option_words import complaint, mend
from judge.cli.run_options import Limit, OtherJudges, Overrides
from judge.cli.table_options import Form, Quiet
from judge.wording import joined

if TYPE_CHECKING:
    from judge.execution.plan_part import PlanPart
    from judge.execution.session import Result, Sitting
    from judge.execution.side_by_side import Ended
    from judge.run_definition.spec import RunSpec
    from judge.run_definition.writing import AnySpec
    from judge.run_folder import ResultFolder

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_Pilot = Annotated[
    int | None,
    typer.Option(min=1, help="number of stories (or pairs) to request first, before a forecast of the whole run"),
]
_RayAddress = Annotated[str, typer.Option(help="address of a Ray cluster (auto, HOST:PORT), or local to start one")]
_Certificate = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="certificate that must cover the judge; exit code 4 otherwise"),
]
_Summary = Annotated[
    bool | None,
    typer.Option("--summary/--no-summary", help="output of judge summary at the end; default: on a terminal"),
]


_Run = Annotated[Path | None, typer.Argument(metavar="RUN", help="a run.yaml or its folder")]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="forecast only; nothing is requested")]
_MaxCost = Annotated[float | None, typer.Option(min=0, help="largest amount in dollars that may be spent")]
_Shard = Annotated[str | None, typer.Option(metavar="i/N", help="part i of N parts; judge merge joins them")]
_Reuse = Annotated[Path | None, typer.Option(help="result folder whose answers to identical queries are reused")]
_Output = Annotated[Path | None, typer.Option("--output", "-o", help="result folder to write (with one judge)")]
_Engine = Annotated[Literal["async", "ray"], typer.Option(help="program that sends the requests: this process, or Ray")]
_RayActors = Annotated[int | None, typer.Option(min=1, help="number of Ray clients (HTTP) or engines (vLLM)")]
_PrintSchema = Annotated[bool, typer.Option("--print-schema", help="JSON Schema of run.yaml, and nothing else")]


@app.command()
def run(
    run: _Run = None,
    judge: OtherJudges = None,
    set_: Overrides = None,
    limit: Limit = None,
    dry_run: _DryRun = False,
    pilot: _Pilot = None,
    max_cost: _MaxCost = None,
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
    print_schema: _PrintSchema = False,
) -> None:
    """Send every request that RUN defines to its judge, and keep each answer; running again sends only what is missing.

    Exit code 3 means that repeats are missing: `judge retry RUN` requests the failed ones again. Exit code 4 means that
    the certificate does not cover this run.

    Example: judge run runs/mans-roc --judge openai/my-model --set base_url=http://127.0.0.1:8000/v1 --pilot 20
    """
    from judge.cli.runs.run_forecast import print_forecasts
    from judge.cli.runs.run_summary import print_summary
    from judge.errors import SpecError
    from judge.execution.session import Sitting
    from judge.run_definition.spec import json_schema, load_run_specs

    if print_schema:
        print(json.dumps(json_schema(), indent=2))
        return
    definition = _definition(run)
    overrides = [*(set_ or []), *([] if max_cost is None else [f"max_cost={max_cost}"])]
    if engine == "async" and (ray_actors is not None or ray_address != "local"):
        raise SpecError("--ray-address and --ray-actors go with --engine ray", hint="add --engine ray")
    specs = load_run_specs(definition, overrides, list(dict.fromkeys(judge or [])))
    folders = folders_of(specs.judges, definition, output, reuse)
    if dry_run and summary is not None:
        raise SpecError("--dry-run asks nothing, and --summary is of answers", hint="leave one of them out")
    beside = {"--dry-run": dry_run, "--pilot": pilot, "--engine ray": engine == "ray", "--summary": summary is not None}
    part = None if shard is None else part_named(shard, limit, beside)
    _check_certificate(require_certificate, specs.judges, definition.parent)
    if dry_run:
        print_forecasts(specs, definition.parent, folders, limit, form)
        return
    asked = folders if part is None else [part.folder(folder) for folder in folders]
    sitting = partial(Sitting, limit=limit or pilot if part is None else None, reuse=reuse, quiet=quiet, part=part)
    sittings = [sitting(spec, definition.parent, folder) for spec, folder in zip(specs.judges, asked, strict=True)]
    missing = sit_all(sittings, specs.max_cost, engine, ray_address, ray_actors)
    if pilot is not None:
        print_forecasts(specs, definition.parent, folders, limit, form)
    if part is None and (sys.stdout.isatty() and not quiet if summary is None else summary):
        print_summary(definition.parent, folders)
    if missing:
        raise typer.Exit(3)


def _definition(run: Path | None) -> Path:
    """Path of the run.yaml that `run` denotes. Raises SpecError if `run` is None."""
    from judge.errors import SpecError
    from judge.run_folder.layout import definition_of

    if run is None:
        raise SpecError("judge run needs a RUN: a run.yaml or its folder", hint="judge init NAME writes one")
    return definition_of(run)


def _check_certificate(file: Path | None, specs: Sequence[RunSpec], folder: Path) -> None:
    """Exit with code 4, before any request is sent, if the certificate in `file` does not cover one of the runs. Does
    nothing if `file` is None.
    """
    if file is None:
        return
    from datetime import UTC, datetime

    from judge.certificate.file import read
    from judge.certificate.fit import UncertifiedError, check
    from judge.plan import make_plan

    certificate = read(file)
    for spec in specs:
        try:
            check(certificate, make_plan(spec, folder=folder), file, datetime.now(UTC).date())
        except UncertifiedError as error:
            sys.stderr.write(f"error: {complaint(error)}\nhint: {mend(error)}\n")
            raise typer.Exit(4) from error


def part_named(shard: str, limit: int | None, excluded: Mapping[str, object]) -> PlanPart:
    """The shard of a run's plan that `shard` names, as ``i/N``. Only the plan's first `limit` stories or pairs are
    divided into shards (None: all). Raises SpecError if an option in `excluded` has a value, since these options cannot
    be combined with --shard.
    """
    from judge.errors import SpecError
    from judge.execution.plan_part import PlanPart

    for name, given in excluded.items():
        if given:
            raise SpecError(f"--shard and {name} exclude each other", hint=f"leave --shard out for {name}")
    return PlanPart.parse(shard, limit)


def folders_of(
    specs: Sequence[AnySpec], definition: Path, output: Path | None, reuse: Path | None = None
) -> list[ResultFolder]:
    """Result folder of each judge, in the order of `specs`: `output` if it is given, otherwise a folder beside the run
    definition `definition`.

    `reuse` is a result folder from which answers are to be reused. Raises SpecError if two judges would share a folder,
    or if there are several judges and `output` or `reuse` is given.
    """
    from judge.errors import SpecError
    from judge.run_folder.layout import ResultFolder, folder_for

    if output is not None:
        if len(specs) > 1:
            raise SpecError("--output names one result folder, and there are several judges", hint="leave --output out")
        return [ResultFolder(output)]
    folders: dict[Path, str] = {}
    for spec in specs:
        path = folder_for(definition, spec.name, spec.judge, spec.revision).path
        if path in folders:
            raise SpecError(
                f"{folders[path]} and {spec.judge} would both answer into {path}",
                hint="tell them apart by revision, or put one into a run.yaml of its own",
            )
        folders[path] = spec.judge
    if reuse is not None and len(folders) > 1:
        raise SpecError("--reuse takes the answers of one judge, and there are several", hint="name one with --judge")
    return [ResultFolder(path) for path in folders]


def sit_all(
    sittings: list[Sitting], max_cost: float | None, engine: str, ray_address: str, ray_actors: int | None
) -> bool:
    """Run every judge's sitting (its share of the run in this process). True if repeats are missing at the end of any
    sitting.

    `max_cost` is the cost limit in dollars (None: no limit). `engine` is "async" or "ray"; with "ray" the requests are
    sent by `ray_actors` workers of the cluster at `ray_address`, and `max_cost` must be None (SpecError).
    """
    from judge.errors import JudgeError, SpecError

    for sitting in sittings:
        _say_before(sitting)
    if engine == "ray":
        from judge.execution.ray.engine import Cluster, sit_on_ray
        from judge.execution.side_by_side import Ended

        if max_cost is not None:
            raise SpecError("max_cost cannot be kept with --engine ray", hint="leave max_cost out, or --engine")
        if len(sittings) == 1:
            return report(sittings[0], sit_on_ray(sittings[0], Cluster(ray_address, ray_actors)))
        ended = []
        for sitting in sittings:
            try:
                ended.append(Ended(sitting, sit_on_ray(sitting, Cluster(ray_address, ray_actors))))
            except JudgeError as error:
                ended.append(Ended(sitting, error=error))
        return report_all(ended)
    if len(sittings) == 1:
        from judge.execution.session import sit

        return report(sittings[0], sit(sittings[0]))
    from judge.execution.side_by_side import sit_side_by_side

    _settle_trust(sittings)
    return report_all(sit_side_by_side(sittings, max_cost=max_cost))


def _settle_trust(sittings: list[Sitting]) -> None:
    """On a terminal, raise UntrustedHostError before any request is sent if a judge's API key would go to a server that
    the user does not trust, so that the user can be asked. Without a terminal nothing is checked here; the judge in
    question then fails later, and the other judges are not affected.
    """
    from judge.backends import open_backend
    from judge.credentials.trust import UntrustedHostError
    from judge.errors import JudgeError
    from judge.execution.session import charged, settings_of

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    for sitting in filter(lambda one: charged(one.spec), sittings):
        try:
            open_backend(sitting.spec.judge, settings_of(sitting.spec, sitting.folder, sitting.result))
        except UntrustedHostError:
            raise
        except JudgeError:
            continue  # The judge's own line says it.


def _say_before(sitting: Sitting) -> None:
    """Print warnings and the result folder of a judge's run before any request is sent."""
    from judge.exchange.batch.ledger import in_flight_note
    from judge.execution.part_merge import not_merged
    from judge.in_force.words import warnings

    if sitting.part is None and (parts := not_merged(sitting.result)):
        sys.stderr.write(
            f"{parts} of this run are not merged; what they answered is asked again here: judge merge first\n"
        )
    if (waiting := in_flight_note(sitting.result)) is not None:
        sys.stderr.write(f"{waiting} of this run are not collected yet; what is asked here too is paid for twice\n")
    if not sitting.quiet:
        sys.stderr.write(f"{sitting.spec.judge} -> {sitting.result.path}{_asked_at(sitting.spec)}\n")
        sys.stderr.writelines(f"{warning}\n" for warning in warnings(sitting.spec))


def _asked_at(spec: AnySpec) -> str:
    """Text that names the servers to which a run sends its stories; empty if the run definition gives no address."""
    from judge.credentials.origin import origin_of

    return (
        f", asked at {', '.join(dict.fromkeys(str(origin_of(url)) for url in spec.base_url))}" if spec.base_url else ""
    )


def _command(sitting: Sitting) -> str:
    """Command that continues the judge's run, as the user would type it."""
    from judge.run_definition.spec import RunSpec

    asks = "judge run" if isinstance(sitting.spec, RunSpec) else "judge generate"
    return f"{asks} {sitting.result.path.parent}"


def report_all(ended: Sequence[Ended]) -> bool:
    """Print how each judge's run ended. True if repeats are missing. Raises JudgeError if a judge's run ended with an
    error.
    """
    from judge.errors import JudgeError
    from judge.execution.side_by_side import names

    failed, missing = [], []
    for run_end, name in zip(ended, names([run_end.sitting for run_end in ended]), strict=True):
        try:
            if run_end.error is not None:
                raise run_end.error
            if run_end.result is not None and report(run_end.sitting, run_end.result, f"{name}: "):
                missing.append(name)
        except JudgeError as error:
            failed.append(name)
            sys.stderr.write(f"{name}: {complaint(error)}\n" + (f"  hint: {mend(error)}\n" if error.hint else ""))
    if failed:
        others = len(ended) - len(failed)
        rest = f"; {others - len(missing)} of the others are complete" if others else ""
        raise JudgeError(
            f"{len(failed)} of {len(ended)} judges ended with an error: {', '.join(failed)}{rest}",
            hint="mend what the lines above say; the same command then asks only what is missing",
        )
    return bool(missing)


def report(sitting: Sitting, ended: Result, name: str = "") -> bool:
    """Print how a judge's run ended. True if repeats are missing. Raises JudgeError if no request was answered, or if
    an error stopped the run.

    `name` is printed at the start of each line.
    """
    from judge.errors import JudgeError
    from judge.journal import JournalReader
    from judge.printing.dollars import dollars, implausible_costs

    outcomes, totals, where = ended.outcomes, ended.totals, sitting.result.path
    if totals.answered == 0 and ended.missing:
        cause: Any = outcomes.cause
        if cause is None:
            with JournalReader(sitting.result.journal) as journal:
                cause = journal.latest_error()
            cause = JudgeError(cause[1] if cause else outcomes.stopped or "nothing was asked")
        raise JudgeError(joined("no query was answered: ", cause.sentence), hint=cause.hint)
    parts = [f"{outcomes.answered} answered"]
    if ended.reused:
        parts.append(f"{ended.reused} reused")
    if totals.failed:
        parts.append("given up: " + ", ".join(f"{count} {kind}" for kind, count in totals.failed.items()))
    if outcomes.retries:
        parts.append(f"{outcomes.retries} retries")
    if outcomes.known_cost:
        parts.append(dollars(outcomes.known_cost))
    if outcomes.implausible:
        parts.append(implausible_costs(outcomes.implausible))
    if not sitting.quiet:
        there = ended.planned - ended.missing if sitting.part is not None else totals.answered
        sys.stderr.write(f"{name}{', '.join(parts)}; {there} of {ended.planned} in {where}\n")
    if outcomes.stopped and outcomes.cause is not None:
        again = f"then go on with: {_command(sitting)}" if sitting.part is None else "then run the shard again"
        raise JudgeError(f"stopped: {outcomes.stopped}", hint=outcomes.cause.hint or again)
    if outcomes.stopped and ended.missing:
        sys.stderr.write(f"{name}stopped: {outcomes.stopped}; the same command goes on\n")
    elif ended.missing and totals.failed:
        sys.stderr.write(f"{name}{ended.missing} repeats are missing; ask the failed ones again: judge retry {where}\n")
    elif ended.missing and sitting.again is not None:
        sys.stderr.write(f"{name}{ended.missing} repeats were never asked; go on with: {_command(sitting)}\n")
    return ended.missing > 0
