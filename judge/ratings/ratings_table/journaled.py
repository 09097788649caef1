"""Reads the rows of the ratings table from a run's journal (the SQLite file with every answer)."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.answers.journal import JournalReader
from judge.answers.journal.spending import queries_of
from judge.answers.journal.standing import file_state
from judge.answers.parsing import Parser
from judge.answers.parsing.stored_answers import StoredAnswers
from judge.asking.in_force.words import mark, stored
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.credentials.providers import JudgeName
from judge.base.errors import RunFolderError
from judge.base.records import Criterion, Story
from judge.base.wording import Advice, Note
from judge.inputs.perturbations.perturbation import CATALOGUE, PerturbedName, read_name
from judge.ratings.ratings_table.columns import (
    PANEL,
    Codes,
    Names,
    Piece,
    RatingsTable,
    RunFacts,
    StoryRow,
    about,
    marks,
    trained_on,
)
from judge.ratings.ratings_table.folder_notes import (
    about_answers,
    about_judge,
    other_scale,
    outside_scale,
    several_models,
)
from judge.ratings.ratings_table.judgments import Asked, UnusualError, judgments, text_in
from judge.ratings.ratings_table.parsed_file import Block, Blocks, judged
from judge.ratings.ratings_table.spill import Spill

# Recognises stories that were perturbed on purpose, by their ids, and removes them from tables.


def perturbed_names(stories: Iterable[object]) -> dict[str, PerturbedName]:
    """Parsed ids of a dataset's perturbed stories and unchanged copies. An id with "@" may be ordinary, so one must
    name a known perturbation or an unchanged copy."""
    marked = (str(story) for story in stories if "@" in str(story))
    names = {story: name for story in marked if (name := read_name(story)) is not None}
    marks_known = any(name.perturbation is None or name.perturbation in CATALOGUE for name in names.values())
    return names if marks_known else {}


def without_perturbed(table: RatingsTable) -> RatingsTable:
    """The table without perturbed stories, which no system wrote and no person rated, and which would bias, e.g., a
    system's mean or a judge's self-agreement. A note gives their number."""
    gone = {str(dataset): _changed(table, dataset) for dataset in table.stories.index.unique(level=0)}
    gone = {dataset: names for dataset, names in gone.items() if names}
    if not gone:
        return table
    frame = table.frame
    rows = np.zeros(len(frame), dtype=np.bool_)
    for dataset, names in gone.items():
        rows |= (frame["dataset"].eq(dataset) & frame["story"].isin(names)).to_numpy(dtype=np.bool_)
    keep = ~table.stories.index.isin([(dataset, story) for dataset, names in gone.items() for story in names])
    facts = tuple(
        replace(fact, notes=(*fact.notes, _note(fact.dataset, len(gone[fact.dataset]))))
        if fact.dataset in gone
        else fact
        for fact in table.facts
    )
    return replace(table, frame=frame[~rows], stories=table.stories[keep], facts=facts)


def _changed(table: RatingsTable, dataset: object) -> list[str]:
    index = table.stories.index
    names = perturbed_names(index.get_level_values(1)[index.get_level_values(0) == dataset])
    return [story for story, name in names.items() if name.perturbation is not None]


def _note(dataset: str, count: int) -> str:
    return Note(
        f"{dataset}: {count} perturbed stories are left out: this table is about the stories as they were",
        Advice("judge stress report has the others"),
    )


class ComparisonsError(RunFolderError):
    """Raised when ratings are requested from a result folder that holds comparisons of two stories."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} holds comparisons of two stories, and no ratings",
            hint="judge rank RUN has the tables of comparisons, judge ratings RUN --preferences their rows",
        )


