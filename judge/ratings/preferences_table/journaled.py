"""Rows of the preferences table from the journal of a run that compared stories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from judge.answers.journal import JournalReader
from judge.answers.parsing.stored_answers import StoredVerdicts
from judge.answers.parsing.verdict import VERSION
from judge.asking.in_force.words import mark, stored
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.credentials.providers import JudgeName
from judge.base.errors import DataError
from judge.base.records import PREFERRED, VERDICT_STATUSES, Answer, Criterion, Pair
from judge.ratings.ratings_table.columns import StoryRow, about, refuse, trained_on
from judge.ratings.ratings_table.folder_notes import about_answers, about_judge
from judge.ratings.ratings_table.journaled import definition_in, other_version, story_rows

# The type of the preferences table: its columns, stories, and facts about each result folder.

# Columns of the table, in order.
#
# `first` and `second` are the stories as they were shown (people's: as the dataset names them); `preference` is
# first, second, tie, or null where there is none; `p_first`, `p_second` and `p_tie` are shares of a verdict scored by
# log-probabilities, null elsewhere; `rater` is null where identity is unknown.
COLUMNS = (
    "run",
    "judge",
    "dataset",
    "pair",
    "story_prompt",
    "first",
    "second",
    "first_system",
    "second_system",
    "criterion",
    "eval_prompt",
    "source",
    "rater",
    "repeat",
    "preference",
    "p_first",
    "p_second",
    "p_tie",
    "status",
    "flags",
    "explanation",
)

# Flag of a judge's row whose stories are not known to have been shown in the order of `first` and `second`.
ORDER_UNKNOWN = "order_unknown"

# Who preferred: a judge that compared, a person, or the sign of the difference of two mean ratings.
Source = Literal["judge", "rater", "implied"]


@dataclass(frozen=True, slots=True)
class ComparisonFacts:
    """A result folder of comparisons, for a table's signature and notes. None (or 0 `repeats`) = not known. `parser` is
    a version, `structured` the requested answer form, and `orders` both, random, as-given, or "implied" by ratings.
    `not_in_force` names settings refused, ignored, or of unknown effect."""

    run: str
    judge: str
    dataset: str
    revision: str | None
    repeats: int
    criteria: tuple[Criterion, ...]
    eval_prompts: tuple[str, ...]
    orders: str
    ties: bool
    parser: str
    notes: tuple[str, ...]
    path: Path
    structured: str | None = None
    not_in_force: str = ""


@dataclass(frozen=True, slots=True)
class PreferencesTable:
    """The preferences table: `frame` has `COLUMNS` and a row per preference; `stories`, by (dataset, story), has
    story_prompt, system, words and text."""

    frame: pd.DataFrame
    stories: pd.DataFrame
    facts: tuple[ComparisonFacts, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the runs of comparisons, each once."""
        return tuple(dict.fromkeys(note for fact in self.facts for note in fact.notes))


# Preferences implied by ratings: of two stories, the one with the higher mean rating is preferred.

_SAME = 1e-9
_WHO = ["run", "judge", "dataset", "criterion", "eval_prompt"]


