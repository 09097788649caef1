"""`judge explain`: explanations as data. The work is in `explanations`."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.option_words import complaint
from judge.cli.table_options import Criteria, EvalPrompts, Form, Judges, Output, ParserName, Quiet
from judge.errors import RunFolderError, SpecError

if TYPE_CHECKING:
    from rich.progress import TaskID

    from judge.explanations.corpus.corpus import ExplanationTexts
    from judge.explanations.mapping.explanation_map import Step
    from judge.explanations.mapping.options import ExplainOptions

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_Named = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN... or FILE",
        help="runs, or one table (CSV, TSV, JSON, JSON Lines, Parquet, XLSX); also storyer_reasons, hanna_user_study",
    ),
]
_Model = Annotated[str, typer.Option("--model", help="of sentence-transformers, name or folder; tfidf needs none")]
_ClusterOn = Annotated[str, typer.Option("--cluster-on", help="umap (the picture), pca (50 dimensions) or none")]
_MinCluster = Annotated[
    int | None, typer.Option("--min-cluster", help="texts of the smallest cluster; default 1 %, at least 10")
]
_By = Annotated[
    str, typer.Option("--by", help="keywords by these: criterion, eval-prompt, rating, cluster, judge, system")
]
_AsPublished = Annotated[
    bool, typer.Option("--as-published", help="the HANNA judge study's texts, map and keywords (YAKE)")
]
_Sample = Annotated[
    int, typer.Option("--sample", help="texts that the numbers on specificity look at, whole stories of them")
]
_Permutations = Annotated[
    int, typer.Option("--permutations", help="of labels, for the baselines of silhouette and purity")
]
_Refits = Annotated[int, typer.Option("--refits", help="of the classifier on permuted labels, for its baseline")]
_ValidateFlags = Annotated[
    Path | None,
    typer.Option("--validate-flags", metavar="FILE", help="no RUN: the rules against the annotators of user_study.csv"),
]
_Column = Annotated[
    list[str] | None, typer.Option("--column", metavar="FIELD=COLUMN", help="for a FILE: which column holds what")
]


@app.command()
def explain(
    named: _Named = None,
    model: _Model = "auto",
    picture: Annotated[str, typer.Option("--map", help="umap, tsne or pca")] = "auto",
    no_map: Annotated[bool, typer.Option("--no-map", help="no picture; clusters come from the PCA")] = False,
    neighbours: Annotated[int, typer.Option("--neighbours", help="of UMAP")] = 15,
    metric: Annotated[str, typer.Option("--metric", help="of UMAP: cosine or euclidean")] = "cosine",
    cluster_on: _ClusterOn = "auto",
    min_cluster: _MinCluster = None,
    by: _By = "criterion,eval-prompt,rating,cluster",
    top: Annotated[int, typer.Option("--top", help="so many keywords a group")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="of the map and the clusters")] = 1,
    as_published: _AsPublished = False,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    sample: _Sample = 5000,
    permutations: _Permutations = 199,
    refits: _Refits = 39,
    resamples: Annotated[int, typer.Option("--resamples", help="of stories, for intervals of rank correlations")] = 500,
    validate_flags: _ValidateFlags = None,
    column: _Column = None,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
    quiet: Quiet = False,
) -> None:
    """What explanations say: embeddings, a map, clusters, keywords, and numbers beside them.

    A FILE has columns text, criterion, rating, story, story_prompt, story_text, system, judge, eval_prompt, repeat, as
    far as known; --column text=Comment names others. Points and tables go to derived/explanations.json of each run.

    Example: judge explain runs/my-run --eval-prompt ep3

    Example: judge explain comments.csv --column text=Comment --column criterion=Aspect --model tfidf

    Example: judge explain --validate-flags user_study.csv
    """
    # Many small products of matrices: threads of the linear algebra only wait for each other. Models have their own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from judge.cli.stories.data import column_options
    from judge.explanations.corpus.corpus import narrowed
    from judge.explanations.corpus.reading import read_texts
    from judge.explanations.mapping.options import WORDS, ExplainOptions, published
    from judge.explanations.quality.options import NumbersOptions

    if validate_flags is not None:
        _validate(validate_flags, named, form, output)
        return
    if not named:
        raise SpecError("nothing to read: name a RUN or a FILE", hint="judge explain runs/my-run")
    if quiet:
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # bars of the model's own loading
    words = [word.strip() for word in by.split(",") if word.strip()]
    options = ExplainOptions(
        model,
        "none" if no_map else picture,  # type: ignore[arg-type]  # checked by the options
        neighbours,
        metric,  # type: ignore[arg-type]
        cluster_on,  # type: ignore[arg-type]
        min_cluster,
        tuple(dict.fromkeys(WORDS.get(word, word) for word in words)),
        top,
        seed,
        numbers=NumbersOptions(sample=sample, permutations=permutations, refits=refits, resamples=resamples),
    )
    if as_published:
        options = published(options)
    texts = narrowed(
        read_texts(named, parser=parser, columns=column_options(column)),
        criteria=criterion or (),
        judges=judge or (),
        eval_prompts=eval_prompt or (),
    )
    drawn = _look(texts, options, form, output, quiet=quiet)
    if drawn and not quiet:
        runs = shlex.join(named)
        step = f"the map: judge report {runs}; judge view; judge figure explanations {runs} -o map.pdf"
        typer.echo(step, err=True)


def _look(texts: ExplanationTexts, options: ExplainOptions, form: str, output: Path | None, *, quiet: bool) -> bool:
    """Print the tables, and keep them and the map where pages and figures find them; whether a map is kept."""
    from judge.cli.option_words import emit
    from judge.explanations.look import look
    from judge.explanations.mapping import explanation_map, stored
    from judge.explanations.tables import tables

    with _Progress(quiet=quiet) as step:
        seen = look(explanation_map.map_explanations(texts, options, step), step)
    found = tables(seen)
    emit(found, form, output)
    drawn = False
    for folder, kept in stored.of_folders(seen.map, found, seen.cluster_words):
        try:
            stored.write(folder, kept)
            drawn = seen.map.picture is not None
        except RunFolderError as error:  # a folder that is only to be read: the tables are out all the same
            typer.echo(f"the map is not kept for pages and figures: {complaint(error)}", err=True)
    return drawn


def _validate(file: Path, named: list[str] | None, form: str, output: Path | None) -> None:
    """Precision and recall of the rules; no run is looked at."""
    from judge.cli.option_words import emit
    from judge.explanations.quality.flag_rates import validation
    from judge.explanations.quality.tables import validation_table

    if named:
        raise SpecError("--validate-flags looks at the study's file alone", hint=f"leave {' '.join(named)} out")
    emit(validation_table(validation(file)), form, output)


def _quiet(_what: str, _done: int, _total: int) -> None:
    """Say nothing."""


class _Progress:
    """Bars on stderr for what can be counted, one line for what cannot."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    def __enter__(self) -> Step:
        if self.quiet:
            return _quiet
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(file=sys.stderr)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.bars = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.bars.start()
        self.tasks: dict[str, TaskID] = {}
        return self._step

    def _step(self, what: str, done: int, total: int) -> None:
        if not self.bars.console.is_terminal:
            typer.echo(f"{what}: {done}/{total}" if total else what, err=True)
        elif not total:
            self.bars.console.print(what)
        else:
            if what not in self.tasks:
                self.tasks[what] = self.bars.add_task(what, total=total)
            self.bars.update(self.tasks[what], completed=done)

    def __exit__(self, *_: object) -> None:
        if not self.quiet:
            self.bars.stop()
