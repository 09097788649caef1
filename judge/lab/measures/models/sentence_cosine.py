"""Cosine similarity of a story with its story-prompt and with its reference story, by a sentence encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from judge.inputs.embedding.vectors import embed
from judge.lab.measures.measure import Family, Item, Measure, Need, Scored, Tools
from judge.lab.measures.models.identity import of_folders


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
