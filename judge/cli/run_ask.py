"""The plain way of `judge run`: forecast, requests, answers in the journal. Again, it requests only what is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from judge.base.errors import SpecError
from judge.cli.table_options import complaint, mend

if TYPE_CHECKING:
    from judge.asking.execution.plan_part import PlanPart
    from judge.asking.plan import Forecast, Plan
    from judge.asking.plan.forecast import Measured
    from judge.asking.run_definition.spec import RunSpec, Specs
    from judge.asking.run_definition.writing import AnySpec
    from judge.asking.run_folder import ResultFolder
    from judge.base.printing.tables import Table
    from judge.base.records import Subject
    from judge.inputs.datasets import Dataset


# Ways of `judge run`: the option that names each of them, and the options that go with it.

Batch = Literal["submit", "status", "collect"]
OtherWay = Literal[
    "--retry", "--merge", "--serve-command", "--batch submit", "--batch status", "--batch collect", "--print-schema"
]
# What one call of `judge run` does: it asks, unless an option names another way.
Way = Literal["ask"] | OtherWay

# Way -> the options that go with it. All options go with asking, except those that belong to one other way.
TAKES: Mapping[OtherWay, tuple[str, ...]] = {
    "--retry": ("--unparsed", "--set"),
    "--merge": ("--partial", "--output", "--set"),
    "--serve-command": ("--set",),
    "--batch submit": ("--judge", "--set", "--limit"),
    "--batch status": ("--format",),
    "--batch collect": (),
    "--print-schema": (),
}

_BELONGS = {"--unparsed": "--retry", "--partial": "--merge"}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of `judge run`; each way reads those that go with it."""

    judges: Sequence[str]
    overrides: Sequence[str]
    limit: int | None
    dry_run: bool
    pilot: int | None
    shard: str | None
    reuse: Path | None
    output: Path | None
    engine: Literal["async", "ray"]
    ray_address: str
    ray_actors: int | None
    quiet: bool
    form: str
    certificate: Path | None
    summary: bool | None


def way_of(flags: Sequence[str], batch: Batch | None) -> Way:
    """The way that the flags name. Raises SpecError for two, or for a flag that does not go with it."""
    named = [f"--batch {batch}" if flag == "--batch" else flag for flag in flags]
    ways = [way for way in TAKES if way in named]
    if not ways:
        for flag in named:
            if flag in _BELONGS:
                raise SpecError(f"{flag} goes with {_BELONGS[flag]}", hint=f"add {_BELONGS[flag]}")
        return "ask"
    way, *others = ways
    for flag in [*others, *named]:
        if flag not in (way, *TAKES[way]):
            takes = f"the options {', '.join(TAKES[way])}" if TAKES[way] else "no other option"
            raise SpecError(f"{flag} does not go with {way}", hint=f"{way} takes {takes}")
    return way


# Forecast of a run's requests, time and cost, as `judge run` prints it before sending requests or with --dry-run.


def print_forecasts(
    specs: Specs[RunSpec], folder: Path, folders: Sequence[ResultFolder], limit: int | None, form: str
) -> None:
    """Forecast of each judge's run for the first `limit` stories or pairs; for several, notes on total cost."""
    from judge.cli.table_options import emit

    tables = [_forecast(spec, folder, result, limit) for spec, result in zip(specs.asked, folders, strict=True)]
    tables[0] = replace(tables[0], notes=[*_faults(specs.asked[0], folder), *tables[0].notes])
    if len(tables) > 1:
        costs = [table.rows[0]["cost"] for table in tables]
        tables = [replace(t, title=f"Forecast: {spec.judge}") for t, spec in zip(tables, specs.asked, strict=True)]
        tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *_together(costs, specs.max_cost)])
    emit(tables, form)


def _faults(spec: RunSpec, folder: Path) -> list[str]:
    """What looks wrong in the stories and people's ratings, in words, before they are paid for."""
    from judge.asking.execution.preparation import dataset_of
    from judge.asking.plan import make_plan
    from judge.inputs.datasets.faults import faults

    plan = make_plan(spec, folder=folder)
    named = plan.criteria_set
    sentences = faults(dataset_of(plan, folder).stories(), named.criteria, set_name=named.name)
    return [f"look at this: {sentence}" for sentence in sentences]


