"""A run's queries, rendered lazily in the order that shares prefixes. Never holds more than one block of stories.

Stories come with equal story-prompts together. Each block of them is rendered and sorted as text, so queries with a
common prefix are neighbours whatever the templates look like; templates that begin with the criterion (its guidelines,
say) get a pass of their own for each criterion, since there the common prefix spans all stories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from judge.criteria import CriteriaSet, Published, load_criteria
from judge.errors import SpecError
from judge.eval_prompts import EvalPrompt, load_eval_prompt, prefix_order
from judge.fingerprint import fingerprint, fingerprint_bytes
from judge.parsing.ours.rating_pattern import check_pattern
from judge.records import Criterion, Message, Query, Story
from judge.run_definition.spec import RunSpec

BLOCK = 32
"""Stories in a block at most: bounds memory where thousands of stories share one story-prompt."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask about each story."""

    spec: RunSpec
    criteria: tuple[Criterion, ...]
    eval_prompts: tuple[EvalPrompt, ...]
    criteria_set: CriteriaSet

    @property
    def queries_per_story(self) -> int:
        """Criteria times Eval-Prompts."""
        return len(self.criteria) * len(self.eval_prompts)

    def groups(self, stories: Callable[[], Iterator[Story]]) -> Iterator[list[Query]]:
        """Prefix groups of queries. `stories` opens an iterator with equal story-prompts together, each time anew."""
        published = self.criteria_set.published
        by_story: list[_Place] = []
        by_criterion: list[_Place] = []
        for prompt in self.eval_prompts:
            for criterion in self.criteria:
                # The first two things a template shows are what the queries of one prefix group have in common.
                order = prefix_order(prompt, criterion, published=published)[:2]
                place = _Place(prompt, criterion, order)
                (by_criterion if order[:1] == ("criterion",) else by_story).append(place)
        if by_story:
            for block in _blocks(stories()):
                yield from self._block_groups(block, by_story)
        for place in by_criterion:
            for block in _blocks(stories()):
                yield from self._block_groups(block, [place])

    def query(self, story: Story, prompt: EvalPrompt, criterion: Criterion) -> Query:
        """One rendered query with its key. Raises SpecError or TemplateError where it cannot be rendered."""
        spec = self.spec
        published = self.criteria_set.published
        messages = prompt.render(story, criterion, published=published)
        return Query(
            key=query_key(story.id, criterion, prompt.name, messages, spec),
            story=story,
            criterion=criterion,
            eval_prompt=prompt.name,
            messages=messages,
            generation=spec.generation.record(),
            api=spec.api,
            structured=spec.structured,
            scoring=spec.scoring,
            asks_explanation=prompt.asks_explanation,
            flags=prompt.flags(story, published=published),
            rating_pattern=prompt.rating_pattern,
        )

    def definition(self) -> dict[str, Any]:
        """Everything that decides what is asked, as plain data: stored with the run, compared on resuming."""
        spec = self.spec
        patterns = {p.name: p.rating_pattern for p in self.eval_prompts if p.rating_pattern is not None}
        return {
            "name": spec.name,
            "dataset": spec.dataset,
            "criteria": {"set": self.criteria_set.name, "names": [c.name for c in self.criteria]},
            "criteria_hash": fingerprint(self.criteria_set.source),
            "criteria_records": [c.record() for c in self.criteria],
            "eval_prompts": {p.name: fingerprint(p.source) for p in self.eval_prompts},
            "eval_prompt_sources": {p.name: p.source for p in self.eval_prompts},
            "published": _published_data(self.criteria_set.published),
            "generation": spec.generation.model_dump(),
            "api": spec.api,
            "system": spec.system,
            "structured": spec.structured,
            "scoring": spec.scoring,
            "judge_key": spec.judge_key(),
            # Only where there is one, so that the definition of other runs stays what it was.
            **({"rating_patterns": patterns} if patterns else {}),
        }

    def _block_groups(self, block: list[Story], places: list[_Place]) -> Iterator[list[Query]]:
        asked = [
            (place.shared(story), self.query(story, place.eval_prompt, place.criterion))
            for story in block
            for place in places
        ]
        asked.sort(key=_text)
        for _, members in groupby(asked, key=itemgetter(0)):
            yield [query for _, query in members]


