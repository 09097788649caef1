"""Explanations in the answers of runs: the judges' ratings in the ratings table, each with its whole raw answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder, resolve
from judge.base.errors import SpecError, TemplateError
from judge.base.records import Criterion, names_in
from judge.explanations.corpus.corpus import ExplanationTexts, frame_of, stories_of
from judge.inputs.prompt_file import split
from judge.ratings.ratings_table import RatingsTable, RunFacts, read

_Place = tuple[str, str, str, str, str, int]


@dataclass(slots=True)
class Beside:
    """What the ratings table lacks: whole answers, stories with references, and whether explanations were requested.
    `asks` maps (result folder, Eval-Prompt) to that; Eval-Prompts without a stored template are missing."""

    answers: dict[_Place, str] = field(default_factory=dict)
    stories: dict[tuple[str, str], tuple[Any, ...]] = field(default_factory=dict)
    asks: dict[tuple[Path, str], bool] = field(default_factory=dict)

    def read(self, journal: JournalReader, fact: RunFacts) -> None:
        """Add one journal's answers, stories and requests; `fact` says which run it is."""
        for story in journal.stories(ratings=False):
            story_key = (fact.dataset, story.id)
            self.stories.setdefault(
                story_key, (*story_key, story.story_prompt, story.system, story.text, story.reference)
            )
        for answer in journal.answers():
            if answer.response is not None:
                # An answer about several criteria is the whole answer of each.
                for name in names_in(answer.criterion):
                    key = (fact.run, fact.judge, answer.story, name, answer.eval_prompt, answer.repeat)
                    self.answers[key] = answer.response.text
        sources = (journal.meta().get("definition") or {}).get("eval_prompt_sources") or {}
        self.asks |= {(fact.path, name): _asks(name, sources[name]) for name in fact.eval_prompts if name in sources}


def read_runs(runs: Sequence[str | Path], parser: str = "ours") -> ExplanationTexts:
    """Explanations of several runs; each journal is read once, in one consistent snapshot. Raises SpecError where two
    result folders have the same run name and judge: their answers could not be distinguished."""
    beside = Beside()
    return _joined(read([folder.path for folder in resolve(runs)], parser, beside=beside.read), beside)


def of_table(table: RatingsTable) -> ExplanationTexts:
    """Explanations of the judges in a ratings table, which may be filtered, with raw answers from its journals."""
    beside = Beside()
    for fact in table.facts:
        folder = ResultFolder(fact.path)
        if folder.journal.is_file():
            with JournalReader(folder.journal) as journal, journal.snapshot():
                beside.read(journal, fact)
    return _joined(table, beside)


def _joined(table: RatingsTable, beside: Beside) -> ExplanationTexts:
    seen: dict[tuple[str, str], Path] = {}
    for fact in table.facts:
        other = seen.setdefault((fact.run, fact.judge), fact.path)
        if other != fact.path:
            raise SpecError(f"{other} and {fact.path} are both run {fact.run!r} by {fact.judge!r}: give one at a time")
    stories = dict(beside.stories)
    for stored in table.stories.reset_index().to_dict("records"):
        story_key = (str(stored["dataset"]), str(stored["story"]))
        text = stored["text"] if isinstance(stored["text"], str) else None
        stories.setdefault(story_key, (*story_key, stored["story_prompt"], stored["system"], text, None))
    rows: list[dict[str, Any]] = []
    judged = table.frame[table.frame["source"] == "judge"]
    for row in judged.to_dict("records"):
        asked = (row["run"], row["judge"], row["story"], row["criterion"], row["eval_prompt"], row["repeat"])
        # Of a table that was read earlier: what was answered since is in none of its rows.
        answer = None if row["status"] == "not_answered" else beside.answers.get(asked)
        rows.append({**{str(k): v for k, v in row.items()}, "answer": answer})
    criteria: dict[str, Criterion] = {}
    for fact in table.facts:
        for criterion in fact.criteria:
            criteria.setdefault(criterion.name, criterion)
    asking: dict[str, list[bool]] = {}
    for fact in table.facts:
        for name in fact.eval_prompts:
            asking.setdefault(name, []).append(beside.asks.get((fact.path, name), True))
    notes = tuple(dict.fromkeys(note for fact in table.facts for note in fact.notes))
    return ExplanationTexts(
        frame_of(rows),
        stories_of(list(stories.values())),
        tuple(criteria.values()),
        table.facts,
        notes,
        tuple(name for name, stored in asking.items() if not any(stored)),
    )


def _asks(name: str, source: str) -> bool:
    try:
        return split(source, Path(name)).front.explains
    except TemplateError:  # keys of another version of this program
        return True
