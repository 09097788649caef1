"""A trained evaluator's folder: weights per criterion, and how scores become ratings. `model.json` is plain data;
nothing is fitted, and no code from a folder is executed."""

from __future__ import annotations

import asyncio
import math
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import orjson

from judge.backends.engine_keys import check_keys
from judge.backends.surface.model import Term
from judge.base.errors import BackendError, DataError, MissingExtraError
from judge.base.fingerprint import digest, fingerprint_file, fingerprint_weights
from judge.base.late_pattern import late
from judge.base.records import Story

# Loads and runs a sequence classifier of one output. No code from the model's folder is executed.


@dataclass(frozen=True, slots=True)
class SequenceClassifier:
    """A sequence classifier on its device. `longest` is the most tokens that it reads."""

    model: Any
    tokenizer: Any
    device: str
    longest: int

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "engine": "transformers",
            "version": f"transformers {version('transformers')}, torch {version('torch')}",
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "device": self.device,
            "max_model_len": self.longest,
        }

    def logit(self, inputs: Mapping[str, Any]) -> float:
        """The classifier's only logit for one tokenized input."""
        import torch

        with torch.inference_mode():
            output = self.model(**{name: value.to(self.model.device) for name, value in inputs.items()})
        return float(output.logits[0, 0])


def load(model: str, label: str, keys: Mapping[str, Any], *, revision: str | None = None) -> SequenceClassifier:
    """A classifier on a device, only from safetensors files, because other formats can contain code. `label` is for
    messages, `keys` are of `engine`, such as `device`. Raises BackendError if it cannot be loaded or has several
    outputs, MissingExtraError without packages."""
    try:
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise MissingExtraError(label, "hf") from error
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            keys.get("tokenizer", model), revision=revision, trust_remote_code=False
        )
        loaded = transformers.AutoModelForSequenceClassification.from_pretrained(
            model,
            revision=revision,
            dtype=keys.get("dtype", "auto"),
            trust_remote_code=False,
            use_safetensors=True,
        )
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
        raise BackendError(f"{label} cannot be loaded: {reason}", kind="model", retryable=False) from error
    if loaded.config.num_labels != 1:
        raise BackendError(
            f"{label} has {loaded.config.num_labels} labels, and one is needed", kind="model", retryable=False
        )
    device = keys.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
    places = getattr(loaded.config, "max_position_embeddings", None) or tokenizer.model_max_length
    longest = int(keys.get("max_model_len", min(int(places), int(tokenizer.model_max_length))))
    return SequenceClassifier(loaded.eval().to(device), tokenizer, device, longest)


FORMAT = 1
MODEL_FILE = "model.json"
# Bytes of a model file that are read.
LARGEST = 1 << 26

# Parts of one list: an embedding has a few thousand dimensions.
_MOST = 100_000
# Products and squares of smaller numbers stay finite: a model file may come from a stranger.
_LIMIT = 1e100

_MARK = late(r"[pt][0-9a-f]{12}")

Kind = Literal["preference", "rating"]
_KINDS: tuple[Kind, ...] = ("preference", "rating")
_COLUMNS = ("low", "high", "mean", "scale", "weight")


@dataclass(frozen=True, slots=True)
class Head:
    """Fitted parameters of a model for one criterion, from preferences between two stories or from ratings (`kind`).

    `low` and `high` are the ends of the human ratings' scale; 0 and 1 for preferences. `intercept` is the score of the
    average training story, to which `surface` and `embedding` add terms. `slope` turns a difference of scores into the
    log odds that the first story is preferred; up to `band` (absolute) they are a tie, where one is allowed. `line` is
    the slope and intercept that turn a score of kind rating into a rating, by cross-validation. `quantiles` are of the
    training stories' scores: of kind preference, a rating is the mean probability of being preferred to one of these.
    `asked` is the question that an encoder reads with the story-prompt; "" for linear models."""

    criterion: str
    kind: Kind
    low: float
    high: float
    intercept: float
    surface: tuple[Term, ...]
    embedding: tuple[Term, ...]
    slope: float
    band: float
    line: tuple[float, float]
    quantiles: tuple[float, ...]
    asked: str = ""

    def rating(self, score: float) -> float:
        """Rating as a position on the scale from 0 (lowest point) to 1 (highest point)."""
        if self.kind == "rating":
            slope, intercept = self.line
            return min(max((slope * score + intercept - self.low) / (self.high - self.low), 0.0), 1.0)
        beaten = [sigmoid(self.slope * (score - other)) for other in self.quantiles]
        return sum(beaten) / len(beaten)

    def log_odds(self, first: float, second: float) -> float:
        """Log odds that the story with score `first` is preferred to the other."""
        return self.slope * (first - second)