@dataclass(eq=False)
class People:
    """A dataset's stories and human ratings. `content` is a hash that distinguishes its versions; a story's number is
    its position in `stories`."""

    content: str
    stories: dict[str, StoryRow]
    ratings: Piece

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each story."""
        return {story: number for number, story in enumerate(self.stories)}

    @cached_property
    def _levels(self) -> dict[str, tuple[Codes, Names]]:
        levels: dict[str, tuple[Codes, Names]] = {}
        for name in ("story", "story_prompt", "system"):
            numbers: dict[str, int] = {}
            codes = array("i", (numbers.setdefault(getattr(row, name), len(numbers)) for row in self.stories.values()))
            levels[name] = (np.array(codes), list(numbers))
        return levels

    def named(self, story: Codes) -> dict[str, tuple[Codes, Names]]:
        """Columns `story`, `story_prompt` and `system` as (codes, names), for stories given by number."""
        return {name: (codes[story], names) for name, (codes, names) in self._levels.items()}


def definition_in(journal: JournalReader, folder: ResultFolder) -> dict[str, Any]:
    """The run's definition. Raises RunFolderError for a journal that has none yet."""
    definition: dict[str, Any] | None = journal.meta().get("definition")
    if definition is None:
        raise RunFolderError(f"{folder.path} was stopped before anything was asked", hint="judge run it again")
    return definition


def other_version(folder: ResultFolder, dataset: str) -> RunFolderError:
    """Error for a dataset's name that stands for other stories than in an earlier result folder."""
    return RunFolderError(
        f"{folder.path} judged another version of dataset {dataset!r} than the runs before it",
        hint="make one table for each version",
    )


def story_rows(journal: JournalReader, dataset: str) -> Iterator[tuple[Story, StoryRow]]:
    """A journal's stories, each with its row of the table of stories."""
    words = journal.words_left_out()
    for story in journal.stories():
        length = words.get(story.id, len(story.text.split()))
        # Story-prompts and systems have many stories.
        prompt, system = sys.intern(story.story_prompt), sys.intern(story.system)
        yield story, StoryRow(dataset, story.id, prompt, system, length, story.text)


def read_journal(folder: ResultFolder, asked: Asked, people: dict[str, People]) -> tuple[Iterable[Piece], RunFacts]:
    """Rows of a journal, by story, criterion, Eval-Prompt and repeat, and facts. Human ratings of its dataset are added
    to `people`, unless it is a key there. With `asked.spill`, rows come in several pieces, each read as it is taken,
    the facts have no note on them, and rows that this version never writes raise UnusualError."""
    before = file_state(folder.journal)
    with JournalReader(folder.journal) as journal, journal.snapshot():
        definition = definition_in(journal, folder)
        if journal.compares:
            raise ComparisonsError(folder.path)
        if journal.writes:
            raise RunFolderError(
                f"{folder.path} holds stories that were written, and no ratings of them",
                hint=f"judge data stories {folder.path.parent} -o stories.jsonl, and judge run on these",
            )
        if asked.stated:
            definition = definition | {"scoring": "text"}
        # What was written between the two looks may be in the snapshot, or not.
        state = before if before == file_state(folder.journal) else None
        criteria = tuple(Criterion.of(record) for record in definition["criteria_records"])
        dataset = str(definition["dataset_name"])
        manifest = read_manifest(folder.manifest)
        _add_people(people, dataset, definition, journal, folder, texts=asked.spill is None or bool(marks(manifest)))
        gone = trained_on(manifest, people[dataset].stories, folder.path)
        judge = str(manifest.get("judge", folder.path.name))
        piece_of = partial(_piece, judge, people[dataset], definition, asked, gone)
        reading = StoredAnswers.of_run(asked.parser, criteria, definition, text_in(journal))
        numbers, attempts = people[dataset].numbers, journal.last_attempt()
        blocks = Blocks() if asked.spill is None else Spill(asked.spill, numbers, attempts)
        try:
            settled = judgments(folder, journal, reading, asked, definition, state, blocks)
            pieces: Iterable[Piece] = map(piece_of, blocks.parts())
            pieces = pieces if asked.spill is not None else [*pieces]
        except UnusualError:
            if asked.spill is not None:
                raise
            rows = (row for answer in journal.answers() for row in judged(answer, reading))
            pieces, settled = [piece_of([Block.of(rows)], distinct=False)], journal.settled_total()
        fact = _facts(folder, judge, definition, criteria, journal, asked.parser, settled)
        if asked.beside is not None:
            asked.beside(journal, fact)
    flags = (flag for piece in pieces for flag in _in_order(piece.named["flags"])) if asked.spill is None else ()
    notes = (*about(judge, gone, people[dataset].stories), *outside_scale(flags))
    return pieces, replace(fact, notes=(*fact.notes, *notes))


