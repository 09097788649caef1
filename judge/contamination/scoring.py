"""Computes contamination scores of texts, with one pass of a model for each kind of log-probability. The first pass
gives loss, zlib, Min-K% Prob, and Min-K%++ if the full distribution is available; texts in lower case, a reference
model and a prefix of unseen texts need one each. A score whose pass is not possible is undefined with this reason."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from judge.backends.protocol import Scorer, ScorerFacts, TokenLogprobs
from judge.base.errors import BackendError
from judge.base.estimate import Estimate
from judge.base.fingerprint import fingerprint, fingerprint_text
from judge.base.sqlite_file import KeyedCache
from judge.contamination import scores
from judge.contamination.options import ScoringOptions
from judge.contamination.texts import Text

# Cache of log-probabilities by text and model, in one SQLite file.


class Cache(KeyedCache):
    """Cache of log-probabilities by (model key, text key), in memory only without a path."""

    table = ("logprobs", "model", "text", "body")

    def get(self, model: str, text: str) -> TokenLogprobs | None:
        """Cached log-probabilities, or None."""
        row = self._base.execute("SELECT body FROM logprobs WHERE model = ? AND text = ?", (model, text)).fetchone()
        return _unpacked(row[0]) if row else None

    def put(self, model: str, logprobs_by_text: Sequence[tuple[str, TokenLogprobs]]) -> None:
        """Store (text key, log-probabilities), on disk when the call returns."""
        self.keep(model, ((text, _packed(logprobs)) for text, logprobs in logprobs_by_text))


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
    # JSON has no NaN: null.
    return tuple(math.nan if value is None else value for value in values)


Floats = NDArray[np.float64]
# Called with the name of a pass, texts done and texts in all.
Progress = Callable[[str, int, int], None]

# Texts given to the scorer together; after each lot the results are on disk.
_AT_ONCE = 512

EMPTY_TEXT = "undefined: the text is empty"


def settings_of(options: ScoringOptions, before: Sequence[str]) -> dict[str, Any]:
    """Settings for a scores file's header, with a hash in place of the unseen texts `before`."""
    prefix = _prefix(before)
    return {
        "k": options.k,
        "words": options.words,
        "lowercase": options.lowercase,
        "full_distribution": options.full_distribution,
        "shots": len(before),
        "prefix": None if prefix is None else fingerprint_text(prefix),
        **({"recital": scores.RECITED} if options.recital else {}),
    }


