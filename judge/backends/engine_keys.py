"""The `engine` keys of run.yaml by kind: to start an engine, settings of each request, or speed only. A back-end for a
server sends only request settings; the others go into the command that starts the server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from judge.base.errors import SpecError, unknown

# Change how fast or how long, not what is said: no part of the judge's identity.
SPEED = frozenset(
    {
        "tensor_parallel_size",
        "data_parallel_size",
        "pipeline_parallel_size",
        "gpu_memory_utilization",
        "max_num_seqs",
        "max_num_batched_tokens",
        "max_model_len",
        "block_size",
        "enforce_eager",
        "enable_prefix_caching",
        "enable_chunked_prefill",
        "kv_cache_memory_bytes",
        "num_gpu_blocks_override",
        "cpu_offload_gb",
        "distributed_executor_backend",
        "disable_custom_all_reduce",
        "disable_log_stats",
        "download_dir",
        "load_format",
        "max_logprobs",
        "max_loras",
        "max_lora_rank",
        "device",
        "batch_size",
        "batch_wait_ms",
    }
)

# Start an engine or a server; never sent with a request.
START = SPEED | {
    "model",
    "dtype",
    "quantization",
    "kv_cache_dtype",
    "enable_lora",
    "lora",
    "tokenizer",
    "tokenizer_mode",
    "tokenizer_revision",
    "trust_remote_code",
    "hf_overrides",
    "chat_template",
    "generation_config",
    "override_generation_config",
    "structured_outputs_config",
    "reasoning_parser",
    "logprobs_mode",
    "model_impl",
    "attention_backend",
    "speculative_config",
}

# Keys of START that are read by this program, not passed on as they are.
OURS = frozenset({"model", "lora", "chat_template", "device", "batch_size", "batch_wait_ms", "max_model_len"})

# Sampling settings that vLLM takes beside OpenAI's; each query is asked with them.
SAMPLING = frozenset({"top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty"})

# Go with each request of an engine in this process. A server takes any key that does not start one.
REQUEST = SAMPLING | {"top_logprobs", "chat_template_kwargs"}

# Alternatives asked for at each token where ratings are read from log-probabilities; `engine: {top_logprobs: N}`.
TOP_LOGPROBS = 20


def check_keys(engine: Mapping[str, Any], allowed: Iterable[str], executor: str) -> None:
    """Raise SpecError for the first `engine` key not in `allowed`, naming the most similar one; `hf_token` and
    `headers` never are. `executor` is the back-end's name."""
    names = set(allowed)
    for key in engine:
        if key in ("hf_token", "headers"):
            raise SpecError(f"engine key {key!r} has no place in a run definition", hint="export HF_TOKEN=... instead")
        if key not in names:
            sentence = unknown("engine key", key, names)
            # The whole list of an engine's arguments would bury the sentence.
            raise SpecError(f"{executor}: {sentence.split(' (known: ')[0]}", hint=f"usual keys: {_usual(names)}")


def weights(model: str, engine: Mapping[str, Any]) -> str:
    """Location of the weights: the key `model` in `engine` if set, otherwise the judge's model name."""
    return str(engine.get("model", model))


def _usual(names: set[str]) -> str:
    first = (
        "dtype",
        "quantization",
        "max_model_len",
        "gpu_memory_utilization",
        "tensor_parallel_size",
        "lora",
        "device",
    )
    return ", ".join(key for key in first if key in names)
