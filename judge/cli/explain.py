"""Command `judge explain`: embeddings, map and statistics of explanations. The computation is in
`judge.explanations`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judge.base.errors import RunFolderError, SpecError
from judge.cli.declared import refuse_flags, takes
from judge.cli.table_options import Criteria, EvalPrompts, Form, Full, Judges, Output, ParserName, Quiet, complaint
from judge.explanations.options import WORDS, ExplainOptions, NumbersOptions, published

if TYPE_CHECKING:
    from rich.progress import TaskID

    from judge.asking.run_folder import ResultFolder
    from judge.base.printing.tables import Table
    from judge.explanations.corpus.corpus import ExplanationTexts
    from judge.explanations.mapping.stored_map import Drawn, StoredMap
    from judge.explanations.options import Step

_Named = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN... or FILE",
        help="runs, or one table (CSV, TSV, JSON, JSON Lines, Parquet, XLSX), or one of "
        "storyer_reasons, hanna_user_study, ttcw_explanations",
    ),
]
_By = Annotated[
    str,
    typer.Option(
        "--by", help="variables that group the keywords: criterion, eval-prompt, rating, cluster, judge, system, side"
    ),
]
_BY_DEFAULT = "criterion,eval-prompt,rating,cluster"
_ValidateFlags = Annotated[
    Path | None,
    typer.Option(
        "--validate-flags",
        metavar="FILE",
        help="user_study.csv, to compare the rules with its annotators; takes no RUN",
    ),
]
_Figure = Annotated[
    Path | None, typer.Option("--figure", metavar="FILE", help="file for a picture of the map: .png, .pdf or .svg")
]
_Mark = Annotated[
    str | None,
    typer.Option(
        "--mark", help="variable that colours the picture; default: side where people and judges wrote, else criterion"
    ),
]
_NameBy = Annotated[
    str,
    typer.Option(
        "--name-by",
        help="what names topics: phrases of their texts, ctfidf, keybert, or a judge (provider/model) that reads ten "
        "of each",
    ),
]
Layout = Literal["topics", "clusters", "contradictions"]
_Layout = Annotated[
    Layout,
    typer.Option(
        "--layout",
        help="topics of reasons; clusters of texts with keywords and statistics; or texts to read for contradictions",
    ),
]
_Topics = Annotated[int, typer.Option("--topics", help="number of topics of all criteria together")]
_Themes = Annotated[int, typer.Option("--themes", help="number of themes over the topics")]
_Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=COLUMN", help="column of FILE that holds a field; may be given several times"
    ),
]


HELP = {
    "model": "sentence-transformers model by name or folder, or tfidf, which needs no model",
    "map": "method that reduces embeddings to a map; none: clusters are computed on the PCA",
    "neighbours": "number of neighbours for UMAP",
    "metric": "distance metric for UMAP",
    "cluster_on": "coordinates that are clustered: those of the map, or 50 dimensions of a PCA",
    "min_cluster": "number of texts in the smallest cluster; default: 1 %, at least 10",
    "mask": "words of few story-prompts are left out before texts are embedded (layout clusters)",
    "top": "number of keywords for each group",
    "seed": "seed of the map and the clusters",
    "as_published": "texts, map and keywords (YAKE) as in the HANNA judge study",
}
NUMBERS = {
    "sample": "number of texts, from whole stories, for the statistics on specificity",
    "permutations": "number of permutations of labels, for the baselines of silhouette and purity",
    "refits": "number of classifiers on permuted labels, for the baseline of their accuracy",
    "resamples": "number of resamples of stories, for intervals of rank correlations",
}
# Of the numbers: not asked for, or the map's own.
_FIXED = ("seed", "neighbours", "folds", "components", "words", "stories_share", "top")


@takes(ExplainOptions, HELP, without=("by", "numbers"))
@takes(NumbersOptions, NUMBERS, without=_FIXED, name="numbers")
def explain(
    context: typer.Context,
    named: _Named = None,
    *,
    options: ExplainOptions,
    layout: _Layout = "topics",
    topics: _Topics = 50,
    themes: _Themes = 10,
    name_by: _NameBy = "phrases",
    by: _By = _BY_DEFAULT,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    numbers: NumbersOptions,
    validate_flags: _ValidateFlags = None,
    column: _Column = None,
    figure: _Figure = None,
    mark: _Mark = None,
    full: Full = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
    quiet: Quiet = False,
) -> None:
    """What explanations say: topics of reasons, with which ratings, by whom, and where judge and people part.

    Words of few story-prompts are masked, so that topics are reasons and not stories. Layout clusters: embeddings, a
    map, clusters, keywords, statistics. Layout contradictions: texts whose words or quoted guideline disagree with
    their rating, candidates to read. --set name_by=JUDGE has a judge name topics after ten of their texts; its answers
    are kept.

    A FILE has columns text, criterion, rating, story, story_prompt, story_text, system, judge, eval_prompt, repeat,
    side, people, as far as known; --column text=Comment names others. Where side is expert for texts that people wrote,
    layout clusters compares their words with the judges'. Points and tables are written to derived/explanations.json of
    each run.

    Example: judge explain runs/my-run --eval-prompt ep3

    Example: judge explain runs/my-run --set name_by=openai/gpt-4o-mini

    Example: judge explain comments.csv --column text=Comment --column criterion=Aspect

    Example: judge explain ttcw_explanations --layout clusters --model tfidf --map tsne --by side --top 5
    """
    _one_thread()
    if validate_flags is not None:
        _validate(validate_flags, named, form, output, full=full)
        return
    named = _given(named)
    _check_figure(figure, options)  # before minutes are spent
    layout = _effective(context, "clusters" if options.as_published else layout, name_by)
    texts = _texts(named, parser, column, (criterion or (), judge or (), eval_prompt or ()))
    if layout == "contradictions":
        _contradictions(texts, options.seed, form, output, full=full)
        return
    if layout == "topics":
        tables, drawn = _reasons(texts, options, (topics, themes, name_by), pictured=bool(figure), quiet=quiet)
    else:
        tables, drawn = _clusters(texts, _options(options, numbers, by), quiet=quiet)
    _show(tables, drawn, (form, output, full), (figure, mark), None if quiet else named)


def _show(
    tables: list[Table],
    drawn: Drawn,
    shown: tuple[str, Path | None, bool],
    drawing: tuple[Path | None, str | None],
    named: list[str] | None,
) -> None:
    """Print the tables, draw the map, keep it with the runs, and say so if they are `named`."""
    from judge.cli.table_options import emit

    form, output, full = shown
    emit(tables, form, output, full=full)
    figure, mark = drawing
    if figure is not None:
        _draw_map(drawn.of_analysis(), figure, mark)
    if _keep(drawn.of_folders(tables)) and drawn.method and named:
        _say_where(shlex.join(named))


# Options of the other layouts.
_CLUSTERS = (
    *("--model", "--by", "--top", "--resamples", "--set metric", "--set mask", "--set cluster_on", "--set min_cluster"),
    *("--set sample", "--set permutations", "--set refits"),
)
_MAPS = ("--map", "--set figure", "--set mark", "--set neighbours")
_TOPICS = ("--set topics", "--set themes", "--set name_by")
_WITHOUT_EFFECT = {"topics": _CLUSTERS, "clusters": _TOPICS, "contradictions": (*_CLUSTERS, *_MAPS, *_TOPICS)}


def _texts(
    named: list[str], parser: str, column: list[str] | None, chosen: tuple[Sequence[str], Sequence[str], Sequence[str]]
) -> ExplanationTexts:
    from judge.explanations.corpus.corpus import narrowed
    from judge.explanations.corpus.reading import read_texts
    from judge.inputs.datasets.files.column_guess import column_options

    criteria, judges, eval_prompts = chosen
    texts = read_texts(named, parser=parser, columns=column_options(column))
    return narrowed(texts, criteria=criteria, judges=judges, eval_prompts=eval_prompts)


def _effective(context: typer.Context, layout: Layout, name_by: str) -> Layout:
    refused = _WITHOUT_EFFECT[layout]
    if layout == "topics" and name_by == "keybert":  # whose embeddings the model makes
        refused = tuple(flag for flag in refused if flag != "--model")
    refuse_flags(context, refused, f"--layout {layout}")
    return layout


def _given(named: list[str] | None) -> list[str]:
    if not named:
        raise SpecError("nothing to read: name a RUN or a FILE", hint="judge explain runs/my-run")
    return named


def _check_figure(figure: Path | None, options: ExplainOptions) -> None:
    if figure is None:
        return
    from judge.questions.figures.panels import check_suffix

    check_suffix(figure)
    if options.map == "none":
        raise SpecError("--set figure draws the map, and --map none makes none")


def _reasons(
    texts: ExplanationTexts, options: ExplainOptions, made: tuple[int, int, str], *, pictured: bool, quiet: bool
) -> tuple[list[Table], Drawn]:
    """Tables of the topics of reasons, and their map: of runs, and where it is to be `pictured`."""
    from judge.explanations.topics import results, stored
    from judge.explanations.topics.reasons import reasons

    count, themes, name_by = made
    with _Progress(quiet=quiet) as step:
        step("finding topics of reasons", 0, 0)
        found = reasons(
            texts, count=count, themes=themes, seed=options.seed, name_by=name_by, model=options.model, step=step
        )
        result = results.reason_results(texts, found)
        explained = results.tables(result)
        pictured = pictured or bool(texts.facts)
        if options.map != "none" and pictured:
            step("drawing the map", 0, 0)
        return explained, stored.drawn(result, options if pictured else replace(options, map="none"))


def _clusters(texts: ExplanationTexts, options: ExplainOptions, *, quiet: bool) -> tuple[list[Table], Drawn]:
    """Tables of the clusters of texts, and their map."""
    from judge.explanations import results
    from judge.explanations.mapping import explanation_map

    if quiet:
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # bars of the model's own loading
    with _Progress(quiet=quiet) as step:
        seen = results.results(explanation_map.map_explanations(texts, options, step), step)
    return results.tables(seen), explanation_map.drawn(seen.map, seen.cluster_words)


def _one_thread() -> None:
    # Many small products of matrices: threads of the linear algebra only wait for each other. Models have their own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _say_where(runs: str) -> None:
    typer.echo(f"the map: judge report {runs}; judge view; judge explain {runs} --set figure=map.pdf", err=True)


def _contradictions(texts: ExplanationTexts, seed: int, form: str, output: Path | None, *, full: bool) -> None:
    from judge.cli.table_options import emit
    from judge.explanations.quality.contradictions import contradictions, table

    emit(table(contradictions(texts.with_text, texts.criteria, seed)), form, output, full=full)


def _options(options: ExplainOptions, numbers: NumbersOptions, by: str) -> ExplainOptions:
    words = [word.strip() for word in by.split(",") if word.strip()]
    groups = tuple(dict.fromkeys(WORDS.get(word, word) for word in words))
    options = replace(options, by=groups, numbers=numbers)
    return published(options) if options.as_published else options


def _keep(maps: Sequence[tuple[ResultFolder, StoredMap]]) -> bool:
    """True if a map was stored."""
    from judge.explanations.mapping import stored_map

    kept_any = False
    for folder, kept in maps:
        try:
            stored_map.write(folder, kept)
            kept_any = True
        except RunFolderError as error:  # a folder that is only to be read: the tables are out all the same
            typer.echo(f"the map is not kept for pages and figures: {complaint(error)}", err=True)
    return kept_any


def _draw_map(drawing: StoredMap, output: Path, mark: str | None) -> None:
    from judge.questions.charts import explanation_map as charts
    from judge.questions.figures import explanations, panels

    # `side` is who wrote the explanation, such as experts or judges.
    if mark is None:
        mark = "side" if any(point.get("side") for point in drawing.points) else "criterion"
    panels.write(explanations.draw(charts.explanation_map(drawing, [mark]), panels.inches_of("page")), output)
    typer.echo(f"{output}: {len(drawing.points)} explanations by {mark}", err=True)


def _validate(file: Path, named: list[str] | None, form: str, output: Path | None, *, full: bool) -> None:
    from judge.cli.table_options import emit
    from judge.explanations.quality.error_flags import validation
    from judge.explanations.quality.measures import validation_table

    if named:
        raise SpecError("--set validate_flags looks at the study's file alone", hint=f"leave {' '.join(named)} out")
    emit(validation_table(validation(file)), form, output, full=full)


def _quiet(_what: str, _done: int, _total: int) -> None:
    """Progress callback that prints nothing."""


class _Progress:
    """On stderr: a bar for steps whose size is known, a line for others."""

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

    def _step(self, stage: str, done: int, total: int) -> None:
        if not self.bars.console.is_terminal:
            typer.echo(f"{stage}: {done}/{total}" if total else stage, err=True)
        elif not total:
            self.bars.console.print(stage)
        else:
            if stage not in self.tasks:
                self.tasks[stage] = self.bars.add_task(stage, total=total)
            self.bars.update(self.tasks[stage], completed=done)

    def __exit__(self, *_: object) -> None:
        if not self.quiet:
            self.bars.stop()
