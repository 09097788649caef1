"""Command `judge import`: imports ratings and answers that other programs produced. The implementation is in
`judge.exchange`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.exchange.import_logs import register
from judge.cli.option_words import mend, with_flags

if TYPE_CHECKING:
    from judge.datasets import Dataset
    from judge.exchange.batch.importing import Imported
    from judge.exchange.imports.imported_folder import Import
    from judge.records import Criterion
    from judge.run_folder import ResultFolder

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_SHOWN = 5
"""custom_ids named of each kind."""


@app.command("hanna-scores")
def hanna_scores(
    scores: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="the study's hanna_metric_scores_llm.csv; default: the file that judge data list names",
        ),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="result folder")] = Path("runs/hanna-scores"),
    stories: Annotated[
        Path | None,
        typer.Option("--stories", help="file hanna_llm_stories.csv, for story-prompts and the texts of human stories"),
    ] = None,
    keep_out_of_scale: Annotated[
        bool, typer.Option("--keep-out-of-scale", help="means outside the scale, kept as ratings as in the study")
    ] = False,
    measures: Annotated[bool, typer.Option("--measures", help="additional judges: the 72 automatic measures")] = False,
) -> None:
    """Import the HANNA study's released ratings: five judges, four Eval-Prompts, people by position.

    Means outside the scale (answers that were not understood, averaged in as -1) count as missing.

    Example: judge import hanna-scores -o runs/hanna-scores
    """
    from judge.datasets.locate import find, need
    from judge.datasets.sources import FILES, OTHER_FILES
    from judge.exchange.imports.hanna_scores import read_scores
    from judge.exchange.imports.imported_folder import write_folder

    imported = read_scores(
        scores or need(OTHER_FILES["hanna_scores"][0], "hanna_scores"),
        stories or find(FILES["hanna_llm"][0]),
        keep_out_of_scale=keep_out_of_scale,
        measures=measures,
    )
    _say(write_folder(output, imported), imported)


@app.command("plotguided-scores")
def plotguided_scores(
    name: Annotated[str, typer.Argument(metavar="SET", help="set of stories: roc or wp")],
    scores: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="the study's Pred_*.txt; default: the file that judge data list names"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="result folder to write; default: runs/plotguided-SET")
    ] = None,
) -> None:
    """Import MANPLTS' released coherence scores of dataset plotguided_SET as a measure, with people's ratings.

    Example: judge import plotguided-scores wp -o runs/plotguided-wp
    """
    from judge.exchange.imports.imported_folder import write_folder
    from judge.exchange.imports.plotguided_scores import read_plotguided

    imported = read_plotguided(name, scores)
    _say(write_folder(output or Path("runs") / f"plotguided-{name}", imported), imported)


_Joined = Annotated[
    str | None,
    typer.Option("--dataset", help="dataset whose texts, systems and people's ratings are joined by the story's id"),
]
_Criteria = Annotated[
    str | None, typer.Option("--criteria", help="criteria set that gives abbreviations, scales and labels")
]
_Columns = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="FIELD=COLUMN", help="column that holds a field; FIELD==TEXT is a constant"),
]
_LeaveOut = Annotated[
    list[str] | None, typer.Option("--leave-out", metavar="COLUMN,...", help="columns of the file that are left out")
]
_Numbered = Annotated[
    bool,
    typer.Option(
        "--number-repeats", help="rows with the same judge, story, criterion and Eval-Prompt, taken as repeats"
    ),
]
_Unrated = Annotated[
    str | None, typer.Option("--unrated", metavar="STATUS", help="status of rows that have neither rating nor status")
]
_Single = Annotated[
    bool | None,
    typer.Option(
        "--single/--means",
        help="judges' ratings taken as single ratings, or as means of repeats; default: by their values",
    ),
]


@app.command("ratings")
def ratings(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="table of ratings: CSV, TSV, JSON, JSON Lines, Parquet or XLSX")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="result folder to write; default: runs/FILE")
    ] = None,
    dataset: _Joined = None,
    criteria: _Criteria = None,
    column: _Columns = None,
    leave_out: _LeaveOut = None,
    number_repeats: _Numbered = False,
    unrated: _Unrated = None,
    single: _Single = None,
    note: Annotated[
        list[str] | None, typer.Option("--note", help="note printed under every table; may be given several times")
    ] = None,
) -> None:
    """Import ratings from a table with the columns of `judge ratings`; story, criterion and rating are needed.

    Columns text and reference are kept too. With --dataset the stories come from that dataset, which must contain at
    least half of the file's ids. With --criteria, judges' ratings outside the scale count as missing. If all ratings
    are points of the scale (whole numbers without --criteria), they are single ratings, otherwise means. Where a
    criterion has labels, cells hold their words, in upper or lower case, or their codes.

    Example: judge import ratings scores.csv --dataset mans_roc --criteria overall -o runs/scores

    Example: judge import ratings wide.xlsx --column story=id --column ratings.Coherence=coh --column judge==gpt-4
    """
    from judge.cli.stories.data import column_options
    from judge.criteria import load_criteria
    from judge.exchange.imports.imported_folder import write_folder
    from judge.exchange.ratings.file import read_ratings

    known_criteria = load_criteria(criteria).criteria if criteria else ()
    imported = read_ratings(
        file,
        dataset=_dataset(dataset, known_criteria) if dataset else None,
        criteria=known_criteria,
        notes=note or (),
        columns=column_options(column),
        leave_out=[name.strip() for names in leave_out or () for name in names.split(",")],
        number_repeats=number_repeats,
        unrated=unrated,
        ratings=None if single is None else "single" if single else "means",
    )
    _say(write_folder(output or Path("runs") / file.stem, imported), imported)


def _dataset(name: str, criteria: Sequence[Criterion]) -> Dataset:
    """The dataset whose stories are joined to the imported ratings. If it is a table that needs a column map, an error
    is raised whose hint says how to register the table and its columns with `judge data add`.
    """
    from judge.datasets import open_dataset
    from judge.errors import DataError

    try:
        return open_dataset(name, criteria=criteria)
    except DataError as error:
        hint = mend(error)
        if hint and "--column" in hint:
            error.hint = f"give the table a name with its columns: judge data add NAME {name} OPTIONS; {hint}"
        raise


@app.command("hanna-answers")
def hanna_answers(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="answers file of the study: one of llm_answers/*.json")],
    judge: Annotated[str, typer.Option("--judge", help="name of the judge that gave these answers")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="folder of the run; default: runs/FILE")] = None,
) -> None:
    """Import the HANNA study's raw answers as a run that replays them, so that they are parsed like any judge's.

    Example: judge import hanna-answers llm_answers/beluga-13b.json --judge Beluga-13B -o runs/hanna-beluga-answers
    """
    from judge.exchange.imports.hanna_answers import write_run

    definition, count = write_run(file, output or Path("runs") / file.stem, judge)
    typer.echo(f"{count} answers; next: judge run {definition.parent}")


@app.command("ttcw-answers")
def ttcw_answers(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="answers file of the study (annotations_*.jsonl), or another in its format"
        ),
    ],
    judge: Annotated[str, typer.Option("--judge", help="name of the judge that gave these answers")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="folder of the run; default: runs/FILE")] = None,
) -> None:
    """Import answers to the tests of Art or Artifice (id, response) as a run that replays them.

    Null, empty and blocked responses count as answers without a label.

    Example: judge import ttcw-answers annotations_gpt4.jsonl --judge gpt4 -o runs/ttcw-gpt4
    """
    from judge.exchange.imports.ttcw_answers import write_run

    definition, count = write_run(file, output or Path("runs") / file.stem, judge)
    typer.echo(f"{count} answers; next: judge run {definition.parent}")


@app.command("hub")
def hub(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="dataset folder that judge export hub wrote")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="folder for the result folders; default: runs/FOLDER")
    ] = None,
) -> None:
    """Import a dataset folder of judge export hub as result folders: the same ratings, stories, scales and notes.

    Example: judge import hub demo-ratings -o runs/demo-again
    """
    from judge.exchange.imports.hub_folder import read_hub
    from judge.exchange.imports.imported_folder import write_folder

    target = output or Path("runs") / folder.name
    for name, imported in list(read_hub(folder)):
        _say(write_folder(target / name, imported), imported)


@app.command("batch")
def batch(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="run.yaml, its folder, or a result folder")],
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="result files of a batch, including its error files")
    ],
) -> None:
    """Import a batch's result files into the run's journal by custom_id; answers already there stay unchanged.

    Importing a file again changes nothing. Errors become failed attempts; those that another request may fix are
    exported again.

    Example: judge import batch runs/hanna-api results.jsonl
    """
    from judge.errors import RunFolderError
    from judge.exchange.batch.importing import import_results
    from judge.run_folder import resolve

    folders = resolve([run])
    if len(folders) > 1:
        names = ", ".join(folder.path.name for folder in folders)
        raise RunFolderError(
            f"{run} holds results of several judges: {names}",
            hint=f"name one: judge import batch {folders[0].path} FILE",
        )
    say_merged(import_results(folders[0], tuple(files)), folders[0], ", ".join(map(str, files)))


def say_merged(merged: Imported, folder: ResultFolder, source: str) -> None:
    """Print the outcome of importing batch results into a journal: one sentence, and one line for each kind of problem.
    `source` names the results in the sentence.
    """
    there, failed = merged.there_already, sum(merged.failed.values())
    if not merged.changed:
        typer.echo(f"nothing new in {source}: {folder.path} has {there} of its answers already")
    else:
        from judge.printing.dollars import dollars

        known_cost = merged.spent.known_cost
        cost = "" if known_cost is None else f", {dollars(known_cost)}"
        typer.echo(f"{folder.path}: {merged.answered} answers from {source}{cost}; {there} were there already")
    if failed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in merged.failed.most_common())
        typer.echo(f"· {failed} repeats failed ({kinds}): {merged.example}")
        typer.echo(
            f"· ask them again: judge export batch {folder.path}; those given up: judge run {folder.path} --retry"
        )
    if merged.errors_known:
        typer.echo(f"· {merged.errors_known} failed repeats were noted before")
    if merged.not_given:
        typer.echo(
            f"· {merged.not_given} repeats were not given: the server ignores n; judge export batch --one-by-one"
        )
    for count, reason, example in (
        (len(merged.duplicates), "custom_ids stand twice, the first answer counts", merged.duplicates),
        (len(merged.unknown), "custom_ids are not of this run", merged.unknown),
        (len(merged.other_judge), "results are of another judge and were left out", merged.other_judge),
        (len(merged.cut), "half-written last lines were skipped", merged.cut),
    ):
        if count:
            more = ", ..." if count > _SHOWN else ""
            typer.echo(f"· {count} {reason}: {', '.join(example[:_SHOWN])}{more}")
    if merged.totals is not None:
        typer.echo(f"· {merged.totals.answered} repeats are answered in all; judge status {folder.path}")


def _say(folder: ResultFolder, imported: Import) -> None:
    """Print the numbers of imported ratings, judges and stories, and the number of missing ratings for each reason."""
    frame = imported.frame
    judged, people = frame[frame["source"] == "judge"], int((frame["source"] == "rater").sum())
    judges, rated = judged["judge"].nunique(), int(judged["rating"].notna().sum())
    typer.echo(
        f"{folder.path}: {rated} ratings by {judges} judge{'s' if judges != 1 else ''}, {people} by people, "
        f"{frame['story'].nunique()} stories"
    )
    lost = judged.loc[judged["rating"].isna(), "status"].value_counts()
    if len(lost):
        typer.echo("without a rating: " + ", ".join(f"{count} {status}" for status, count in lost.items()))
    for note in imported.notes:
        typer.echo(f"· {with_flags(note)}")


register(app, _say)
