"""Keywords of groups of texts by the package keybert, from the texts' existing embeddings. Results are cached in the
file of embeddings, by a hash of their input, because importing the package takes seconds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from judge.base.errors import MissingExtraError
from judge.base.fingerprint import fingerprint
from judge.base.sqlite_file import keep, open_cache
from judge.inputs.embedding import Embedded

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


def ranked(
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
