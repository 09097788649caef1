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
    """One group of texts: the number of texts, and its keywords by class-TF-IDF and by KeyBERT (None without KeyBERT).

    `by` is the grouping, such as ``criterion``. `group` is the group's name, or the number of a cluster.
    """

    by: str
    group: str | int
    texts: int
    ctfidf: Weighted
    keybert: Weighted | None = None


@dataclass(frozen=True, slots=True)
class Keywords:
    """Keywords of every group of texts, for every grouping (such as by criterion).

    `asked` are the groupings to print. `groups` always includes clusters, because the table of clusters and the map
    show their keywords. `keybert` is the package's version, None where it is not installed. `name` is the method as it
    appears in the signature line under the table (`signature`).
    """

    groups: tuple[GroupWords, ...]
    asked: tuple[str, ...]
    keybert: str | None
    name: str
    signature: str

    @property
    def rows(self) -> tuple[GroupWords, ...]:
        """The groups of texts whose keywords are printed: those of the requested groupings (such as by criterion)."""
        return tuple(group for group in self.groups if group.by in self.asked)

    def of_cluster(self, number: int) -> list[str]:
        """Keywords of one cluster by class-TF-IDF, for its table row and its label on the map; empty for an unknown
        cluster.
        """
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
    """Keywords of every group of explanations, for every grouping, by class-TF-IDF and, where the package is installed,
    by KeyBERT.
    """
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
    """KeyBERT's keywords of each group of texts, as (word, similarity). `candidates` holds, for each group, the words
    among which KeyBERT chooses. `coded` maps each grouping to the group number of each text.
    """
    tell = None if step is None else lambda done, total: step("embedding candidate words", done, total)
    embedded, texts = mapped.embedded, mapped.rows["key"].to_numpy()
    documents = []
    for group, some in zip(groups, candidates, strict=True):
        codes, names = coded[group.by]
        inside = codes == names.index(group.group)
        mean = embedded.vectors[inside].mean(axis=0)
        documents.append(keybert_ranking.Document(some, texts[inside].tolist(), mean))
    return keybert_ranking.ranked(documents, embedded, mapped.options.top, mapped.cache, tell)


@dataclass(frozen=True, slots=True)
class YakeWords:
    """Keywords of one criterion by the HANNA judge study's method (YAKE), and the number of answers used. `criterion`
    is "" where it is not known.
    """

    criterion: str
    answers: int
    words: Weighted


def yake_keywords(mapped: ExplanationMap, step: Step | None = None) -> tuple[YakeWords, ...]:
    """Keywords of the judge's answers by the method of the HANNA judge study. For each criterion, YAKE extracts 30
    keywords from the full texts of the answers to all stories; only the first repeat of each query is used.

    `step` is called before each criterion, to show progress.
    """
    keywords_by_name = []
    for name, text, count in explanation_map.corpora(mapped.texts):
        if step is not None:
            step(f"keywords of {name or 'explanations'} by YAKE", 0, 0)
        keywords_by_name.append(YakeWords(name, count, tuple(keywords.yake(text))))
    return tuple(keywords_by_name)


def _codes(mapped: ExplanationMap, by: str) -> tuple[NDArray[np.int64], list[Any]]:
    """Group number of each analysed explanation, and the list of the groups' names. A group's number is the index of
    its name in this list. `by` is the grouping, such as by criterion.

    Criteria are in their own order, bands from low to high, clusters by size, and other groups by name. Explanations of
    an unknown group ("") form a group that comes last. Noise (texts in no cluster) has the number -1 and no name.
    """
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
