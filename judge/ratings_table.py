"""The ratings table: one row for each repeat of each query, and one for each person's rating. Never fills a gap.

Parsing happens here, every time: a better parser reads old answers again, and nobody is asked twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from judge.errors import DataError, RunFolderError
from judge.journal import JournalReader
from judge.parsing import Parser
from judge.parsing import parser as load_parser
from judge.records import STATUSES, Answer, Criterion, Judgment, Scale
from judge.run_folder import ResultFolder, read_manifest, resolve

COLUMNS = (
    "run",
    "judge",
    "dataset",
    "story",
    "story_prompt",
    "system",
    "criterion",
    "eval_prompt",
    "source",
    "rater",
    "repeat",
    "rating",
    "status",
    "flags",
    "explanation",
)
"""Columns of the table, in order. `rating` is null where there is none; `rater` is null where identity is unknown."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the signature and the notes of a table say about one result folder."""

    run: str
    judge: str
    dataset: str
    revision: str | None
    repeats: int
    criteria: tuple[Criterion, ...]
    eval_prompts: tuple[str, ...]
    parser: str
    notes: tuple[str, ...]
    control: bool
    path: Path


@dataclass(frozen=True, slots=True)
class RatingsTable:
    """`frame` has the columns above; `stories`, indexed by (dataset, story), has story_prompt, system, words, text."""

    frame: pd.DataFrame
    stories: pd.DataFrame
    facts: tuple[RunFacts, ...]


