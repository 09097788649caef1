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
from judge.inputs.eval_prompts.writer_prompt import WriterPrompt, load_writer_prompt


@dataclass(frozen=True, slots=True)
class WritingPlan:
    """Plan of a run in which a model writes stories: for each story-prompt and each writer prompt (a template of the
    request to the model), the request for a story.
    """

    spec: GenerateSpec
    writer_prompts: tuple[WriterPrompt, ...]

    @property
    def compares(self) -> bool:
        """Whether the run compares pairs of stories. Always false, because this run writes stories."""
        return False

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria that the run rates: always empty, because a run that writes stories rates nothing."""
        return ()

    @property
    def queries_per_subject(self) -> int:
        """Number of requests for each story-prompt: one for each writer prompt (template of the request to the model
        that writes the story).
        """
        return len(self.writer_prompts)

    def asked_in(self, journal: JournalReader, limit: int | None = None) -> Iterator[list[Commission]]:
        """Lists of requests for the story-prompts in a journal (all, or the first `limit`). The requests of a list have
        the same story-prompt.
        """
        for _, wanted in groupby(journal.story_prompts(limit), key=lambda story_prompt: story_prompt.text):
            yield [self.commission(story_prompt, prompt) for story_prompt in wanted for prompt in self.writer_prompts]

    def commission(self, wanted: StoryPrompt, prompt: WriterPrompt) -> Commission:
        """The rendered request for a story, with its key. `wanted` is the story-prompt, and `prompt` the template of
        the request.
        """
        spec = self.spec
        messages = prompt.render(wanted, spec.words)
        key = commission_key(wanted.id, prompt.name, messages, spec)
        return Commission(key, wanted, prompt.name, messages, spec.generation.record(), spec.api)

    def definition(self) -> dict[str, Any]:
        """Plain data on everything that decides the content of the requests, under the same keys as the definition of a
        rating run.
        """
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
    """The plan of a rating run or a writing run, from the files that its definition names (paths relative to `folder`).
    Everything that can be checked without stories is checked.
    """
    if isinstance(spec, RunSpec):
        return make_plan(spec, folder=folder)
    prompts = tuple(load_writer_prompt(name, folder=folder, system=spec.system) for name in spec.writer_prompts)
    names = [prompt.name for prompt in prompts]
    if len(set(names)) < len(names):
        raise SpecError(f"writer_prompts names one twice: {', '.join(names)}")
    return WritingPlan(spec, prompts)


def commission_key(wanted: str, writer_prompt: str, messages: tuple[Message, ...], spec: GenerateSpec) -> str:
    """Fingerprint of everything that a written story depends on, except the model that writes it. It includes the id of
    the story-prompt (`wanted`) and the name of the writer prompt (the template of the request) as well as the messages.
    """
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
