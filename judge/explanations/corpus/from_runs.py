"""Explanations of runs: the ratings table's judge rows, each with the whole raw answer beside it. Never asks again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge.errors import SpecError, TemplateError
from judge.eval_prompts.front_matter import split
from judge.explanations.corpus.corpus import ExplanationTexts, frame_of, stories_of
from judge.journal import JournalReader
from judge.ratings_table import RatingsTable, RunFacts, read
from judge.records import Criterion
from judge.run_folder import ResultFolder, resolve

_Place = tuple[str, str, str, str, str, int]


def read_runs(runs: Sequence[str | Path], parser: str = "ours") -> ExplanationTexts:
    """Explanations of RUNs, in the order of the ratings table.

    Raises SpecError where two result folders bear one run name and judge: their answers could not be told apart.
    """
    return of_table(read([folder.path for folder in resolve(runs)], parser))


def of_table(table: RatingsTable) -> ExplanationTexts:
    """Explanations of a ratings table's judges, which may be narrowed; raw answers come from its facts' journals."""
    seen: dict[tuple[str, str], Path] = {}
    for fact in table.facts:
        other = seen.setdefault((fact.run, fact.judge), fact.path)
        if other != fact.path:
            raise SpecError(f"{other} and {fact.path} are both run {fact.run!r} by {fact.judge!r}: give one at a time")
    answers: dict[_Place, str] = {}
    stories: dict[tuple[str, str], tuple[Any, ...]] = {}
    asking: dict[str, list[bool]] = {}
    for fact in table.facts:
        folder = ResultFolder(fact.path)
        if folder.journal.is_file():
            _add(JournalReader(folder.journal), fact, answers, stories)
        for name in fact.eval_prompts:
            asking.setdefault(name, []).append(_asks(folder, name))
    for known in table.stories.reset_index().to_dict("records"):
        place = (str(known["dataset"]), str(known["story"]))
        text = known["text"] if isinstance(known["text"], str) else None
        stories.setdefault(place, (*place, known["story_prompt"], known["system"], text, None))
    rows: list[dict[str, Any]] = []
    judged = table.frame[table.frame["source"] == "judge"]
    for row in judged.to_dict("records"):
        asked = (row["run"], row["judge"], row["story"], row["criterion"], row["eval_prompt"], row["repeat"])
        rows.append({**{str(k): v for k, v in row.items()}, "answer": answers.get(asked)})
    criteria: dict[str, Criterion] = {}
    for fact in table.facts:
        for criterion in fact.criteria:
            criteria.setdefault(criterion.name, criterion)
    notes = tuple(dict.fromkeys(note for fact in table.facts for note in fact.notes))
    return ExplanationTexts(
        frame_of(rows),
        stories_of(list(stories.values())),
        tuple(criteria.values()),
        table.facts,
        notes,
        tuple(name for name, known in asking.items() if not any(known)),
    )


def _add(
    journal: JournalReader,
    fact: RunFacts,
    answers: dict[_Place, str],
    stories: dict[tuple[str, str], tuple[Any, ...]],
) -> None:
    with journal:
        for story in journal.stories(ratings=False):
            place = (fact.dataset, story.id)
            stories.setdefault(place, (*place, story.story_prompt, story.system, story.text, story.reference))
        for answer in journal.answers():
            if answer.response is not None:
                key = (fact.run, fact.judge, answer.story, answer.criterion, answer.eval_prompt, answer.repeat)
                answers[key] = answer.response.text


def _asks(folder: ResultFolder, eval_prompt: str) -> bool:
    """Whether the run's stored template asks for an explanation; True where that cannot be known."""
    if not folder.journal.is_file():
        return True
    with JournalReader(folder.journal) as journal:
        definition = journal.meta().get("definition") or {}
    source = (definition.get("eval_prompt_sources") or {}).get(eval_prompt)
    if source is None:
        return True
    try:
        return split(source, Path(eval_prompt)).front.explains
    except TemplateError:  # keys of another version of this program
        return True
