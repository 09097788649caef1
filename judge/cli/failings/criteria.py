"""Command `judge criteria`: tests whether criteria measure different things. The computation is in
`judge.analysis.criteria`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.analysis.options.table_options import CriteriaOptions
from judge.cli.declared import takes
from judge.cli.table_options import Criteria, EvalPrompts, Form, Judges, Long, Output, PanelName, ParserName, PassRate

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.command()
@takes(CriteriaOptions)
def criteria(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...|DATASET", help="runs (run.yaml, folder, result folder), or name or file of a dataset"
        ),
    ],
    *,
    options: CriteriaOptions,
    full: Annotated[
        bool, typer.Option("--full", help="full tables: matrices of every judge, scale use of every criterion")
    ] = False,
    long: Long = False,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    panel: PanelName = None,
    pass_rate: PassRate = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Tables on criteria: tau between them, halo compared with people's, agreement across criteria, use of the scale.

    With a dataset in place of a run: tables of people's ratings only.

    Example: judge criteria runs/hanna --drop-system Human

    Example: judge criteria mans_roc
    """
    from judge.analysis.coverage.tables import with_coverage
    from judge.analysis.criteria import tables
    from judge.analysis.criteria.criteria import criteria as criteria_of
    from judge.analysis.inputs.panels import people_said
    from judge.analysis.inputs.pass_rate import asked_for
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.cli.option_words import emit

    table, more = _table(runs, parser)
    keep = Selection.of(criterion, judge, eval_prompt, pass_rate=pass_rate, panel=panel)
    table = narrowed(table, keep)
    if not table.facts:  # of a dataset alone: no run's facts say whose ratings these are
        more["notes"] = [*more["notes"], *people_said(table)]
    criteria_tables = tables.tables(criteria_of(table, options, **more), full=full, long=long)
    judged = bool((table.frame["source"] == "judge").any())
    emit(
        with_coverage(asked_for(table), criteria_tables, form, options.drop_systems) if judged else criteria_tables,
        form,
        output,
    )


def _table(names: list[str], parser: str) -> tuple[RatingsTable, dict[str, Any]]:
    """The ratings table of runs, or of one dataset. The dictionary holds the dataset's scale and notes; it is empty for
    runs.
    """
    from judge.cli.reading_bar import reading_bar
    from judge.datasets import known_datasets, open_dataset
    from judge.ratings_table import read

    if len(names) == 1 and _is_dataset(names[0], known_datasets()):
        from judge.analysis.inputs.dataset_ratings import ratings_of

        dataset = open_dataset(names[0])
        notes = [note for note in (dataset.labels_note,) if note]
        return ratings_of(dataset), {"scale": dataset.scale, "notes": notes}
    return read(names, parser=parser, explanations=False, telling=reading_bar), {}


def _is_dataset(name: str, names: list[str]) -> bool:
    """True if `name` denotes a dataset and not a run. A folder is a run. A file is a dataset unless it is a YAML file.
    Any other word is a dataset if it is one of `names` or has neither a slash nor a suffix.
    """
    path = Path(name)
    if path.is_dir():
        return False
    if path.is_file():
        return path.suffix.lower() not in (".yaml", ".yml")
    return name in names or (path.name == name and path.suffix == "")