def _together(costs: Sequence[float | None], most: float | None) -> Iterator[str]:
    """From known prices, and the limit `most`."""
    from judge.base.printing.text_layout import dollars

    defined = [cost for cost in costs if cost is not None]
    if defined:
        rest = f" without {len(costs) - len(defined)} whose price is not known or who have none"
        yield f"all judges together: {dollars(sum(defined))}{rest if len(defined) < len(costs) else ''}"
    if most is not None:
        yield f"max_cost {dollars(most)} is for all of them together"


def _forecast(spec: RunSpec, folder: Path, result: ResultFolder, limit: int | None) -> Table:
    from judge.asking.execution.pilot import measure
    from judge.asking.execution.preparation import dataset_of
    from judge.asking.plan import forecast, load_prices, make_plan
    from judge.backends import ONE_ANSWER_A_CALL

    plan = make_plan(spec, folder=folder)
    dataset = dataset_of(plan, folder)
    asked = _asked_about(plan, dataset, folder, limit)
    measured = measure(result, plan)
    estimate = forecast(
        plan,
        asked.subjects,
        asked.count,
        price=load_prices(spec.judge, spec.base_url, spec.engine),
        one_call=spec.generation.seed is None and spec.provider not in ONE_ANSWER_A_CALL and spec.api != "responses",
        measured=measured,
    )
    table = _forecast_table(spec, estimate, measured, asked.pairs, list(_joint_notes(plan)))
    sentences = [] if plan.compares else list(_compared(plan, dataset))
    return replace(table, notes=[*table.notes, *sentences]) if sentences else table


def _compared(plan: Plan, dataset: Dataset) -> Iterator[str]:
    """One for each declared criterion; one in all if people rated none of the judge's; none without ratings."""
    rated = {rating.criterion.casefold(): rating.criterion for story in dataset.stories() for rating in story.ratings}
    if not rated:
        return
    criterion_of_people = {own.casefold(): theirs for own, theirs in (plan.spec.people or {}).items()}
    names = [criterion.name for criterion in plan.criteria]
    for name in names:
        theirs = criterion_of_people.get(name.casefold())
        if theirs is not None:
            unrated = (
                "" if theirs.casefold() in rated else f", which nobody rated: they rated {', '.join(rated.values())}"
            )
            yield f"{name} is set against people's {theirs}{unrated}"
    alone = [name for name in names if name.casefold() not in criterion_of_people and name.casefold() not in rated]
    if len(alone) == len(names) and len(rated) == 1:
        yield f"people rated only {next(iter(rated.values()))}: every criterion will be compared with it"
    elif len(alone) == len(names):
        yield (
            f"people rated none of these criteria, and nothing can be said about agreement with them: they rated "
            f"{', '.join(rated.values())}; in run.yaml, people: {{{names[0]}: {next(iter(rated.values()))}}} sets one "
            "against another"
        )


@dataclass(frozen=True, slots=True)
class _AskedAbout:
    """Stories, or pairs in each order shown; `pairs` is None for stories."""

    subjects: Iterable[Subject]
    count: int
    pairs: int | None = None


def _asked_about(plan: Plan, dataset: Dataset, folder: Path, limit: int | None) -> _AskedAbout:
    from judge.asking.execution.preparation import askable, first_comparisons, first_stories, planned_comparisons
    from judge.asking.plan.forecast import MOST_SUBJECTS

    if not plan.compares:
        count = dataset.expected.get("stories") or sum(1 for _ in dataset.stories())
        return _AskedAbout(askable(plan, dataset, first_stories(dataset, limit)), min(count, limit or count))
    planned = planned_comparisons(plan, folder, dataset, limit)
    some = first_comparisons(plan, dataset, planned, MOST_SUBJECTS)
    return _AskedAbout(some, len(planned), len({query.number for query in planned}))


