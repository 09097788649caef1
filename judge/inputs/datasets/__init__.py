"""Opens datasets by name or path. Other packages can add readers through the entry point `judge.datasets`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, MissingExtraError, SpecError, unknown
from judge.base.records import Criterion
from judge.inputs.datasets.dataset import Dataset, LabelScales, is_key
from judge.inputs.datasets.files.pair_table import is_pair_map, known_form
from judge.inputs.datasets.files.table_file import SUFFIXES, table_columns

__all__ = ["DATASETS", "SUFFIXES", "Dataset", "is_own_form", "known_datasets", "open_dataset"]

# Name -> function that gets the name and gives the `Dataset`.
DATASETS: dict[str, str] = {
    "demo": "judge.inputs.datasets.studies.demo",
    "mans_roc": "judge.inputs.datasets.studies.openmeva.load_mans",
    "mans_wp": "judge.inputs.datasets.studies.openmeva.load_mans",
    "hanna": "judge.inputs.datasets.studies.hanna.load",
    "hanna_llm": "judge.inputs.datasets.studies.hanna.load_llm",
    "hanna_llm+human": "judge.inputs.datasets.studies.hanna.load_llm",
    "storyer_wp200": "judge.inputs.datasets.studies.storyer.load_wp200",
    "storyer_pairs": "judge.inputs.datasets.studies.storyer.load_pairs",
    "storyer_reasons": "judge.inputs.datasets.studies.storyer.load_reasons",
    "plotguided_roc": "judge.inputs.datasets.studies.plotguided.load",
    "plotguided_wp": "judge.inputs.datasets.studies.plotguided.load",
    "deltascore_roc": "judge.inputs.datasets.studies.deltascore.load",
    "deltascore_wp": "judge.inputs.datasets.studies.deltascore.load",
    "autos_roc": "judge.inputs.datasets.studies.openmeva.load_autos",
    "autos_wp": "judge.inputs.datasets.studies.openmeva.load_autos",
    "ttcw": "judge.inputs.datasets.studies.ttcw.load",
    "ttcw+newyorker": "judge.inputs.datasets.studies.ttcw.load",
    "creative_short_stories": "judge.inputs.datasets.studies.creative_short_stories.load",
    "confederacy": "judge.inputs.datasets.studies.confederacy.load",
}


def known_datasets() -> list[str]:
    """Names for `open_dataset`: the studies' datasets, those of installed packages, and those that the user
    registered."""
    from judge.inputs.datasets.locate import registered
    from judge.inputs.datasets.sources import OTHER_FILES, UNPUBLISHED

    own = [n for n in registered() if n not in OTHER_FILES and n not in UNPUBLISHED and not n.endswith(SUFFIXES)]
    plugins = [e.name for e in entry_points(group="judge.datasets")]
    return list(dict.fromkeys([*DATASETS, *sorted(plugins), *own]))


def open_dataset(
    name_or_path: str, *, columns: Mapping[str, Any] | None = None, criteria: Iterable[Criterion] = ()
) -> Dataset:
    """A dataset by name, or from a file in the program's own format (JSON Lines) or a table, read with a column map.

    A table is read as compared or ranked stories if `columns` is a map of comparisons or the table has a format that
    `pair_map` recognises. If the scales of `criteria` have labels, human ratings may be these labels. Only a file's
    header is read here. Raises DataError if files are missing, SpecError for an unknown name, or if labels differ."""
    path = Path(name_or_path)
    labels = LabelScales.of_criteria(criteria)
    if name_or_path in DATASETS:
        if columns:
            raise SpecError(f"{name_or_path} has its own reader; a column map is for other tables")
        module, _, function = DATASETS[name_or_path].rpartition(".")
        return _with_labels(getattr(import_module(module), function)(name_or_path), labels)
    for entry in entry_points(group="judge.datasets"):
        if entry.name == name_or_path:
            return _with_labels(entry.load()(name_or_path), labels)
    if path.is_file():
        return _open_file(path, columns, None, labels)
    from judge.inputs.datasets.locate import registered

    added = registered().get(name_or_path)
    if added is not None:
        return _open_file(added.path, columns or added.columns, name_or_path, labels)
    if path.name != name_or_path or path.suffix.lower() in SUFFIXES:
        raise DataError("there is no such file", file=name_or_path)
    hint = f"a name from `judge data list`, or a path to a file ({', '.join(SUFFIXES)})"
    raise SpecError(unknown("dataset", name_or_path, known_datasets()), hint=hint)


def _with_labels(dataset: Dataset, labels: LabelScales) -> Dataset:
    if dataset.labels:
        dataset.labels.with_given(labels, dataset.name)
    return dataset


def _open_file(path: Path, columns: Mapping[str, Any] | None, name: str | None, labels: LabelScales) -> Dataset:
    if not path.is_file():
        raise DataError("there is no such file", file=path)
    if is_pair_map(columns) or (not columns and _is_pair_file(path)):
        from judge.inputs.datasets.files.pair_table import open_pairs

        return open_pairs(path, columns, name)
    if path.suffix.lower() in (".jsonl", ".ndjson") and all(is_key(key) for key in columns or {}):
        from judge.inputs.datasets.files.native import open_native

        return open_native(path, name, columns, labels)
    from judge.inputs.datasets.files.column_map import open_table

    return open_table(path, columns, name, labels)


def is_own_form(path: Path) -> bool:
    """Whether a file needs no column map: stories in the program's own format, or a known form of comparisons."""
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        from judge.inputs.datasets.files.native import open_native

        try:
            next(open_native(path, None, None, LabelScales()).stories(), None)
        except DataError:
            return _is_pair_file(path)
        return True
    return _is_pair_file(path)


def _is_pair_file(path: Path) -> bool:
    # A table that cannot be read raises its error later.
    try:
        return known_form(table_columns(path)) is not None
    except (DataError, MissingExtraError):
        return False
