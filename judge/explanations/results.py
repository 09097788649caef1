"""All results of `judge explain` in one object: texts, clusters, keywords and quality measures."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from judge.base.wording import Advice, Note
from judge.explanations.mapping import explanation_map, keywords
from judge.explanations.mapping.clusters import NOISE
from judge.explanations.mapping.explanation_map import ExplanationMap, Step
from judge.explanations.mapping.keyword_groups import (
    Keywords,
    YakeWords,
    group_keywords,
    yake_keywords,
)
from judge.explanations.mapping.keywords import SideWords, side_words
from judge.explanations.quality.measures import Numbers, numbers
from judge.explanations.quality.specificity import Asked, Measured, Row
from judge.stats import near_ties


@dataclass(frozen=True, slots=True)
class TextsFound:
    """Counts for one judge and Eval-Prompt: `asked` with or without a text; `words` is the median of a text."""

    asked: int
    texts: int
    distinct: int
    stories: int
    words: float | None


@dataclass(frozen=True, slots=True)
class ClusterFound:
    """A cluster of explanations, or all texts in none (`clusters.NOISE`); None where a value is not known. `criterion`
    and `eval_prompt` are the most frequent ones, each with its share of the cluster's texts. `rating` is the mean, and
    `example` the text nearest to the centre."""

    cluster: int
    texts: int
    distinct: int
    share: float
    stories: int
    criterion: str | None
    criterion_share: float | None
    eval_prompt: str | None
    eval_prompt_share: float | None
    rating: float | None
    words: tuple[str, ...]
    example: str | None


@dataclass(frozen=True, slots=True, eq=False)
class ExplanationResults:
    """All results of `judge explain`; with `as_published` there are only `texts` and `yake`. `sides` is None unless the
    explanations are by both people and judges."""

    map: ExplanationMap
    texts: Measured[TextsFound]
    clusters: Measured[ClusterFound] | None = None
    keywords: Keywords | None = None
    numbers: Numbers | None = None
    yake: tuple[YakeWords, ...] = ()
    sides: SideWords | None = None

    @property
    def yake_signature(self) -> str:
        """Signature line under the table of keywords by the HANNA judge study's method."""
        name = f"kw:yake/n{keywords.YAKE_WORDS}/dedup{keywords.YAKE_DEDUP:g}/top{keywords.YAKE_TOP}"
        return self.map.signature(name)

    @property
    def cluster_words(self) -> dict[int, list[str]]:
        """Keywords by cluster number; texts in no cluster are left out."""
        clusters = () if self.clusters is None else (row.result for row in self.clusters.rows)
        return {cluster.cluster: list(cluster.words) for cluster in clusters if cluster.cluster != NOISE}


def results(mapped: ExplanationMap, step: Step | None = None) -> ExplanationResults:
    """All results of `judge explain`, computed from an explanation map."""
    texts = _texts(mapped)
    if mapped.options.as_published:
        return ExplanationResults(mapped, texts, yake=yake_keywords(mapped, step))
    words = group_keywords(mapped, step)
    options = replace(mapped.options.numbers, seed=mapped.options.seed, top=mapped.options.top)
    vectors = mapped.embedded.vectors
    numbers_found = numbers(mapped.texts, mapped.rows, vectors, mapped.guidelines, options, mapped.signature, step)
    return ExplanationResults(mapped, texts, _clusters(mapped, words), words, numbers_found, sides=side_words(mapped))


def _texts(mapped: ExplanationMap) -> Measured[TextsFound]:
    rows = []
    part = mapped.rows.assign(words=[len(text.split()) for text in mapped.rows["text"]])
    for (judge, prompt), asked in mapped.texts.frame.groupby(["judge", "eval_prompt"], sort=False):
        kept = part[(part["judge"] == judge) & (part["eval_prompt"] == prompt)]
        counts = TextsFound(
            asked=len(asked),
            texts=len(kept),
            distinct=int(kept["key"].nunique()),
            stories=int(kept["story"].nunique()),
            words=float(kept["words"].median()) if len(kept) else None,
        )
        rows.append(Row(Asked(judge=str(judge) or None, eval_prompt=str(prompt) or None), counts))
    return Measured(tuple(rows), mapped.signature(), tuple(_notes(mapped)))


def _notes(mapped: ExplanationMap) -> list[str]:
    options = mapped.options
    lost = [f"{count} of {len(mapped.texts.frame)} rows left out: {why}" for why, count in mapped.left_out.items()]
    more = explanation_map.declared(mapped.texts, options, model=mapped.model) if options.as_published else []
    notes = [*lost, mapped.embedded.note]
    if mapped.picture is not None:
        notes.append(mapped.picture.note)
    elif options.map != "none":
        notes.append("no map: fewer than five distinct texts")
    if mapped.clustering is None and options.cluster_on != "none":
        notes.append(Note("no clusters: too few texts", Advice("{min_cluster}")))
    return [*notes, *more, *mapped.texts.notes]


def _clusters(mapped: ExplanationMap, words: Keywords) -> Measured[ClusterFound] | None:
    clustering = mapped.clustering
    if clustering is None:
        return None
    numbered = [*range(clustering.count), *([NOISE] if (clustering.labels == NOISE).any() else [])]
    rows = tuple(Row(Asked(), _cluster(mapped, words, number)) for number in numbered)
    return Measured(rows, mapped.signature("kw:ctfidf"), (clustering.note,))


def _cluster(mapped: ExplanationMap, words: Keywords, number: int) -> ClusterFound:
    rows = mapped.rows[(mapped.rows["cluster"] == number).to_numpy(dtype=bool)]
    criterion, criterion_share = _most(rows["criterion"])
    prompt, prompt_share = _most(rows["eval_prompt"])
    return ClusterFound(
        cluster=number,
        texts=len(rows),
        distinct=int(rows["key"].nunique()),
        share=len(rows) / len(mapped.rows),
        stories=int(rows["story"].nunique()),
        criterion=criterion,
        criterion_share=criterion_share,
        eval_prompt=prompt,
        eval_prompt_share=prompt_share,
        rating=float(rows["rating"].mean()) if rows["rating"].notna().any() else None,
        words=tuple(words.of_cluster(number)),
        example=None if number == NOISE else _example(mapped, rows),
    )


def _most(column: pd.Series[str]) -> tuple[str | None, float | None]:
    """The most frequent name (if tied, the first in the alphabet) and its share of all rows; None without a name."""
    named = column[column != ""]
    if named.empty:
        return None, None
    counts = named.value_counts()
    name = min(str(label) for label in counts.index[counts == counts.max()])
    return name, float(counts.max() / len(column))


def _example(mapped: ExplanationMap, rows: pd.DataFrame) -> str:
    vectors = mapped.embedded.vectors[rows.index]
    near = vectors @ vectors.mean(axis=0)
    return str(rows["text"].iloc[near_ties.highest(near.tolist())])