def _piece(
    judge: str,
    people: People,
    definition: dict[str, Any],
    asked: Asked,
    gone: frozenset[str],
    blocks: Sequence[Block],
    *,
    distinct: bool = True,
) -> Piece:
    # Stories in `gone` are those from the judge's training. Rows that must be `distinct` and are not raise
    # UnusualError.
    criteria = [str(record["name"]) for record in definition["criteria_records"]]
    prompts = list(definition["eval_prompts"])
    columns = {
        "story": _numbers(blocks, "story", people.numbers),
        "criterion": _numbers(blocks, "criterion", {name: n for n, name in enumerate(criteria)}),
        "eval_prompt": _numbers(blocks, "eval_prompt", {name: n for n, name in enumerate(prompts)}),
    }
    further: dict[str, dict[str, int]] = {"status": {}, "flags": {}}
    columns |= {name: _numbers(blocks, name, numbers, more=True) for name, numbers in further.items()}
    repeat = _joined([block.rows["repeat"].astype(np.int64) for block in blocks], np.int64)
    cell = (columns["story"].astype(np.int64) * len(criteria) + columns["criterion"]) * len(prompts)
    cell += columns["eval_prompt"]
    order = np.lexsort((repeat, cell))
    cell, repeat = cell[order], repeat[order]
    if distinct and bool(((cell[1:] == cell[:-1]) & (repeat[1:] == repeat[:-1])).any()):
        raise UnusualError
    if gone:
        kept = np.array([story not in gone for story in people.stories], dtype=bool)[columns["story"][order]]
        order, repeat = order[kept], repeat[kept]
    columns = {name: column[order] for name, column in columns.items()}
    explanations = None
    if asked.explanations:
        texts = [text for block in blocks for text in block.explanations or ()]
        explanations = np.array([*texts, None], dtype=object)[:-1][order]
    return Piece(
        {
            "run": str(definition["name"]),
            "judge": judge,
            "dataset": str(definition["dataset_name"]),
            **people.named(columns["story"]),
            "criterion": (columns["criterion"], criteria),
            "eval_prompt": (columns["eval_prompt"], prompts),
            "source": "judge",
            "rater": None,
            **{name: (columns[name], list(numbers)) for name, numbers in further.items()},
        },
        _joined([block.rows["rating"] for block in blocks], np.float64)[order],
        repeat,
        explanations,
    )


def _numbers(blocks: Sequence[Block], name: str, numbers: dict[str, int], *, more: bool = False) -> NDArray[np.int32]:
    # With `more`, names that are not yet in `numbers` are added to it.
    codes = []
    for block in blocks:
        if more:
            for level in block.names[name]:
                numbers.setdefault(level, len(numbers))
        places = np.array([numbers[level] for level in block.names[name]], dtype=np.int32)
        codes.append(places[block.rows[name]])
    return _joined(codes, np.int32)


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=dtype), *parts])


def _in_order(column: tuple[Codes, Names] | str | None) -> Iterator[str]:
    # The flag `outside=` holds the probability of tokens off the scale.
    if isinstance(column, tuple) and any(name and "outside=" in name for name in column[1]):
        codes, names = column
        yield from (str(names[code]) for code in codes.tolist())


