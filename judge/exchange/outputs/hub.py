"""Export as a Hugging Face dataset folder: Parquet files, a dataset card, and the data needed to import the folder
again.

Each result folder has a `data/ratings/PART.parquet` and a `data/stories/PART.parquet`, where PART is made of the run
and the judge. `ratings` and `stories` are the dataset's configurations. `judge.json` holds criteria, scales and notes.
`judge.exchange.imports.hub_folder` reads the folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import yaml

from judge.asking.run_folder import judge_slug
from judge.base.errors import MissingExtraError, SpecError
from judge.base.whole_file import write_whole
from judge.exchange.outputs import bibtex
from judge.exchange.outputs.given_away import GiveAway, empty_folder
from judge.inputs.datasets.sources import LICENCES
from judge.ratings.ratings_table import RatingsTable, RunFacts
from judge.version import __version__

FORMAT = 1
"""Raised when a released program can no longer read older folders."""

CONTENTS, CARD = "judge.json", "README.md"
_NUMBERS = {"rating": "float64", "repeat": "int32", "words": "int32"}


@dataclass(frozen=True, slots=True)
class HubFolder:
    """A dataset folder that was written in the format of the Hugging Face hub: its path, and the numbers of rows of
    ratings and of stories.
    """

    path: Path
    ratings: int
    stories: int


def write_hub(path: Path, tables: Sequence[RatingsTable], choices: GiveAway) -> HubFolder:
    """Write the ratings tables of result folders to a folder in the format of the Hugging Face hub. The dataset card
    repeats what `choices` includes and withholds. Returns the folder's path and numbers of rows.

    Raises
    ------
    MissingExtraError
        pyarrow is not installed.
    SpecError
        The folder is not empty or cannot be written.
    """
    try:
        import pyarrow  # noqa: F401  only to say in one sentence what is missing
    except ImportError as error:
        raise MissingExtraError("a Hugging Face dataset folder", "data") from error
    empty_folder(path)
    names = _names([table.facts[0] for table in tables])
    counts = {"ratings": [0, 0], "stories": [0, 0]}
    features: dict[str, dict[str, str]] = {"ratings": {}, "stories": {}}
    try:
        for name, table in zip(names, tables, strict=True):
            for kind, frame in (("ratings", table.frame), ("stories", table.stories.reset_index())):
                size, columns = _write(frame, path / "data" / kind / f"{name}.parquet")
                counts[kind][0] += len(frame)
                counts[kind][1] += size
                features[kind] |= columns
        parts = [{"part": name, **_facts(table)} for name, table in zip(names, tables, strict=True)]
        contents = {"format": FORMAT, "program": __version__, "given": choices.words, "parts": parts}
        write_whole(path / CONTENTS, orjson.dumps(contents, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        facts = [fact for table in tables for fact in table.facts]
        write_whole(path / "references.bib", bibtex.entries(facts))
        write_whole(path / CARD, _card(facts, counts, features, choices))
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error
    return HubFolder(path, counts["ratings"][0], counts["stories"][0])


def _names(facts: Sequence[RunFacts]) -> list[str]:
    """A distinct file name for each result folder, made of its run and its judge."""
    names: list[str] = []
    for fact in facts:
        name = judge_slug(f"{fact.run}-{fact.judge}")[:80]
        names.append(name if name not in names else f"{name}-{len(names)}")
    return names


def _write(frame: pd.DataFrame, path: Path) -> tuple[int, dict[str, str]]:
    """Write one Parquet file of plain columns. Returns its size in memory in bytes, and a map from column to type."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays, types = {}, {}
    for column in map(str, frame.columns):
        values = frame[column].astype(object).where(frame[column].notna(), None)
        feature = pd.api.types.is_numeric_dtype(frame[column]) and column not in _NUMBERS
        types[column] = "float64" if feature else _NUMBERS.get(column, "string")
        given = (
            [None if value is None else str(value) for value in values] if types[column] == "string" else list(values)
        )
        arrays[column] = pa.array(
            given, type={"string": pa.string(), "float64": pa.float64(), "int32": pa.int32()}[types[column]]
        )
    table = pa.table(arrays)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd")
    return int(table.nbytes), types


def _facts(table: RatingsTable) -> dict[str, Any]:
    (fact,) = table.facts
    facts = {
        "run": fact.run,
        "judge": fact.judge,
        "dataset": fact.dataset,
        "criteria": [criterion.record() for criterion in fact.criteria],
        "notes": list(fact.notes),
        "labels_note": fact.labels_note,
        "given": fact.given,
        "ratings": {True: "single", False: "means"}.get(fact.single) if fact.single is not None else None,
        "parser": fact.parser,
    }
    return {key: value for key, value in facts.items() if value is not None}


def _card(
    facts: Sequence[RunFacts], counts: dict[str, list[int]], features: dict[str, dict[str, str]], choices: GiveAway
) -> str:
    datasets = list(dict.fromkeys(fact.dataset for fact in facts))
    head = {
        "pretty_name": f"Ratings of {', '.join(datasets)} by {_judges(facts)}",
        "language": ["en"],
        "tags": ["llm-as-a-judge", "story-evaluation", "human-evaluation"],
        "configs": [
            {
                "config_name": kind,
                **({"default": True} if kind == "ratings" else {}),
                "data_files": [{"split": "train", "path": f"data/{kind}/*.parquet"}],
            }
            for kind in counts
        ],
        "dataset_info": [
            {
                "config_name": kind,
                "features": [{"name": name, "dtype": dtype} for name, dtype in features[kind].items()],
                "splits": [{"name": "train", "num_bytes": size, "num_examples": rows}],
            }
            for kind, (rows, size) in counts.items()
        ],
    }
    notes = dict.fromkeys(str(note) for fact in facts for note in fact.notes)
    licences = [f"- {name}: {LICENCES.get(name, 'its licence is not known to this program')}" for name in datasets]
    body = f"""
# {head["pretty_name"]}

Written by judge {__version__} (storyjudge). {choices.words[:1].upper()}{choices.words[1:]}.

`ratings`: one row for each repeat of a judge (`source` is judge) and each rating of a person (rater). `rating` is null
where `status` says why there is none; nothing stands in for it. `stories`: text, system and story-prompt by `dataset`
and `story`.

```python
from datasets import load_dataset

ratings = load_dataset("FOLDER", "ratings", split="train")
stories = load_dataset("FOLDER", "stories", split="train")
```

`judge import FOLDER` reads it back into result folders; `judge.json` holds the criteria with their scales.

## Whose these are

Stories and people's ratings belong to their data sets and keep their licences; check that you may pass them on.

{chr(10).join(licences)}

## What holds for every table of these

{chr(10).join(f"- {note}" for note in notes) or "- nothing beside"}

Works to cite are in `references.bib`.
"""
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n{body}"


def _judges(facts: Sequence[RunFacts]) -> str:
    judges = list(dict.fromkeys(fact.judge for fact in facts))
    return ", ".join(judges) if len(judges) <= 3 else f"{len(judges)} judges"
