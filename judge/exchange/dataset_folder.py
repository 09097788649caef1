"""Export as a Hugging Face dataset folder: Parquet files, a dataset card, and the data to import it again.

Each result folder has `data/ratings/PART.parquet` and `data/stories/PART.parquet`, where PART is made of run and judge;
`ratings` and `stories` are configurations. `judge.json` holds criteria, scales and notes.
`judge.exchange.released` reads the folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import orjson
import pandas as pd
import yaml

from judge.analysis.options.alternatives import Form, option
from judge.asking.run_folder import judge_slug
from judge.asking.run_folder.layout import comparing
from judge.base.choices import RESAMPLES
from judge.base.errors import MissingExtraError, SpecError
from judge.base.files import draft, write_whole, writing
from judge.base.fingerprint import sha256_text
from judge.base.wording import Advice
from judge.exchange import exported_numbers
from judge.exchange.reader import Say
from judge.inputs.datasets.sources import LICENCES
from judge.ratings.ratings_table import RatingsTable, RunFacts, read
from judge.version import __version__

# Selection of data for export: ratings with raters under pseudonyms, stories with or without texts.

People = Literal["pseudonyms", "names", "none"]


@dataclass(frozen=True, slots=True)
class GiveAway:
    """Whether an export includes stories' texts and raters' comments, and how raters are named."""

    texts: bool = True
    people: People = "pseudonyms"
    comments: bool = False

    @property
    def words(self) -> str:
        """One sentence on what an export includes and what it withholds."""
        texts = "stories' texts" if self.texts else "hashes in place of stories' texts and story-prompts"
        people = {
            "pseudonyms": "people under pseudonyms (rater-1, rater-2, ...)",
            "names": "people under the names that the data have",
            "none": "no names of people: which ratings come from one person is left out too",
        }[self.people]
        comments = "people's comments" if self.comments else "no comments of people"
        return f"it holds {texts}, {people}, {comments}; judges' explanations are whole"


def tables_of(folders: Sequence[Path], choices: GiveAway) -> list[RatingsTable]:
    """The folders' ratings tables for export. A rater has the same pseudonym in all of them."""
    tables = [read([folder], keep=False) for folder in folders]
    names = [name for table in tables for name in table.frame["rater"].dropna().unique()]
    pseudonym_of = pseudonyms(names)
    return [_given(table, choices, pseudonym_of) for table in tables]


