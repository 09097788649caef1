"""Cosine similarity of a story with its story-prompt and with its reference story, by a sentence encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from judge.backends.hf.packaged_model import MODELS as PACKAGED
from judge.base.judge_name import JudgeName
from judge.inputs.embedding import embed, model_key
from judge.lab.measures.measure import Family, Item, Measure, Need, Scored, Tools

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
        progress = tools.progress

        def report_step(done: int, total: int) -> None:
            if progress is not None:
                progress("sentence vectors", done, total)

        vectors = embed(texts, tools.models["sentence-encoder"], cache, progress=report_step).vectors.astype(np.float64)
        cosines = (vectors[: len(items)] * vectors[len(items) :]).sum(axis=1)
        return [Scored({"cosine": float(cosine)}) for cosine in cosines]

    return score


def _family(name: str, need: Need, words: str, other: Callable[[Item], str]) -> Family:
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


FAMILIES = (
    _family("cosine-prompt", "story-prompt", "story-prompt", lambda item: item.story_prompt),
    _family("cosine-reference", "reference", "reference", lambda item: item.reference),
)
