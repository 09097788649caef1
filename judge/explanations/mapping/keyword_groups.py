"""Keywords of every group of explanations, such as all explanations on one criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judge.explanations.mapping import explanation_map, keybert_ranking, keywords
from judge.explanations.mapping.explanation_map import ExplanationMap, Step

if TYPE_CHECKING:
    import pandas as pd

# Words with their weights, best first.
Weighted = tuple[tuple[str, float], ...]

_Codes = tuple[NDArray[np.int64], list[Any]]


@dataclass(frozen=True, slots=True)
class GroupWords:
    """Keywords of one group (a name, or a cluster's number) of the grouping `by`; `keybert` is None without KeyBERT."""

    by: str
    group: str | int
    texts: int
    ctfidf: Weighted
    keybert: Weighted | None = None


@dataclass(frozen=True, slots=True)
class Keywords:
    """Keywords of every group of texts; `asked` are the groupings to print. `groups` always includes clusters, because
    their table and the map show keywords. `keybert` is the version or None."""

    groups: tuple[GroupWords, ...]
    asked: tuple[str, ...]
    keybert: str | None
    name: str
    signature: str

    @property
    def rows(self) -> tuple[GroupWords, ...]:
        """The groups of the requested groupings."""
        return tuple(group for group in self.groups if group.by in self.asked)

    def of_cluster(self, number: int) -> list[str]:
        """Keywords of one cluster by class-TF-IDF; empty for an unknown cluster."""
        found_group = next((group for group in self.groups if (group.by, group.group) == ("cluster", number)), None)
        return [] if found_group is None else [word for word, _ in found_group.ctfidf]

    @property
    def frame(self) -> pd.DataFrame:
        """Data frame with one row per keyword: `by, group, texts, method` (ctfidf or keybert), `word, weight`."""
        import pandas as pd

        rows = [
            (group.by, group.group, group.texts, method, word, weight)
            for group in self.rows
            for method, words in (("ctfidf", group.ctfidf), ("keybert", group.keybert or ()))
            for word, weight in words
        ]
        frame = pd.DataFrame(rows, columns=["by", "group", "texts", "method", "word", "weight"])
        frame.attrs.update(signature=self.signature)
        return frame


def group_keywords(mapped: ExplanationMap, step: Step | None = None) -> Keywords:
    """Keywords of every group, for every grouping, by class-TF-IDF and, where installed, by KeyBERT."""
    # A grouping of which nothing is known, as a file without a column has it, has nothing to tell apart.
    coded: dict[str, _Codes] = {}
    for by in dict.fromkeys((*mapped.options.by, "cluster")):
        if by != "cluster" or mapped.clustering is not None:
            codes, names = _codes(mapped, by)
            if names != [""]:
                coded[by] = codes, names
    version = keybert_ranking.installed()
    groups_found: list[GroupWords] = []
    candidates: list[list[str]] = []
    counts = keywords.count(list(mapped.rows["text"]))
    for by, (codes, names) in coded.items():
        if counts is None:
            break
        weights = keywords.class_tfidf(keywords.by_group(counts, codes, len(names)))
        for code, name in enumerate(names):
            listed = keywords.best(weights[code], counts.terms, keywords.CANDIDATES)
            size = int((codes == code).sum())
            groups_found.append(GroupWords(by, name, size, tuple(listed[: mapped.options.top])))
            candidates.append([word for word, _ in listed])
    if version and counts is not None:
        ranked = _ranked(mapped, coded, groups_found, candidates, step)
        groups_found = [replace(group, keybert=tuple(words)) for group, words in zip(groups_found, ranked, strict=True)]
    mmr = f"mmr{keybert_ranking.DIVERSITY:g}"
    keybert = f"+keybert{version}/{keywords.CANDIDATES}/{mmr}" if version else ""
    name = f"kw:ctfidf{keybert}/by:{','.join(by for by in coded if by in mapped.options.by)}"
    return Keywords(tuple(groups_found), mapped.options.by, version, name, mapped.signature(name))


def _ranked(
    mapped: ExplanationMap,
    coded: Mapping[str, _Codes],
    groups: Sequence[GroupWords],
    candidates: Sequence[Sequence[str]],
    step: Step | None,
) -> list[list[tuple[str, float]]]:
    """KeyBERT's (word, similarity) of each group, among its `candidates`; `coded` numbers each text's group."""
    tell = None if step is None else lambda done, total: step("embedding candidate words", done, total)
    embedded, texts = mapped.embedded, mapped.rows["key"].to_numpy()
    documents = []
    for group, some in zip(groups, candidates, strict=True):
        codes, names = coded[group.by]
        inside = codes == names.index(group.group)
        mean = embedded.vectors[inside].mean(axis=0)
        documents.append(keybert_ranking.Document(some, texts[inside].tolist(), mean))
    return keybert_ranking.keybert_words(documents, embedded, mapped.options.top, mapped.cache, tell)


@dataclass(frozen=True, slots=True)
class YakeWords:
    """Keywords of one criterion ("" = not known) by the HANNA judge study's method, and the number of answers."""

    criterion: str
    answers: int
    words: Weighted


def yake_keywords(mapped: ExplanationMap, step: Step | None = None) -> tuple[YakeWords, ...]:
    """For each criterion, 30 keywords from the answers to all stories by the HANNA judge study's method (YAKE). Only
    the first repeat of each query is used. `step` is called before each criterion."""
    keywords_by_name = []
    for name, text, count in explanation_map.corpora(mapped.texts):
        if step is not None:
            step(f"keywords of {name or 'explanations'} by YAKE", 0, 0)
        keywords_by_name.append(YakeWords(name, count, tuple(keywords.yake(text))))
    return tuple(keywords_by_name)


def _codes(mapped: ExplanationMap, by: str) -> tuple[NDArray[np.int64], list[Any]]:
    """Group number of each explanation and the groups' names, an unknown one ("") last; noise is -1, without a name."""
    column = mapped.rows[by]
    if by == "cluster":
        numbers = column.to_numpy(dtype=np.int64)
        return numbers, list(range(int(numbers.max()) + 1 if numbers.size else 0))
    names_in_order = [c.name for c in mapped.texts.criteria] if by == "criterion" else ["low", "middle", "high"]
    if by == "band":
        names_in_order += dict.fromkeys(label for c in mapped.texts.criteria for label in c.scale.labels)
    order = {name: rank for rank, name in enumerate(names_in_order)} if by in ("criterion", "band") else {}
    present = [str(name) for name in column.unique()]
    names = sorted(present, key=lambda name: (name == "", order.get(name, len(order)), name))
    code_of = {name: code for code, name in enumerate(names)}
    return np.array([code_of[str(name)] for name in column], dtype=np.int64), names
