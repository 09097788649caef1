"""Back-end `hf/<model>`: runs a transformers model in this process, on a CPU or a GPU.

Waiting queries are sorted by length and answered in batches, in a thread; prompts with a common beginning, such as one
story, share a batch, which processes it once. Each answer has its own generator, so that a seeded one does not depend
on its batch (except for rounding)."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from judge.backends.dialect import choices
from judge.backends.engine_keys import SPEED, check_keys, weights
from judge.backends.hf import shared_beginnings
from judge.backends.hf.local_model import (
    chat_template,
    check_folder,
    loading_error,
    prompt_tokens,
    template_hash,
    too_long,
)
from judge.backends.protocol import Capabilities, Settings
from judge.base.errors import BackendError, MissingExtraError
from judge.base.records import Generation, Request, Response

if TYPE_CHECKING:
    from judge.backends.hf.generation import Row

# Keys of SPEED that only vLLM has are read by nobody here: they do not change what is said.
KEYS = {"model", "dtype", "trust_remote_code", "tokenizer", "chat_template", "top_k", "min_p", "repetition_penalty"} | {
    "top_logprobs",
    "chat_template_kwargs",
    *SPEED,
}

BATCH = {"cpu": 16, "cuda": 64}
# Pause after the first waiting request: those sent at the same moment then share its batch.
WAIT_MS = 5.0


def open(model: str, settings: Settings) -> HFBackend:  # noqa: A001  the registry's name for a loader
    """The back-end, after a check of the keys in `settings.engine`. Weights are loaded by `probe`."""
    return HFBackend(model, settings)


@dataclass(frozen=True, slots=True)
class _Kind:
    generation: Generation
    choices: tuple[str, ...]
    logprobs: bool


@dataclass(slots=True)
class _Waiting:
    # `call` is the same object for all answers of one call.
    kind: _Kind
    row: Row
    answer: asyncio.Future[Any]
    call: object


class HFBackend:
    provider = extra = "hf"

    def __init__(self, model: str, settings: Settings) -> None:
        try:
            import torch  # noqa: F401
            import transformers  # noqa: F401
        except ModuleNotFoundError as error:
            raise MissingExtraError(f"{self.provider}/{model}", self.extra) from error
        check_keys(settings.engine, KEYS, self.provider)
        self.model = model
        self._settings = settings
        self._keys = dict(settings.engine)
        self._weights = weights(model, settings.engine)
        check_folder(self._weights)
        self.capabilities = Capabilities(logprobs=True, structured=frozenset({"none", "choice"}))
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hf")
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue()
        self._held: list[_Waiting] = []
        self._batch: list[_Waiting] = []
        self._closing = threading.Event()
        self._batches: asyncio.Task[None] | None = None
        self._wait = float(self._keys.get("batch_wait_ms", WAIT_MS)) / 1000

    async def probe(self) -> Mapping[str, Any]:
        """Loads tokenizer and weights; their versions, revision, template hash and dtype for the manifest."""
        loop = asyncio.get_running_loop()
        try:
            self._loaded = await loop.run_in_executor(self._thread, self._load)
        except BackendError:
            raise
        except Exception as error:
            raise loading_error(f"{self.provider}/{self.model}", error) from error
        loaded = self._loaded
        self._size = int(self._keys.get("batch_size", BATCH.get(loaded.device.split(":")[0], 16)))
        self._template = chat_template(loaded.tokenizer, self._keys)
        config = loaded.model.config
        context = getattr(config, "max_position_embeddings", None) or loaded.tokenizer.model_max_length
        self._context = int(self._keys.get("max_model_len", context))
        return {
            "engine": "transformers",
            "version": f"transformers {version('transformers')}, torch {version('torch')}",
            "model": self._weights,
            "model_revision": self._settings.revision or getattr(config, "_commit_hash", None),
            "chat_template_hash": template_hash(self._template),
            "dtype": str(loaded.model.dtype).removeprefix("torch."),
            "device": loaded.device,
            "max_model_len": self._context,
            "batch_size": self._size,
            "flags": self._keys,
        }

    def _load(self) -> Any:
        from judge.backends.hf.generation import load

        return load(
            self._weights,
            tokenizer=self._keys.get("tokenizer"),
            revision=self._settings.revision,
            dtype=self._keys.get("dtype", "auto"),
            device=self._keys.get("device"),
            trust=bool(self._keys.get("trust_remote_code", False)),
        )

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:
        """The answers to all repeats, generated in batches with other waiting queries. Raises `BackendError`."""
        from judge.backends.hf.generation import Row

        if query.structured not in self.capabilities.structured:
            raise BackendError(
                f"hf cannot constrain an answer to {query.structured}",
                kind="capability",
                retryable=False,
                hint="take structured: choice or none, or a vLLM engine (vllm/MODEL, or a server)",
            )
        name = f"{self.provider}/{self.model}"
        tokens = prompt_tokens(self._loaded.tokenizer, self._template, query, self._keys, name)
        self._check_length(len(tokens), query.generation.max_tokens)
        if self._batches is None or self._batches.done():
            self._batches = asyncio.create_task(self._serve())
        kind = _Kind(
            query.generation,
            tuple(choices(query)) if query.structured == "choice" else (),
            query.scoring == "logprobs",
        )
        loop = asyncio.get_running_loop()
        waiting: list[_Waiting] = []
        call = object()
        for repeat in repeats:
            seed = query.generation.seed
            chance = int.from_bytes(os.urandom(7), "big") if seed is None else seed + repeat
            waiting.append(_Waiting(kind, Row(tokens, chance), loop.create_future(), call))
            self._queue.put_nowait(waiting[-1])
        # Without `attempt_timeout`: no answer is lost on the way in this process, and one that is given up is computed
        # again, so that a slow machine would never finish.
        answers = await asyncio.gather(*(request.answer for request in waiting))
        return self._responses(answers, len(tokens))

    def _check_length(self, prompt: int, answer: int | None) -> None:
        if prompt + (answer or 1) > self._context:
            raise too_long(f"{self.provider}/{self.model}", prompt, answer or 1, self._context)

    def _responses(self, answers: Sequence[Any], prompt: int) -> list[Response]:
        completion = sum(answer.tokens for answer in answers)
        return [
            Response(
                answer.text,
                answer.finish_reason,
                prompt_tokens=None if i else prompt,
                completion_tokens=None if i else completion,
                logprobs=None if answer.logprobs is None else {"content": answer.logprobs},
                model=self.model,
            )
            for i, answer in enumerate(answers)
        ]

    def leave_waiting(self) -> None:
        """Cancel calls of `complete` that wait for a batch. Those with an answer in the present batch are completed."""
        while not self._queue.empty():
            self._held.append(self._queue.get_nowait())
        begun = {id(request.call) for request in self._batch}
        for request in self._held:
            if id(request.call) not in begun:
                request.answer.cancel()

    async def close(self) -> None:
        """Stop batching. A batch ends at its next token. The weights' memory is freed with the object."""
        self._closing.set()
        if self._batches is not None:
            self._batches.cancel()
            await asyncio.gather(self._batches, return_exceptions=True)
            self._batches = None
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if not self._held:
                self._held.append(await self._queue.get())
                await asyncio.sleep(self._wait)
            while not self._queue.empty():
                self._held.append(self._queue.get_nowait())
            self._held = [request for request in self._held if not request.answer.done()]
            if not self._held:
                continue
            batch = self._batch = self._next_batch()
            rows = [request.row for request in batch]
            try:
                answers = await loop.run_in_executor(self._thread, self._generate, batch[0].kind, rows)
            except Exception as error:  # noqa: BLE001  those who wait are told, whatever it was
                self._fail_batch(batch, error)
                continue
            finally:
                self._batch = []
            for request, answer in zip(batch, answers, strict=True):
                if not request.answer.done():
                    request.answer.set_result(answer)

    def _next_batch(self) -> list[_Waiting]:
        # The longest first: a batch that does not fit into memory is met at the start, not at the end.
        self._held.sort(key=lambda request: -len(request.row.tokens))
        alike = [request for request in self._held if request.kind == self._held[0].kind]
        batch = [alike[i] for i in shared_beginnings.batch([request.row.tokens for request in alike], self._size)]
        taken = set(map(id, batch))
        self._held = [request for request in self._held if id(request) not in taken]
        return batch

    def _fail_batch(self, batch: Sequence[_Waiting], error: Exception) -> None:
        if "out of memory" in str(error).lower():
            error = BackendError(
                f"{self.provider}/{self.model}: memory does not suffice for a batch of {len(batch)}",
                kind="capability",
                retryable=False,
                hint="lower engine.batch_size, or generation.max_tokens",
            )
        for request in batch:
            if not request.answer.done():
                request.answer.set_exception(error)

    def _generate(self, kind: _Kind, rows: list[Row]) -> list[Any]:
        from judge.backends.hf.generation import generate

        return generate(
            self._loaded,
            rows,
            kind.generation,
            extra=self._keys,
            choices=kind.choices,
            logprobs=kind.logprobs,
            context=self._context,
            left=self._closing.is_set,
        )
