"""`judge measures`: automatic measures (`lab.measures`) of a dataset's stories, which are analysed like judges."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import SpecError
from judge.cli.declared import refuse_flags
from judge.cli.table_options import Form, Quiet
from judge.inputs.criteria import load_criteria

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge.base.printing.tables import Table
    from judge.base.records import Criterion
    from judge.inputs.datasets import Dataset
    from judge.lab.measures import Need


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


_Datasets = Annotated[
    list[str] | None,
    typer.Argument(metavar="[DATASET]", help="dataset of stories, by name or path; default: the list of measures"),
]
_Systems = Annotated[bool, typer.Option("--systems", help="how alike each system's stories are, in place of measures")]
_Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="result folder to write (default: runs/DATASET/measures); else file"),
]
_Measure = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        help="measure, or a set of them: quick, hanna, openmeva or all; may be given several times; default: quick",
    ),
]
_Criteria = Annotated[str | None, typer.Option("--criteria", help="criteria set with the scales of people's ratings")]


# Word of a former command -> the command that it means.
_FORMER = {"of": "judge measures {}", "systems": "judge measures {} --systems", "list": "judge measures"}

_OF_MEASURES = ("--measure", "--criteria", "--quiet")
_OF_DATASETS = (*_OF_MEASURES, "--column", "--limit", "--systems")


def measures(
    ctx: typer.Context,
    datasets: _Datasets = None,
    output: _Output = None,
    systems: _Systems = False,
    measure: _Measure = None,
    model: _Models = None,
    criteria: _Criteria = None,
    column: _Columns = None,
    limit: _Limit = None,
    quiet: Quiet = False,
    form: Form = "table",
) -> None:
    """Result folder with automatic measures of all stories, which every table reads as judges measure/NAME.

    Values are stored in derived/ of the folder, by recipe and text: run again with more measures, and only these are
    computed. Measures of a set that cannot run here are left out and listed.

    Without a DATASET: the list of measures, with what each needs, which direction is better, how it is computed and
    whether it runs here. With --systems: a table of self-BLEU, distinct bigrams, mean cosine and Vendi score.

    Example: judge measures

    Example: judge measures mans_roc --measure quick -o runs/mans-roc/measures

    Example: judge measures mans_roc --measure perplexity --model lm=local/smollm2

    Example: judge measures mans_roc --systems --model sentence-encoder=PATH
    """
    from judge.cli.table_options import emit
    from judge.inputs.datasets import open_dataset
    from judge.inputs.datasets.files.column_guess import column_options

    _refuse_former(datasets or [])
    if not datasets:
        from judge.lab.measures.session import measure_tables

        refuse_flags(ctx, _OF_DATASETS, "the list of measures, which is printed without a DATASET")
        emit(measure_tables(_models(model)), form, output)
        return
    known_criteria = load_criteria(criteria).criteria if criteria else ()
    opened = open_dataset(datasets[0], columns=column_options(column), criteria=known_criteria)
    if systems:
        refuse_flags(ctx, _OF_MEASURES, "--systems")
        emit(_system_table(opened, limit, _models(model)), form, output)
        return
    refuse_flags(ctx, ("--format",), "a folder of measures; --systems has it")
    _compute(opened, limit, measure or ["quick"], _models(model), known_criteria, output, quiet=quiet)


def _compute(
    opened: Dataset,
    limit: int | None,
    names: Sequence[str],
    models: Mapping[Need, str],
    known_criteria: Sequence[Criterion],
    output: Path | None,
    *,
    quiet: bool,
) -> None:
    from judge.exchange.imported_folder import write_folder
    from judge.exchange.imported_measures import as_import
    from judge.lab.measures import SETS, named
    from judge.lab.measures.session import measured

    stories = list(islice(opened.stories(), limit))
    folder = output or Path("runs") / opened.name / "measures"
    progress = None if quiet else _progress
    # A set leaves out what cannot run here; a measure that is named alone must run.
    skip = any(name in SETS for name in names)
    measurements = measured(stories, named(names), models=models, cache=folder, skip=skip, progress=progress)
    if not measurements.measures:
        raise SpecError("none of these measures runs here", hint="judge measures")
    imported = as_import(measurements, opened, models, known_criteria)
    write_folder(folder, imported)
    counts = f"{len(measurements.measures)} measures of {len(stories)} stories"
    known_too = f"{measurements.computed} computed, {measurements.reused} known"
    typer.echo(f"{folder}: {counts} ({known_too}); judge correlate {folder}")
    _say_skipped(measurements.skipped)
    for note in imported.notes[1:]:
        typer.echo(f"· {note}")


def _system_table(opened: Dataset, limit: int | None, models: Mapping[Need, str]) -> Table:
    from judge.lab.measures.encoders import at_layer
    from judge.lab.measures.systems import rows, table

    named = models.get("sentence-encoder")
    system_rows = rows(list(islice(opened.stories(), limit)), None if named is None else at_layer(named)[0], None)
    return table(system_rows, opened.name, named)


def _refuse_former(words: Sequence[str]) -> None:
    """SpecError for a former command's word, and for several datasets."""
    if words[:1] and words[0] in _FORMER and not Path(words[0]).exists():
        meant = _FORMER[words[0]].format(" ".join(words[1:]) or "DATASET")
        raise SpecError(f"{words[0]} is no dataset", hint=meant)
    if len(words) > 1:
        raise SpecError(f"measures are of one dataset, and {len(words)} are named")


def _models(options: list[str] | None) -> Mapping[Need, str]:
    from judge.lab.measures import MODELS

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
    typer.echo(f"{stage}: {done}/{total} texts", err=True)


def _say_skipped(skipped: Mapping[str, str]) -> None:
    from judge.cli.table_options import with_flags

    names: dict[str, list[str]] = {}
    for name, reason in skipped.items():
        names.setdefault(with_flags(reason), []).append(name)
    for reason, some in names.items():
        more = f" and {len(some) - 4} more" if len(some) > 4 else ""
        typer.echo(f"· not run: {', '.join(some[:4])}{more}: {reason}")