@dataclass(frozen=True, slots=True)
class _Place:
    """One Eval-Prompt with one criterion, and what its rendered text shows first."""

    eval_prompt: EvalPrompt
    criterion: Criterion
    order: tuple[str, ...]

    def shared(self, story: Story) -> tuple[str, ...]:
        shown = {"story_prompt": story.story_prompt, "story": story.text, "reference": story.reference or ""}
        own = f"{self.eval_prompt.name} {self.criterion.name}"
        return tuple(shown.get(kind, own) for kind in self.order)


def make_plan(spec: RunSpec, *, folder: Path | None = None) -> Plan:
    """Load what the definition names (paths relative to `folder`) and check what can be checked without stories."""
    wording = None
    if spec.criteria.wording is not None:
        wording = (folder or Path()) / spec.criteria.wording
    criteria_set = load_criteria(spec.criteria.set, wording=wording, folder=folder)
    criteria = criteria_set.pick(spec.criteria.only)
    # By the set, not by what is picked of it: criteria may be added to a run, and its Eval-Prompts must stay.
    labels = any(criterion.scale.labels for criterion in criteria_set.criteria)
    prompts = tuple(
        load_eval_prompt(name, folder=folder, system=spec.system, labels=labels) for name in spec.eval_prompts
    )
    names = [prompt.name for prompt in prompts]
    if len(set(names)) < len(names):
        raise SpecError(f"eval_prompts names one twice: {', '.join(names)}")
    for prompt in prompts:
        if prompt.rating_pattern is not None:
            check_pattern(prompt.rating_pattern, where=str(prompt.file))
        for criterion in criteria:
            prompt.check_criterion(criterion, published=criteria_set.published)
    return Plan(spec, criteria, prompts, criteria_set)


def missing_reference(plan: Plan, stories: Iterable[Story]) -> Iterator[Story]:
    """Passes stories on and raises at the first that lacks the reference story an Eval-Prompt needs."""
    for story in stories:
        for prompt in plan.eval_prompts:
            if prompt.lacks_reference(story, published=plan.criteria_set.published):
                raise SpecError(
                    f"Eval-Prompt {prompt.name} needs a reference story and story {story.id!r} has none",
                    hint=f"take {prompt.name} out of eval_prompts, or give the dataset its reference stories",
                )
        yield story


def query_key(story: str, criterion: Criterion, eval_prompt: str, messages: tuple[Message, ...], spec: RunSpec) -> str:
    """Fingerprint of everything an answer depends on, but who judges.

    The story's id, criterion and Eval-Prompt stand in it beside the messages: two stories with the same text are two
    judgments. The seed of repeat i is the run's seed plus i, so (key, repeat) names one answer.
    """
    generation = spec.generation
    head = orjson.dumps(
        [
            "query/1",
            story,
            criterion.name,
            eval_prompt,
            [generation.temperature, generation.top_p, generation.max_tokens, generation.seed, generation.stop],
            spec.api,
            spec.structured,
            (criterion.scale.labels or criterion.scale.points()) if spec.structured != "none" else None,
            [(message.role, message.content) for message in messages],
            # Only where it is said, so that keys of runs that score text stay what they were.
            *([spec.scoring] if spec.scoring != "text" else []),
        ]
    )
    return fingerprint_bytes((head,))


def _blocks(stories: Iterator[Story]) -> Iterator[list[Story]]:
    for _, same_prompt in groupby(stories, key=lambda story: story.story_prompt):
        block: list[Story] = []
        for story in same_prompt:
            block.append(story)
            if len(block) == BLOCK:
                yield block
                block = []
        if block:
            yield block


def _text(pair: tuple[tuple[str, ...], Query]) -> tuple[str, ...]:
    return tuple(message.content for message in pair[1].messages)


def _published_data(published: Published | None) -> dict[str, Any] | None:
    if published is None:
        return None
    tasks = [[criterion, prompt, text] for (criterion, prompt), text in published.tasks.items()]
    return {"file": str(published.file), "outer": dict(published.outer), "tasks": tasks}