def implied(ratings: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Rows of the table with source "implied": in each pair, the story with the higher mean rating is preferred.

    There is a row for each pair and each judge x Eval-Prompt x criterion, and for each criterion of people's ratings. A
    judge's ratings are averaged over repeats, people's over raters. Means that differ by less than 1e-9 are a tie. If a
    story has no rating, the row has no preference and the status `not_answered`. `pairs` has the columns dataset, pair,
    story_prompt, first, second, first_system, second_system; use `pairs_within` where nobody compared stories."""
    by_people = (ratings["source"] == "rater").to_numpy()
    parts = [part for part in (ratings[~by_people], ratings[by_people]) if len(part)]
    tables_of_pairs = [rows for part in parts for rows in _of_one_kind(part, pairs)]
    return pd.concat(tables_of_pairs, ignore_index=True) if tables_of_pairs else pd.DataFrame(columns=list(COLUMNS))


def pairs_within(stories: pd.DataFrame) -> pd.DataFrame:
    """All pairs within a dataset and story-prompt, as columns of the table. `stories` is indexed by (dataset,
    story)."""
    rows = []
    plain = stories.reset_index()
    for (dataset, prompt), part in plain.groupby(["dataset", "story_prompt"], sort=False, observed=True):
        for left, other in combinations(part.sort_values("story").itertuples(), 2):
            pair = f"{left.story}|{other.story}"
            rows.append((dataset, pair, prompt, left.story, other.story, left.system, other.system))
    columns = ["dataset", "pair", "story_prompt", "first", "second", "first_system", "second_system"]
    return pd.DataFrame(rows, columns=columns)


def _of_one_kind(ratings: pd.DataFrame, pairs: pd.DataFrame) -> Iterator[pd.DataFrame]:
    people = str(ratings["source"].iloc[0]) == "rater"
    who = ["dataset", "criterion"] if people else _WHO
    for key, part in ratings.groupby(who, sort=False, observed=True, dropna=False):
        labels: dict[str, Any] = dict(zip(who, key, strict=True))
        means = part.groupby("story", observed=True)["rating"].mean().dropna()
        own = pairs[(pairs["dataset"] == labels["dataset"]).to_numpy()]
        first, second = (own[side].astype(str).map(means).to_numpy(dtype=np.float64) for side in ("first", "second"))
        apart = first - second
        preference = np.where(np.abs(apart) < _SAME, "tie", np.where(apart > 0, "first", "second")).astype(object)
        lost = np.isnan(apart)
        preference[lost] = None
        rows = own.assign(**{name: labels.get(name) for name in ("run", "judge", "criterion", "eval_prompt")})
        rows = rows.assign(
            source="implied", preference=preference, status=np.where(lost, "not_answered", "ok"), flags=""
        )
        yield rows.reindex(columns=list(COLUMNS))


@dataclass(slots=True)
class Known:
    """What is known of a dataset: stories by id, human ratings (story, criterion, value) and preferences, and compared
    `pairs` (two ids -> pair, first, second). `content` is its hash, which distinguishes versions, and `run` its
    source."""

    content: str
    run: str
    stories: dict[str, StoryRow]
    ratings: list[tuple[str, str, float]] = field(default_factory=list)
    preferred: list[Pair] = field(default_factory=list)
    pairs: dict[frozenset[str], tuple[str, str, str]] = field(default_factory=dict)


def read_journal(folder: ResultFolder, datasets: dict[str, Known]) -> tuple[list[dict[str, Any]], ComparisonFacts]:
    """Rows from a journal, one for each repeat, and facts. Its dataset is added to `datasets` unless it is there."""
    with JournalReader(folder.journal) as journal, journal.snapshot():
        definition = definition_in(journal, folder)
        dataset = _known(datasets, definition, journal, folder)
        for _, pair, first, second in journal.planned_pairs():
            dataset.pairs.setdefault(frozenset((first, second)), (pair, first, second))
        fact = _facts(folder, definition, journal)
        gone = trained_on(read_manifest(folder.manifest), dataset.stories, folder.path)
        fact = replace(fact, notes=(*fact.notes, *about(fact.judge, gone, dataset.stories)))
        return list(_rows(definition, journal, dataset, fact, gone)), fact


def _known(
    datasets: dict[str, Known], definition: Mapping[str, Any], journal: JournalReader, folder: ResultFolder
) -> Known:
    name, content = str(definition["dataset_name"]), str(definition["dataset_hash"])
    if name in datasets:
        if datasets[name].content != content:
            raise other_version(folder, name)
        return datasets[name]
    dataset = datasets[name] = Known(content, str(definition["name"]), {})
    for story, row in story_rows(journal, name):
        dataset.stories[story.id] = row
        dataset.ratings += [(story.id, rating.criterion, rating.value) for rating in story.ratings]
    dataset.preferred = journal.preferences()
    return dataset


def _rows(
    definition: Mapping[str, Any],
    journal: JournalReader,
    dataset: Known,
    fact: ComparisonFacts,
    gone: frozenset[str],
) -> Iterator[dict[str, Any]]:
    # Stories in `gone` are those on which the judge was trained.
    compared = journal.comparisons()
    pair_numbers = {(first, second): number for number, (_, _, first, second) in enumerate(journal.planned_pairs())}
    criteria = {criterion.name: number for number, criterion in enumerate(fact.criteria)}

    def order(answer: Answer) -> tuple[int, int, int, int]:
        shown_as = (answer.story, compared[answer.query_key][1])
        prompt = fact.eval_prompts.index(answer.eval_prompt)
        return pair_numbers[shown_as], criteria[answer.criterion], prompt, answer.repeat

    reading = StoredVerdicts.of_run(definition, compared, lambda story: dataset.stories[story].text)
    for answer in sorted(journal.answers(), key=order):
        pair, second = compared[answer.query_key]
        if answer.story in gone or second in gone:
            continue
        verdict = reading.verdict(answer)
        shares = reading.shares(answer, verdict)
        yield shown(dataset.stories, answer.story, second) | {
            "run": fact.run,
            "judge": fact.judge,
            "dataset": fact.dataset,
            "pair": pair,
            "criterion": answer.criterion,
            "eval_prompt": answer.eval_prompt,
            "source": "judge",
            "repeat": answer.repeat,
            "preference": verdict.preference,
            **({} if shares is None else {"p_first": shares.first, "p_second": shares.second, "p_tie": shares.tie}),
            "status": verdict.status,
            "flags": ";".join(verdict.flags),
            "explanation": verdict.explanation,
        }


def people_rows(dataset: str, known_dataset: Known) -> Iterator[dict[str, Any]]:
    """A row for each person's preference, in the order of the dataset's pair."""
    for pair in known_dataset.preferred:
        if pair.first in known_dataset.stories and pair.second in known_dataset.stories:
            about = shown(known_dataset.stories, pair.first, pair.second)
            for given in pair.preferences:
                yield about | {
                    "run": known_dataset.run,
                    "dataset": dataset,
                    "pair": pair.id,
                    "criterion": given.criterion,
                    "source": "rater",
                    "rater": given.rater,
                    "preference": given.value,
                    "status": "ok",
                    "flags": "",
                }


def shown(stories: Mapping[str, StoryRow], first: str, second: str) -> dict[str, Any]:
    """Columns that follow from two stories: ids, systems, and the common story-prompt, or ""."""
    first_story, other = stories[first], stories[second]
    return {
        "story_prompt": first_story.story_prompt if first_story.story_prompt == other.story_prompt else "",
        "first": first,
        "second": second,
        "first_system": first_story.system,
        "second_system": other.system,
    }


def _facts(folder: ResultFolder, definition: Mapping[str, Any], journal: JournalReader) -> ComparisonFacts:
    manifest = read_manifest(folder.manifest)
    force = manifest.get("in_force", {})
    judge = str(manifest.get("judge", folder.path.name))
    criteria = tuple(Criterion.of(record) for record in definition["criteria_records"])
    prompts = tuple(definition["eval_prompts"])
    repeats = int(force.get("repeats", 1))
    planned = journal.subject_count() * len(criteria) * len(prompts) * repeats
    notes = about_judge(judge, manifest, criteria, journal)
    if definition.get("labels_note"):
        notes.append(str(definition["labels_note"]))
    if JudgeName.of(judge).is_scripted:
        notes.append(f"{judge} gives scripted answers: figures about it say nothing about any judge")
    notes += about_answers(judge, journal, settled=journal.settled_total(), planned=planned)
    soft = definition.get("scoring", "text") == "logprobs"
    replaced = journal.replaced_total()
    return ComparisonFacts(
        run=str(definition["name"]),
        judge=judge,
        dataset=str(definition["dataset_name"]),
        revision=force.get("revision"),
        repeats=repeats,
        criteria=criteria,
        eval_prompts=prompts,
        orders=str(definition["orders"]),
        ties=bool(definition["ties"]),
        parser=VERSION + (f"+retried:{replaced}" if replaced else "") + ("+logprobs" if soft else ""),
        notes=tuple(notes),
        path=folder.path,
        structured=str(definition["structured"]),
        not_in_force=mark(stored(manifest)),
    )


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a data frame with the columns and types of the preferences table."""
    return typed(pd.DataFrame(list(rows), columns=list(COLUMNS)))


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with float shares (`p_first`, `p_second`, `p_tie`), integer repeats, and text in all other columns."""
    shares = dict.fromkeys(("p_first", "p_second", "p_tie"), "float64")
    texts = {name: object for name in COLUMNS if name not in shares and name != "repeat"}
    frame = frame.astype({**texts, **shares, "repeat": "Int64"})
    plain = frame[list(texts)]
    frame[list(texts)] = plain.where(plain.notna(), None)
    return frame


# Reads imported preferences, which have no journal. Every row is checked, and none is changed.

STORIES = "imported_stories.csv"
_SOURCES = ("judge", "rater")
_NUMBERS = ("repeat", "p_first", "p_second", "p_tie")


def read_imported(folder: ResultFolder, datasets: dict[str, Known]) -> tuple[list[dict[str, Any]], ComparisonFacts]:
    """Rows from imported preferences, and facts; stories and pairs are added to `datasets`. Raises DataError for
    missing columns, invalid values, and a story that is not in the folder's table."""
    frame = _checked(_table(folder.preferences, COLUMNS), folder.preferences)
    stories = _table(folder.path / STORIES, StoryRow._fields)
    manifest = read_manifest(folder.manifest)
    run = str(frame["run"].dropna().iloc[0]) if frame["run"].notna().any() else folder.path.name
    for row in stories.to_dict("records"):
        known_stories = datasets.setdefault(str(row["dataset"]), Known("", run, {})).stories
        words = 0 if pd.isna(row["words"]) else int(row["words"])
        prompt, system, text = _or(row["story_prompt"], ""), _or(row["system"], "-"), _or(row["text"], "")
        story = StoryRow(str(row["dataset"]), str(row["story"]), prompt, system, words, text)
        # Another folder of the same dataset may know the text.
        if not known_stories.get(story.story, story).text or story.story not in known_stories:
            known_stories[story.story] = story
    shown = frame[["dataset", "pair", "first", "second"]].drop_duplicates()
    for dataset, pair, first, second in shown.astype(str).itertuples(index=False, name=None):
        own = datasets.get(dataset)
        missing = [story_id for story_id in (first, second) if own is None or story_id not in own.stories]
        if own is None or missing:
            raise DataError(f"story {missing[0]!r} is not in {STORIES}", file=folder.preferences)
        own.pairs.setdefault(frozenset((first, second)), (pair, first, second))
    repeats = frame.loc[frame["source"] == "judge", "repeat"]
    fact = ComparisonFacts(
        run=run,
        judge=str(manifest.get("judge", folder.path.name)),
        dataset=str(frame["dataset"].iloc[0]) if len(frame) else "",
        revision=None,
        repeats=0 if repeats.isna().any() else int(repeats.nunique()),
        criteria=tuple(Criterion.of(record) for record in manifest.get("criteria", ())),
        eval_prompts=tuple(sorted(str(name) for name in frame["eval_prompt"].dropna().unique())),
        orders=str(manifest.get("orders", "not told")),
        ties=True,
        parser="imported",
        notes=("preferences were imported, not parsed here", *manifest.get("notes", ())),
        path=folder.path,
    )
    rows: list[dict[str, Any]] = [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]
    return rows, fact


def _table(file: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    texts = dict.fromkeys((name for name in columns if name not in (*_NUMBERS, "words")), str)
    try:
        frame = pd.read_csv(file, dtype=texts, keep_default_na=False, na_values=[""])
    except (ValueError, OSError) as error:
        raise DataError(f"is not a table: {error}", file=file) from error
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise DataError("columns are missing", file=file, found=missing, allowed=", ".join(columns))
    return frame[list(columns)]


def _checked(frame: pd.DataFrame, file: Path) -> pd.DataFrame:
    for column, allowed, empty in (
        ("source", _SOURCES, False),
        ("status", VERDICT_STATUSES, False),
        ("preference", PREFERRED, True),
    ):
        wrong = ~frame[column].isin(allowed) & ~(frame[column].isna() & empty)
        refuse(wrong.to_numpy(), frame[column], file, f"unknown {column}", ", ".join(allowed))
    contradictory = frame["status"].isin(("ok", "imported")) != frame["preference"].notna()
    message = "a preference and a status that says there is none, or the other way round"
    refuse(contradictory.to_numpy(), frame["status"], file, message)
    return typed(frame)


def _or(value: Any, otherwise: str) -> str:
    return otherwise if pd.isna(value) else str(value)
