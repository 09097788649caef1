"""Keywords of groups of texts by the package keybert, from the texts' existing embeddings. Results are cached in the
file of embeddings, by a hash of their input, because importing the package takes seconds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from numpy.typing import NDArray

from judge.base.errors import MissingExtraError
from judge.base.fingerprint import fingerprint
from judge.base.sqlite_file import keep, open_cache
from judge.explanations.mapping import explanation_map, keywords
from judge.explanations.mapping.explanation_map import ExplanationMap
from judge.explanations.options import Step
from judge.inputs.embedding import Embedded

if TYPE_CHECKING:
    import pandas as pd


Vectors = NDArray[np.float64]
Ranked = list[tuple[str, float]]
Progress = Callable[[int, int], None]

# Of maximal marginal relevance; the rest is likeness to the group.
DIVERSITY = 0.3

_TABLE = "CREATE TABLE IF NOT EXISTS keybert (content TEXT PRIMARY KEY, words TEXT) WITHOUT ROWID"


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A group of texts: its candidate words, the keys of its texts, and the mean of their embeddings, shape (d,)."""

    candidates: Sequence[str]
    texts: Sequence[str]
    mean: Vectors


def installed() -> str | None:
    """Installed version of KeyBERT, without importing the package; None where it is not installed."""
    return version("keybert") if find_spec("keybert") else None


def keybert_words(
    documents: Sequence[Document],
    embedded: Embedded,
    top: int,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> list[Ranked]:
    """Up to `top` candidates of each document with their similarity to it, best first. Selected by maximal marginal
    relevance, which favours words that differ from each other. The texts' model embeds the candidates; `progress` is
    then called with (done, total). `cache` None caches nothing."""
    made_by = [installed(), embedded.space, DIVERSITY, top]
    keys = [fingerprint([*made_by, list(document.candidates), sorted(document.texts)]) for document in documents]
    with closing(open_cache(cache, _TABLE)) as base:
        by_key = _kept(base, keys)
        wanted = {key: document for key, document in zip(keys, documents, strict=True) if key not in by_key}
        if wanted:
            extracted = _extracted(list(wanted.values()), embedded, top, progress)
            fresh = dict(zip(wanted, extracted, strict=True))
            rows = [(key, orjson.dumps(words).decode()) for key, words in fresh.items()]
            keep(base, cache, "INSERT OR REPLACE INTO keybert VALUES (?, ?)", rows)
            by_key |= fresh
    return [by_key[key] for key in keys]


def _extracted(documents: Sequence[Document], embedded: Embedded, top: int, progress: Progress | None) -> list[Ranked]:
    from sklearn.feature_extraction.text import CountVectorizer

    words = sorted({word for document in documents for word in document.candidates})
    if not words:
        return [[] for _ in documents]
    keywords = _extractor(embedded, progress).extract_keywords(
        [list(document.candidates) for document in documents],
        # Candidates are chosen already: a document is given as the list of its own.
        vectorizer=CountVectorizer(vocabulary=words, analyzer=list),
        top_n=top,
        use_mmr=True,
        diversity=DIVERSITY,
        doc_embeddings=np.stack([document.mean for document in documents]),
    )
    # Of one document alone the package gives the bare list.
    listed = [keywords] if len(documents) == 1 else keywords
    return [[(str(word), float(score)) for word, score in keywords] for keywords in listed]


def _extractor(embedded: Embedded, progress: Progress | None) -> Any:
    import warnings

    try:
        with warnings.catch_warnings():  # importing it turns FutureWarnings off for the whole process
            from keybert import KeyBERT
            from keybert.backend import BaseEmbedder
    except ImportError as error:
        raise MissingExtraError("keywords by KeyBERT", "explain") from error

    class Backend(BaseEmbedder):  # type: ignore[misc]  # the package has no types
        def embed(self, documents: Sequence[str], verbose: bool = False) -> Vectors:  # noqa: ARG002
            # With the model of `embedded`, no second model is loaded.
            return embedded.more([str(word) for word in documents], progress)

    return KeyBERT(model=Backend())


def _kept(base: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Ranked]:
    rows = (base.execute("SELECT words FROM keybert WHERE content = ?", (key,)).fetchone() for key in keys)
    records = ((key, row) for key, row in zip(keys, rows, strict=True) if row is not None)
    return {key: [(word, score) for word, score in orjson.loads(row[0])] for key, row in records}


# Keywords of every group of explanations, such as all explanations on one criterion.

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
    version = installed()
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
    mmr = f"mmr{DIVERSITY:g}"
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
        documents.append(Document(some, texts[inside].tolist(), mean))
    return keybert_words(documents, embedded, mapped.options.top, mapped.cache, tell)


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
