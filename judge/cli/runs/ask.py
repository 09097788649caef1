"""The plain way of `judge run`: plans a run, prints a forecast, sends the requests and stores the answers in the
journal. Run again, it requests only what is missing.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from judge.cli.option_words import complaint, mend

if TYPE_CHECKING:
    from judge.asking.execution.plan_part import PlanPart
    from judge.asking.run_definition.spec import RunSpec
    from judge.asking.run_definition.writing import AnySpec
    from judge.asking.run_folder import ResultFolder
    from judge.cli.runs.ways import RunOptions


def ask(run: Path, options: RunOptions) -> None:
    """Send what the run lacks to its judges, or print a forecast. Exits with code 3 if repeats are missing, and with 4
    if the certificate does not cover a judge.
    """
    from judge.asking.execution.session import Sitting
    from judge.asking.run_definition.spec import load_run_specs
    from judge.asking.run_folder.layout import definition_of
    from judge.base.errors import SpecError
    from judge.cli.runs.run_forecast import print_forecasts
    from judge.cli.runs.run_summary import print_summary
    from judge.cli.runs.sittings import sit_all

    definition, limit, pilot = definition_of(run), options.limit, options.pilot
    if options.engine == "async" and (options.ray_actors is not None or options.ray_address != "local"):
        raise SpecError("--ray-address and --ray-actors go with --engine ray", hint="add --engine ray")
    specs = load_run_specs(definition, options.overrides, options.judges)
    folders = folders_of(specs.judges, definition, options.output, options.reuse)
    if options.dry_run and options.summary is not None:
        raise SpecError("--dry-run asks nothing, and --summary is of answers", hint="leave one of them out")
    part = None if options.shard is None else part_named(options.shard, limit, _beside(options))
    _check_certificate(options.certificate, specs.judges, definition.parent)
    if options.dry_run:
        print_forecasts(specs, definition.parent, folders, limit, options.form)
        return
    asked = folders if part is None else [part.folder(folder) for folder in folders]
    first = limit or pilot if part is None else None
    sitting = partial(Sitting, limit=first, reuse=options.reuse, quiet=options.quiet, part=part)
    sittings = [sitting(spec, definition.parent, folder) for spec, folder in zip(specs.judges, asked, strict=True)]
    missing = sit_all(sittings, specs.max_cost, options.engine, options.ray_address, options.ray_actors)
    if pilot is not None:
        print_forecasts(specs, definition.parent, folders, limit, options.form)
    summary = sys.stdout.isatty() and not options.quiet if options.summary is None else options.summary
    if part is None and summary:
        print_summary(definition.parent, folders)
    if missing:
        raise typer.Exit(3)


def _beside(options: RunOptions) -> Mapping[str, object]:
    """Flag -> whether it was given, of the options that --shard excludes."""
    return {
        "--dry-run": options.dry_run,
        "--pilot": options.pilot,
        "--engine ray": options.engine == "ray",
        "--summary": options.summary is not None,
    }


def _check_certificate(file: Path | None, specs: Sequence[RunSpec], folder: Path) -> None:
    """Exit with code 4, before any request is sent, if the certificate in `file` does not cover one of the runs. Does
    nothing if `file` is None.
    """
    if file is None:
        return
    from datetime import UTC, datetime

    from judge.asking.plan import make_plan
    from judge.questions.certificate.file import read
    from judge.questions.certificate.fit import UncertifiedError, check

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
    from judge.asking.execution.plan_part import PlanPart
    from judge.base.errors import SpecError

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
