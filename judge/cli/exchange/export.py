"""Command `judge export`: writes ratings, or the requests that a run still lacks, as files for other programs. The
implementation is in `judge.exchange`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judge.cli.run_options import Failed, Limit, NewerLimit, OneByOne, Overrides
from judge.cli.table_options import ParserName, Resamples, Runs, Seed

if TYPE_CHECKING:
    from judge.exchange.outputs.given_away import GiveAway
    from judge.exchange.outputs.measured import Measured
    from judge.ratings_table import RatingsTable

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
        int, typer.Option(min=1, max=50_000, help="largest number of lines in a file; further files are numbered")
    ] = 50_000,
    judge: Annotated[str | None, typer.Option(help="judge in place of the definition's")] = None,
    set_: Overrides = None,
    one_by_one: OneByOne = False,
    failed: Failed = False,
    max_completion_tokens: NewerLimit = False,
) -> None:
    """Write the requests that a run still lacks as OpenAI-batch JSON Lines, for `vllm run-batch` and batch APIs.

    The requests are those that `judge run` would send. Files are limited to 50,000 lines and 200 MB. `judge import
    batch` reads the results.

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
    exported = export(asked, name, most_lines=split)
    names = [str(part.path) for part in exported.parts]
    if len(exported.parts) == 1:
        exported.parts[0].path.rename(output)
        names = [str(output)]
    if exported.in_flight:
        typer.echo(
            f"{exported.in_flight} repeats are left out: submitted batches hold them (judge run {run} --batch status)"
        )
    if not names:
        typer.echo(f"nothing to export: {asked.result.path} lacks nothing that is to be asked")
        return
    for shown, part in zip(names, exported.parts, strict=True):
        typer.echo(f"{shown}: {part.lines} lines, {part.repeats} repeats, {part.bytes / 1e6:.2f} MB")
    typer.echo(f"answer them elsewhere, then: judge import batch {asked.result.path} RESULTS")


_WithoutTexts = Annotated[bool, typer.Option("--without-texts", help="hashes in place of stories and story-prompts")]
_People = Annotated[
    Literal["pseudonyms", "names", "none"],
    typer.Option("--people", help="identity of people: pseudonyms, their names in the data, or none"),
]
_Comments = Annotated[bool, typer.Option("--comments", help="additional column: people's own comments")]


@app.command("hub")
def hub(
    runs: Runs,
    output: Annotated[Path, typer.Option("-o", "--output", help="folder to write; must not exist, or be empty")],
    without_texts: _WithoutTexts = False,
    *,
    people: _People = "pseudonyms",
    comments: _Comments = False,
) -> None:
    """Write ratings and stories as a Hugging Face dataset folder: Parquet, card, BibTeX. Uploads nothing.

    datasets.load_dataset(FOLDER, "ratings") loads it, and judge import hub FOLDER reads it back.

    Example: judge export hub runs/demo -o demo-ratings
    """
    from judge.exchange.outputs.given_away import tables_of
    from judge.exchange.outputs.hub import write_hub

    choices = _choices(people, without_texts=without_texts, comments=comments)
    written = write_hub(output, tables_of(_folders(runs), choices), choices)
    typer.echo(f"{written.path}: {written.ratings} ratings, {written.stories} stories")
    typer.echo(choices.words, err=True)


@app.command("irw")
def irw(
    runs: Runs,
    output: Annotated[Path, typer.Option("-o", "--output", help="folder to write; must not exist, or be empty")],
    people: _People = "pseudonyms",
) -> None:
    """Write ratings as long CSV in the Item Response Warehouse's standard: id, item, resp, rater.

    One file for people and one for judges, for each dataset and scale. Missing ratings are left out.

    Example: judge export irw runs/demo -o demo-irw
    """
    from judge.exchange.outputs.given_away import tables_of
    from judge.exchange.outputs.irw import write_irw

    written = write_irw(output, tables_of(_folders(runs), _choices(people)))
    for path, rows in written.files:
        typer.echo(f"{path}: {rows} responses")
    if written.unrated:
        typer.echo(f"· {written.unrated} rows without a rating are left out: the standard has no missing responses")
    if written.nominal:
        typer.echo(f"· labels without an order are of another standard and left out: {', '.join(written.nominal)}")


