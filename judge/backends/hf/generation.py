"""Generates a batch of answers with transformers: padding, sampling, log-probabilities, stop strings.

A common beginning of prompts is processed once, with an ordinary key-value cache. Sampling uses the Gumbel-max trick
(Gumbel 1954; Maddison, Tarlow & Minka 2014, section 2): the maximum of log-probabilities plus standard Gumbel noise is
a draw. Each row's noise has its own generator, so that a seeded answer does not depend on the batch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.cache_utils import DynamicCache, DynamicLayer
from transformers.utils.logging import disable_progress_bar

from judge.backends.engine_keys import TOP_LOGPROBS
from judge.backends.hf.shared_beginnings import beginnings
from judge.base.errors import BackendError
from judge.base.records import Generation


class LeftError(Exception):
    """Raised when a batch is given up while it is generated, because nobody waits for it any more."""


@dataclass(frozen=True, slots=True)
class Row:
    """One answer to generate: the tokens of its prompt and its random seed."""

    tokens: list[int]
    seed: int


@dataclass(frozen=True, slots=True)
class Text:
    """One generated answer. `tokens` is their number; `logprobs` is None if not requested."""

    text: str
    finish_reason: str
    tokens: int
    logprobs: list[dict[str, Any]] | None


@dataclass(frozen=True, slots=True)
class Loaded:
    model: Any
    tokenizer: Any
    device: str


def load(
    name: str, *, tokenizer: str | None, revision: str | None, dtype: str, device: str | None, trust: bool
) -> Loaded:
    """A model on a device: without `device`, a GPU if there is one. `trust` lets code from its repository run."""
    target = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if target.startswith("cuda") and not torch.cuda.is_available():
        raise BackendError(
            "engine.device asks for a GPU and torch sees none",
            kind="capability",
            retryable=False,
            hint="leave device out, or set device: cpu",
        )
    disable_progress_bar()
    words = AutoTokenizer.from_pretrained(tokenizer or name, revision=revision, trust_remote_code=trust)
    model = AutoModelForCausalLM.from_pretrained(name, revision=revision, dtype=dtype, trust_remote_code=trust)
    return Loaded(model.to(target).eval(), words, target)


@dataclass(slots=True)
class _Steps:
    warpers: LogitsProcessorList
    generators: list[torch.Generator] | None
    prompt: int
    allowed: Any = None
    top: int = 0
    left: Callable[[], bool] = lambda: False
    kept: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    drawn: list[torch.Tensor] = field(default_factory=list)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if self.left():
            raise LeftError
        scores = scores.float()
        if self.allowed is not None:
            scores = self._constrained(input_ids, scores)
        logprobs = None
        if self.top:
            # As vLLM has it: the distribution before temperature, of what the constraint leaves.
            logprobs = torch.log_softmax(scores, dim=-1)
            best = torch.topk(logprobs, min(self.top, logprobs.shape[-1]), dim=-1)
            self.kept.append((best.values.cpu(), best.indices.cpu()))
        for warper in self.warpers:
            scores = warper(input_ids, scores)
        if self.generators is not None:
            noise = torch.stack(
                [torch.empty(scores.shape[-1]).exponential_(generator=generator) for generator in self.generators]
            )
            scores = scores - noise.to(scores.device).log()
        if logprobs is not None:
            self.drawn.append(logprobs.gather(1, scores.argmax(dim=-1, keepdim=True)).squeeze(1).cpu())
        return scores

    def _constrained(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        mask = torch.full_like(scores, float("-inf"))
        for i, row in enumerate(input_ids[:, self.prompt :].tolist()):
            mask[i, self.allowed(row)] = 0.0
        return scores + mask


def generate(
    loaded: Loaded,
    rows: Sequence[Row],
    generation: Generation,
    *,
    extra: Mapping[str, Any],
    choices: Sequence[str],
    logprobs: bool,
    context: int,
    left: Callable[[], bool] = lambda: False,
) -> list[Text]:
    """The answers, in the order of `rows`. `extra` holds `engine` keys such as `top_logprobs`; `choices` are the only
    permitted answers (empty: any text); `context` is the model's maximum number of tokens. Raises `LeftError` at the
    next token when `left` returns True."""
    tokenizer, model = loaded.tokenizer, loaded.model
    end_ids = model.generation_config.eos_token_id
    end_ids = tokenizer.eos_token_id if end_ids is None else end_ids
    ends = [end_ids] if isinstance(end_ids, int) else list(end_ids)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else ends[0]
    ids, seen, cache = _read(loaded, [row.tokens for row in rows], pad)
    width = ids.shape[1]
    limit = generation.max_tokens or getattr(model.generation_config, "max_new_tokens", None) or context - width
    warpers, draws = _warpers(model.generation_config, generation, extra)
    steps = _Steps(
        warpers,
        [torch.Generator().manual_seed(row.seed) for row in rows] if draws else None,
        width,
        allowed=_trie(tokenizer, choices, ends) if choices else None,
        top=int(extra.get("top_logprobs", TOP_LOGPROBS)) if logprobs else 0,
        left=left,
    )
    stop = {"stop_strings": list(generation.stop), "tokenizer": tokenizer} if generation.stop else {}
    with torch.inference_mode():
        out = model.generate(
            input_ids=ids.to(loaded.device),
            attention_mask=seen.to(loaded.device),
            past_key_values=cache,
            max_new_tokens=limit,
            # Warping and drawing are in our steps; what is left to do is to take the largest.
            do_sample=False,
            temperature=None,
            top_p=None,
            top_k=None,
            min_p=None,
            repetition_penalty=None,
            pad_token_id=pad,
            eos_token_id=ends,
            logits_processor=LogitsProcessorList([steps]),
            **stop,
        )
    return [
        _text(tokenizer, tokens, i, steps, ends, generation.stop, limit)
        for i, tokens in enumerate(out[:, width:].tolist())
    ]


def _read(loaded: Loaded, prompts: Sequence[list[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor, Any]:
    # Ids and mask have shape (b prompts, t tokens). The cache is None without a common beginning or an ordinary cache.
    starts, of_prompt = beginnings(prompts)
    if len(starts) < len(prompts):
        ids, seen = _padded(starts, pad)
        cache = _cache(loaded, ids, seen)
        if cache is not None:
            cache.batch_select_indices(torch.tensor(of_prompt, device=loaded.device))
            rest, rest_seen = _padded([p[len(starts[i]) :] for p, i in zip(prompts, of_prompt, strict=True)], pad)
            return torch.cat([ids[of_prompt], rest], 1), torch.cat([seen[of_prompt], rest_seen], 1), cache
    return *_padded(prompts, pad), None


def _padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    # On the left, shape (b rows, t tokens).
    width = max(map(len, rows))
    gaps = [width - len(row) for row in rows]
    ids = torch.tensor([[pad] * gap + list(row) for gap, row in zip(gaps, rows, strict=True)])
    return ids, torch.tensor([[0] * gap + [1] * (width - gap) for gap in gaps])


def _cache(loaded: Loaded, ids: torch.Tensor, seen: torch.Tensor) -> Any:
    # None for something else, such as a recurrent state or a sliding window.
    if not {"position_ids", "logits_to_keep"} <= inspect.signature(loaded.model.forward).parameters.keys():
        return None
    with torch.inference_mode():
        out = loaded.model(
            input_ids=ids.to(loaded.device),
            attention_mask=seen.to(loaded.device),
            position_ids=(seen.cumsum(1) - 1).clamp(min=0).to(loaded.device),
            use_cache=True,
            # The logits of one place alone: of all they would take longer than the model's layers.
            logits_to_keep=1,
        )
    cache = out.past_key_values
    plain = type(cache) is DynamicCache and all(type(layer) is DynamicLayer for layer in cache.layers)
    return cache if plain else None


def _warpers(default: Any, generation: Generation, extra: Mapping[str, Any]) -> tuple[LogitsProcessorList, bool]:
    # The bool says whether answers are sampled. `default` is the model's generation_config.
    def value(key: str, given: Any = None) -> Any:
        return given if given is not None else extra.get(key, getattr(default, key, None))

    processors = LogitsProcessorList()
    penalty = value("repetition_penalty")
    if penalty not in (None, 1.0):
        processors.append(RepetitionPenaltyLogitsProcessor(float(penalty)))
    # Where nobody says, 1: what servers do.
    temperature = value("temperature", generation.temperature)
    temperature = 1.0 if temperature is None else float(temperature)
    if temperature == 0:
        return processors, False
    if temperature != 1:
        processors.append(TemperatureLogitsWarper(temperature))
    top_k, top_p, min_p = value("top_k"), value("top_p", generation.top_p), value("min_p")
    if top_k and int(top_k) > 0:
        processors.append(TopKLogitsWarper(int(top_k)))
    if top_p is not None and float(top_p) < 1:
        processors.append(TopPLogitsWarper(float(top_p)))
    if min_p:
        processors.append(MinPLogitsWarper(float(min_p)))
    return processors, True


def _trie(tokenizer: Any, choices: Sequence[str], ends: Sequence[int]) -> Any:
    spelled = [[*tokenizer.encode(choice, add_special_tokens=False), ends[0]] for choice in choices]

    def allowed(written: list[int]) -> list[int]:
        n = len(written)
        return sorted({spelling[n] for spelling in spelled if len(spelling) > n and spelling[:n] == written}) or [
            ends[0]
        ]

    return allowed


def _text(
    tokenizer: Any, tokens: list[int], row: int, steps: _Steps, ends: Sequence[int], stop: Sequence[str], limit: int
) -> Text:
    length = next((i for i, token in enumerate(tokens) if token in ends), len(tokens))
    ended = length < len(tokens)
    text = tokenizer.decode(tokens[:length], skip_special_tokens=True)
    cuts = [text.index(stop_word) for stop_word in stop if stop_word in text]
    if cuts:
        text, ended = text[: min(cuts)], True
        length = _tokens_until(tokenizer, tokens, length, text)
    reason = "stop" if ended or length < limit else "length"
    content = _content(tokenizer, tokens[:length], row, steps) if steps.top else None
    return Text(text, reason, length + (1 if ended and not cuts else 0), content)


def _tokens_until(tokenizer: Any, tokens: list[int], most: int, text: str) -> int:
    # `text` is the part of the answer before the stop string.
    for count in range(most + 1):
        if len(tokenizer.decode(tokens[:count], skip_special_tokens=True)) >= len(text):
            return count
    return most


def _content(tokenizer: Any, tokens: Sequence[int], row: int, steps: _Steps) -> list[dict[str, Any]]:
    content = []
    for step, token in enumerate(tokens):
        values, indices = steps.kept[step]
        top = [
            {"token": tokenizer.decode([index]), "logprob": max(value, -9999.0)}
            for value, index in zip(values[row].tolist(), indices[row].tolist(), strict=True)
        ]
        own = max(float(steps.drawn[step][row]), -9999.0)
        content.append({"token": tokenizer.decode([token]), "logprob": own, "top_logprobs": top})
    return content
