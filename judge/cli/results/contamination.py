"""`judge contamination`: whether models have seen the stories. The work is in `contamination`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from judge.cli.option_words import complaint
from judge.cli.table_options import (
    Against,
    Criteria,
    EvalPrompts,
    Form,
    Judges,
    Output,
    ParserName,
    Quiet,
    Resamples,
    Runs,
    Seed,
)
from judge.errors import SpecError

if TYPE_CHECKING:
    from judge.backends.protocol import Settings
    from judge.contamination.scores_file import ScoresFile
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_Calibration = Annotated[
    Path | None,
    typer.Option("--calibration", metavar="SCORES", help="labelled set scored by the same model: gives thresholds"),
]
_ScoreName = Annotated[
    str | None, typer.Option("--score", help="the score a number as threshold belongs to; default min_k_K")
]
_Column = Annotated[
    list[str] | None, typer.Option("--column", metavar="FIELD=COLUMN", help="for tables: which column holds what")
]
_ScoresTo = Annotated[
    Path | None, typer.Option("--scores-to", metavar="FILE", help="scores file to write, for --calibration")
]
_Fpr = Annotated[float, typer.Option("--fpr", help="false-positive rate at which the true-positive rate is read")]

_K = Annotated[float, typer.Option("--k", help="share of least likely tokens in per cent, beside 5 to 60")]
_Revision = Annotated[str | None, typer.Option("--revision", help="of the model")]
_BaseUrl = Annotated[str | None, typer.Option("--base-url", help="of a vLLM server, for openai/MODEL")]
_Engine = Annotated[
    list[str] | None,
    typer.Option("--engine", metavar="KEY=VALUE", help="device, dtype, batch_tokens, max_model_len...; several times"),
]
_Concurrency = Annotated[int, typer.Option("--concurrency", help="requests in flight at a server")]
_Reference = Annotated[
    str | None, typer.Option("--reference", metavar="MODEL", help="also against this smaller or other model")
]
_Lowercase = Annotated[bool, typer.Option("--lowercase", help="also against the text in lower case")]
_Full = Annotated[bool, typer.Option("--full-distribution", help="also Min-K%++, which needs whole distributions")]
_Nonmembers = Annotated[
    Path | None, typer.Option("--nonmembers", metavar="FILE", help="also ReCaLL, with these texts not seen before each")
]
_Shots = Annotated[int, typer.Option("--shots", help="how many of them")]
_Words = Annotated[int | None, typer.Option("--words", help="cut every text to so many words, leave out shorter ones")]
_Threshold = Annotated[str, typer.Option("--threshold", metavar="RULE", help="youden, fpr=0.05, or a number")]
_Limit = Annotated[int | None, typer.Option("--limit", help="only the first so many texts")]
_Scores = Annotated[
    list[Path],
    typer.Option("--scores", metavar="FILE", help="of judge contamination score; may be given several times"),
]


_ScoreToGoBy = Annotated[str, typer.Option("--score", help="name of the score to go by")]


@app.command("score")
def score(
    dataset: Annotated[str, typer.Argument(metavar="DATASET|FILE", help="stories by name or path, or labelled texts")],
    model: Annotated[str, typer.Option("--model", help="hf/PATH, hf/NAME, or openai/NAME on a vLLM server")],
    output: Annotated[Path, typer.Option("-o", "--output", help="scores file to write (.jsonl)")],
    k: _K = 20,
    words: _Words = None,
    lowercase: _Lowercase = False,
    reference: _Reference = None,
    full_distribution: _Full = False,
    nonmembers: _Nonmembers = None,
    shots: _Shots = 7,
    calibration: _Calibration = None,
    threshold: _Threshold = "fpr=0.05",
    score_name: _ScoreName = None,
    revision: _Revision = None,
    base_url: _BaseUrl = None,
    engine: _Engine = None,
    concurrency: _Concurrency = 32,
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
    from judge.contamination.session import Asked, scored
    from judge.contamination.texts import of_dataset

    by_number = thresholds.is_number(threshold)  # a rule that is not known is told before anything is scored
    texts = of_dataset(dataset, columns=column_options(column), limit=limit)
    calibrated = None if calibration is None else scores_file.read(calibration)
    settings = _settings(revision, base_url, engine, concurrency)
    asked = Asked(
        model,
        settings,
        reference=reference,
        k=k,
        words=words,
        lowercase=lowercase,
        full_distribution=full_distribution,
        nonmembers=nonmembers,
        shots=shots,
    )
    made = scored(texts, asked, output.parent, calibration=calibrated, progress=None if quiet else _progress)
    if by_number:
        made = thresholds.given(made, float(threshold), score_name or f"min_k_{k:g}")
    elif calibrated is not None:
        made = thresholds.carried_over(made, calibrated, threshold)
    scores_file.write(output, made)
    typer.echo(f"{output}: {len(made.rows)} texts, {len(made.names)} scores, {made.truncated} cut to the context")
    _say_lost(made)


@app.command("auc")
def auc(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="labelled texts, or a scores file of such")],
    model: Annotated[str | None, typer.Option("--model", help="as for score; not for a scores file")] = None,
    scores_to: _ScoresTo = None,
    k: _K = 20,
    words: _Words = None,
    lowercase: _Lowercase = False,
    reference: _Reference = None,
    full_distribution: _Full = False,
    nonmembers: _Nonmembers = None,
    shots: _Shots = 7,
    threshold: _Threshold = "fpr=0.05",
    revision: _Revision = None,
    base_url: _BaseUrl = None,
    engine: _Engine = None,
    concurrency: _Concurrency = 32,
    limit: _Limit = None,
    fpr: _Fpr = 0.05,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    roc: Annotated[Path | None, typer.Option("--roc", metavar="FILE.csv", help="file for every ROC curve")] = None,
    form: Form = "table",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="file for the table")] = None,
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
    from judge.contamination.area import AucOptions
    from judge.contamination.auc import table, write_curves
    from judge.contamination.session import Asked, scored
    from judge.contamination.texts import labelled

    options = AucOptions(resamples=resamples, seed=seed, fpr=fpr)
    if thresholds.is_number(threshold):
        raise SpecError("a number is no rule for all scores", hint="--threshold youden or fpr=0.05")
    if scores_file.is_scores_file(file):
        if model is not None:
            raise SpecError(f"{file} holds scores already; leave --model out")
        made = scores_file.read(file)
    elif model is None:
        raise SpecError(f"{file} holds texts, and --model does not say what to score them with")
    else:
        asked = Asked(
            model,
            _settings(revision, base_url, engine, concurrency),
            reference=reference,
            k=k,
            words=words,
            lowercase=lowercase,
            full_distribution=full_distribution,
            nonmembers=nonmembers,
            shots=shots,
        )
        beside = (scores_to or file).parent
        made = scored(labelled(file, limit=limit), asked, beside, progress=None if quiet else _progress)
    try:
        made = thresholds.all_by_rule(made, threshold)
    except SpecError as error:
        typer.echo(f"no thresholds: {complaint(error)}", err=True)
    found = table(made, options)
    if scores_to is not None:
        scores_file.write(scores_to, made)
    if roc is not None:
        write_curves(roc, made)
    emit(found, form, output)


@app.command("report")
def report(
    runs: Runs,
    scores: _Scores,
    score_name: _ScoreToGoBy = "min_k_20",
    system: Annotated[
        list[str] | None,
        typer.Option("--system", help="system whose stories are the story set; may be given several times"),
    ] = None,
    own: Annotated[
        list[str] | None, typer.Option("--own", metavar="MODEL=SYSTEM", help="system that is a model's own")
    ] = None,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Each model's rate of stories it seems to have seen, AUC, and its own stories' ratings.

    Example: judge contamination report runs/hanna --scores beluga.scores.jsonl --system Human
    """
    from judge.contamination import report as study

    table, files = _read(runs, scores, parser, criterion, judge, eval_prompt, None)
    pairs = tuple(_pair(one) for one in own or ())
    found = study.table(table, files, study.ReportOptions(score_name, tuple(system or ()), pairs))
    _emit(table, found, form, output)


