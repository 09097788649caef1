"""Renders a run's queries lazily, a block of stories (or pairs) grouped by story-prompt at a time, sorted as text, so
that queries with a common prefix are adjacent for any template (servers cache prefixes). A template that begins with
the criterion gets a pass for each criterion, because all stories then share the prefix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar

import orjson

from judge.answers.journal import JournalReader
from judge.answers.parsing.ours.from_story import check_pattern
from judge.asking.run_definition.spec import OF_PAIRS, RunSpec
from judge.asking.run_definition.writing import AnySpec, GenerateSpec
from judge.base.errors import SpecError, unknown
from judge.base.fingerprint import fingerprint, fingerprint_bytes
from judge.base.records import Asked, Commission, Comparison, Criterion, Message, Query, Story, StoryPrompt, Subject
from judge.inputs.criteria import CriteriaSet, Published, load_criteria
from judge.inputs.eval_prompts import EvalPrompt, load_eval_prompt, prefix_order
from judge.inputs.eval_prompts.template import WriterPrompt, load_writer_prompt

# Stories or pairs in a block at most: bounds memory where thousands of them share one story-prompt.
BLOCK = 32


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of a run: its queries about each story, or each pair in each order in which it is shown."""

    spec: RunSpec
    criteria: tuple[Criterion, ...]
    eval_prompts: tuple[EvalPrompt, ...]
    criteria_set: CriteriaSet

    @property
    def compares(self) -> bool:
        return self.spec.pairs is not None

    @property
    def queries_per_subject(self) -> int:
        """Queries per story or pair as shown: one for each Eval-Prompt and criterion, or one for several criteria in
        one answer."""
        return sum(len(self.asked_by(prompt)) for prompt in self.eval_prompts)

    def asked_by(self, prompt: EvalPrompt) -> tuple[Asked, ...]:
        """What an Eval-Prompt's queries ask for: one criterion each, or, in a single query, a tuple of all."""
        if prompt.criteria is None:
            return self.criteria
        return (self.criteria if prompt.criteria == "all" else _named(prompt, self.criteria),)

    def asked_in(self, journal: JournalReader, limit: int | None = None) -> Iterator[list[Query]]:
        """Lists of queries about the stories or pairs in a journal (all, or the first `limit`), each with a common
        prefix."""
        return self.groups(lambda: journal.subjects(limit))

    def groups(self, subjects: Callable[[], Iterator[Subject]]) -> Iterator[list[Query]]:
        """Lists of queries with a common prefix. `subjects` must return a new iterator each time, grouped by
        story-prompt."""
        published = self.criteria_set.published
        by_story: list[_Place] = []
        by_criterion: list[_Place] = []
        for prompt in self.eval_prompts:
            for asked in self.asked_by(prompt):
                # The first two things a template shows are what the queries of one prefix group have in common.
                order = prefix_order(prompt, asked, published=published)[:2]
                place = _Place(prompt, asked, order)
                (by_criterion if order[:1] == ("criterion",) else by_story).append(place)
        if by_story:
            for block in _blocks(subjects()):
                yield from self._block_groups(block, by_story)
        for place in by_criterion:
            for block in _blocks(subjects()):
                yield from self._block_groups(block, [place])

    def query(self, subject: Subject, prompt: EvalPrompt, asked: Asked) -> Query:
        """One rendered query with its key. Raises SpecError or TemplateError where it cannot be rendered."""
        spec = self.spec
        messages = self.messages(subject, prompt, asked)
        together = () if isinstance(asked, Criterion) else asked
        criterion = asked if isinstance(asked, Criterion) else Criterion.together(asked)
        if isinstance(subject, Comparison):
            places = (subject.first.id, subject.second.id)
            key = comparison_key(places, criterion, prompt.name, messages, spec)
        elif together:
            key = joint_key(subject.id, together, prompt.name, messages, spec)
        else:
            key = query_key(subject.id, criterion, prompt.name, messages, spec)
        return Query(
            key=key,
            story=subject.first if isinstance(subject, Comparison) else subject,
            criterion=criterion,
            eval_prompt=prompt.name,
            messages=messages,
            generation=spec.generation.record(),
            api=spec.api,
            structured=spec.structured,
            scoring=spec.scoring,
            asks_explanation=prompt.asks_explanation,
            flags=prompt.flags(subject, published=self.criteria_set.published),
            rating_pattern=prompt.rating_pattern,
            other=subject.second if isinstance(subject, Comparison) else None,
            choices=spec.choices,
            pair=subject.pair if isinstance(subject, Comparison) else None,
            criteria=together,
        )

    def messages(self, subject: Subject, prompt: EvalPrompt, asked: Asked) -> tuple[Message, ...]:
        return prompt.render(subject, asked, published=self.criteria_set.published, ties=self.spec.ties)

    def definition(self) -> dict[str, Any]:
        """Everything that decides the queries' content, stored with the run and compared when it is resumed."""
        spec = self.spec
        patterns = {p.name: p.rating_pattern for p in self.eval_prompts if p.rating_pattern is not None}
        joint = {
            prompt.name: [criterion.name for criterion in asked]
            for prompt in self.eval_prompts
            for asked in self.asked_by(prompt)
            if not isinstance(asked, Criterion)
        }
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
            **({"joint": joint} if joint else {}),
            **(spec.model_dump(include=set(OF_PAIRS)) if self.compares else {}),
            **({"people": spec.people} if spec.people else {}),
        }

    def _block_groups(self, block: list[Subject], places: list[_Place]) -> Iterator[list[Query]]:
        asked = [
            (place.shared(subject), self.query(subject, place.eval_prompt, place.asked))
            for subject in block
            for place in places
        ]
        asked.sort(key=lambda pair: tuple(message.content for message in pair[1].messages))
        for _, members in groupby(asked, key=itemgetter(0)):
            yield [query for _, query in members]


