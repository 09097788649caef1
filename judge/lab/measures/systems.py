"""Diversity of each system's stories: self-BLEU, distinct bigrams, and the spread of sentence vectors.

These measures give one number per system, so they are not correlated with ratings of single stories. They are printed
in a separate table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.base.records import Story
from judge.inputs.embedding.vectors import embed
from judge.lab.measures.strings.diversity import words
from judge.lab.measures.strings.overlap import counted
from judge.version import __version__

NO_MAUVE = (
    "MAUVE is not computed: its value depends on the clustering of its vectors, and its program is under GPL-3; "
    "values computed elsewhere can be reported beside these"
)
_NO_MODEL = "undefined: no sentence encoder was named"
_ONE = "undefined: the system has one story"
_TENTH = 0.1


@dataclass(frozen=True, slots=True)
class SystemRow:
    """Diversity measures of one system's stories. `self_bleu`: mean BLEU of each story with the others as references.
    `distinct`: share of distinct bigrams. `cosine`: mean cosine between two stories. `vendi`: Vendi score. `prompt`:
    mean cosine of a story with its story-prompt.
    """

    system: str
    stories: int
    self_bleu: Estimate
    distinct: Estimate
    cosine: Estimate
    vendi: Estimate
    prompt: Estimate


def rows(stories: Sequence[Story], model: str | None, cache: Path | None) -> list[SystemRow]:
    """One row for each system that has stories with a text, in the dataset's order. Without an embedding `model`,
    measures that need vectors are undefined. `cache` is the file in which vectors are kept.

    Raises SpecError where no story has a text.
    """
    by_system: dict[str, list[Story]] = {}
    for story in stories:
        if story.text.strip():
            by_system.setdefault(story.system, []).append(story)
    if not by_system:
        raise SpecError("no story has a text")
    return [_row(system, some, _vectors(some, model, cache)) for system, some in by_system.items()]


def _row(
    system: str, stories: Sequence[Story], vectors: tuple[NDArray[np.float64], NDArray[np.float64]] | None
) -> SystemRow:
    count = len(stories)
    alone = count < 2
    pooled = Counter(pair for story in stories for pair in pairwise(words(story.text)))
    distinct = Estimate(len(pooled) / pooled.total(), n=count) if pooled else Estimate.undefined("undefined: no words")
    if vectors is None:
        cosine = vendi = prompt = Estimate.undefined(_NO_MODEL)
    else:
        likeness = vectors[0] @ vectors[0].T
        between = likeness[~np.eye(count, dtype=np.bool_)]
        cosine = Estimate.undefined(_ONE) if alone else Estimate(float(between.mean()), n=count)
        vendi = Estimate(_vendi(likeness), n=count)
        prompt = Estimate(float((vectors[0] * vectors[1]).sum(axis=1).mean()), n=count)
    bleu = Estimate.undefined(_ONE) if alone else Estimate(self_bleu([story.text for story in stories]), n=count)
    return SystemRow(system, count, bleu, distinct, cosine, vendi, prompt)


def _vectors(
    stories: Sequence[Story], model: str | None, cache: Path | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """(Unit vectors of the texts, unit vectors of the story-prompts); None without a model."""
    if model is None:
        return None
    vectors = [embed([text[side] for text in _sides(stories)], model, cache).vectors for side in (0, 1)]
    return vectors[0].astype(np.float64), vectors[1].astype(np.float64)


def _sides(stories: Sequence[Story]) -> list[tuple[str, str]]:
    return [(story.text, story.story_prompt) for story in stories]


def self_bleu(texts: Sequence[str]) -> float:
    """Mean BLEU-4 of each text with all other texts as references (Zhu et al. 2018), smoothed as in `bleu-openmeva`."""
    grams = [counted(text) for text in texts]
    lengths = np.array([orders[0].total() for orders in grams])
    most = [_two_most([orders[order] for orders in grams]) for order in range(4)]
    total = 0.0
    for at, orders in enumerate(grams):
        logs = []
        for order, counts in enumerate(orders):
            hits = sum(
                min(count, most[order][gram][1] if most[order][gram][2] == at else most[order][gram][0])
                for gram, count in counts.items()
            )
            logs.append(math.log((hits or _TENTH) / max(1, counts.total())) / 4)
        others = np.delete(lengths, at)
        # The reference nearest in length, the shorter of two.
        near = int(others[np.lexsort((others, np.abs(others - lengths[at])))[0]])
        own = int(lengths[at])
        total += (1.0 if own > near else math.exp(1 - near / own)) * math.exp(math.fsum(logs))
    return total / len(texts)


def _two_most(
    counts: Sequence[Mapping[tuple[str, ...], int]],
) -> dict[tuple[str, ...], tuple[int, int, int]]:
    """n-gram -> (largest count in a text, largest count in any other text, index of the text with the largest count).
    `counts` has the n-gram counts of each text.
    """
    most: dict[tuple[str, ...], tuple[int, int, int]] = {}
    for at, grams in enumerate(counts):
        for gram, count in grams.items():
            first, second, position = most.get(gram, (0, 0, -1))
            most[gram] = (count, first, at) if count > first else (first, max(second, count), position)
    return most


def _vendi(likeness: NDArray[np.float64]) -> float:
    """Vendi score (Friedman and Dieng 2023), the effective number of different stories: exponential of the entropy of
    the eigenvalues of `likeness` / n, for the n x n matrix of cosines between stories.
    """
    values = np.linalg.eigvalsh(likeness / likeness.shape[0])
    positive = values[values > 0]
    return float(np.exp(-(positive * np.log(positive)).sum()))


def table(rows: Sequence[SystemRow], dataset: str, model: str | None) -> Table:
    """The systems' diversity measures as a table to print, one row for each system. `model` is the embedding model
    (None = no model), which is named in the line of settings below the table.
    """
    columns = [
        Column("system", "system"),
        Column("stories", "stories"),
        Column("self_bleu", "self-BLEU", digits=3),
        Column("distinct", "distinct-2", digits=3),
        Column("cosine", "mean cosine", digits=3),
        Column("vendi", "Vendi", digits=1),
        Column("prompt", "cosine to story-prompt", digits=3),
    ]
    printed = [{name: getattr(row, name) for name in SystemRow.__dataclass_fields__} for row in rows]
    notes = (
        "self-BLEU, mean cosine: the higher, the more alike a system's stories are; Vendi: effective number of stories",
        "all values but the cosines depend on the number of stories: compare systems with equal numbers",
        NO_MAUVE,
    )
    signature = f"{dataset}:{sum(row.stories for row in rows)}|encoder:{model or 'none'}|v{__version__}"
    return Table(f"Similarity of the stories of each system: {dataset}", columns, printed, signature, notes)
