"""The expected rating over the scale's tokens, from log-probabilities. Never reads a place where no rating is stated.

The text says where the rating stands; the distribution there says how sure the judge was of it: sum of k p(k) over the
points of the scale, divided by their mass (Liu et al. 2023, G-Eval, section 2.3; there not divided). Forms with a
leading space count as the point. Forms of several tokens (10, 4.5) are followed along the tokens that were emitted;
what was not emitted cannot be followed, and a token there that could begin two points is left undecided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge.records import Judgment, Response, Scale

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Token:
    """One emitted token and the alternatives there, the emitted one among them: text -> probability."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(slots=True)
class _Mass:
    """Where the probability went."""

    points: dict[float, float]
    undecided: float = 0.0


def expected_judgment(judgment: Judgment, response: Response, scale: Scale) -> Judgment:
    """The judgment with its stated rating replaced by the expected one.

    Flags say what share of the probability lies outside the scale (or was not shown by the server), and what share is
    undecided: `outside=0.031`, `undecided=0.2`. A judgment without a rating stays as it is; where the rating's tokens
    cannot be found among the log-probabilities, or none of their mass lies on the scale, the status is `no_rating`.
    """
    if judgment.rating is None or judgment.span is None:
        return judgment
    tokens = read_tokens(response.logprobs)
    start = _position(tokens, response.text, judgment.span[0])
    lost = replace(judgment, status="no_rating", rating=None, span=None, flags=(*judgment.flags, "no_logprobs"))
    if start is None:
        return lost
    forms = {f"{point:g}": float(point) for point in scale.points()}
    mass = _Mass(dict.fromkeys(forms.values(), 0.0))
    _follow(tokens[start:], "", 1.0, forms, mass)
    on_scale = sum(mass.points.values())
    if on_scale <= _TOLERANCE:
        return lost
    rating = sum(point * p for point, p in mass.points.items()) / on_scale
    flags = [*judgment.flags, f"outside={max(0.0, 1 - on_scale - mass.undecided):.3f}"]
    if mass.undecided > _TOLERANCE:
        flags.append(f"undecided={mass.undecided:.3f}")
    return replace(judgment, rating=rating, flags=tuple(flags))


def read_tokens(logprobs: Any) -> list[Token]:
    """Tokens from what chat (`content`) or plain completions (`tokens`, `top_logprobs`) return; else []."""
    if not isinstance(logprobs, Mapping):
        return []
    content = logprobs.get("content")
    if isinstance(content, Sequence):
        return [_token(one["token"], one["logprob"], one.get("top_logprobs") or []) for one in content]
    texts, own, top = (logprobs.get(key) or [] for key in ("tokens", "token_logprobs", "top_logprobs"))
    found = []
    for i, text in enumerate(texts):
        others = top[i] if i < len(top) and top[i] else {}
        listed = [{"token": t, "logprob": p} for t, p in others.items()]
        found.append(_token(text, own[i] if i < len(own) and own[i] is not None else -math.inf, listed))
    return found


def _token(text: str, logprob: float, top: Sequence[Mapping[str, Any]]) -> Token:
    found: dict[str, float] = {}
    for one in top:
        # Byte-level tokenizers can show two tokens by one text: their probabilities add up.
        found[one["token"]] = found.get(one["token"], 0.0) + math.exp(one["logprob"])
    found.setdefault(text, math.exp(logprob))
    return Token(text, found)


def _position(tokens: Sequence[Token], text: str, start: int) -> int | None:
    """The token that holds the character at `start` of the answer; None where the tokens do not spell the answer.

    Tokens after it are no part of it: engines list the one that ends an answer, and those of a stop string.
    """
    spelled = "".join(token.text for token in tokens)
    if not spelled.lstrip().startswith(text.strip()):
        return None
    skipped = len(text) - len(text.lstrip())
    at = len(spelled) - len(spelled.lstrip()) - skipped + start
    for i, token in enumerate(tokens):
        if at < len(token.text):
            # A token that also holds what stands before the rating ("(4") has no alternatives that can be compared.
            return i if not token.text[:at].strip() else None
        at -= len(token.text)
    return None


def _follow(tokens: Sequence[Token], prefix: str, weight: float, forms: Mapping[str, float], mass: _Mass) -> None:
    """Share out the probability `weight` of having written `prefix` over the points of the scale."""
    if not tokens:
        _settle(prefix, weight, forms, mass)
        return
    for text, probability in tokens[0].alternatives.items():
        part = text.lstrip() if not prefix else text
        word = prefix + part
        digits = bool(part) and part[0] in "0123456789."
        if not digits:
            # The number ended with the token before.
            if prefix:
                _settle(prefix, weight * probability, forms, mass)
        elif not any(form.startswith(word.rstrip()) for form in forms):
            continue
        elif not any(form.startswith(word) and form != word for form in forms):
            _settle(word.rstrip(), weight * probability, forms, mass)
        elif text == tokens[0].text:
            _follow(tokens[1:], word, weight * probability, forms, mass)
        else:
            mass.undecided += weight * probability


def _settle(word: str, weight: float, forms: Mapping[str, float], mass: _Mass) -> None:
    if word in forms:
        mass.points[forms[word]] += weight
