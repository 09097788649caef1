"""InfoLM (Colombo et al. 2022): distance between the word distributions that a masked model predicts for two texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools
from judge.lab.measures.models.loading import Loaded, array, load, run
from judge.lab.measures.models.sentence_cosine import of_folders

TEMPERATURE = 0.25
# Tokens of one pass.
_TOKENS = 2048


def expected(loaded: Loaded, text: str) -> tuple[NDArray[np.float64], bool]:
    """(Mean of the distributions predicted with each token masked in turn, whether the text was cut to the model's
    limit)."""
    tokenizer = loaded.tokenizer
    whole = tokenizer(text, verbose=False)["input_ids"]
    ids = tokenizer(text, truncation=True, max_length=loaded.longest)["input_ids"]
    places = [at for at, token in enumerate(ids) if token not in loaded.framing]
    total: NDArray[np.float64] | None = None
    step = max(1, _TOKENS // len(ids))
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
        if tools.progress is not None and not len(scored) % 16:
            tools.progress("InfoLM", len(scored), len(items))
    return scored


FAMILIES = (
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