def _forecast_table(
    spec: RunSpec, expected: Forecast, measured: Measured | None, pairs: int | None, joint: Sequence[str]
) -> Table:
    from judge.asking.execution.progress import duration
    from judge.base.printing.tables import Column, Table

    row = {
        **({"stories": expected.subjects} if pairs is None else {"pairs": pairs, "orders": spec.orders}),
        "queries": expected.queries,
        "answers": expected.answers,
        "calls": expected.calls,
        "prompt_tokens": expected.prompt_tokens,
        "completion_tokens": expected.completion_tokens,
        "cost": expected.cost,
        "batch_cost": expected.batch_cost,
        "time": None if expected.seconds is None else duration(expected.seconds),
        "parsed": None if measured is None else measured.parsed,
    }
    compared = [Column("pairs", "pairs"), Column("orders", "orders")]
    columns = [
        *([Column("stories", "stories")] if pairs is None else compared),
        Column("queries", "queries"),
        Column("answers", "answers"),
        *([Column("calls", "calls")] if joint or pairs is not None else []),
        Column("prompt_tokens", "tokens in"),
        Column("completion_tokens", "tokens out"),
        Column("cost", "cost", money=True),
        Column("batch_cost", "batch", money=True),
        Column("time", "time"),
        Column("parsed", "parsed %", 1, 100),
    ]
    shown = "" if pairs is None else f"|orders:{spec.orders}|ties:{'offered' if spec.ties else 'none'}"
    signature = f"{spec.dataset}|judge:{spec.judge}|ep:{','.join(spec.eval_prompts)}|rep:{spec.repeats}{shown}"
    return Table("Forecast", columns, [row], signature, [*_forecast_notes(spec, expected, measured), *joint])


def _joint_notes(plan: Plan) -> Iterator[str]:
    for prompt in plan.eval_prompts:
        for asked in plan.asked_by(prompt):
            if isinstance(asked, tuple):
                names = ", ".join(criterion.name for criterion in asked)
                yield (
                    f"{prompt.name} asks for {len(asked)} criteria in one call ({names}): one query a story where "
                    f"asking for each by itself has {len(asked)}"
                )


def _forecast_notes(spec: RunSpec, expected: Forecast, measured: Measured | None) -> Iterator[str]:
    from judge.asking.in_force.settings import warnings
    from judge.asking.plan import load_prices
    from judge.asking.plan.prices import how_to_price, reports_cost
    from judge.backends import IN_PROCESS, ONE_ANSWER_A_CALL
    from judge.base.credentials.providers import JudgeName

    yield expected.basis
    if spec.pairs is not None and spec.orders == "both":
        yield "each pair is asked about in both orders: only so a liking for a place is told from noise"
    yield from warnings(spec)
    if spec.repeats > 1:
        shape = (
            f"the {expected.answers:,} answers come in {expected.calls:,} requests, each of which reads its prompt once"
        )
        if measured is None and expected.calls < expected.answers:
            shape += (
                f"; from a server that gives one answer to a request they come in {expected.answers:,}, "
                f"with {spec.repeats} times the prompt tokens (--pilot N finds out)"
            )
        yield shape
    price = load_prices(spec.judge, spec.base_url, spec.engine)
    if JudgeName.of(spec.judge).is_modelless:
        yield f"{spec.judge} asks no server and costs nothing"
    elif spec.provider in IN_PROCESS and price is None:
        yield f"{spec.judge} runs on this machine: no tokens are paid for"
    elif measured is not None and measured.cost is not None:
        yield "cost as the server named it in the pilot"
    elif price is not None:
        yield f"price: {price.words()}"
        if measured is None and spec.provider in ONE_ANSWER_A_CALL:
            yield "without the provider's prompt cache, of which nothing is known before a pilot: --pilot N measures it"
    elif reports_cost(spec.base_url):
        yield "the server names the cost of each answer: --pilot N measures it"
    else:
        yield f"no price is known for {spec.judge}: {how_to_price(spec.judge)}"
    yield from _limits(spec, expected)
    if expected.seconds is None:
        yield "the time is known after a pilot: judge run RUN --pilot 20"


def _limits(spec: RunSpec, expected: Forecast) -> Iterator[str]:
    """The shortest time under limits of requests and tokens per minute."""
    from judge.asking.execution.progress import duration

    limits = (
        (spec.requests_per_minute, expected.calls, "requests"),
        (spec.tokens_per_minute, expected.prompt_tokens + expected.completion_tokens, "tokens"),
    )
    for most, count, unit in limits:
        if most is not None:
            yield f"at {most:,} {unit} a minute it takes {duration(60 * count / most)} at least"


# Summary printed at the end of `judge run`. If the summary cannot be computed, the run is still complete.


