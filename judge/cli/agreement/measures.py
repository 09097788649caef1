"""Command `judge measures`: computes automatic measures of a dataset's stories, which are analysed like judges.
Computed in `measures`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from judge.cli.table_options import Form, Output, Quiet
from judge.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge.measures import Known
    from judge.measures.measure import Need


class _DatasetOrCommand(TyperGroup):
    """Group of commands in which `judge measures DATASET` means `judge measures of DATASET`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name, or the command `of` if they begin with a dataset."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = [_OF, *args]
        return super().resolve_command(ctx, args)


_OF = "of"
app = typer.Typer(cls=_DatasetOrCommand, no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NEED=MODEL",
        help="model that measures need: lm=hf/PATH, encoder=PATH, ...; may be given several times",
    ),
]
_Limit = Annotated[int | None, typer.Option("--limit", help="number of stories, from the first on; default: all")]
_Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=COLUMN", help="column of a table that holds a field; may be given several times"
    ),
]


_Dataset = Annotated[
    str,
    typer.Argument(metavar="DATASET", help="dataset of stories, by name or path; the word 'of' may be left out"),
]
_Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="result folder to write; default: runs/DATASET/measures")
]
_Measure = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="NAME", help="measure to compute; may be given several times"),
]
_MeasureSet = Annotated[
    str | None,
    typer.Option("--set", help="set of measures: quick, hanna, openmeva or all; default: quick, or those of --measure"),
]
_Criteria = Annotated[str | None, typer.Option("--criteria", help="criteria set with the scales of people's ratings")]


@app.command(_OF)
def of(
    dataset: _Dataset,
    output: _Output = None,
    measure: _Measure = None,
    measure_set: _MeasureSet = None,
    model: _Models = None,
    criteria: _Criteria = None,
    column: _Columns = None,
    limit: _Limit = None,
    quiet: Quiet = False,
) -> None:
    """Result folder with automatic measures of all stories, which every table reads as judges measure/NAME.

    Values are stored in derived/ of the folder, by recipe and text: run again with more measures, and only these are
    computed. Measures of a set that cannot run here are left out and listed.

    Example: judge measures of mans_roc --set quick -o runs/mans-roc/measures

    Example: judge measures of mans_roc --measure perplexity --model lm=local/smollm2
    """
    from judge.criteria import load_criteria
    from judge.datasets import open_dataset
    from judge.datasets.files.column_words import column_options
    from judge.exchange.imports.imported_folder import write_folder
    from judge.exchange.imports.measured import as_import
    from judge.measures.session import measured

    known_criteria = load_criteria(criteria).criteria if criteria else ()
    wanted, models = _wanted(measure, measure_set), _models(model)
    opened = open_dataset(dataset, columns=column_options(column), criteria=known_criteria)
    stories = [story for at, story in enumerate(opened.stories()) if limit is None or at < limit]
    folder = output or Path("runs") / opened.name / "measures"
    measurements = measured(
        stories,
        wanted,
        models=models,
        cache=folder,
        skip=not measure or measure_set is not None,
        progress=None if quiet else _progress,
    )
    if not measurements.measures:
        raise SpecError("none of these measures runs here", hint="judge measures list")
    imported = as_import(measurements, opened, models, known_criteria)
    write_folder(folder, imported)
    counts = f"{len(measurements.measures)} measures of {len(stories)} stories"
    known_too = f"{measurements.computed} computed, {measurements.reused} known"
    typer.echo(f"{folder}: {counts} ({known_too}); judge correlate {folder}")
    _say_skipped(measurements.skipped)
    for note in imported.notes[1:]:
        typer.echo(f"· {note}")


@app.command("list")
def list_(model: _Models = None, form: Form = "table", output: Output = None) -> None:
    """List of measures: what each needs, which direction is better, how it is computed, whether it runs here.

    Example: judge measures list
    """
    from judge.cli.option_words import emit
    from judge.measures.listing import measure_tables

    emit(measure_tables(_models(model)), form, output)


@app.command("systems")
def systems(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="dataset of stories, by name or path")],
    model: _Models = None,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", metavar="FOLDER", help="folder for stored embeddings, such as the measures' own"),
    ] = None,
    column: _Columns = None,
    limit: _Limit = None,
    form: Form = "table",
    output: Output = None,
) -> None:
    """Similarity of each system's stories to each other: self-BLEU, distinct bigrams, mean cosine, Vendi score.

    Example: judge measures systems mans_roc --model sentence-encoder=PATH
    """
    from judge.cli.option_words import emit
    from judge.datasets import open_dataset
    from judge.datasets.files.column_words import column_options
    from judge.measures.models.identity import at_layer
    from judge.measures.systems import rows, table

    named = _models(model).get("sentence-encoder")
    opened = open_dataset(dataset, columns=column_options(column))
    stories = [story for at, story in enumerate(opened.stories()) if limit is None or at < limit]
    kept = None if cache is None else cache / "derived" / "embeddings.sqlite"
    system_rows = rows(stories, None if named is None else at_layer(named)[0], kept)
    emit(table(system_rows, opened.name, named), form, output)


def _wanted(names: list[str] | None, group: str | None) -> list[Known]:
    """The requested measures: those of the set `group`, then those in `names`. Without either, the measures of the set
    `quick`.
    """
    from judge.measures import named, of_set

    wanted = of_set(group or "quick") if group or not names else []
    there = {name.measure.name for name in wanted}
    return [*wanted, *(name for name in named(names or []) if name.measure.name not in there)]


def _models(options: list[str] | None) -> Mapping[Need, str]:
    """Mapping from what a measure needs to the model for it, read from the options `--model NEED=MODEL`."""
    from judge.measures.measure import MODELS

    models_by_use: dict[Need, str] = {}
    for option in options or []:
        use, _, model = option.partition("=")
        need = next((model_use for model_use in MODELS if model_use == use), None)
        if need is None or not model:
            needs = "; ".join(f"{model_use}: {requirement}" for model_use, requirement in MODELS.items())
            raise SpecError(f"--model {option!r} is not NEED=MODEL", hint=f"needs are {needs}")
        models_by_use[need] = model
    return models_by_use


def _progress(stage: str, done: int, total: int) -> None:
    """Print the progress of one stage to stderr, as one line."""
    typer.echo(f"{stage}: {done}/{total} texts", err=True)


def _say_skipped(skipped: Mapping[str, str]) -> None:
    """Print the names of the measures that were not computed, grouped by the reason why."""
    from judge.cli.option_words import with_flags

    names: dict[str, list[str]] = {}
    for name, reason in skipped.items():
        names.setdefault(with_flags(reason), []).append(name)
    for reason, some in names.items():
        more = f" and {len(some) - 4} more" if len(some) > 4 else ""
        typer.echo(f"· not run: {', '.join(some[:4])}{more}: {reason}")
