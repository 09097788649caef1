"""Rows of the ratings table out of a journal. Parses every answer each time, and never fills a gap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from judge.errors import RunFolderError
from judge.in_force.words import mark, stored
from judge.journal import JournalReader
from judge.journal.snapshot import LEFT_OUT
from judge.parsing import Parser
from judge.parsing.stored_answers import StoredAnswers
from judge.ratings_table.folder_notes import in_sample, other_scale, outside_scale, without_effect
from judge.ratings_table.table import RunFacts, criterion_of
from judge.records import Answer
from judge.run_folder import ResultFolder, read_manifest
from judge.wording import Advice, Note

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class People:
    """One dataset's stories and people's ratings; `content` is the dataset's hash, by which versions are told apart."""

    content: str
    ratings: list[Row] = field(default_factory=list)
    stories: list[Row] = field(default_factory=list)


def read_journal(
    folder: ResultFolder, parser: Parser, people: dict[str, People], *, explanations: bool
) -> tuple[list[Row], RunFacts]:
    """The judge's rows of one result folder, in reading order, and its facts; its dataset is added to `people` once."""
    with JournalReader(folder.journal) as journal:
        definition = journal.meta().get("definition")
        if definition is None:
            raise RunFolderError(f"{folder.path} was stopped before anything was asked", hint="judge run it again")
        fact = _facts(folder, definition, journal, parser)
        _add_people(people, fact, definition, journal, folder)
        places = {row[1]: row for row in people[fact.dataset].stories}
        found = list(_judge_rows(journal.answers(), fact, definition, parser, places, explanations=explanations))
    # The journal gives them by key; people read them by story, criterion, Eval-Prompt and repeat.
    found.sort(key=_order(places, fact))
    return found, replace(fact, notes=(*fact.notes, *outside_scale(str(row[13]) for row in found)))


def _facts(folder: ResultFolder, definition: dict[str, Any], journal: JournalReader, parser: Parser) -> RunFacts:
    manifest = read_manifest(folder.manifest)
    force = manifest.get("in_force", {})
    judge = str(manifest.get("judge", folder.path.name))
    control = judge.partition("/")[0] == "surface"
    criteria = tuple(criterion_of(record) for record in definition["criteria_records"])
    notes: list[str] = []
    left_out = journal.meta().get(LEFT_OUT)
    if control:
        notes.append(f"{judge} is a control, not a language model")
        notes += in_sample(judge, criteria, journal) if left_out is None else []
    if left_out is not None:
        notes += [*left_out["notes"], "the stories' texts were left out of this journal: no control row, no features"]
    if force.get("note"):
        notes.append(f"{judge}: {force['note']}")
    # What the server was found not to do, as the probe of the last sitting noted it.
    notes += (force.get("server") or {}).get("notes", [])
    settings = stored(manifest)
    notes += without_effect(judge, settings, told=notes)
    notes += other_scale(criteria, journal)
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
        said = f"{replaced} answers were asked again because no rating could be read"
        notes.append(Note(said, Advice("judge retry {unparsed}", unparsed=True)))
    prompts = tuple(definition["eval_prompts"])
    repeats = int(force.get("repeats", 1))
    planned = journal.story_count() * len(criteria) * len(prompts) * repeats
    settled = journal.settled_total()
    if settled < planned:
        notes.append(f"{judge}: {planned - settled} of {planned} planned repeats have not been asked yet")
    version = parser.version + (f"+retried:{replaced}" if replaced else "")
    if definition.get("scoring", "text") == "logprobs":
        version += "+logprobs"
    if definition.get("rating_patterns"):
        version += "+pattern"
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
        structured=str(definition["structured"]),
        labels_note=definition.get("labels_note"),
        not_in_force=mark(settings),
    )


def _add_people(
    people: dict[str, People],
    fact: RunFacts,
    definition: dict[str, Any],
    journal: JournalReader,
    folder: ResultFolder,
) -> None:
    """People's ratings and the stories of the folder's dataset, unless another folder brought them already."""
    content = str(definition["dataset_hash"])
    if fact.dataset in people:
        if people[fact.dataset].content != content:
            raise RunFolderError(
                f"{folder.path} judged another version of dataset {fact.dataset!r} than the runs before it",
                hint="make one table for each version",
            )
        return
    found = people[fact.dataset] = People(content)
    words = journal.words_left_out()
    for story in journal.stories():
        place = (fact.dataset, story.id, story.story_prompt, story.system)
        found.stories.append((*place, words.get(story.id, len(story.text.split())), story.text))
        found.ratings.extend(
            (fact.run, None, *place, r.criterion, None, "rater", r.rater, None, r.value, "ok", "", None)
            for r in story.ratings
        )


def _judge_rows(
    answers: Iterator[Answer],
    fact: RunFacts,
    definition: dict[str, Any],
    parser: Parser,
    stories: dict[str, tuple[Any, ...]],
    *,
    explanations: bool,
) -> Iterator[tuple[Any, ...]]:
    reading = StoredAnswers.of_run(parser, fact.criteria, definition, lambda story: str(stories[story][-1]))
    for answer in answers:
        judgment = reading.judgment(answer)
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
            ";".join(judgment.flags),
            judgment.explanation if explanations else None,
        )


def _order(places: dict[str, tuple[Any, ...]], fact: RunFacts) -> Callable[[tuple[Any, ...]], tuple[int, ...]]:
    story = {name: number for number, name in enumerate(places)}
    criterion = {record.name: number for number, record in enumerate(fact.criteria)}
    eval_prompt = {name: number for number, name in enumerate(fact.eval_prompts)}
    return lambda row: (story[row[3]], criterion[row[6]], eval_prompt[row[7]], row[10])