def read(runs: Sequence[Path | str], parser: str = "ours") -> RatingsTable:
    """Build the table of one or more RUNs.

    People's ratings come once for each dataset. Raises RunFolderError where a RUN has no results, and where two results
    name one dataset but hold different stories: tables over both would compare different things.
    """
    loaded = load_parser(parser)
    rows: list[tuple[Any, ...]] = []
    people: dict[str, tuple[str, list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {}
    facts = []
    imported = []
    for folder in resolve(runs):
        if not folder.journal.is_file():
            frame, fact = _imported(folder)
            imported.append(frame)
            facts.append(fact)
            continue
        with JournalReader(folder.journal) as journal:
            definition = journal.meta().get("definition")
            if definition is None:
                raise RunFolderError(f"{folder.path} was stopped before anything was asked", hint="judge run it again")
            fact = _facts(folder, definition, journal, loaded)
            facts.append(fact)
            _add_people(people, fact, definition, journal, folder)
            places = {row[1]: row for row in people[fact.dataset][2]}
            found = list(_judge_rows(journal.answers(), fact, definition, loaded, places))
            # The journal gives them by key; people read them by story, criterion, Eval-Prompt and repeat.
            found.sort(key=_order(places, fact))
            rows.extend(found)
    rows.extend(row for _, ratings, _ in people.values() for row in ratings)
    frame = pd.concat([_frame(rows), *imported], ignore_index=True) if imported else _frame(rows)
    story_rows = [row for _, _, stories in people.values() for row in stories]
    stories = pd.DataFrame(story_rows, columns=["dataset", "story", "story_prompt", "system", "words", "text"])
    return RatingsTable(frame, stories.set_index(["dataset", "story"]), tuple(facts))


def _frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["rating"] = frame["rating"].astype("float64")
    frame["repeat"] = frame["repeat"].astype("Int64")
    return frame


def _facts(folder: ResultFolder, definition: dict[str, Any], journal: JournalReader, parser: Parser) -> RunFacts:
    manifest = read_manifest(folder.manifest)
    force = manifest.get("in_force", {})
    judge = str(manifest.get("judge", folder.path.name))
    control = judge.partition("/")[0] == "surface"
    criteria = tuple(_criterion(record) for record in definition["criteria_records"])
    notes: list[str] = []
    if control:
        notes.append(f"{judge} is a control, not a language model")
        notes += _in_sample(judge, criteria, journal)
    if force.get("note"):
        notes.append(f"{judge}: {force['note']}")
    notes += _other_scale(criteria, journal)
    if definition.get("labels_note"):
        notes.append(str(definition["labels_note"]))
    if judge.partition("/")[0] == "scripted":
        notes.append(f"{judge} gives scripted answers: figures about it say nothing about any judge")
    if parser.imputes:
        notes.append(
            f"parser {parser.version} imputes the scale's midpoint where an answer states no rating on the scale"
        )
    replaced = journal.replaced_total()
    if replaced:
        notes.append(f"{replaced} answers were asked again because no rating could be read (judge retry --unparsed)")
    prompts = tuple(definition["eval_prompts"])
    repeats = int(force.get("repeats", 1))
    planned = journal.story_count() * len(criteria) * len(prompts) * repeats
    settled = journal.settled_total()
    if settled < planned:
        notes.append(f"{judge}: {planned - settled} of {planned} planned repeats have not been asked yet")
    version = parser.version + (f"+retried:{replaced}" if replaced else "")
    return RunFacts(
        run=str(definition["name"]),
        judge=judge,
        dataset=str(definition["dataset_name"]),
        revision=force.get("revision"),
        repeats=repeats,
        criteria=criteria,
        eval_prompts=prompts,
        parser=version,
        notes=tuple(notes),
        control=control,
        path=folder.path,
    )


def _in_sample(judge: str, criteria: Sequence[Criterion], journal: JournalReader) -> list[str]:
    """The control's own rows on stories it was fitted on look better than they are."""
    from judge.backends.surface import fitted_on

    names = [criterion.name for criterion in criteria]
    seen = sum(fitted_on(judge, names, journal.stories(ratings=False)))
    if not seen:
        return []
    total = journal.story_count()
    where = f"{judge} was fitted on ratings of stories for the story-prompts of {seen} of these {total} stories"
    return [f"{where}: its own rows are not out of sample there; compare with the control's row instead"]


def _other_scale(criteria: Sequence[Criterion], journal: JournalReader) -> list[str]:
    """People may use another scale than the judge was asked for: ranks compare all the same, values do not."""
    ranges = journal.rating_ranges()
    notes = []
    for criterion in criteria:
        low, high = ranges.get(criterion.name, (criterion.scale.min, criterion.scale.max))
        if low not in criterion.scale or high not in criterion.scale:
            notes.append(
                f"people's ratings of {criterion.name} reach from {low:g} to {high:g}, the judge's scale from "
                f"{criterion.scale.min:g} to {criterion.scale.max:g}: compare ranks, not values (or mend the data)"
            )
    return notes


def _criterion(record: dict[str, Any]) -> Criterion:
    return Criterion(
        record["name"],
        record["abbreviation"],
        record["definition"],
        Scale(*record["scale"]),
        tuple(record["guidelines"]),
    )


def _add_people(
    people: dict[str, tuple[str, list[tuple[Any, ...]], list[tuple[Any, ...]]]],
    fact: RunFacts,
    definition: dict[str, Any],
    journal: JournalReader,
    folder: ResultFolder,
) -> None:
    """People's ratings and the stories of the folder's dataset, unless another folder brought them already."""
    content = str(definition["dataset_hash"])
    if fact.dataset in people:
        if people[fact.dataset][0] != content:
            raise RunFolderError(
                f"{folder.path} judged another version of dataset {fact.dataset!r} than the runs before it",
                hint="make one table for each version",
            )
        return
    ratings: list[tuple[Any, ...]] = []
    stories: list[tuple[Any, ...]] = []
    for story in journal.stories():
        place = (fact.dataset, story.id, story.story_prompt, story.system)
        stories.append((*place, len(story.text.split()), story.text))
        ratings.extend(
            (fact.run, None, *place, r.criterion, None, "rater", r.rater, None, r.value, "ok", "", None)
            for r in story.ratings
        )
    people[fact.dataset] = (content, ratings, stories)


def _judge_rows(
    answers: Iterator[Answer],
    fact: RunFacts,
    definition: dict[str, Any],
    parser: Parser,
    stories: dict[str, tuple[Any, ...]],
) -> Iterator[tuple[Any, ...]]:
    criteria = {criterion.name: criterion for criterion in fact.criteria}
    others = {name: [other for other in criteria if other != name] for name in criteria}
    structured = definition["structured"]
    for answer in answers:
        judgment = _judgment(answer, criteria[answer.criterion], parser, structured, others[answer.criterion])
        place = stories[answer.story]
        yield (
            fact.run,
            fact.judge,
            *place[:4],
            answer.criterion,
            answer.eval_prompt,
            "judge",
            None,
            answer.repeat,
            judgment.rating,
            judgment.status,
            ";".join((*answer.flags, *judgment.flags)),
            judgment.explanation,
        )


def _judgment(answer: Answer, criterion: Criterion, parser: Parser, structured: Any, others: Sequence[str]) -> Judgment:
    """The parser's reading of an answer, or why there was none to read."""
    if answer.response is None:
        return Judgment("filtered" if answer.outcome == "filtered" else "not_answered")
    return parser.parse(answer.response, criterion, structured=structured, other_criteria=others)


def _order(places: dict[str, tuple[Any, ...]], fact: RunFacts) -> Callable[[tuple[Any, ...]], tuple[int, ...]]:
    story = {name: number for number, name in enumerate(places)}
    criterion = {record.name: number for number, record in enumerate(fact.criteria)}
    eval_prompt = {name: number for number, name in enumerate(fact.eval_prompts)}
    return lambda row: (story[row[3]], criterion[row[6]], eval_prompt[row[7]], row[10])


def _imported(folder: ResultFolder) -> tuple[pd.DataFrame, RunFacts]:
    """A ratings table that came from elsewhere; its rows are checked, never changed."""
    frame = pd.read_csv(folder.imported, dtype={"story": str, "rater": str}, comment="#")
    missing = [column for column in COLUMNS if column not in frame.columns]
    if missing:
        raise DataError("columns are missing", file=folder.imported, found=missing, allowed=", ".join(COLUMNS))
    wrong = frame.loc[~frame["status"].isin(STATUSES), "status"]
    if not wrong.empty:
        row = int(wrong.index[0]) + 2
        raise DataError(
            "unknown status", file=folder.imported, row=row, found=wrong.iloc[0], allowed=", ".join(STATUSES)
        )
    frame = frame.astype({"repeat": "Int64", "rating": "float64"})
    judged = frame[frame["source"] == "judge"]
    fact = RunFacts(
        run=str(frame["run"].iloc[0]),
        judge=", ".join(sorted(judged["judge"].astype(str).unique())),
        dataset=str(frame["dataset"].iloc[0]),
        revision=None,
        repeats=0,
        criteria=(),
        eval_prompts=tuple(sorted(judged["eval_prompt"].astype(str).unique())),
        parser="imported",
        notes=("ratings were imported, not parsed here",),
        control=False,
        path=folder.path,
    )
    return frame[list(COLUMNS)], fact
