"""Checks model weights on this machine or on the hub, and turns each problem into a one-sentence error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judge.backends.dialect import joined
from judge.base.errors import BackendError, ErrorKind
from judge.base.fingerprint import sha256
from judge.base.records import Message, Request

_WEIGHTS = ("*.safetensors", "*.bin", "*.gguf", "*.pt")

_MEMORY = (
    "lower engine.max_model_len or engine.max_num_seqs, raise engine.gpu_memory_utilization, "
    "spread over GPUs (engine.tensor_parallel_size), or quantize (engine.quantization)"
)

_SIGNS: tuple[tuple[tuple[str, ...], ErrorKind, str, str], ...] = (
    (
        ("gatedrepo", "gated repo", "access to model", "401 client error", "403 client error", "awaiting a review"),
        "auth",
        "its weights are gated, and access was refused",
        "ask for access on the model's page, then export HF_TOKEN=...",
    ),
    (
        ("offline", "localentrynotfound", "couldn't connect", "connection error", "max retries", "cannot find the req"),
        "model",
        "it is not in this machine's cache and the hub cannot be reached",
        "download it first (hf download MODEL), or name a folder of weights",
    ),
    (
        ("revisionnotfound", "is not a valid git identifier", "invalid rev id"),
        "model",
        "the hub has no such revision of it",
        "check `revision`",
    ),
    (
        (
            "repositorynotfound",
            "404 client error",
            "is not a valid model identifier",
            "repo id must",
            "invalid reposit",
        ),
        "model",
        "there is no such folder and no such model on the hub",
        "write PROVIDER/ORGANISATION/MODEL, or PROVIDER/ and the path of a folder of weights",
    ),
    (
        ("failed to infer device type", "no cuda gpus", "no nvidia driver", "not compiled with cuda", "no gpu"),
        "capability",
        "no GPU is visible here, and this build of the engine needs one",
        "run it where there is one, take hf/MODEL (slow, runs on a CPU), or ask a server: openai/MODEL with base_url",
    ),
    (
        ("out of memory", "no available memory", "free memory on device", "kv cache is needed", "memory_bytes_limit"),
        "capability",
        "memory does not suffice",
        _MEMORY,
    ),
    (
        ("is greater than the derived max_model_len", "larger than the derived"),
        "capability",
        "engine.max_model_len is longer than the model's context",
        "leave max_model_len out, or lower it",
    ),
    (
        ("no such file", "cannot find any model weights", "does not appear to have", "no file named"),
        "model",
        "its weights or its configuration are missing",
        "name a folder with config.json, a tokenizer and *.safetensors",
    ),
)


def is_path(model: str) -> bool:
    """Whether a model is named by a path, and not by its name on the hub."""
    path = Path(model).expanduser()
    return path.is_absolute() or model.startswith((".", "~")) or path.exists()


def check_folder(model: str) -> None:
    """Raise BackendError if `model` is a path without a model in it. A name on the hub passes."""
    if not is_path(model):
        return
    path = Path(model).expanduser()
    if not path.is_dir():
        raise model_error(
            f"{model} is not a folder of weights", "give the folder that holds config.json and *.safetensors"
        )
    if not (path / "config.json").is_file():
        raise model_error(
            f"{model} holds no config.json", "it must be a folder as save_pretrained or `hf download` writes it"
        )
    if not any(next(path.glob(pattern), None) for pattern in _WEIGHTS):
        raise model_error(f"{model} holds no weights ({', '.join(_WEIGHTS)})", "download them: hf download MODEL")


def loading_error(model: str, error: BaseException, log: str = "") -> BackendError:
    """Why an engine did not start, in one sentence; `log` is the output of its processes."""
    message = " ".join(f"{type(error).__name__}: {error} {log}".split())
    low = message.lower()
    for signs, kind, sentence, hint in _SIGNS:
        if any(sign in low for sign in signs):
            return BackendError(f"{model}: {sentence}", kind=kind, retryable=False, hint=hint)
    lines = [line.strip() for line in log.splitlines() if "Error: " in line]
    cause = (lines[-1] if lines else f"{type(error).__name__}: {' '.join(str(error).split())}")[-400:]
    return BackendError(f"{model}: the engine did not start: {cause}", kind="model", retryable=False)


def no_template(model: str) -> BackendError:
    """Error for a chat request to a model whose tokenizer has no chat template."""
    return BackendError(
        f"{model}: the tokenizer has no chat template, and the run asks through `api: chat`",
        kind="capability",
        retryable=False,
        hint="set api: completions for a base model, or engine.chat_template: FILE",
    )


def too_long(model: str, prompt: int, answer: int, context: int) -> BackendError:
    """Error for a query that exceeds the model's context, in tokens."""
    return BackendError(
        f"{model}: a query of {prompt} tokens with an answer of {answer} exceeds the context length of {context}",
        kind="context",
        retryable=False,
        hint="shorten the stories or the Eval-Prompt, lower generation.max_tokens, or raise engine.max_model_len",
    )


def template_hash(template: str | None) -> str | None:
    """First 16 hex digits of the chat template's SHA-256."""
    return None if template is None else sha256(template)[:16]


def chat_template(tokenizer: Any, engine: dict[str, Any]) -> str | None:
    """The chat template: the key `chat_template` in `engine` (a file or the text), else the tokenizer's own, else
    None."""
    given = engine.get("chat_template")
    if given is None:
        own = getattr(tokenizer, "chat_template", None)
        return own.get("default") if isinstance(own, dict) else own
    return Path(given).read_text(encoding="utf-8") if Path(given).is_file() else str(given)


def chat_text(tokenizer: Any, template: str, messages: tuple[Message, ...], extra: dict[str, Any]) -> str:
    """The prompt up to the start of the model's turn. `extra` holds further variables of the template."""
    turns = [{"role": message.role, "content": message.content} for message in messages]
    return str(
        tokenizer.apply_chat_template(
            turns, chat_template=template, add_generation_prompt=True, tokenize=False, **extra
        )
    )


def prompt_tokens(tokenizer: Any, template: str | None, query: Request, engine: dict[str, Any], name: str) -> list[int]:
    """Tokens of a query's prompt. Raises BackendError, for the judge `name`, for a chat without a template."""
    if query.api == "completions":
        return list(tokenizer.encode(joined(query.messages)))
    if template is None:
        raise no_template(name)
    text = chat_text(tokenizer, template, query.messages, dict(engine.get("chat_template_kwargs", {})))
    # The template writes the special tokens itself.
    return list(tokenizer.encode(text, add_special_tokens=False))


def model_error(sentence: str, hint: str) -> BackendError:
    """The error of a model that cannot be used."""
    return BackendError(sentence, kind="model", retryable=False, hint=hint)
