"""Measures by a model of texts: cosine of sentences, BERTScore and other matchings of tokens, BARTScore, InfoLM."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge.backends.hf.packaged_model import MODELS as PACKAGED
from judge.base.credentials.providers import JudgeName
from judge.base.errors import MissingExtraError, SpecError
from judge.inputs.embedding import embed, model_key
from judge.lab.measures import Family, Item, Measure, Need, Scored, Tools

# Cosine similarity of a story with its story-prompt and with its reference story, by a sentence encoder.

# Identity of a model for cache keys: the hash of a folder's files, a package's checksum, or the name alone.


def of_scorers(models: Mapping[Need, str]) -> str:
    """Identities for cache keys of models named ``provider/model``; a server's model has only its name."""
    return "; ".join(f"{need} {_scorer(model)}" for need, model in models.items())


def of_folders(models: Mapping[Need, str]) -> str:
    """Identities for cache keys of folders or models of the Hugging Face hub, with suffixes ``@LAYER``."""
    return "; ".join(f"{need} {model_key(at_layer(model)[0])} {at_layer(model)[1]}" for need, model in models.items())


def at_layer(model: str) -> tuple[str, int | None]:
    """(model, hidden layer) from a name such as ``roberta-large@17``; the layer is None where it gives none."""
    name, _, layer = model.rpartition("@")
    return (name, int(layer)) if name and layer.isdigit() else (model, None)


def _scorer(model: str) -> str:
    provider, name = JudgeName.of(model)
    if provider == "local" and name in PACKAGED:
        return PACKAGED[name].sha256
    return model_key(name) if Path(name).is_dir() else model


def _cosines(other: Callable[[Item], str]) -> Callable[[Sequence[Item], Tools], list[Scored]]:
    def score(items: Sequence[Item], tools: Tools) -> list[Scored]:
        texts = [item.text for item in items] + [other(item) for item in items]
        cache = None if tools.cache is None else tools.cache / "embeddings.sqlite"
        progress = partial(tools.progress, "sentence vectors")
        vectors = embed(texts, tools.models["sentence-encoder"], cache, progress=progress).vectors.astype(np.float64)
        cosines = (vectors[: len(items)] * vectors[len(items) :]).sum(axis=1)
        return [Scored({"cosine": float(cosine)}) for cosine in cosines]

    return score


def _cosine_family(name: str, need: Need, words: str, other: Callable[[Item], str]) -> Family:
    return Family(
        name=name,
        source="Reimers and Gurevych 2019; own",
        needs=(need, "sentence-encoder"),
        distributions=("sentence-transformers",),
        extra="explain",
        score=_cosines(other),
        identity=of_folders,
        measures=(Measure(name, "cosine", 1, f"cosine of the sentence vectors of story and {words}"),),
    )


SENTENCE_COSINE_FAMILIES = (
    _cosine_family("cosine-prompt", "story-prompt", "story-prompt", lambda item: item.story_prompt),
    _cosine_family("cosine-reference", "reference", "reference", lambda item: item.reference),
)


# Loads transformers models for measures. No other module of measures imports PyTorch or transformers.

# Tokenizers that know no limit say a huge number.
_LIMIT = 10**9


class Loaded(NamedTuple):
    """A tokenizer, a model, and the largest number of tokens that the model reads."""

    tokenizer: Any
    model: Any
    longest: int

    @property
    def framing(self) -> list[int]:
        """Ids of the special tokens that open and close a text."""
        named = (getattr(self.tokenizer, f"{name}_token_id", None) for name in ("cls", "sep", "bos", "eos"))
        return [number for number in named if number is not None]


@lru_cache(maxsize=1)
def load(kind: str, model: str) -> Loaded:
    """A model with its tokenizer; `kind` is a class of transformers, such as AutoModel or AutoModelForMaskedLM."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError(f"a measure by the model {model}", "hf") from error
    library_log = transformers.utils.logging
    library_log.disable_progress_bar()
    before = library_log.get_verbosity()
    # It tells of every head that a measure has no use for.
    library_log.set_verbosity_error()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        weights = getattr(transformers, kind).from_pretrained(model, dtype=torch.float32).eval()
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
        raise SpecError(
            f"{model} cannot be loaded: {reason}", hint="give a folder of weights with their tokenizer"
        ) from error
    finally:
        library_log.set_verbosity(before)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    places = getattr(weights.config, "max_position_embeddings", None) or _LIMIT
    longest = min(int(tokenizer.model_max_length), int(places))
    return Loaded(tokenizer, weights.to(device), longest)


def run(model: Any, **inputs: Any) -> Any:
    """The model's output without gradients; `inputs` are arguments such as lists of token ids."""
    import torch

    with torch.inference_mode():
        tensors = {
            name: torch.tensor(value, device=model.device) if isinstance(value, list) else value
            for name, value in inputs.items()
        }
        return model(**tensors)


def array(tensor: Any) -> Any:
    """A PyTorch tensor as a NumPy array in float32."""
    return tensor.float().cpu().numpy()