def pseudonyms(names: Sequence[str]) -> dict[str, str]:
    """Raters' pseudonyms, numbered by the names' hashes, so that the same names always get the same ones."""
    mixed = sorted({*map(str, names)}, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return {name: f"rater-{number}" for number, name in enumerate(mixed, start=1)}


def _given(table: RatingsTable, choices: GiveAway, pseudonym_of: dict[str, str]) -> RatingsTable:
    frame, stories = table.frame.copy(), table.stories.copy()
    people = frame["source"] == "rater"
    if choices.people == "none":
        frame["rater"] = None
    elif choices.people == "pseudonyms":
        frame["rater"] = [None if pd.isna(name) else pseudonym_of[str(name)] for name in frame["rater"]]
    if not choices.comments:
        frame["explanation"] = frame["explanation"].astype(object).where(~people, None)
    if not choices.texts:
        frame["story_prompt"] = [_hash(value) for value in frame["story_prompt"]]
        stories["story_prompt"] = [_hash(value) for value in stories["story_prompt"]]
        stories["text"] = None
    return replace(table, frame=frame, stories=stories)


def _hash(value: object) -> str | None:
    return None if value is None or value != value or value == "" else f"sha256:{sha256_text(str(value))}"


def empty_folder(path: Path) -> Path:
    """The folder, created if it does not exist; SpecError where it is not empty or cannot be written."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise SpecError(f"{path} is not empty", hint="name a folder that does not exist yet")
    return path


# Export to the Item Response Warehouse: CSV files with columns id, item, resp and rater, by the warehouse's data
# standard (itemresponsewarehouse.org).


@dataclass(frozen=True, slots=True)
class IrwFiles:
    """Files with their numbers of rows; `nominal` criteria are left out because their labels have no order."""

    files: tuple[tuple[Path, int], ...]
    unrated: int
    nominal: tuple[str, ...]


def write_irw(folder: Path, tables: Sequence[RatingsTable]) -> IrwFiles:
    """Write ratings tables to CSV files of the Item Response Warehouse, in an empty folder."""
    empty_folder(folder)
    frame = pd.concat([table.frame.astype({"rating": "float64"}) for table in tables], ignore_index=True)
    frame = frame[~((frame["source"] == "rater") & frame.duplicated([c for c in frame.columns if c != "run"]))]
    nominal = sorted({c.name for table in tables for fact in table.facts for c in fact.criteria if not c.scale.numeric})
    kept = frame[frame["rating"].notna() & ~frame["criterion"].isin(nominal)]
    scales = {c.name: c.scale for table in tables for fact in table.facts for c in fact.criteria}
    files: list[tuple[Path, int]] = []
    for (dataset, source), group in kept.groupby(["dataset", "source"], sort=True, observed=True):
        own = group["criterion"].map(lambda name: _scale_name(scales.get(str(name))))
        for scale, rows in group.groupby(own, sort=True):
            many = f"-{scale}" if len(own.unique()) > 1 else ""
            who = "people" if source == "rater" else "judges"
            path = folder / f"{judge_slug(str(dataset))}-{who}{many}.csv"
            with writing(path), draft(path) as fresh:
                _rows(rows, judges=source == "judge").to_csv(fresh, index=False, lineterminator="\n")
            files.append((path, len(rows)))
    return IrwFiles(tuple(files), int(frame["rating"].isna().sum()), tuple(nominal))


def _rows(rows: pd.DataFrame, *, judges: bool) -> pd.DataFrame:
    columns = {"id": rows["story"], "item": rows["criterion"], "resp": rows["rating"]}
    if not judges:
        return pd.DataFrame(columns | ({"rater": rows["rater"]} if rows["rater"].notna().any() else {}))
    asked = rows["eval_prompt"].astype(str)
    columns["rater"] = rows["judge"].astype(str) + asked.where(asked != "-", "").map(
        lambda name: f" {name}" if name else ""
    )
    return pd.DataFrame(columns | ({"trial_repeat": rows["repeat"]} if rows["repeat"].notna().any() else {}))


def _scale_name(scale: object) -> str:
    low, high, step = (getattr(scale, name, None) for name in ("min", "max", "step"))
    return "scale-unknown" if low is None else f"{low:g}to{high:g}by{step:g}"


# Raised when a released program can no longer read older folders.
FORMAT = 1

CONTENTS, CARD = "judge.json", "README.md"
_NUMBERS = {"rating": "float64", "repeat": "int32", "words": "int32"}


def write_hub(path: Path, tables: Sequence[RatingsTable], choices: GiveAway) -> tuple[int, int]:
    """Write a Hugging Face dataset folder, whose card repeats what `choices` includes and withholds; the numbers of its
    rows of ratings and of stories. Raises
    MissingExtraError without pyarrow, SpecError where the folder is not empty or cannot be written."""
    try:
        import pyarrow  # noqa: F401  only to say in one sentence what is missing
    except ImportError as error:
        raise MissingExtraError("a Hugging Face dataset folder", "data") from error
    empty_folder(path)
    names = _names([table.facts[0] for table in tables])
    counts = {"ratings": [0, 0], "stories": [0, 0]}
    features: dict[str, dict[str, str]] = {"ratings": {}, "stories": {}}
    with writing(path):
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
        write_whole(path / "references.bib", exported_numbers.entries(facts))
        write_whole(path / CARD, _card(facts, counts, features, choices))
    return counts["ratings"][0], counts["stories"][0]


def _names(facts: Sequence[RunFacts]) -> list[str]:
    names: list[str] = []
    for fact in facts:
        name = judge_slug(f"{fact.run}-{fact.judge}")[:80]
        names.append(name if name not in names else f"{name}-{len(names)}")
    return names


def _write(frame: pd.DataFrame, path: Path) -> tuple[int, dict[str, str]]:
    """Size in memory in bytes, and types by column."""
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


# A form in which `judge export` writes, as one record, and the options that several forms share.


@dataclass(frozen=True, slots=True)
class Output(Form):
    """A form of export; `write` takes runs, the file or folder (None: as the form says), options, and `say`."""

    write: Callable[[Sequence[str], Path | None, Any, Say], None]


@dataclass(frozen=True, kw_only=True)
class PeopleWords:
    """Options of a form that holds people's ratings."""

    people: People = option("identity of people: pseudonyms, their names in the data, or none", default="pseudonyms")


@dataclass(frozen=True, kw_only=True)
class TextsWords:
    """Options of a form that holds stories' texts."""

    without_texts: bool = option("hashes in place of stories and story-prompts", default=False)


@dataclass(frozen=True, kw_only=True)
class HubWords(PeopleWords, TextsWords):
    comments: bool = option("additional column: people's own comments", default=False)

    @property
    def choices(self) -> GiveAway:
        return GiveAway(not self.without_texts, self.people, self.comments)


@dataclass(frozen=True, kw_only=True)
class ResampledWords:
    """Options of a form that holds intervals."""

    resamples: int = option("number of resamples for confidence intervals", default=RESAMPLES)
    seed: int = option("seed of the resamples", default=1)


@dataclass(frozen=True, kw_only=True)
class NumbersWords(ResampledWords):
    """Options of a form that holds numbers of agreement."""

    parser: str = option("parser of answers: ours, or as-published", default="ours")


@dataclass(frozen=True, kw_only=True)
class RecordsWords(NumbersWords):
    organization: str = option("organization that provides the data", default="unknown")


@dataclass(frozen=True, kw_only=True)
class JudgeWords:
    judge: str | None = option("judge: of pairs in place of people, of a batch in place of the definition's")


def needed(output: Path | None) -> Path:
    """The folder to write; SpecError where none is named."""
    if output is None:
        raise SpecError(Advice("{output} names the folder to write, which is new or empty", output="FOLDER"))
    return output


def folders_of(runs: Sequence[str]) -> list[Path]:
    """Result folders of the runs. Raises SpecError for a run of comparisons: only ratings can be exported."""
    compare, rate = comparing(runs)
    if compare:
        raise SpecError(
            f"{compare[0]} compares stories, and this is a form for ratings", hint="judge ratings RUN --preferences -o"
        )
    return [Path(folder) for folder in rate]
