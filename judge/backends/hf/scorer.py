"""Scorer `hf/<model>`: log-probabilities of given texts, computed by transformers in batches by length. Mask and
causality make a text's values independent of padding on the right, and so of its batch, beyond rounding. Probabilities
are computed in float32 whatever the type of the weights."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judge.backends.hf.local_model import is_path, model_error
from judge.backends.protocol import ScorerFacts, Settings, TokenLogprobs, no_room, one_each
from judge.base.errors import BackendError, MissingExtraError, SpecError, unknown
from judge.base.fingerprint import fingerprint, fingerprint_bytes
from judge.base.wording import Advice, joined

ENGINE_KEYS = ("device", "dtype", "max_model_len", "batch_tokens", "trust_remote_code")
_WEIGHTS = ("*.safetensors", "*.bin")
# Bytes of float32 logits a batch may take: little fits a CPU's caches, a GPU wants much at once.
_LOGITS = {"cpu": 16 << 20, "cuda": 4 << 30}

# Tokens a batch may have, however small the vocabulary.
_MOST = {"cpu": 1 << 12, "cuda": 1 << 17}


def open_scorer(model: str, settings: Settings) -> HFScorer:
    """The scorer, whose weights are loaded on first use. Raises SpecError for an unknown key in `settings.engine`."""
    for key in settings.engine:
        if key not in ENGINE_KEYS:
            raise SpecError(unknown("hf setting", key, ENGINE_KEYS))
    return HFScorer(model, settings)


class HFScorer:
    """Log-probabilities of texts under a causal language model, on a CPU or a GPU."""

    def __init__(self, model: str, settings: Settings) -> None:
        self.model = model
        self._engine = dict(settings.engine)
        self._revision = settings.revision
        self._loaded: Loaded | None = None

    async def facts(self) -> ScorerFacts:
        """Facts that identify the model, whose weights are loaded if necessary."""
        return (await self._load()).facts

    async def token_logprobs(
        self, texts: Sequence[str], *, full_distribution: bool = False, prefix: str | Sequence[str] | None = None
    ) -> list[TokenLogprobs]:
        """Log-probabilities of each text's tokens after its prefix (one for all texts, or a list). `full_distribution`
        adds the mean and variance of log p over the vocabulary."""
        loaded = await self._load()
        try:
            return await asyncio.to_thread(loaded.score, texts, full_distribution, one_each(prefix, len(texts)))
        except RuntimeError as error:
            if "out of memory" not in str(error).lower():
                raise
            raise BackendError(
                f"hf/{self.model}: memory does not suffice for a batch",
                kind="capability",
                retryable=False,
                hint=Advice(
                    "lower it with {}, cut texts with {words}, or use {}",
                    Advice("{engine}", engine={"batch_tokens": 4096}),
                    Advice("{engine}", engine={"dtype": "bfloat16"}),
                ),
            ) from error

    async def close(self) -> None:
        """Free the memory of the weights."""
        self._loaded = None

    async def _load(self) -> Loaded:
        if self._loaded is None:
            self._loaded = await asyncio.to_thread(self._read)
        return self._loaded

    def _read(self) -> Loaded:
        return self._read_from(self.model)

    def _read_from(self, weights: str) -> Loaded:
        return _load(weights, self._revision, self._engine)


class Loaded:
    def __init__(self, model: Any, tokenizer: Any, facts: ScorerFacts, batch_tokens: int) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self.facts = facts
        self._batch_tokens = batch_tokens
        # Asking the tokenizer for one token after the other takes longer than a small model's forward pass.
        vocabulary = {number: token for token, number in tokenizer.get_vocab().items()}
        self._strings = [vocabulary.get(number, "") for number in range(max(vocabulary, default=0) + 1)]

    def score(self, texts: Sequence[str], full: bool, prefixes: Sequence[str | None]) -> list[TokenLogprobs]:
        """Log-probabilities in the order of `texts`, in batches of similar length. `full` adds mean and variance of log
        p over the vocabulary."""
        context = self.facts.context or 1 << 60
        before = {each: self._ids([each])[0] if each is not None else [] for each in set(prefixes)}
        for ids in before.values():
            if len(ids) >= context - 1:
                raise no_room(f"hf/{self.model_name}", len(ids), context)
        starts = [before[each] for each in prefixes]
        rows = self._ids(texts, special=[each is None for each in prefixes])
        whole = [start + row[: context - len(start)] for start, row in zip(starts, rows, strict=True)]
        results: list[TokenLogprobs | None] = [None] * len(texts)
        order = sorted(range(len(rows)), key=lambda i: -len(whole[i]))
        for batch in self._batches(order, [len(row) for row in whole]):
            for i, columns in zip(batch, self._forward([whole[i] for i in batch], full), strict=True):
                start = len(starts[i])
                ids = whole[i][start:]
                logprobs, *rest = (tuple(column[start:].tolist()) for column in columns)
                tokens = tuple(map(self._strings.__getitem__, ids))
                mean, variance = rest if full else (None, None)
                results[i] = TokenLogprobs(tuple(ids), tokens, logprobs, mean, variance, len(rows[i]) > len(ids))
        return [result for result in results if result is not None]

    def _ids(self, texts: Sequence[str], special: Sequence[bool] | None = None) -> list[list[int]]:
        # Special tokens are added, except where `special` is False.
        token_ids: list[list[int]] = [[] for _ in texts]
        for kind in (True, False):
            places = [i for i in range(len(texts)) if (special is None or special[i]) is kind]
            if places:
                encoded = self._tokenizer([texts[i] for i in places], add_special_tokens=kind, verbose=False)[
                    "input_ids"
                ]
                for i, ids in zip(places, encoded, strict=True):
                    token_ids[i] = ids
        return token_ids

    @property
    def model_name(self) -> str:
        """Name of the model as the user wrote it."""
        return self.facts.model

    def _batches(self, order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
        # As many texts as fit into the tokens per batch after padding; `order` goes from the longest text down.
        batch: list[int] = []
        for i in order:
            if batch and (len(batch) + 1) * lengths[batch[0]] > self._batch_tokens:
                yield batch
                batch = []
            batch.append(i)
        if batch:
            yield batch

    def _forward(self, rows: Sequence[list[int]], full: bool) -> Iterator[list[Any]]:
        # Columns: log-probability and, with `full`, mean and variance of log p over the vocabulary. The first token has
        # NaN.
        import torch

        width = max(len(row) for row in rows)
        if width < 2:
            for row in rows:
                yield [torch.full((len(row),), torch.nan)] * (3 if full else 1)
            return
        device = self._model.device
        ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], device=device)
        # Without padding no mask is needed, and attention has a quicker way.
        ragged = any(len(row) < width for row in rows)
        lengths = torch.tensor([[len(row)] for row in rows], device=device)
        seen = (torch.arange(width, device=device) < lengths).long() if ragged else None
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=seen, use_cache=False).logits[:, :-1]
            columns = _columns(logits, ids[:, 1:], full)
        first = torch.full((len(rows), 1), torch.nan)
        columns = [torch.cat([first, column.float().cpu()], dim=1) for column in columns]
        for i, row in enumerate(rows):
            yield [column[i, : len(row)] for column in columns]


def _columns(logits: Any, targets: Any, full: bool) -> list[Any]:
    # Targets: (b texts, t tokens); logits: (b, t, v vocabulary).
    import torch

    logits = logits.float()
    if not full:
        # log_softmax at the target alone: the whole table would be written and read once more.
        chosen = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        return [chosen - torch.logsumexp(logits, dim=-1)]
    table = torch.log_softmax(logits, dim=-1)
    chosen = table.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    p = table.exp()
    # A token of probability 0 has log p = -inf and adds nothing.
    table = torch.where(p > 0, table, torch.zeros_like(table))
    mean = (p * table).sum(-1)
    # About the mean, not as a difference of squares: that one loses its digits in float32.
    variance = (p * (table - mean.unsqueeze(-1)) ** 2).sum(-1)
    return [chosen, mean, variance]


def _load(model: str, revision: str | None, engine: dict[str, Any]) -> Loaded:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError(f"hf/{model}", "hf") from error
    path = Path(model).expanduser()
    local = is_path(model)
    if local:
        _check_folder(model, path)
    name = str(path) if local else model
    device = str(engine.get("device") or ("cuda" if torch.cuda.is_available() else "cpu"))
    words = engine.get("dtype") or ("auto" if device.startswith("cuda") else "float32")
    dtype = words if words == "auto" else getattr(torch, str(words), None)
    if not (dtype == "auto" or isinstance(dtype, torch.dtype)):
        raise SpecError(f"dtype {words!r} is not known; allowed: auto, float32, bfloat16, float16")
    transformers.utils.logging.disable_progress_bar()
    shared = {"revision": revision, "trust_remote_code": bool(engine.get("trust_remote_code", False))}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **shared)
        weights = transformers.AutoModelForCausalLM.from_pretrained(name, dtype=dtype, **shared).to(device).eval()
    except Exception as error:
        raise _load_error(model, error) from error
    config = weights.config
    context = int(engine.get("max_model_len") or _context(config, tokenizer) or 0) or None
    vocabulary = int(config.get_text_config().vocab_size)
    kind = "cuda" if device.startswith("cuda") else "cpu"
    fallback = _LOGITS[kind] // (4 * vocabulary)
    facts = ScorerFacts(
        model=model,
        revision=revision or getattr(config, "_commit_hash", None),
        tokenizer=_tokenizer_hash(tokenizer),
        weights=_weights_hash(path) if local else None,
        vocabulary=vocabulary,
        context=context,
        dtype=str(weights.dtype).removeprefix("torch."),
        version=f"transformers {transformers.__version__}",
    )
    return Loaded(weights, tokenizer, facts, int(engine.get("batch_tokens") or min(max(fallback, 512), _MOST[kind])))


def _context(config: Any, tokenizer: Any) -> int | None:
    lengths = [
        getattr(config, name, None) for name in ("max_position_embeddings", "n_positions", "max_sequence_length")
    ]
    lengths.append(tokenizer.model_max_length)
    return min((int(n) for n in lengths if n and n < 10**9), default=None)


def _check_folder(model: str, path: Path) -> None:
    if not path.is_dir():
        raise model_error(
            f"hf/{model} is not a folder of weights", "give the folder with config.json and *.safetensors"
        )
    if not (path / "config.json").is_file():
        raise model_error(
            f"hf/{model} holds no config.json", "it must be a folder as save_pretrained or hf download writes"
        )
    if not any(next(path.glob(pattern), None) for pattern in _WEIGHTS):
        raise model_error(f"hf/{model} holds no weights ({', '.join(_WEIGHTS)})", "download them: hf download MODEL")


def _weights_hash(folder: Path) -> str:
    # Sizes and both ends (1 MiB each) distinguish trainings without reading the files completely.
    parts: list[bytes] = []
    for path in sorted(p for pattern in _WEIGHTS for p in folder.glob(pattern)):
        size = path.stat().st_size
        with path.open("rb") as stream:
            parts += [f"{path.name}:{size}:".encode(), stream.read(1 << 20)]
            stream.seek(max(0, size - (1 << 20)))
            parts.append(stream.read(1 << 20))
    return fingerprint_bytes(parts)


def _tokenizer_hash(tokenizer: Any) -> str:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return fingerprint(tokenizer.get_vocab())
    # Truncation and padding are how the last caller left them, not what the tokenizer is.
    backend.no_truncation()
    backend.no_padding()
    return fingerprint_bytes([backend.to_str().encode()])


def _load_error(model: str, error: BaseException) -> BackendError:
    message = " ".join(f"{type(error).__name__}: {error}".split())
    low = message.lower()
    if "gated" in low or "401 client" in low or "403 client" in low:
        return model_error(f"hf/{model}: its weights are gated", "ask for access on its page, then export HF_TOKEN=...")
    if "out of memory" in low:
        half, cpu = (Advice("{engine}", engine=engine) for engine in ({"dtype": "bfloat16"}, {"device": "cpu"}))
        return model_error(f"hf/{model}: memory does not suffice", joined(half, ", or ", cpu))
    if any(
        sign in low for sign in ("couldn't connect", "connection error", "offline", "not a valid model", "404 client")
    ):
        return model_error(
            f"hf/{model}: there is no such folder, and the hub has or gives no such model",
            "write hf/ORGANISATION/MODEL, or hf/ and the path of a folder of weights",
        )
    return model_error(
        f"hf/{model}: it does not load: {message[:300]}", "it must be a causal language model with a tokenizer"
    )
