"""Command `judge contamination`: tests whether models have seen the stories in training. The computation is in
`judge.contamination`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import SpecError
from judge.cli.asking import command_of
from judge.cli.declared import takes
from judge.cli.table_options import Form, Judges, Output, Quiet, Runs, complaint
from judge.contamination.options import AucOptions, CheckOptions, ScoringOptions
from judge.questions.registry import question

if TYPE_CHECKING:
    from judge.contamination.scores_file import ScoresFile

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_Calibration = Annotated[
    Path | None,
    typer.Option("--calibration", metavar="SCORES", help="scores of a labelled set by the same model, for thresholds"),
]
_ScoreName = Annotated[
    str | None, typer.Option("--score", help="score that a numeric threshold applies to; default: min_k_K")
]
_Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=COLUMN", help="column of a table that holds a field; may be given several times"
    ),
]
_ScoresTo = Annotated[
    Path | None, typer.Option("--scores-to", metavar="FILE", help="scores file to write, for --calibration")
]
_Threshold = Annotated[
    str, typer.Option("--threshold", metavar="RULE", help="rule for thresholds: youden, fpr=0.05, or a number")
]
_Limit = Annotated[int | None, typer.Option("--limit", help="number of texts, from the first on; default: all")]

SCORING = {
    "k": "share of least likely tokens in per cent, in addition to 5 to 60",
    "words": "number of words that every text is cut to; shorter texts are left out",
    "lowercase": "additional scores relative to the text in lower case",
    "reference": "smaller or other model, for scores relative to it",
    "recital": "additional score: the likeliest 50 consecutive tokens",
    "full_distribution": "additional score Min-K%++, which needs whole distributions",
    "nonmembers": "texts not seen in training, put before each text for ReCaLL",
    "shots": "number of texts of `nonmembers` that are put before each text",
    "revision": "revision of the model",
    "base_url": "address of a vLLM server, for openai/MODEL",
    "engine": "setting of the engine: device, dtype, batch_tokens, max_model_len...; may be given several times",
    "concurrency": "number of simultaneous requests to a server",
}
CHECK = {
    "models": "additional model to score with, as hf/NAME; may be given several times",
    "labelled": "texts seen and not seen in training (in WikiMIA's format), for the share of stories seen",
    "released": "release month of a model; may be given several times",
    "limit": "number of stories, from the first on; default: all",
    "revision": SCORING["revision"],
    "base_url": "address of a vLLM server, for openai/MODEL; default: that of the run, if it is your own server",
    "engine": SCORING["engine"],
}
HELP = {
    "fpr": "false-positive rate at which the true-positive rate is read",
    "score": "name of the score that stories are classified by",
    "systems": "system whose stories form the story set; may be given several times",
    "own_systems": "system that is a model's own; may be given several times",
    "split": "score that separates high from low contamination",
    "least": "smallest number of stories in each half",
}


@app.command("check")
@takes(CheckOptions, CHECK)
def check(
    runs: Runs,
    *,
    options: CheckOptions,
    judge: Judges = None,
    form: Form = "table",
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Verdict on whether the judges of RUNs have seen the stories in training, and what cannot be measured.

    Judges whose weights are on this machine (local/, hf/, vllm/) are scored: do they recite stories, or passages that
    everybody knows? With --labelled: the share of stories that they have seen. Needs the extra hf, for local/ the extra
    local. docs/contamination.md has the rule of each verdict.

    Example: judge contamination check runs/demo-llm

    Example: judge contamination check runs/hanna --set released=my-model=2024-11 --labelled WikiMIA_length64.jsonl
    """
    from judge.analysis.inputs.selection import narrowed
    from judge.analysis.options.selection import Selection
    from judge.cli.table_options import FLAGS, emit
    from judge.contamination.check import check as check_runs
    from judge.contamination.check import table, text
    from judge.ratings.ratings_table import read

    ratings = narrowed(read(runs, explanations=False), Selection.of(None, judge, None))
    checked = check_runs(ratings, options, None if quiet else _progress)
    if form == "table" and output is None:
        typer.echo(text(checked, FLAGS), nl=False)
    else:
        emit(table(checked), form, output)


