"""Writes the command line that starts a vLLM server for a run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from judge.asking.plan.queries import Plan
from judge.asking.run_definition.spec import RunSpec
from judge.backends.engine_keys import OURS, START, TOP_LOGPROBS, weights
from judge.base.credentials.providers import JudgeName
from judge.base.errors import SpecError
from judge.base.records import Subject

# Fewer than English usually has (about 4), so that a long query still fits.
_CHARACTERS_PER_TOKEN = 3.0

# Room for an answer where max_tokens is not said.
_ANSWER_TOKENS = 1024

# The room is rounded up to a multiple, so that a slightly longer story does not need another server.
_STEP = 256

# Between the marks of JSON a model may go on with blanks until its tokens are spent; the grammar forbids them.
_BLANKS = {"backend": "xgrammar", "disable_any_whitespace": True}


@dataclass(frozen=True, slots=True)
class Serving:
    """One command line for each vLLM server of a run, and notes on assumptions."""

    commands: tuple[str, ...]
    notes: tuple[str, ...]


def serving(plan: Plan, subjects: Iterable[Subject]) -> Serving:
    """The `vllm serve` command for each server. Raises SpecError for a judge that vLLM cannot serve."""
    spec = plan.spec
    provider, model = JudgeName.of(spec.judge)
    if provider not in ("openai", "vllm", "hf"):
        raise SpecError(
            f"{spec.judge} is no language model that vLLM serves", hint="judge: openai/MODEL, vllm/MODEL, hf/MODEL"
        )
    notes: list[str] = []
    arguments = ["vllm", "serve", weights(model, spec.engine), *_names(spec, model)]
    if spec.revision is not None:
        arguments += ["--revision", spec.revision]
    arguments += ["--max-model-len", str(_context(plan, subjects, notes))]
    for key, value in spec.engine.items():
        if key in START - OURS - {"max_logprobs", "structured_outputs_config", "enable_lora"}:
            arguments += _flag(key, value)
    if "chat_template" in spec.engine:
        arguments += ["--chat-template", str(spec.engine["chat_template"])]
    arguments += ["--enable-prompt-tokens-details", "--enable-tokenizer-info-endpoint"]
    if spec.scoring == "logprobs":
        most = max(TOP_LOGPROBS, int(spec.engine.get("top_logprobs", 0)), int(spec.engine.get("max_logprobs", 0)))
        arguments += ["--max-logprobs", str(most)]
    if spec.structured != "none":
        arguments += _flag("structured_outputs_config", spec.engine.get("structured_outputs_config", _BLANKS))
    if spec.revision is None:
        notes.append("no revision is said: the newest one is served, and another day it may be another model")
    places = [_place(url) for url in spec.base_url] or [("127.0.0.1", 8000)]
    if not spec.base_url:
        notes.append("then set base_url: http://127.0.0.1:8000/v1 and judge: openai/" + model)
    lines = [shlex.join([*arguments, "--host", host, "--port", str(port)]) for host, port in places]
    return Serving(tuple(lines), tuple(notes))


def _names(spec: RunSpec, model: str) -> list[str]:
    lora = spec.engine.get("lora")
    if lora is not None:
        return ["--served-model-name", f"{model}-base", "--enable-lora", "--lora-modules", f"{model}={lora}"]
    return ["--served-model-name", model] if weights(model, spec.engine) != model else []


def _context(plan: Plan, subjects: Iterable[Subject], notes: list[str]) -> int:
    spec = plan.spec
    if "max_model_len" in spec.engine:
        return int(spec.engine["max_model_len"])
    longest = max((_characters(plan, subject) for subject in subjects), default=0)
    answer = spec.generation.max_tokens
    tokens = longest / _CHARACTERS_PER_TOKEN + (answer or _ANSWER_TOKENS)
    room = -(-int(tokens + 1) // _STEP) * _STEP
    answer_room = (
        f"{answer} tokens of an answer" if answer else f"{_ANSWER_TOKENS} for an answer (max_tokens is not said)"
    )
    notes.append(
        f"--max-model-len: the longest query has {longest} characters, taken as one token for each "
        f"{_CHARACTERS_PER_TOKEN:g}, and {answer_room}"
    )
    return room


def _characters(plan: Plan, subject: Subject) -> int:
    return max(
        sum(len(message.content) for message in plan.messages(subject, prompt, asked))
        for prompt in plan.eval_prompts
        for asked in plan.asked_by(prompt)
    )


def _flag(key: str, value: Any) -> list[str]:
    name = "--" + key.replace("_", "-")
    if value is True:
        return [name]
    if value is False:
        return ["--no-" + name.removeprefix("--")]
    return [name, json.dumps(value) if isinstance(value, dict | list) else str(value)]


def _place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "127.0.0.1", parts.port or (443 if parts.scheme == "https" else 80)