# Items whose vectors are in memory together, and tokens of one pass.
_LOT, _TOKENS = 64, 4096


# BERTScore and greedy, average and extrema matching, computed from the token vectors of one encoder. BERTScore equals
# that of the package bert-score at batch size 1: special tokens can be matched but are not scored. Only texts with
# the same number of tokens share a batch, so values do not depend on its size.


class _Text(NamedTuple):
    """Token vectors (tokens, dimensions), `unit` of length 1; `own` marks those that are not special; `cut`: not
    all."""

    unit: NDArray[np.float32]
    plain: NDArray[np.float32]
    own: NDArray[np.bool_]
    cut: bool


def _matching(items: Sequence[Item], tools: Tools) -> list[Scored]:
    name, layer = at_layer(tools.models["encoder"])
    loaded = load("AutoModel", name)
    # Items of one reference stand together: its vectors are made once.
    order = sorted(range(len(items)), key=lambda i: items[i].reference)
    by_item: dict[int, Scored] = {}
    for start in range(0, len(order), _LOT):
        some = order[start : start + _LOT]
        texts = list(dict.fromkeys(text for i in some for text in (items[i].text, items[i].reference)))
        vectors = dict(encoded(texts, loaded, layer))
        by_item |= {i: _score(vectors[items[i].text], vectors[items[i].reference]) for i in some}
        tools.progress("token vectors", len(by_item), len(items))
    return [by_item[i] for i in range(len(items))]


