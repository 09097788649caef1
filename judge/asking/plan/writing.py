"""Renders the requests of a run in which a model writes stories, lazily."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from judge.answers.journal import JournalReader
from judge.asking.plan.queries import Plan, make_plan
from judge.asking.run_definition.spec import RunSpec
from judge.asking.run_definition.writing import AnySpec, GenerateSpec
from judge.base.errors import SpecError
from judge.base.fingerprint import fingerprint, fingerprint_bytes
from judge.base.records import Commission, Criterion, Message, StoryPrompt
from judge.inputs.eval_prompts.template import WriterPrompt, load_writer_prompt


@dataclass(frozen=True, slots=True)
class WritingPlan:
    """Plan of a run in which a model writes a story for each story-prompt and writer prompt (a template of the
    request)."""

    spec: GenerateSpec
    writer_prompts: tuple[WriterPrompt, ...]

    @property
    def compares(self) -> bool:
        """Always false, because this run writes stories."""
        return False

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Always empty, because a run that writes stories rates nothing."""
        return ()

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
    generation = spec.generation
    head = orjson.dumps(
        [
            "write/1",
            wanted,
            writer_prompt,
            [generation.temperature, generation.top_p, generation.max_tokens, generation.seed, generation.stop],
            spec.api,
            [(message.role, message.content) for message in messages],
        ]
    )
    return fingerprint_bytes((head,))