@app.command("score")
@takes(ScoringOptions, SCORING, name="scoring")
def score(
    dataset: Annotated[
        str,
        typer.Argument(metavar="DATASET|FILE", help="dataset of stories by name or path, or file of labelled texts"),
    ],
    model: Annotated[
        str, typer.Option("--model", help="model to score with: hf/PATH, hf/NAME, or openai/NAME on a vLLM server")
    ],
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
    """Scores file with Min-K% Prob, loss, zlib ratio and related scores of each story; higher = more likely seen.

    Log-probabilities are stored in derived/ beside the file, by text and model: run again to continue, or for other
    scores.

    Example: judge contamination score mans_roc --model hf/gpt2 --calibration wikimia.scores.jsonl -o gpt2.scores.jsonl
    """
    from judge.contamination import scores_file, thresholds
    from judge.contamination.session import scored
    from judge.contamination.texts import of_dataset
    from judge.inputs.datasets.files.column_guess import column_options

    by_number = thresholds.is_number(threshold)  # a rule that is not known is told before anything is scored
    texts = of_dataset(dataset, columns=column_options(column), limit=limit)
    calibrated = None if calibration is None else scores_file.read(calibration)
    progress = None if quiet else _progress
    scored_file = scored(texts, model, scoring, output.parent, calibration=calibrated, progress=progress)
    if by_number:
        scored_file = thresholds.given(scored_file, float(threshold), score_name or f"min_k_{scoring.k:g}")
    elif calibrated is not None:
        scored_file = thresholds.carried_over(scored_file, calibrated, threshold)
    scores_file.write(output, scored_file)
    typer.echo(
        f"{output}: {len(scored_file.rows)} texts, {len(scored_file.names)} scores, "
        f"{scored_file.truncated} cut to the context"
    )
    _say_lost(scored_file)


@app.command("auc")
@takes(AucOptions, HELP)
@takes(ScoringOptions, SCORING, name="scoring")
def auc(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="file of labelled texts, or their scores file")],
    model: Annotated[
        str | None,
        typer.Option("--model", help="model to score with, as for judge contamination score; not for a scores file"),
    ] = None,
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
    """Accuracy of each score in separating texts seen from texts not seen: AUC, true-positive rates, thresholds.

    Each line of FILE has a label (1 = seen, 0 = not) and input, snippet or text, as in WikiMIA and BookMIA; where books
    are named, books are resampled.

    Example: judge contamination auc WikiMIA_length64.jsonl --model hf/gpt2 --scores-to wikimia.scores.jsonl
    """
    from judge.cli.table_options import emit
    from judge.contamination import scores_file, thresholds
    from judge.contamination.auc import areas, write_curves
    from judge.contamination.tables import auc_table

    if thresholds.is_number(threshold):
        raise SpecError("a number is no rule for all scores", hint="--set threshold=youden or --set threshold=fpr=0.05")
    scored_file = _labelled(file, model, scoring, (scores_to or file).parent, limit, quiet=quiet)
    try:
        scored_file = thresholds.all_by_rule(scored_file, threshold)
    except SpecError as error:
        typer.echo(f"no thresholds: {complaint(error)}", err=True)
    estimates = areas(scored_file, options)
    if scores_to is not None:
        scores_file.write(scores_to, scored_file)
    if roc is not None:
        write_curves(roc, scored_file)
    emit(auc_table(estimates), form, output)


app.command("report")(command_of(question("contamination")))


def _labelled(
    file: Path, model: str | None, scoring: ScoringOptions, folder: Path, limit: int | None, *, quiet: bool
) -> ScoresFile:
    """Scores in a scores file, else computed from its first `limit` texts, with a cache in `folder`."""
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
    # Where stderr is not a terminal, only the last count is printed.
    if sys.stderr.isatty() or done == total:
        typer.echo(f"{name}: {done}/{total} texts", err=True)


def _say_lost(scored_file: ScoresFile) -> None:
    from collections import Counter

    reasons = Counter(
        {(why, name): n for name in scored_file.names for why, n in scored_file.why_undefined(name).items()}
    )
    for (why, name), count in reasons.items():
        typer.echo(f"  {name}: {count} texts {why}")