@app.command("validity")
def validity(
    runs: Runs,
    scores: _Scores,
    score_name: _ScoreToGoBy = "min_k_20",
    split: Annotated[
        Literal["threshold", "median"], typer.Option("--split", help="score at which stories are set apart")
    ] = "threshold",
    least: Annotated[int, typer.Option("--least", help="number of stories that each half needs")] = 50,
    against: Against = None,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Agreement with people where contamination is high and where it is low, and the difference.

    Example: judge contamination validity runs/hanna --scores beluga.scores.jsonl --split median
    """
    from judge.contamination import validity as strata

    table, files = _read(runs, scores, parser, criterion, judge, eval_prompt, against)
    options = strata.ValidityOptions(score_name, split, least, against, resamples, seed)
    _emit(table, strata.table(table, files, options), form, output)


def _read(
    runs: list[str],
    scores: list[Path],
    parser: str,
    criterion: list[str] | None,
    judge: list[str] | None,
    eval_prompt: list[str] | None,
    against: str | None,
) -> tuple[RatingsTable, list[ScoresFile]]:
    """The chosen part of the runs' ratings, and the scores files."""
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.cli.reading_bar import reading_bar
    from judge.contamination.scores_file import read as read_scores
    from judge.ratings_table import read

    files = [read_scores(path) for path in scores]
    keep = Selection.of(criterion, judge, eval_prompt, people=[against])
    return narrowed(read(runs, parser=parser, explanations=False, telling=reading_bar), keep), files


def _emit(table: RatingsTable, found: Table, form: str, output: Path | None) -> None:
    from judge.analysis.coverage.tables import with_coverage
    from judge.cli.option_words import emit

    emit(with_coverage(table, [found], form), form, output)


def _settings(revision: str | None, base_url: str | None, engine: list[str] | None, concurrency: int) -> Settings:
    from judge.backends import Settings

    keys: dict[str, Any] = {}
    for word in engine or []:
        key, _, value = word.partition("=")
        if not key or not value:
            raise SpecError(f"--engine {word!r} is not KEY=VALUE", hint="e.g. --engine dtype=bfloat16")
        keys[key] = int(value) if value.isdigit() else {"true": True, "false": False}.get(value, value)
    if concurrency < 1:
        raise SpecError(f"--concurrency {concurrency} must be 1 or more")
    return Settings((base_url,) if base_url else (), revision, keys, concurrency=concurrency)


def _pair(word: str) -> tuple[str, str]:
    model, _, system = word.rpartition("=")
    if not model or not system:
        raise SpecError(f"--own {word!r} is not MODEL=SYSTEM", hint="e.g. --own gpt2=GPT-2")
    return model, system


def _progress(name: str, done: int, total: int) -> None:
    """One line for each lot of texts, on stderr."""
    typer.echo(f"{name}: {done}/{total} texts", err=True)


def _say_lost(made: ScoresFile) -> None:
    """Texts without a score, by reason."""
    from collections import Counter

    reasons = Counter({(why, name): n for name in made.names for why, n in made.why_undefined(name).items()})
    for (why, name), count in reasons.items():
        typer.echo(f"  {name}: {count} texts {why}")