def _prefix(before: Sequence[str]) -> str | None:
    return " ".join(before) + " " if before else None


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of one text by name; `tokens` counts those with a log-probability. `truncated`: the text was cut to the
    context length in any pass."""

    text: Text
    tokens: int
    truncated: bool
    scores: Mapping[str, Estimate]


async def score(
    texts: Sequence[Text],
    scorer: Scorer,
    options: ScoringOptions,
    cache: Cache,
    *,
    before: Sequence[str] = (),
    reference: Scorer | None = None,
    progress: Progress | None = None,
) -> list[Scored]:
    """Scores of all texts, in order, under the model `scorer` and, if given, a reference model. `before` are unseen
    texts to put before each, for ReCaLL. Raises `BackendError` if the model cannot return log-probabilities at all."""
    show = progress or (lambda _name, _done, _total: None)
    bodies = [text.text for text in texts]
    reasons: dict[str, str] = {}
    plain = None
    if options.full_distribution:
        plain = await _if_possible(
            "min_k_pp", reasons, _passed(scorer, bodies, cache, show, "full distribution", full=True)
        )
    if plain is None:
        plain = await _passed(scorer, bodies, cache, show, "log-probabilities")
    lower = conditional = other = None
    if options.lowercase:
        lower = await _passed(scorer, [body.lower() for body in bodies], cache, show, "lower case")
    if before:
        after = _passed(scorer, bodies, cache, show, "after texts not seen", prefix=_prefix(before))
        conditional = await _if_possible("recall", reasons, after)
    if reference is not None:
        other = await _passed(reference, bodies, cache, show, "reference model")
    scored = []
    for i, text in enumerate(texts):
        passes = _Passes(
            plain[i],
            lower[i] if lower else None,
            conditional[i] if conditional else None,
            other[i] if other else None,
        )
        tokens = int((~np.isnan(passes.logprobs)).sum())
        # A cut in any of the passes moves a number of this text.
        cut = any(p.truncated for p in (passes.plain, passes.lower, passes.conditional, passes.reference) if p)
        values = _scores(text.text, passes, options, reasons)
        if before:
            values["recall"] = _recall(passes, reasons)
        if not text.text.strip():
            values = dict.fromkeys(values, Estimate.undefined(EMPTY_TEXT))
        scored.append(Scored(text, tokens, cut, values))
    return scored


@dataclass(frozen=True, slots=True)
class _Passes:
    """Log-probabilities of one text from each pass; None = no such pass."""

    plain: TokenLogprobs
    lower: TokenLogprobs | None
    conditional: TokenLogprobs | None
    reference: TokenLogprobs | None

    @property
    def logprobs(self) -> Floats:
        return _array(self.plain.logprobs)


def _scores(text: str, passes: _Passes, options: ScoringOptions, reasons: Mapping[str, str]) -> dict[str, Estimate]:
    logprobs = passes.logprobs
    sweep = sorted({*map(float, scores.SWEEP), float(options.k)})
    # The scores of an impossible pass are undefined, for its reason in `reasons`.
    values = {"loss": scores.loss(logprobs), "zlib": scores.zlib(logprobs, text)}
    for k in sweep:
        values[f"min_k_{k:g}"] = scores.min_k(logprobs, k)
    if options.recital:
        # Servers that tell no ids tell the tokens themselves.
        tokens = passes.plain.tokens if -1 in passes.plain.ids else passes.plain.ids
        values["recital"] = scores.recital(logprobs, tokens)
    if options.full_distribution:
        mean, variance = passes.plain.mean, passes.plain.variance
        for k in sweep:
            if mean is None or variance is None:
                value = Estimate.undefined(reasons.get("min_k_pp", "undefined: no full distribution"))
            else:
                value = scores.min_k_plus_plus(logprobs, _array(mean), _array(variance), k)
            values[f"min_k_pp_{k:g}"] = value
    if passes.lower is not None:
        values["lowercase"] = scores.lowercase(logprobs, _array(passes.lower.logprobs))
    if passes.reference is not None:
        other = _array(passes.reference.logprobs)
        values["reference_difference"] = scores.reference_difference(logprobs, other)
        values["reference_ratio"] = scores.reference_ratio(logprobs, other)
    return values


def _recall(passes: _Passes, reasons: Mapping[str, str]) -> Estimate:
    if passes.conditional is None:
        return Estimate.undefined(reasons.get("recall", "undefined: no pass after texts not seen"))
    after, plain = passes.conditional, passes.plain
    # A tokenizer may open a text with a token of its own; after a prefix it stands before that.
    for extra in (0, 1):
        length = min(len(plain.ids) - extra, len(after.ids))
        if length > 0 and plain.ids[extra : extra + length] == after.ids[:length]:
            break
    else:
        return Estimate.undefined("undefined: too short, or its tokens differ after a prefix")
    return scores.recall(_array(plain.logprobs[extra : extra + length]), _array(after.logprobs[:length]))


async def _if_possible(name: str, reasons: dict[str, str], asked: Any) -> list[TokenLogprobs] | None:
    """None, with the reason under `name`, if the model's server cannot do what the pass needs."""
    try:
        logprobs: list[TokenLogprobs] = await asked
    except BackendError as error:
        if error.kind != "capability":
            raise
        reasons[name] = f"undefined: {error}"
        return None
    return logprobs


async def _passed(
    scorer: Scorer,
    bodies: Sequence[str],
    cache: Cache,
    show: Progress,
    name: str,
    *,
    full: bool = False,
    prefix: str | None = None,
) -> list[TokenLogprobs]:
    """In the order of `bodies`; distinct texts that are not in the cache are scored once."""
    key = model_key(await scorer.facts(), full=full, prefix=prefix)
    keys = [fingerprint_text(body) for body in bodies]
    body_of = dict(zip(keys, bodies, strict=True))
    by_text: dict[str, TokenLogprobs] = {}
    for text in body_of:
        stored = cache.get(key, text)
        if stored is not None:
            by_text[text] = stored
    # Neighbours in length fill batches best.
    missing = sorted((text for text in body_of if text not in by_text), key=lambda text: len(body_of[text]))
    show(name, len(by_text), len(body_of))
    for start in range(0, len(missing), _AT_ONCE):
        lot = missing[start : start + _AT_ONCE]
        answers = await scorer.token_logprobs([body_of[t] for t in lot], full_distribution=full, prefix=prefix)
        fresh = list(zip(lot, answers, strict=True))
        cache.put(key, fresh)
        by_text.update(fresh)
        show(name, len(by_text), len(body_of))
    return [by_text[text] for text in keys]


def model_key(facts: ScorerFacts, *, full: bool = False, prefix: str | None = None) -> str:
    """Hash of everything on which log-probabilities depend, except the text and the versions of packages."""
    identity = {name: value for name, value in asdict(facts).items() if name != "version"}
    return fingerprint([identity, full, None if prefix is None else fingerprint_text(prefix)])


def _array(values: Sequence[float]) -> Floats:
    return np.asarray(values, dtype=np.float64)