def print_summary(run: Path, folders: Sequence[ResultFolder]) -> None:
    """Print a run's summary as `judge summary` does, or the error."""
    from judge.base.errors import JudgeError
    from judge.questions.summary import screen
    from judge.questions.summary.kept import summaries_of

    try:
        summaries = summaries_of([folder.path for folder in folders], [str(run)])
    except JudgeError as error:
        sys.stderr.write(f"no summary: {complaint(error)}\n")
        return
    sys.stdout.write(screen.printed(summaries))


def ask(run: Path, options: RunOptions) -> None:
    """Send what the run lacks, or print a forecast; exit code 3 if repeats are missing, 4 if not certified."""
    from judge.asking.execution.session import Sitting
    from judge.asking.run_definition.spec import load_run_specs
    from judge.asking.run_folder.layout import definition_of
    from judge.base.errors import SpecError
    from judge.cli.run_sittings import sit_all

    definition, limit, pilot = definition_of(run), options.limit, options.pilot
    if options.engine == "async" and (options.ray_actors is not None or options.ray_address != "local"):
        raise SpecError("--ray-address and --ray-actors go with --engine ray", hint="add --engine ray")
    specs = load_run_specs(definition, options.overrides, options.judges)
    folders = folders_of(specs.asked, definition, options.output, options.reuse)
    if options.dry_run and options.summary is not None:
        raise SpecError("--dry-run asks nothing, and --summary is of answers", hint="leave one of them out")
    part = None if options.shard is None else part_named(options.shard, limit, _beside(options))
    _check_certificate(options.certificate, specs.asked, definition.parent)
    if options.dry_run:
        print_forecasts(specs, definition.parent, folders, limit, options.form)
        return
    asked = folders if part is None else [part.folder(folder) for folder in folders]
    first = limit or pilot if part is None else None
    sitting = partial(Sitting, limit=first, reuse=options.reuse, quiet=options.quiet, part=part)
    sittings = [sitting(spec, definition.parent, folder) for spec, folder in zip(specs.asked, asked, strict=True)]
    missing = sit_all(sittings, specs.max_cost, options.engine, options.ray_address, options.ray_actors)
    if pilot is not None:
        print_forecasts(specs, definition.parent, folders, limit, options.form)
    summary = sys.stdout.isatty() and not options.quiet if options.summary is None else options.summary
    if part is None and summary:
        print_summary(definition.parent, folders)
    if missing:
        raise typer.Exit(3)


def _beside(options: RunOptions) -> Mapping[str, object]:
    """Of the options that --shard excludes."""
    return {
        "--dry-run": options.dry_run,
        "--pilot": options.pilot,
        "--engine ray": options.engine == "ray",
        "--summary": options.summary is not None,
    }


def _check_certificate(file: Path | None, specs: Sequence[RunSpec], folder: Path) -> None:
    """Exit code 4, before any request is sent, if the certificate does not cover a run."""
    if file is None:
        return
    from datetime import UTC, datetime

    from judge.asking.plan import make_plan
    from judge.questions.certificate.file import UncertifiedError, check, read

    certificate = read(file)
    for spec in specs:
        try:
            check(certificate, make_plan(spec, folder=folder), file, datetime.now(UTC).date())
        except UncertifiedError as error:
            sys.stderr.write(f"error: {complaint(error)}\nhint: {mend(error)}\n")
            raise typer.Exit(4) from error


def part_named(shard: str, limit: int | None, excluded: Mapping[str, object]) -> PlanPart:
    """The shard ``i/N`` of the first `limit` stories or pairs. Raises SpecError for options that --shard excludes."""
    from judge.asking.execution.plan_part import PlanPart
    from judge.base.errors import SpecError

    for name, given in excluded.items():
        if given:
            raise SpecError(f"--shard and {name} exclude each other", hint=f"leave --shard out for {name}")
    return PlanPart.parse(shard, limit)


def folders_of(
    specs: Sequence[AnySpec], definition: Path, output: Path | None, reuse: Path | None = None
) -> list[ResultFolder]:
    """Result folder of each judge: `output`, otherwise beside the definition; `reuse` gives its answers. Raises
    SpecError if two judges would share a folder, or if several have `output` or `reuse`."""
    from judge.asking.run_folder.layout import ResultFolder, folder_for
    from judge.base.errors import SpecError

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
