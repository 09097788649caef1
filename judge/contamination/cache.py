"""Cache of log-probabilities by text and model, in one SQLite file.

The file may be deleted at any time; the model is then run again. It stores log-probabilities in place of scores, so
that further scores, or another k, need no new model run.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import orjson

from judge.backends.protocol import TokenLogprobs
from judge.base.derived_file import keep, open_cache

_TABLE = (
    "CREATE TABLE IF NOT EXISTS logprobs (model TEXT, text TEXT, body BLOB, PRIMARY KEY (model, text)) WITHOUT ROWID"
)


class Cache:
    """Cache of log-probabilities by (model key, text key). With `None` as path the cache is kept in memory only."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._base = open_cache(path, _TABLE)

    def __enter__(self) -> Cache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()

    def get(self, model: str, text: str) -> TokenLogprobs | None:
        """Cached log-probabilities for a model key and a text key; None if they are not in the cache."""
        row = self._base.execute("SELECT body FROM logprobs WHERE model = ? AND text = ?", (model, text)).fetchone()
        return _unpacked(row[0]) if row else None

    def put(self, model: str, logprobs_by_text: Sequence[tuple[str, TokenLogprobs]]) -> None:
        """Store the log-probabilities of texts, given as pairs (text key, log-probabilities). They are on disk when the
        call returns.
        """
        rows = [(model, text, _packed(logprobs)) for text, logprobs in logprobs_by_text]
        keep(self._base, self.path, "INSERT OR REPLACE INTO logprobs VALUES (?, ?, ?)", rows)


def _packed(logprobs: TokenLogprobs) -> bytes:
    columns = (logprobs.ids, logprobs.tokens, logprobs.logprobs, logprobs.mean, logprobs.variance, logprobs.truncated)
    return zlib.compress(orjson.dumps(columns))


def _unpacked(body: bytes) -> TokenLogprobs:
    ids, tokens, logprobs, mean, variance, truncated = orjson.loads(zlib.decompress(body))
    return TokenLogprobs(
        tuple(ids),
        tuple(tokens),
        _floats(logprobs),
        None if mean is None else _floats(mean),
        None if variance is None else _floats(variance),
        bool(truncated),
    )


def _floats(values: Sequence[float | None]) -> tuple[float, ...]:
    """Log-probabilities read from JSON, with null (JSON has no NaN) replaced by NaN."""
    return tuple(math.nan if value is None else value for value in values)