@dataclass(frozen=True, slots=True)
class _Place:
    # `order` names the first two kinds of text that differ between queries, as they appear in the prompt.
    eval_prompt: EvalPrompt
    asked: Asked
    order: tuple[str, ...]

    def shared(self, subject: Subject) -> tuple[str, ...]:
        story = subject.first if isinstance(subject, Comparison) else subject
        shown = {"story_prompt": subject.story_prompt, "story": story.text, "reference": story.reference or ""}
        if isinstance(subject, Comparison):
            shown |= {"first": story.text, "second": subject.second.text}
        criteria = self.asked if isinstance(self.asked, tuple) else (self.asked,)
        own = " ".join([self.eval_prompt.name, *(criterion.name for criterion in criteria)])
        return tuple(shown.get(kind, own) for kind in self.order)


def make_plan(spec: RunSpec, *, folder: Path | None = None) -> Plan:
    """The plan of a run's definition (paths relative to `folder`), checked as far as possible without stories."""
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
    criterion_names = {criterion.name.casefold() for criterion in criteria}
    for name in spec.people or {}:
        if name.casefold() not in criterion_names:
            raise SpecError(
                unknown("criterion", name, (criterion.name for criterion in criteria)) + ", named in people"
            )
    names = [prompt.name for prompt in prompts]
    if len(set(names)) < len(names):
        raise SpecError(f"eval_prompts names one twice: {', '.join(names)}")
    _check_kind(spec, prompts)
    for prompt in prompts:
        if prompt.rating_pattern is not None:
            check_pattern(prompt.rating_pattern, where=str(prompt.file))
    plan = Plan(spec, criteria, prompts, criteria_set)
    for prompt in prompts:
        for asked in plan.asked_by(prompt):
            for criterion in asked if isinstance(asked, tuple) else (asked,):
                prompt.check_criterion(criterion, published=criteria_set.published)
    return plan