def _facts(
    folder: ResultFolder,
    judge: str,
    definition: dict[str, Any],
    criteria: tuple[Criterion, ...],
    journal: JournalReader,
    parser: Parser,
    settled: int,
) -> RunFacts:
    manifest = read_manifest(folder.manifest)
    force = manifest.get("in_force", {})
    name = JudgeName.of(judge)
    notes = about_judge(judge, manifest, criteria, journal)
    notes += other_scale(criteria, journal)
    if definition.get("labels_note"):
        notes.append(str(definition["labels_note"]))
    if name.is_scripted:
        notes.append(f"{judge} gives scripted answers: figures about it say nothing about any judge")
    if parser.imputes:
        notes.append(
            f"parser {parser.version} imputes the scale's midpoint where an answer states no rating on the scale"
        )
    prompts = tuple(definition["eval_prompts"])
    repeats = int(force.get("repeats", 1))
    planned = journal.story_count() * queries_of(definition) * repeats
    notes += several_models(judge, manifest, journal)
    notes += about_answers(judge, journal, settled=settled, planned=planned)
    return RunFacts(
        run=str(definition["name"]),
        judge=judge,
        dataset=str(definition["dataset_name"]),
        revision=force.get("revision"),
        repeats=repeats,
        criteria=criteria,
        eval_prompts=prompts,
        parser=_version(parser, definition, journal.replaced_total()),
        notes=tuple(notes),
        control=name.is_control,
        path=folder.path,
        structured=str(definition["structured"]),
        labels_note=definition.get("labels_note"),
        not_in_force=mark(stored(manifest)),
        people=dict(definition.get("people") or {}),
        joint=tuple(definition.get("joint", ())),
        unasked=max(0, planned - settled),
    )


def _version(parser: Parser, definition: dict[str, Any], replaced: int) -> str:
    # With a suffix for everything else that can change the ratings of a run.
    version = parser.version + (f"+retried:{replaced}" if replaced else "")
    if definition.get("scoring", "text") == "logprobs":
        version += "+logprobs"
    return version + ("+pattern" if definition.get("rating_patterns") else "")


def _add_people(
    people: dict[str, People],
    dataset: str,
    definition: dict[str, Any],
    journal: JournalReader,
    folder: ResultFolder,
    *,
    texts: bool,
) -> None:
    # Another version of the dataset in an earlier folder is a RunFolderError.
    content = str(definition["dataset_hash"])
    if dataset in people:
        if people[dataset].content != content:
            raise other_version(folder, dataset)
        return
    stories: dict[str, StoryRow] = {}
    given = array("i")
    numbers: dict[str, dict[str | None, int]] = {"criterion": {}, "rater": {}, PANEL: {}}
    codes = {name: array("i") for name in numbers}
    values = array("d")
    for number, (story, row) in enumerate(story_rows(journal, dataset)):
        stories[story.id] = row if texts else row._replace(text="")
        for rating in story.ratings:
            given.append(number)
            values.append(rating.value)
            for name, value in (("criterion", rating.criterion), ("rater", rating.rater), (PANEL, rating.panel)):
                codes[name].append(numbers[name].setdefault(value, len(numbers[name])))
    dataset_people = People(content, stories, Piece({}, np.empty(0)))
    if numbers[PANEL].keys() <= {None}:
        del codes[PANEL]
    named: dict[str, tuple[Codes, Names] | str | None] = {
        "run": str(definition["name"]),
        "judge": None,
        "dataset": dataset,
        **dataset_people.named(np.array(given, dtype=np.int32)),
        **{name: (np.array(codes[name], dtype=np.int32), list(numbers[name])) for name in codes},
        "eval_prompt": None,
        "source": "rater",
        "status": "ok",
        "flags": "",
    }
    people[dataset] = replace(dataset_people, ratings=Piece(named, np.array(values, dtype=np.float64)))