def encoded(texts: Sequence[str], loaded: Loaded, layer: int | None) -> Iterator[tuple[str, _Text]]:
    """(text, its token vectors), not in input order; `layer` counts hidden layers from 1, None is the last."""
    tokenizer = loaded.tokenizer
    rows: dict[int, list[tuple[str, list[int], bool]]] = {}
    for text in texts:
        whole = tokenizer(text.strip(), add_special_tokens=True, verbose=False)["input_ids"]
        ids = tokenizer(text.strip(), truncation=True, max_length=loaded.longest)["input_ids"]
        # Padding changes vectors in their last digits, so only texts of equal length share a batch.
        rows.setdefault(len(ids), []).append((text, ids, len(whole) > len(ids)))
    for size, same in rows.items():
        step = max(1, _TOKENS // size)
        for start in range(0, len(same), step):
            some = same[start : start + step]
            batch = [ids for _, ids, _ in some]
            output = run(
                loaded.model, input_ids=batch, attention_mask=[[1] * size] * len(some), output_hidden_states=True
            )
            hidden = array(output.hidden_states[-1 if layer is None else layer])
            for (text, ids, cut), plain in zip(some, hidden, strict=True):
                length = np.linalg.norm(plain, axis=1, keepdims=True)
                own = ~np.isin(ids, loaded.framing)
                yield text, _Text(plain / np.where(length > 0, length, 1), plain, own, cut)


def _score(text: _Text, reference: _Text) -> Scored:
    likeness = text.unit @ reference.unit.T
    precision = float(likeness.max(axis=1)[text.own].mean())
    recall = float(likeness.max(axis=0)[reference.own].mean())
    inner = likeness[np.ix_(text.own, reference.own)]
    own, other = text.plain[text.own], reference.plain[reference.own]
    values = {
        "precision": precision,
        "recall": recall,
        "f": 2 * precision * recall / (precision + recall),
        "greedy": float((inner.max(axis=0).mean() + inner.max(axis=1).mean()) / 2),
        "average": _cosine(own.mean(axis=0), other.mean(axis=0)),
        "extrema": _cosine(_extremes(own), _extremes(other)),
    }
    return Scored(values, cut=text.cut or reference.cut)


def _extremes(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each dimension, the value with the largest absolute value over all tokens."""
    high, low = vectors.max(axis=0), vectors.min(axis=0)
    return np.asarray(np.where(high >= -low, high, low), dtype=np.float32)


def _cosine(vector: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float(vector @ other / (np.linalg.norm(vector) * np.linalg.norm(other)))


_LAYER = "hidden layer N of encoder=PATH@N, else the last; no weights, no rescaling"
VECTOR_FAMILIES = (
    Family(
        name="token-vectors",
        source="Zhang et al. 2020; Rus and Lintean 2012; Forgues et al. 2014; own, equal to bert-score 0.3.13",
        needs=("reference", "encoder"),
        distributions=("torch", "transformers"),
        extra="hf",
        score=_matching,
        identity=of_folders,
        measures=(
            *(
                Measure(f"bertscore-{name}", name, 1, f"BERTScore, {name}: cosines of best matching tokens, {_LAYER}")
                for name in ("precision", "recall", "f")
            ),
            Measure("greedy", "greedy", 1, f"mean cosine of best matching tokens, both ways; {_LAYER}"),
            Measure("average", "average", 1, f"cosine of the mean vectors; {_LAYER}"),
            Measure("extrema", "extrema", 1, f"cosine of the vectors of extremes; {_LAYER}"),
        ),
    ),
)


# BARTScore (Yuan et al. 2021): log-probability of a text given another under an encoder-decoder, in both directions.


def log_probability(loaded: Loaded, source: str, target: str) -> tuple[float, bool]:
    """(Mean log-probability of the target's tokens given the source, whether a text was cut to the model's limit)."""
    sides = [
        loaded.tokenizer(text, truncation=True, max_length=loaded.longest)["input_ids"] for text in (source, target)
    ]
    whole = [loaded.tokenizer(text, verbose=False)["input_ids"] for text in (source, target)]
    output = run(loaded.model, input_ids=[sides[0]], attention_mask=[[1] * len(sides[0])], labels=[sides[1]])
    return -float(output.loss), any(len(all_) > len(side) for all_, side in zip(whole, sides, strict=True))


def _both(other: Callable[[Item], str]) -> Callable[[Sequence[Item], Tools], list[Scored]]:
    def score(items: Sequence[Item], tools: Tools) -> list[Scored]:
        loaded = load("AutoModelForSeq2SeqLM", tools.models["seq2seq"])
        scored = []
        for item in items:
            after, cut = log_probability(loaded, other(item), item.text)
            before, _ = log_probability(loaded, item.text, other(item))
            scored.append(Scored({"story": after, "other": before}, cut))
            if not len(scored) % 64:
                tools.progress("BARTScore", len(scored), len(items))
        return scored

    return score


def _family(need: Need, letter: str, words: str, other: Callable[[Item], str]) -> Family:
    return Family(
        name=f"bartscore-{words}",
        source="Yuan et al. 2021; own",
        needs=(need, "seq2seq"),
        distributions=("torch", "transformers"),
        extra="hf",
        score=_both(other),
        identity=of_folders,
        measures=(
            Measure(
                f"bartscore-{letter}s", "story", 1, f"mean log-probability of the story's tokens given the {words}"
            ),
            Measure(
                f"bartscore-s{letter}", "other", 1, f"mean log-probability of the {words}'s tokens given the story"
            ),
        ),
    )


BARTSCORE_FAMILIES = (
    _family("reference", "h", "reference", lambda item: item.reference),
    _family("story-prompt", "p", "story-prompt", lambda item: item.story_prompt),
)


# InfoLM (Colombo et al. 2022): distance between the word distributions that a masked model predicts for two texts.

TEMPERATURE = 0.25
# Tokens of one pass.
_INFOLM_TOKENS = 2048


def expected(loaded: Loaded, text: str) -> tuple[NDArray[np.float64], bool]:
    """(Mean of the distributions predicted with each token masked in turn, whether the text was cut to the model's
    limit)."""
    tokenizer = loaded.tokenizer
    whole = tokenizer(text, verbose=False)["input_ids"]
    ids = tokenizer(text, truncation=True, max_length=loaded.longest)["input_ids"]
    places = [at for at, token in enumerate(ids) if token not in loaded.framing]
    total: NDArray[np.float64] | None = None
    step = max(1, _INFOLM_TOKENS // len(ids))
    for start in range(0, len(places), step):
        some = places[start : start + step]
        batch = [[*ids[:at], tokenizer.mask_token_id, *ids[at + 1 :]] for at in some]
        logits = run(loaded.model, input_ids=batch, attention_mask=[[1] * len(ids)] * len(batch)).logits
        at_mask = np.stack([array(logits[row, at]) for row, at in enumerate(some)]).astype(np.float64) / TEMPERATURE
        odds = np.exp(at_mask - at_mask.max(axis=1, keepdims=True))
        part = (odds / odds.sum(axis=1, keepdims=True)).sum(axis=0)
        total = part if total is None else total + part
    if total is None:
        return np.zeros(0), False
    return total / len(places), len(whole) > len(ids)


def _infolm(items: Sequence[Item], tools: Tools) -> list[Scored]:
    loaded = load("AutoModelForMaskedLM", tools.models["mlm"])
    cached = lru_cache(maxsize=512)(lambda text: expected(loaded, text))
    scored = []
    for item in items:
        (own, cut), (other, other_cut) = cached(item.text), cached(item.reference)
        same = float(np.clip(np.sqrt(own * other).sum(), 0, 1)) if own.size and other.size else 0.0
        scored.append(Scored({"fisher-rao": 2 * float(np.arccos(same))}, cut or other_cut))
        if not len(scored) % 16:
            tools.progress("InfoLM", len(scored), len(items))
    return scored


INFOLM_FAMILIES = (
    Family(
        name="infolm",
        source="Colombo et al. 2022; own",
        needs=("reference", "mlm"),
        distributions=("torch", "transformers"),
        extra="hf",
        score=_infolm,
        identity=of_folders,
        measures=(
            Measure(
                "infolm-fisher-rao",
                "fisher-rao",
                -1,
                "Fisher-Rao distance of the mean distributions at masked tokens, temperature .25, no weights",
            ),
        ),
    ),
)

FAMILIES = (*VECTOR_FAMILIES, *SENTENCE_COSINE_FAMILIES, *BARTSCORE_FAMILIES, *INFOLM_FAMILIES)
