"""Embeddings as vectors of unit length, by a sentence-transformers model or TF-IDF; each distinct text once.

A model's vectors are cached in SQLite by model (its folder's hash, or name and revision) and the text's hash, so that a
second analysis does not need it. TF-IDF with a singular value decomposition needs no model; it is fitted to the texts
and not cached. Models compute and the cache keeps float32; the rest is float64: in float32, cosines of equally near
texts differ in the eighth digit, in another way on every processor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from json import JSONDecodeError, loads
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import MissingExtraError, SpecError
from judge.base.fingerprint import fingerprint, fingerprint_weights, text_key
from judge.base.sqlite_file import KeyedCache
from judge.base.wording import Advice

# Cache of computed embeddings by model and text, in one SQLite file that may be deleted at any time.

# SQLite before 3.32 binds 999 values in one statement at most.
_PAGE = 500


class Cache(KeyedCache):
    """Cache of embeddings (float32 vectors) by (model key, text key); with `None` as path in memory only."""

    table = ("vectors", "model", "text", "vector")

    def keys(self, model: str) -> set[str]:
        """Keys of the texts for which a model's vector is cached."""
        return {row[0] for row in self._base.execute("SELECT text FROM vectors WHERE model = ?", (model,))}

    def put(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store one vector for each text key, to disk."""
        bodies = (vector.astype("<f4").tobytes() for vector in vectors)
        self.keep(model, zip(texts, bodies, strict=True))

    def get(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Cached vectors in the order of the text keys, shape (texts, dimensions). All texts must be in the cache."""
        table: NDArray[np.float32] | None = None
        row_of = {key: row for row, key in enumerate(texts)}
        for start in range(0, len(texts), _PAGE):
            some = texts[start : start + _PAGE]
            sql = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({','.join('?' * len(some))})"  # noqa: S608
            for key, body in self._base.execute(sql, (model, *some)):
                vector = np.frombuffer(body, dtype="<f4")
                if table is None:
                    table = np.empty((len(texts), vector.size), np.float32)
                table[row_of[key]] = vector
        return np.empty((0, 0), np.float32) if table is None else table


Vectors = NDArray[np.float64]
Singles = NDArray[np.float32]
Progress = Callable[[int, int], None]
More = Callable[[Sequence[str], Progress | None], Vectors]

DEFAULT_MODEL = "all-mpnet-base-v2"
# Texts in one forward pass, and texts between two commits to the cache.
BATCH, CHUNK = 32, 512

_COMPONENTS, _FEATURES = 100, 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Vectors of texts, in the order of the texts.

    `vectors` has shape (n, d), with rows of unit length; zeros for a text without any TF-IDF term. `name` is for the
    signature: ``all-mpnet-base-v2@e8c3b32`` or ``tfidf-svd100``; `note` says how they were computed. `computed` and
    `reused` count distinct texts embedded now and read from the cache. `space` identifies the model's files, or the
    texts to which TF-IDF was fitted. `more` gives vectors of other texts in this space."""

    vectors: Vectors
    name: str
    note: str
    computed: int
    reused: int
    space: str
    more: More


def default_model() -> str | None:
    """`all-mpnet-base-v2`, as in the HANNA study; None (TF-IDF) if sentence-transformers is not installed."""
    return DEFAULT_MODEL if find_spec("sentence_transformers") else None


def embed(
    texts: Sequence[str],
    model: str | None,
    cache: Path | None = None,
    *,
    seed: int = 1,
    progress: Progress | None = None,
) -> Embedded:
    """Embeddings of texts. `model` is a name on the Hugging Face hub or a folder, or None for TF-IDF with SVD, which
    alone uses `seed`. `progress(done, total)` gets numbers of distinct texts. Raises MissingExtraError for a package,
    SpecError for a model that cannot be loaded."""
    if model is None:
        return _tfidf(texts, seed)
    return _by_model(texts, model, cache, progress)


def _by_model(texts: Sequence[str], model: str, cache: Path | None, progress: Progress | None) -> Embedded:
    key = model_key(model)
    distinct = {text_key(text): text for text in texts}
    with Cache(cache) as kept:
        stored = kept.keys(key) if distinct else set()
        # Longest first: what memory the whole needs shows at once, and neighbours in a batch need no padding.
        wanted = sorted((k for k in distinct if k not in stored), key=lambda k: -len(distinct[k]))
        for start in range(0, len(wanted), CHUNK):
            some = wanted[start : start + CHUNK]
            kept.put(key, some, encode(model, [distinct[k] for k in some]))
            if progress is not None:
                progress(min(start + CHUNK, len(wanted)), len(wanted))
        row_of = {k: row for row, k in enumerate(distinct)}
        table = kept.get(key, list(distinct)).astype(np.float64)
    vectors = table[[row_of[text_key(text)] for text in texts]] if texts else np.empty((0, 0))
    name = signature_name(model)
    limit = _longest(model)
    cut = f"; texts are cut at its {limit} tokens" if limit else ""
    note = f"embeddings by {name.rpartition('@')[0]}, {vectors.shape[1]} dimensions, by cosine{cut}"

    def more(others: Sequence[str], progress: Progress | None = None) -> Vectors:
        return _by_model(others, model, cache, progress).vectors

    return Embedded(vectors, name, note, len(wanted), len(distinct) - len(wanted), key, more)


def encode(model: str, texts: Sequence[str]) -> Singles:
    """Vectors of unit length in float32, by a sentence-transformers model and without the cache."""
    vectors = np.asarray(
        _loaded(model).encode(list(texts), batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True),
        dtype=np.float64,
    )
    return unit(vectors).astype(np.float32)


def unit(vectors: Vectors) -> Vectors:
    """The rows, each divided by its Euclidean length; zeros are unchanged."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float64)


def model_key(model: str) -> str:
    """A model's key in the cache: the hash of a folder's files, or name and revision on the Hugging Face hub."""
    if Path(model).is_dir():
        return _folder_hash(model)
    revision = _revision(model)
    if revision is None:
        _loaded(model)  # fetched now, or the sentence that says why not
        revision = _revision(model) or "unknown"
    return f"{_repository(model)}@{revision}"


def signature_name(model: str) -> str:
    """A model in a table's signature: its name, `@`, and the first seven characters of hash or revision."""
    key = model_key(model)
    tag = key.removeprefix("b2:") if key.startswith("b2:") else key.rpartition("@")[2]
    return f"{Path(model).resolve().name if Path(model).is_dir() else model}@{tag[:7]}"


@lru_cache(maxsize=8)
def _folder_hash(model: str) -> str:
    return fingerprint_weights(Path(model))


def _repository(model: str) -> str:
    # Names without a slash belong to sentence-transformers, as in that library.
    return model if "/" in model else f"sentence-transformers/{model}"


def _revision(model: str) -> str | None:
    # Without loading the model.
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError as error:
        raise MissingExtraError(Advice("{model}", model=model), "explain") from error
    cached = try_to_load_from_cache(_repository(model), "modules.json")
    if not isinstance(cached, str):
        cached = try_to_load_from_cache(_repository(model), "config.json")
    return Path(cached).parent.name if isinstance(cached, str) else None


def _longest(model: str) -> int | None:
    # Without loading the model.
    name = "sentence_bert_config.json"
    file: object = Path(model) / name
    if not Path(model).is_dir():
        from huggingface_hub import try_to_load_from_cache

        file = try_to_load_from_cache(_repository(model), name)
    try:
        limit = loads(Path(str(file)).read_text(encoding="utf-8")).get("max_seq_length")
    except (OSError, JSONDecodeError):
        return None
    return limit if isinstance(limit, int) else None


@lru_cache(maxsize=1)
def _loaded(model: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtraError(Advice("{model}", model=model), "explain") from error
    _refuse_code(Path(model))
    try:
        return SentenceTransformer(model, trust_remote_code=False)
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
        hint = "give a folder with a sentence-transformers model, or {model} for embeddings without one"
        raise SpecError(
            Advice("{model} cannot be loaded: {}", reason, model=model), hint=Advice(hint, model="tfidf")
        ) from error


def _refuse_code(folder: Path) -> None:
    # Older versions of sentence-transformers would run their code.
    file = folder / "modules.json"
    if not file.is_file():
        return
    try:
        named = [str(module["type"]) for module in loads(file.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise SpecError(f"{file} is no list of modules ({error})") from error
    for name in named:
        if not name.startswith("sentence_transformers."):
            raise SpecError(f"{file} names {name!r}: code that a folder brings is not run")


def _tfidf(texts: Sequence[str], seed: int) -> Embedded:
    try:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError as error:
        raise MissingExtraError("analysing explanations without a model", "report") from error
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        nothing = np.empty((0, 0))
        return Embedded(nothing, "tfidf-svd0", "no texts", 0, 0, "tfidf-svd0", lambda *_: nothing)
    reader = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), max_features=_FEATURES)
    try:
        table = reader.fit_transform(distinct)
    except ValueError as error:
        raise SpecError(f"the {len(distinct)} distinct texts hold no word of two letters") from error
    components = min(_COMPONENTS, table.shape[0] - 1, table.shape[1] - 1)
    decomposed = TruncatedSVD(components, random_state=seed) if components >= 1 else None
    dense = np.asarray(table.toarray() if decomposed is None else decomposed.fit_transform(table), dtype=np.float64)
    row_of = {text: row for row, text in enumerate(distinct)}
    vectors = unit(dense)[[row_of[text] for text in texts]]
    note = (
        f"embeddings by TF-IDF of words and word pairs, reduced to {vectors.shape[1]} dimensions (no language model): "
        "they compare words, not meanings"
    )
    name = f"tfidf-svd{vectors.shape[1]}/seed{seed}"

    def more(others: Sequence[str], _: Progress | None = None) -> Vectors:
        counted = reader.transform(others)
        return unit(np.asarray(counted.toarray() if decomposed is None else decomposed.transform(counted), np.float64))

    return Embedded(vectors, name, note, len(distinct), 0, f"{name}/{fingerprint(sorted(distinct))}", more)
