"""Rows of the preferences table from the journal of a run that compared stories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from judge.answers.journal import JournalReader
from judge.answers.parsing.stored_verdicts import StoredVerdicts
from judge.answers.parsing.verdict import VERSION
from judge.asking.in_force.words import mark, stored
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.errors import RunFolderError
from judge.base.judge_name import JudgeName
from judge.base.records import Answer, Criterion, Pair
from judge.ratings.preferences_table.table import COLUMNS, ComparisonFacts
from judge.ratings.ratings_table.folder_notes import about_answers, about_judge
from judge.ratings.ratings_table.table import StoryRow
from judge.ratings.ratings_table.training_stories import about, trained_on


@dataclass(slots=True)
class Known:
    """Facts of one dataset: stories by id, human ratings, human preferences, and the pairs that runs compare.

    `content` is the dataset's hash, which distinguishes versions. `run` is the name of the run from which these facts
    were read. A rating is (story, criterion, value). `pairs` maps the set of two story ids to (id of the pair, first
    story, second story).
    """

    content: str
    run: str
    stories: dict[str, StoryRow]
    ratings: list[tuple[str, str, float]] = field(default_factory=list)
    preferred: list[Pair] = field(default_factory=list)
    pairs: dict[frozenset[str], tuple[str, str, str]] = field(default_factory=dict)


def read_journal(folder: ResultFolder, datasets: dict[str, Known]) -> tuple[list[dict[str, Any]], ComparisonFacts]:
    """Rows of the preferences table from the journal of one result folder, one for each repeat by the judge, and facts
    about the folder. The folder's dataset is added to `datasets` (name -> dataset) unless it is there already.
    """
    with JournalReader(folder.journal) as journal, journal.snapshot():
        definition = journal.meta().get("definition")
        if definition is None:
            raise RunFolderError(f"{folder.path} was stopped before anything was asked", hint="judge run it again")
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
            raise RunFolderError(
                f"{folder.path} judged another version of dataset {name!r} than the runs before it",
                hint="make one table for each version",
            )
        return datasets[name]
    words = journal.words_left_out()
    dataset = datasets[name] = Known(content, str(definition["name"]), {})
    for story in journal.stories():
        length = words.get(story.id, len(story.text.split()))
        dataset.stories[story.id] = StoryRow(name, story.id, story.story_prompt, story.system, length, story.text)
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
    """A row of the preferences table for each repeat that was tried, sorted by pair in the order shown, criterion,
    Eval-Prompt and repeat.

    Comparisons with a story in `gone` (stories on which the judge was trained) are left out.
    """
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
    """A row of the preferences table for each preference of a person, with the two stories in the order in which the
    dataset gives their pair.
    """
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
    """Columns of the preferences table that follow from the two stories: ids, systems, and the common story-prompt (""
    where the stories have different ones).
    """
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
    """The frame with the types of the preferences table: the shares of the outcomes (`p_first`, `p_second`, `p_tie`)
    are floats, repeats are integers, all other columns are text.
    """
    shares = dict.fromkeys(("p_first", "p_second", "p_tie"), "float64")
    texts = {name: object for name in COLUMNS if name not in shares and name != "repeat"}
    frame = frame.astype({**texts, **shares, "repeat": "Int64"})
    plain = frame[list(texts)]
    frame[list(texts)] = plain.where(plain.notna(), None)
    return frame
