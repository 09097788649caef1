"""Commands `judge data generate`, `stories` and `faults`: models write stories (`judge.asking.execution`,
`judge.lab.generation`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judge.cli.table_options import Form, Output, Overrides, Quiet

if TYPE_CHECKING:
    from judge.asking.execution.session import Sitting
    from judge.asking.run_definition.spec import Specs
    from judge.asking.run_definition.writing import GenerateSpec


def write(
    gen: Annotated[Path, typer.Argument(metavar="GEN", help="a generate.yaml or its folder")],
    writer: Annotated[
        list[str] | None,
        typer.Option("--writer", help="writer in place of the definition's; may be given several times"),
    ] = None,
    set_: Overrides = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="number of story-prompts, from the first on")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="forecast only; nothing is requested")] = False,
    shard: Annotated[
        str | None, typer.Option(metavar="i/N", help="part i of N parts; judge run GEN --merge joins them")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="result folder to write (with one writer)")
    ] = None,
    engine: Annotated[
        Literal["async", "ray"], typer.Option(help="program that sends the requests: this process, or Ray")
    ] = "async",
    ray_address: Annotated[
        str, typer.Option(help="address of a Ray cluster (auto, HOST:PORT), or local to start one")
    ] = "local",
    ray_actors: Annotated[
        int | None, typer.Option(min=1, help="number of Ray clients (HTTP) or engines (vLLM)")
    ] = None,
    quiet: Quiet = False,
    form: Form = "table",
) -> None:
    """Request every story that GEN defines, and keep each answer; running again requests what is missing.

    Exit code 3 means that stories are missing: `judge run GEN --retry` requests the failed ones again. No story is
    requested again because of what it says.

    Example: judge data generate generations/hanna --writer openai/my-model --set base_url=http://127.0.0.1:8000/v1
    """
    from judge.asking.execution.session import Sitting
    from judge.asking.run_definition.writing import load_generate_specs
    from judge.asking.run_folder.layout import definition_of
    from judge.base.errors import SpecError
    from judge.cli.run_ask import folders_of, part_named
    from judge.cli.run_sittings import sit_all

    if engine == "async" and (ray_actors is not None or ray_address != "local"):
        raise SpecError("--ray-address and --ray-actors go with --engine ray", hint="add --engine ray")
    definition = definition_of(gen)
    specs = load_generate_specs(definition, set_ or [], list(dict.fromkeys(writer or [])))
    folders = folders_of(specs.asked, definition, output)
    part = None if shard is None else part_named(shard, limit, {"--dry-run": dry_run, "--engine ray": engine == "ray"})
    if dry_run:
        _print_forecasts(specs, definition.parent, limit, form)
        return
    sittings: list[Sitting] = [
        Sitting(spec, definition.parent, folder, limit=limit, quiet=quiet)
        if part is None
        else Sitting(spec, definition.parent, part.folder(folder), quiet=quiet, part=part)
        for spec, folder in zip(specs.asked, folders, strict=True)
    ]
    if sit_all(sittings, specs.max_cost, engine, ray_address, ray_actors):
        raise typer.Exit(3)


def _print_forecasts(specs: Specs[GenerateSpec], folder: Path, limit: int | None, form: str) -> None:
    from judge.cli.table_options import emit
    from judge.lab.generation.tables import forecast_table

    emit([forecast_table(spec, folder, limit) for spec in specs.asked], form)


def stories(
    gens: Annotated[
        list[Path],
        typer.Argument(metavar="GEN...", help="generate.yaml, its folder, or a result folder"),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="file for the stories (.jsonl); facts go beside it, .facts.jsonl"),
    ] = None,
    strip: Annotated[
        str | None,
        typer.Option("--strip", metavar="RULES", help="parts to remove: preamble, run-on, or both; default: none"),
    ] = None,
    cut: Annotated[
        bool, typer.Option("--cut", help="additional stories: those that were cut off, as far as they go")
    ] = False,
    human: Annotated[bool, typer.Option("--human", help="additional stories: the human ones, as system Human")] = False,
    form: Form = "table",
) -> None:
    """Outcome of every request, and the stories as a dataset for judge run, with their text as written.

    Only complete stories are written to the file; those that were refused, cut, empty or not answered are counted here
    and listed in the facts with their reason. Without -o nothing is written.

    Example: judge data stories generations/hanna -o stories.jsonl

    Example: judge data stories generations/hanna -o plain.jsonl --set strip=preamble,run-on --human
    """
    from judge.asking.run_folder import resolve
    from judge.base.errors import OptionError
    from judge.cli.table_options import emit
    from judge.lab.generation.faults import rules_of
    from judge.lab.generation.stories import passed_on, write_all, written
    from judge.lab.generation.tables import counted_written, faults_table, signature_of, status_table

    for name, given in (("cut", cut), ("human", human)):
        if given and output is None:
            raise OptionError(name, given, "has no effect where no file is written")
    rules = () if strip is None else rules_of(strip)
    generated = written(resolve(gens), rules)
    kept = passed_on(generated, cut=cut, human=human)
    signature = signature_of(generated, rules)
    lengths = any({"too_short", "too_long"} & set(story.faults) for story in generated)
    tables = [
        status_table(generated),
        faults_table(counted_written(generated), signature, asked_length=lengths),
    ]
    if output is not None:
        facts = write_all(output, kept, generated)
        typer.echo(f"{output}: {len(kept)} stories; {facts}: what became of all {len(generated)} requests", err=True)
    emit(tables, form)


def check(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="dataset of stories, by name or path")],
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="FIELD=COLUMN", help="column of a table that holds a field; may be given several times"
        ),
    ] = None,
    form: Form = "table",
    output: Output = None,
) -> None:
    """Counts of faults in generated stories by system: preambles, chat turns, missing ends, near-duplicates.

    Works on any dataset, including those whose stories have already been judged.

    Example: judge data faults hanna_llm
    """
    from judge.cli.table_options import emit
    from judge.inputs.datasets import open_dataset
    from judge.inputs.datasets.files.column_guess import column_options
    from judge.lab.generation.tables import counted, faults_table

    opened = open_dataset(dataset, columns=column_options(column))
    counts = counted(opened.stories())
    signature = (
        f"faults of stories · {opened.name} · {sum(count.stories for count in counts)} stories · every story counted"
    )
    emit(faults_table(counts, signature), form, output)