@app.command("metrics")
def metrics(
    runs: Runs,
    output: Annotated[Path, typer.Option("-o", "--output", help="file to write")] = Path("metrics.json"),
    resamples: Resamples = 1000,
    seed: Seed = 1,
    parser: ParserName = "ours",
) -> None:
    """Write the main numbers as metrics.json, each with value, interval, n and unit, for dashboards.

    Agreement with people of judges, of one person and of the control; reliability of repeats; share of repeats with a
    rating. An undefined number is null with its reason.

    Example: judge export metrics runs/demo -o metrics.json
    """
    from judge.errors import SpecError
    from judge.exchange.outputs.metrics import metrics_json
    from judge.whole_file import write_whole

    _, measured = _measured(runs, parser, resamples, seed)
    measurements = measured.measurements
    try:
        write_whole(output, metrics_json(measurements))
    except OSError as error:
        raise SpecError(f"{output} cannot be written: {error.strerror}") from error
    undefined = sum(not measurement.estimate.defined for measurement in measurements)
    typer.echo(f"{output}: {len(measurements)} numbers, {undefined} of them undefined")


@app.command("eee")
def eee(
    runs: Runs,
    output: Annotated[Path, typer.Option("-o", "--output", help="folder to write; must not exist, or be empty")],
    organization: Annotated[
        str, typer.Option("--organization", help="organization that provides the data")
    ] = "unknown",
    resamples: Resamples = 1000,
    seed: Seed = 1,
    parser: ParserName = "ours",
) -> None:
    """Write agreement with people as records of Every Eval Ever (schema 0.3.0), one for each judge. Uploads nothing.

    Example: judge export eee runs/demo -o demo-eee --organization "My lab"
    """
    import time

    from judge.exchange.outputs.every_eval_ever import write_records

    table, measured = _measured(runs, parser, resamples, seed)
    written = write_records(output, table, measured, organization=organization, when=time.time())
    for path in written.files:
        typer.echo(str(path))
    left = (
        f"; {written.undefined} undefined numbers are left out, the schema has no place for them"
        if written.undefined
        else ""
    )
    typer.echo(f"{written.results} results{left}")


@app.command("bibtex")
def bibtex(
    runs: Runs, output: Annotated[Path, typer.Option("-o", "--output", help="file to write")] = Path("references.bib")
) -> None:
    """Write BibTeX of the program, datasets' studies and models' cards; for the methods: judge report --methods.

    Example: judge export bibtex runs/demo -o references.bib
    """
    from judge.errors import SpecError
    from judge.exchange.outputs.bibtex import entries, without_card
    from judge.ratings_table import read
    from judge.whole_file import write_whole

    facts = read(_folders(runs), explanations=False).facts
    text = entries(facts)
    try:
        write_whole(output, text)
    except OSError as error:
        raise SpecError(f"{output} cannot be written: {error.strerror}") from error
    typer.echo(f"{output}: {text.count('@')} works")
    if unknown := without_card(facts):
        typer.echo(f"· no card is known of {', '.join(unknown)}: add what its provider asks to be cited")


@app.command("preferences")
def preferences(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN|DATASET...", help="runs of comparisons, or datasets of pairs")
    ],
    to: Annotated[
        Literal["trl"], typer.Option("--to", help="format of the file; trl: prompt, chosen, rejected as JSON Lines")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="file to write")] = Path("preferences.jsonl"),
    judge: Annotated[
        str | None, typer.Option("--judge", help="judge whose preferences are written, in place of people's")
    ] = None,
) -> None:
    """Write preferences between two stories for trainers of reward models; ties are left out and counted.

    Example: judge export preferences storyer_pairs --to trl -o pairs.jsonl
    """
    from judge.analysis.preference.reading import read
    from judge.exchange.outputs.trl import write_trl

    written = write_trl(output, read(runs), judge)
    typer.echo(f"{written.path}: {written.lines} pairs for {to}")
    left = [(written.even, "are even"), (written.without_text, "have a story without a text")]
    reasons = [f"{count} {why}" for count, why in left if count]
    if reasons:
        typer.echo(f"· left out: {', '.join(reasons)}")


def _choices(
    people: Literal["pseudonyms", "names", "none"], *, without_texts: bool = False, comments: bool = False
) -> GiveAway:
    from judge.exchange.outputs.given_away import GiveAway

    return GiveAway(not without_texts, people, comments)


def _folders(runs: list[str]) -> list[Path]:
    """Result folders of the runs. Raises SpecError if one is a run of comparisons, since only ratings can be exported
    here.
    """
    from judge.errors import SpecError
    from judge.preferences_table import comparing

    compare, rate = comparing(runs)
    if compare:
        raise SpecError(
            f"{compare[0]} compares stories, and this is a form for ratings", hint="judge preferences RUN -o"
        )
    return [Path(folder) for folder in rate]


def _measured(runs: list[str], parser: str, resamples: int, seed: int) -> tuple[RatingsTable, Measured]:
    from judge.exchange.outputs.measured import Measured
    from judge.ratings_table import read

    table = read(_folders(runs), parser=parser, explanations=False)
    return table, Measured.of(table, resamples, seed)
