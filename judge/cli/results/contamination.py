"""`judge contamination`: whether models have seen the stories. The work is in `contamination`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.declared import takes
from judge.cli.option_words import complaint
from judge.cli.table_command import table_command
from judge.cli.table_options import Form, Output, Quiet
from judge.contamination.options import AucOptions, ReportOptions, ScoringOptions, ValidityOptions
from judge.errors import SpecError

if TYPE_CHECKING:
    from judge.contamination.scores_file import ScoresFile
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_Calibration = Annotated[
    Path | None,
    typer.Option("--calibration", metavar="SCORES", help="labelled set scored by the same model, for thresholds"),
]
_ScoreName = Annotated[
    str | None, typer.Option("--score", help="score that a number as threshold is of; default min_k_K")
]
_Column = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="FIELD=COLUMN", help="column of a table that holds a field; several times"),
]
_ScoresTo = Annotated[
    Path | None, typer.Option("--scores-to", metavar="FILE", help="scores file to write, for --calibration")
]
_Threshold = Annotated[
    str, typer.Option("--threshold", metavar="RULE", help="rule for thresholds: youden, fpr=0.05, a number")
]
_Limit = Annotated[int | None, typer.Option("--limit", help="number of texts, the first ones; default all")]
_Scores = Annotated[
    list[Path],
    typer.Option("--scores", metavar="FILE", help="file of judge contamination score; may be given several times"),
]

SCORING = {
    "k": "share of least likely tokens in per cent, beside 5 to 60",
    "words": "number of words that every text is cut to; shorter texts are left out",
    "lowercase": "also scores against the text in lower case",
    "reference": "smaller or other model, for scores against it",
    "full_distribution": "also Min-K%++, which needs whole distributions",
    "nonmembers": "texts not seen, for ReCaLL: they stand before each text",
    "shots": "number of these texts",
    "revision": "revision of the model",
    "base_url": "address of a vLLM server, for openai/MODEL",
    "engine": "device, dtype, batch_tokens, max_model_len...; may be given several times",
    "concurrency": "number of requests in flight at a server",
}
HELP = {
    "fpr": "false-positive rate at which the true-positive rate is read",
    "score": "name of the score to go by",
    "systems": "system whose stories are the story set; may be given several times",
    "own_systems": "system that is a model's own; may be given several times",
    "split": "score at which stories are set apart",
    "least": "number of stories that each half needs",
}


@app.command("score")
@takes(ScoringOptions, SCORING, name="scoring")
def score(
    dataset: Annotated[str, typer.Argument(metavar="DATASET|FILE", help="stories by name or path, or labelled texts")],
    model: Annotated[str, typer.Option("--model", help="hf/PATH, hf/NAME, or openai/NAME on a vLLM server")],
    output: Annotated[Path, typer.Option("-o", "--output", help="scores file to write (.jsonl)")],
    *,
    scoring: ScoringOptions,
    calibration: _Calibration = None,
    threshold: _Threshold = "fpr=0.05",
    score_name: _ScoreName = None,
    column: _Column = None,
    limit: _Limit = None,
    quiet: Quiet = False,
) -> None:
    """Min-K% Prob, loss, zlib ratio and relatives of each story, into a scores file; higher = more likely seen.

    Log-probabilities are kept in derived/ beside it, by text and model: run again to go on, or for other scores.

    Example: judge contamination score mans_roc --model hf/gpt2 --calibration wikimia.scores.jsonl -o gpt2.scores.jsonl
    """
    from judge.cli.stories.data import column_options
    from judge.contamination import scores_file
    from judge.contamination import threshold as thresholds
    from judge.contamination.session import scored
    from judge.contamination.texts import of_dataset

    by_number = thresholds.is_number(threshold)  # a rule that is not known is told before anything is scored
    texts = of_dataset(dataset, columns=column_options(column), limit=limit)
    calibrated = None if calibration is None else scores_file.read(calibration)
    progress = None if quiet else _progress
    made = scored(texts, model, scoring, output.parent, calibration=calibrated, progress=progress)
    if by_number:
        made = thresholds.given(made, float(threshold), score_name or f"min_k_{scoring.k:g}")
    elif calibrated is not None:
        made = thresholds.carried_over(made, calibrated, threshold)
    scores_file.write(output, made)
    typer.echo(f"{output}: {len(made.rows)} texts, {len(made.names)} scores, {made.truncated} cut to the context")
    _say_lost(made)


@app.command("auc")
@takes(AucOptions, HELP)
@takes(ScoringOptions, SCORING, name="scoring")
def auc(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="labelled texts, or a scores file of such")],
    model: Annotated[str | None, typer.Option("--model", help="as for score; not for a scores file")] = None,
    scores_to: _ScoresTo = None,
    *,
    scoring: ScoringOptions,
    threshold: _Threshold = "fpr=0.05",
    limit: _Limit = None,
    options: AucOptions,
    roc: Annotated[Path | None, typer.Option("--roc", metavar="FILE.csv", help="file for every ROC curve")] = None,
    form: Form = "table",
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """How well each score tells texts seen from texts not seen: AUC, true positives at 5 % false ones, thresholds.

    FILE has a label (1 = seen, 0 = not) and input, snippet or text on each line, as WikiMIA and BookMIA have; where a
    book is named, books are what is resampled.

    Example: judge contamination auc WikiMIA_length64.jsonl --model hf/gpt2 --scores-to wikimia.scores.jsonl
    """
    from judge.cli.option_words import emit
    from judge.contamination import scores_file
    from judge.contamination import threshold as thresholds
    from judge.contamination.auc import areas, write_curves
    from judge.contamination.tables import auc_table

    if thresholds.is_number(threshold):
        raise SpecError("a number is no rule for all scores", hint="--threshold youden or fpr=0.05")
    made = _labelled(file, model, scoring, (scores_to or file).parent, limit, quiet=quiet)
    try:
        made = thresholds.all_by_rule(made, threshold)
    except SpecError as error:
        typer.echo(f"no thresholds: {complaint(error)}", err=True)
    found = areas(made, options)
    if scores_to is not None:
        scores_file.write(scores_to, made)
    if roc is not None:
        write_curves(roc, made)
    emit(auc_table(found), form, output)


@app.command("report")
@table_command(ReportOptions, HELP)
def report(table: RatingsTable, options: ReportOptions, *, scores: _Scores) -> list[Table]:
    """Each model's rate of stories it seems to have seen, AUC, and its own stories' ratings.

    Example: judge contamination report runs/hanna --scores beluga.scores.jsonl --system Human
    """
    from judge.contamination import report as study
    from judge.contamination import scores_file
    from judge.contamination.tables import report_table

    return [report_table(study.report(table, [scores_file.read(path) for path in scores], options))]


@app.command("validity")
@table_command(ValidityOptions, HELP)
def validity(table: RatingsTable, options: ValidityOptions, *, scores: _Scores) -> list[Table]:
    """Agreement with people where contamination is high and where it is low, and the difference.

    Example: judge contamination validity runs/hanna --scores beluga.scores.jsonl --split median
    """
    from judge.contamination import scores_file
    from judge.contamination import validity as strata
    from judge.contamination.tables import validity_table

    return [validity_table(strata.validity(table, [scores_file.read(path) for path in scores], options))]


def _labelled(
    file: Path, model: str | None, scoring: ScoringOptions, folder: Path, limit: int | None, *, quiet: bool
) -> ScoresFile:
    """The scores in the file, or of the texts in it."""
    from judge.contamination import scores_file
    from judge.contamination.session import scored
    from judge.contamination.texts import labelled

    if scores_file.is_scores_file(file):
        if model is not None:
            raise SpecError(f"{file} holds scores already; leave --model out")
        return scores_file.read(file)
    if model is None:
        raise SpecError(f"{file} holds texts, and --model does not say what to score them with")
    return scored(labelled(file, limit=limit), model, scoring, folder, progress=None if quiet else _progress)


def _progress(name: str, done: int, total: int) -> None:
    """One line for each lot of texts, on stderr."""
    typer.echo(f"{name}: {done}/{total} texts", err=True)


def _say_lost(made: ScoresFile) -> None:
    """Texts without a score, by reason."""
    from collections import Counter

    reasons = Counter({(why, name): n for name in made.names for why, n in made.why_undefined(name).items()})
    for (why, name), count in reasons.items():
        typer.echo(f"  {name}: {count} texts {why}")