def _named(prompt: EvalPrompt, criteria: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
    by_name = {
        word.casefold(): criterion for criterion in criteria for word in (criterion.abbreviation, criterion.name)
    }
    names = prompt.criteria or ()
    missing = [name for name in names if name.casefold() not in by_name]
    if missing:
        raise SpecError(
            f"Eval-Prompt {prompt.name} rates {', '.join(missing)} too, and the run does not ask for it",
            hint="add it to the run's criteria, or write criteria: all in the Eval-Prompt",
        )
    return tuple(dict.fromkeys(by_name[name.casefold()] for name in names))


def _check_kind(spec: RunSpec, prompts: tuple[EvalPrompt, ...]) -> None:
    compare = [prompt.name for prompt in prompts if prompt.compares]
    rate = [prompt.name for prompt in prompts if not prompt.compares]
    if compare and rate:
        raise SpecError(
            f"a run rates stories or compares them: Eval-Prompt {rate[0]} rates one, {compare[0]} compares two",
            hint="make two runs of them",
        )
    if compare and spec.pairs is None:
        raise SpecError(
            f"Eval-Prompt {compare[0]} compares two stories, and the run does not say which",
            hint="add pairs: all, given, {each: K}, {against: SYSTEM} or {file: pairs.jsonl}; or take ep1 to ep5",
        )
    if rate and spec.pairs is not None:
        raise SpecError(
            f"the run has pairs of stories, and Eval-Prompt {rate[0]} asks for the rating of one",
            hint="take Eval-Prompts that compare (pair1 to pair5, or your own with compares: true), or leave pairs out",
        )
    joint = [prompt.name for prompt in prompts if prompt.criteria is not None]
    if joint and spec.structured == "choice":
        raise SpecError(
            f"Eval-Prompt {joint[0]} asks for several criteria in one answer, which no choice of one point can be",
            hint="set structured: json (one rating under each criterion's name), or none",
        )
    if joint and spec.scoring == "logprobs":
        raise SpecError(
            f"Eval-Prompt {joint[0]} asks for several criteria in one answer: log-probabilities tell no rating of each",
            hint="set scoring: text, or take Eval-Prompts that ask for one criterion",
        )


def missing_reference(plan: Plan, stories: Iterable[Story]) -> Iterator[Story]:
    """The stories. Raises SpecError at the first without a reference story that an Eval-Prompt needs, or with the
    story-prompt of an Eval-Prompt's example."""
    for story in stories:
        for prompt in plan.eval_prompts:
            prompt.refuse_example(story)
            if prompt.lacks_reference(story, published=plan.criteria_set.published):
                raise SpecError(
                    f"Eval-Prompt {prompt.name} needs a reference story and story {story.id!r} has none",
                    hint=f"take {prompt.name} out of eval_prompts, or give the dataset its reference stories",
                )
        yield story


def _key(
    kind: str,
    about: Sequence[object],
    messages: tuple[Message, ...],
    spec: AnySpec,
    form: Sequence[object] = (),
    further: Sequence[object] = (),
) -> str:
    # What all kinds of requests depend on. The order is that of the first version, since stored keys must stay.
    generation = spec.generation
    sampled = [generation.temperature, generation.top_p, generation.max_tokens, generation.seed, generation.stop]
    said = [(message.role, message.content) for message in messages]
    return fingerprint_bytes((orjson.dumps([kind, *about, sampled, spec.api, *form, said, *further]),))


def _points(criterion: Criterion) -> Sequence[object]:
    return criterion.scale.labels or criterion.scale.points()


def query_key(story: str, criterion: Criterion, eval_prompt: str, messages: tuple[Message, ...], spec: RunSpec) -> str:
    """Fingerprint of all that an answer depends on, except the judge. It includes the story's id, so that equal texts
    have different keys. Repeat i's seed is the run's plus i, so (key, repeat) identifies one answer."""
    form = [spec.structured, _points(criterion) if spec.structured != "none" else None]
    # Only where it is said, so that keys of runs that score text stay what they were.
    further = [spec.scoring] if spec.scoring != "text" else []
    return _key("query/1", [story, criterion.name, eval_prompt], messages, spec, form, further)


def joint_key(
    story: str, criteria: tuple[Criterion, ...], eval_prompt: str, messages: tuple[Message, ...], spec: RunSpec
) -> str:
    """Fingerprint of a query that rates several criteria in one answer; as `query_key`."""
    form = [spec.structured, [_points(criterion) for criterion in criteria] if spec.structured != "none" else None]
    return _key("joint/1", [story, [criterion.name for criterion in criteria], eval_prompt], messages, spec, form)


def comparison_key(
    shown: tuple[str, str], criterion: Criterion, eval_prompt: str, messages: tuple[Message, ...], spec: RunSpec
) -> str:
    """Fingerprint of a comparison; as `query_key`, with both stories' ids in the order shown and the labels of the
    choices."""
    about = [*shown, criterion.name, eval_prompt]
    return _key("compare/1", about, messages, spec, [spec.structured, spec.choices], [spec.scoring])


def _blocks(subjects: Iterator[Subject]) -> Iterator[list[Subject]]:
    for _, same_prompt in groupby(subjects, key=lambda subject: subject.story_prompt):
        block: list[Subject] = []
        for subject in same_prompt:
            block.append(subject)
            if len(block) == BLOCK:
                yield block
                block = []
        if block:
            yield block


def _published_data(published: Published | None) -> dict[str, Any] | None:
    if published is None:
        return None
    tasks = [[criterion, prompt, text] for (criterion, prompt), text in published.tasks.items()]
    return {"file": str(published.file), "outer": dict(published.outer), "tasks": tasks}


# Renders the requests of a run in which a model writes stories, lazily.


@dataclass(frozen=True, slots=True)
class WritingPlan:
    """Plan of a run in which a model writes a story for each story-prompt and writer prompt (a template of the
    request)."""

    spec: GenerateSpec
    writer_prompts: tuple[WriterPrompt, ...]

    # A run that writes stories compares and rates nothing.
    compares: ClassVar[bool] = False
    criteria: ClassVar[tuple[Criterion, ...]] = ()

    @property
    def queries_per_subject(self) -> int:
        return len(self.writer_prompts)

    def asked_in(self, journal: JournalReader, limit: int | None = None) -> Iterator[list[Commission]]:
        """Lists of requests for a journal's (first `limit`) story-prompts, each with one story-prompt."""
        for _, wanted in groupby(journal.story_prompts(limit), key=lambda story_prompt: story_prompt.text):
            yield [self.commission(story_prompt, prompt) for story_prompt in wanted for prompt in self.writer_prompts]

    def commission(self, wanted: StoryPrompt, prompt: WriterPrompt) -> Commission:
        spec = self.spec
        messages = prompt.render(wanted, spec.words)
        key = commission_key(wanted.id, prompt.name, messages, spec)
        return Commission(key, wanted, prompt.name, messages, spec.generation.record(), spec.api)

    def definition(self) -> dict[str, Any]:
        """Everything that decides the requests' content, under the keys of a rating run's definition."""
        spec = self.spec
        return {
            "name": spec.name,
            "dataset": spec.story_prompts,
            "writes": True,
            "criteria": {"set": "", "names": []},
            "criteria_hash": "",
            "criteria_records": [],
            "eval_prompts": {p.name: fingerprint(p.source) for p in self.writer_prompts},
            "eval_prompt_sources": {p.name: p.source for p in self.writer_prompts},
            "words": None if spec.words is None else list(spec.words),
            "generation": spec.generation.model_dump(),
            "api": spec.api,
            "system": spec.system,
            "structured": spec.structured,
            "scoring": spec.scoring,
            "judge_key": spec.judge_key(),
        }


# What a session asks.
AnyPlan = Plan | WritingPlan


def plan_of(spec: AnySpec, *, folder: Path | None = None) -> AnyPlan:
    """The plan of a rating or writing run (paths relative to `folder`), checked as far as possible without stories."""
    if isinstance(spec, RunSpec):
        return make_plan(spec, folder=folder)
    prompts = tuple(load_writer_prompt(name, folder=folder, system=spec.system) for name in spec.writer_prompts)
    names = [prompt.name for prompt in prompts]
    if len(set(names)) < len(names):
        raise SpecError(f"writer_prompts names one twice: {', '.join(names)}")
    return WritingPlan(spec, prompts)


def commission_key(wanted: str, writer_prompt: str, messages: tuple[Message, ...], spec: GenerateSpec) -> str:
    """Fingerprint of all that a written story depends on, except the model: with the ids of story-prompt and writer
    prompt."""
    return _key("write/1", [wanted, writer_prompt], messages, spec)
