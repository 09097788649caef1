"""Configuration, input rows and answers of Ray Data's vLLM stage, on the cluster's GPUs. A row is one repeat, because
the stage returns one answer per row, without a finish reason: exactly `max_tokens` tokens count as truncated."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from judge.asking.execution.ray import blocks
from judge.asking.execution.ray.shards import answered_row, failed_row, write_shard
from judge.asking.run_definition.writing import AnySpec
from judge.backends.joined_prompt import joined
from judge.base.errors import BackendError, MissingExtraError, SpecError
from judge.base.judge_name import JudgeName
from judge.base.records import Request, Response
from judge.base.wording import Advice

# Rows that a vLLM engine is handed at a time; Ray keeps several such batches in one engine.
ENGINE_BATCH = 64


def check(spec: AnySpec) -> None:
    """Raise SpecError for options that the stage does not support, before a GPU is allocated."""
    instead = "serve the model with vLLM and name the servers as base_url of an openai/ judge: Ray then asks over HTTP"
    if spec.structured != "none" or spec.scoring != "text":
        raise SpecError(
            f"Ray's vLLM stage takes structured: none and scoring: text; the run says {spec.structured} and "
            f"{spec.scoring}",
            hint=instead,
        )
    unsaid = [key for key in ("temperature", "max_tokens") if getattr(spec.generation, key) is None]
    if unsaid:
        raise SpecError(
            f"Ray's vLLM stage fills in its own values where generation does not say {' and '.join(unsaid)} "
            f"(16 tokens, say), so the run must say them",
            hint=Advice("{overrides}; or {}", instead, overrides=f"generation.{unsaid[0]}=..."),
        )


def builder(module: ModuleType) -> Callable[..., Any]:
    """Ray's builder of the stage: `build_processor` of ray.data.llm, or `build_llm_processor` in older versions."""
    for name in ("build_processor", "build_llm_processor"):
        function = getattr(module, name, None)
        if function is not None:
            built: Callable[..., Any] = function
            return built
    lacks = "{engine} with a vllm/ judge (this Ray has no builder of LLM processors)"
    raise MissingExtraError(Advice(lacks, engine="ray"), "ray")


def config_arguments(spec: AnySpec, engines: int) -> dict[str, Any]:
    """Arguments for `vLLMEngineProcessorConfig`: the run's engine settings, with prefix caching unless they say
    otherwise."""
    model = JudgeName.of(spec.judge).model
    kwargs: dict[str, Any] = {"enable_prefix_caching": True, **spec.engine}
    if spec.revision is not None:
        kwargs["revision"] = spec.revision
    return {
        "model_source": model,
        "engine_kwargs": kwargs,
        "concurrency": engines,
        "batch_size": ENGINE_BATCH,
        "max_pending_requests": spec.concurrency,
        "should_continue_on_error": True,
        # On the completions route the text goes in as it is, as it would to a server.
        "chat_template_stage": spec.api == "chat",
    }


def gpus_for_engine(spec: AnySpec) -> int:
    return int(spec.engine.get("tensor_parallel_size", 1)) * int(spec.engine.get("pipeline_parallel_size", 1))


def rows_of(ticket: int, data: bytes) -> list[dict[str, Any]]:
    """Input rows for a ticket's block, one per repeat. Queries with a common prefix stay adjacent. Empty for empty
    `data`."""
    if not data:
        return []
    rows = []
    for group in blocks.decode(data):
        for query, repeats in group:
            for repeat in repeats:
                work = blocks.encode([[(query, (repeat,))]])
                rows.append({"ticket": ticket, "work": work, **_asked(query, repeat)})
    return [row | {"of": len(rows)} for row in rows]


def _asked(query: Request, repeat: int) -> dict[str, Any]:
    generation = query.generation
    sampling: dict[str, Any] = {"temperature": generation.temperature, "max_tokens": generation.max_tokens}
    if generation.top_p is not None:
        sampling["top_p"] = generation.top_p
    if generation.seed is not None:
        sampling["seed"] = generation.seed + repeat
    if generation.stop:
        sampling["stop"] = list(generation.stop)
    if query.api == "chat":
        messages = [{"role": message.role, "content": message.content} for message in query.messages]
        return {"messages": messages, "sampling_params": sampling}
    return {"prompt": joined(query.messages), "sampling_params": sampling}


def preprocess(row: dict[str, Any]) -> dict[str, Any]:
    """The input row with `asked`, the time at which the stage received it."""
    return {**row, "asked": time.time()}


def postprocess(row: dict[str, Any]) -> dict[str, Any]:
    """The stage's output row, with only the fields that are needed to store the answer."""
    kept = ("ticket", "of", "work", "asked", "generated_text", "num_input_tokens", "num_generated_tokens")
    return {key: row[key] for key in kept}


def attempt_of(row: dict[str, Any], model: str) -> dict[str, Any]:
    """Shard row for an output row of the stage: an answer, or an error of the engine."""
    (((query, (repeat,)),),) = blocks.decode(row["work"])
    started = float(row["asked"])
    seconds = time.time() - started
    problem = row.get("__inference_error__")
    if problem:
        error = BackendError(f"vLLM: {problem}", kind=_kind(problem), retryable=False)
        return failed_row(query, repeat, error, started=started, seconds=seconds, final=True)
    tokens = int(row["num_generated_tokens"])
    response = Response(
        row["generated_text"],
        "length" if tokens == query.generation.max_tokens else None,
        prompt_tokens=int(row["num_input_tokens"]),
        completion_tokens=tokens,
        model=model,
    )
    return answered_row(query, repeat, response, started=started, seconds=seconds, status=None)


def keep(rows: list[dict[str, Any]], folder: Path, name: str, judge_key: str, model: str) -> None:
    """Write output rows of the stage to one shard in `folder`."""
    write_shard(folder, name, [attempt_of(row, model) for row in rows], judge_key)


def _kind(problem: str) -> Any:
    # "context" where the prompt is too long for the model.
    return "context" if "context length" in problem or "max_model_len" in problem else "server"