@dataclass(frozen=True, slots=True)
class Encoder:
    """The encoder's weights beside `model.json`: base model, hash, and the most tokens read."""

    base: str
    hash: str
    max_length: int


@dataclass(frozen=True)
class TrainedModel:
    """A trained evaluator. `embedding` is the embedding model's name and version key, `marks` are short hashes of the
    training stories, and `hash` is that of `model.json`."""

    name: str
    heads: tuple[Head, ...]
    embedding: Mapping[str, str] | None
    data: tuple[Mapping[str, Any], ...]
    marks: frozenset[str]
    hash: str
    encoder: Encoder | None = None

    def choose(self, criterion: str, kind: Kind) -> Head:
        """The head for a criterion, of this kind if possible; else that for overall quality, else the first of this
        kind, else the first."""
        for name in (criterion.casefold().strip(), "overall", "overall quality"):
            fitting = [head for head in self.heads if head.criterion.casefold() == name]
            if fitting:
                return next((head for head in fitting if head.kind == kind), fitting[0])
        return next((head for head in self.heads if head.kind == kind), self.heads[0])

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Description for the manifest, with the hashes that identify the training stories."""
        return {
            "label": "trained evaluator",
            "model_hash": self.hash,
            "criteria": [f"{head.criterion} ({head.kind})" for head in self.heads],
            "data": [dict(entry) for entry in self.data],
            "trained_on": " ".join(sorted(self.marks)),
        }


def sigmoid(x: float) -> float:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def marks_of(story_prompt: str, text: str) -> Sequence[str]:
    """Short hashes of a story-prompt, if not empty, and of a text, without case, blanks and punctuation."""
    marks = []
    for kind, words in (("p", story_prompt), ("t", text)):
        letters = re.sub(r"[\W_]+", "", words.casefold())
        if letters:
            marks.append(kind + digest(letters, 6).hex())
    return marks


def head_record(head: Head) -> dict[str, Any]:
    """The head in the format of `model.json`."""
    plain = asdict(head)
    for block in ("surface", "embedding"):
        terms: tuple[Term, ...] = getattr(head, block)
        plain[block] = {"feature": [term.feature for term in terms]} | {
            name: [getattr(term, name) for term in terms] for name in _COLUMNS
        }
    return plain


def read_model(folder: Path) -> TrainedModel:
    """The trained model in a folder. Raises DataError if the folder holds no valid model."""
    path = folder / MODEL_FILE
    if not path.is_file():
        raise DataError("holds no trained evaluator", file=folder, allowed=f"a folder with {MODEL_FILE}")
    if path.stat().st_size > LARGEST:
        raise DataError("is too large for a trained evaluator", file=path, allowed=f"{LARGEST >> 20} MiB")
    try:
        content = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DataError(f"not JSON ({error})", file=path) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError("not a model file of judge train", file=path, allowed=f'"format": {FORMAT}')
    try:
        heads = tuple(_head(entry) for entry in _listed(content["heads"]))
        if not heads:
            raise ValueError("no heads")
        return TrainedModel(
            name=str(content["name"]),
            heads=heads,
            embedding=_embedding(content["embedding"]),
            data=tuple(dict(entry) for entry in _listed(content["data"])),
            marks=_marks(content["trained_on"]),
            hash=fingerprint_file(path),
            encoder=_encoder(content.get("encoder")),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise DataError(f"is not what judge train writes ({error})", file=path) from None


def _encoder(entry: Mapping[str, Any] | None) -> Encoder | None:
    if entry is None:
        return None
    encoder = Encoder(str(entry["base"]), str(entry["hash"]), int(_number(entry["max_length"])))
    if encoder.max_length < 1:
        raise ValueError(f"max_length {encoder.max_length}")
    return encoder


def _head(entry: Mapping[str, Any]) -> Head:
    if entry["kind"] not in _KINDS:
        raise ValueError(f"kind {entry['kind']!r}")
    slope, intercept = entry["line"]
    head = Head(
        criterion=str(entry["criterion"]),
        kind=entry["kind"],
        **{name: _number(entry[name]) for name in ("low", "high", "intercept", "slope", "band")},
        surface=_terms(entry["surface"]),
        embedding=_terms(entry["embedding"]),
        line=(_number(slope), _number(intercept)),
        quantiles=tuple(_number(value) for value in _listed(entry["quantiles"])),
        asked=str(entry.get("asked", "")),
    )
    if not head.low < head.high or (head.kind == "preference" and not head.quantiles):
        raise ValueError(f"{head.criterion} has no scale")
    return head


def _terms(block: Mapping[str, Sequence[Any]]) -> tuple[Term, ...]:
    rows = zip(_listed(block["feature"]), *(block[name] for name in _COLUMNS), strict=True)
    terms = tuple(Term(str(name), *(_number(value) for value in values)) for name, *values in rows)
    for term in terms:
        if not term.low <= term.high or not term.scale > 0:
            raise ValueError(f"{term.feature!r} has no range or no spread")
    return terms


def _listed(values: Any) -> list[Any]:
    if not isinstance(values, list) or len(values) > _MOST:
        raise ValueError(f"a list of more than {_MOST:,} parts, or none")
    return values


def _embedding(entry: Any) -> Mapping[str, str] | None:
    if entry is not None and not (isinstance(entry["model"], str) and isinstance(entry["key"], str)):
        raise ValueError("embedding has a name and a key")
    return None if entry is None else {"model": entry["model"], "key": entry["key"]}


def _marks(text: Any) -> frozenset[str]:
    marks = frozenset(text.split())
    for mark in marks:
        if not _MARK.fullmatch(mark):
            raise ValueError("trained_on holds more than marks of stories")
    return marks


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LIMIT:
        raise ValueError(f"{value!r} is no number")
    return float(value)


# Scores stories with a trained cross-encoder, which reads a pair of texts: the question with the story-prompt, and
# the story.

ENCODER_FOLDER = "encoder"
_KEYS = {"dtype", "device"}
# Stories whose logit is kept: comparisons ask about the same story again and again.
_KEPT = 256


def query_text(asked: str, story_prompt: str) -> str:
    """What the encoder reads before the story. The question comes first because long texts are cut at the end."""
    return f"{asked}\n\n{story_prompt}".strip()


def on_people_scale(head: Head, logit: float) -> float:
    """Score from the encoder's logit: a point on the human ratings' scale or, for preferences, the logit."""
    return head.low + (head.high - head.low) * sigmoid(logit) if head.kind == "rating" else logit


class EncoderScorer:
    """Scores stories with a fine-tuned encoder, which reads the criterion's question too."""

    def __init__(self, model: TrainedModel, encoder: Encoder, folder: Path, engine: Mapping[str, Any]) -> None:
        check_keys(engine, _KEYS, "trained")
        self._model, self._encoder, self._engine = model, encoder, dict(engine)
        self._folder = folder / ENCODER_FOLDER
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        self._known: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self._cut: dict[tuple[str, str], bool] = {}
        self._loaded: SequenceClassifier | None = None

    async def probe(self) -> Mapping[str, Any]:
        """Loads tokenizer and weights; facts for the manifest. Raises BackendError for weights that training did not
        write."""
        loaded: SequenceClassifier = await self._run(self._load)
        return loaded.facts | {
            "encoder": self._encoder.base,
            "max_model_len": self._encoder.max_length,
            "note": f"the end of a story is not read beyond {self._encoder.max_length} tokens, as in training",
        }

    async def score(self, story: Story, head: Head) -> float:
        """The point on the human ratings' scale or, for preferences, the logit."""
        key = (head.asked, story.story_prompt, story.text)
        if key not in self._known:
            self._known[key] = await self._run(self._logit, *key)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return on_people_scale(head, self._known[key])

    def explain(self, story: Story, head: Head, other: Story | None) -> str:  # noqa: ARG002 - as others have it
        """A note if the end of a story was cut off, otherwise ""; an encoder gives no other explanation."""
        cut = [
            story_cut
            for story_cut in (story, other)
            if story_cut is not None and self._cut.get((story_cut.story_prompt, story_cut.text))
        ]
        limit = self._encoder.max_length
        return (
            f"It read the first part of {'these stories' if len(cut) > 1 else 'the story'} only ({limit} tokens "
            "with the story-prompt)."
            if cut
            else ""
        )

    async def close(self) -> None:
        self._loaded = None
        self._thread.shutdown(wait=False)

    async def _run(self, work: Any, *args: str) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)

    def _load(self) -> SequenceClassifier:
        if self._loaded is None:
            label = f"trained/{self._model.name}"
            if not self._folder.is_dir() or fingerprint_weights(self._folder) != self._encoder.hash:
                raise BackendError(
                    f"{self._folder} does not hold the weights that {label} was trained to",
                    kind="model",
                    retryable=False,
                    hint="train it again, or copy the folder whole",
                )
            keys = {"dtype": "float32", **self._engine}
            self._loaded = load(str(self._folder), label, keys)
        return self._loaded

    def _logit(self, asked: str, story_prompt: str, text: str) -> float:
        loaded, limit = self._load(), self._encoder.max_length
        query = query_text(asked, story_prompt)
        whole = len(loaded.tokenizer(query, text, verbose=False)["input_ids"])
        self._cut[story_prompt, text] = whole > limit
        inputs = loaded.tokenizer(query, text, return_tensors="pt", truncation=True, max_length=limit)
        return loaded.logit(inputs)
