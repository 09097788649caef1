"""Reads an answer's tokens and log-probabilities, as servers report them, and finds the token of the rating."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# By this much the probabilities that a server reports at one position may add up to more than 1: engines that compute
# with 8 bits of precision round each of them.
_ROUNDING = 0.01


@dataclass(frozen=True, slots=True)
class Token:
    """A generated token. `alternatives` maps texts at its position to probabilities; None where the reported numbers
    are none (above 1, no numbers, or with a sum above 1)."""

    text: str
    alternatives: Mapping[str, float] | None


@dataclass(slots=True)
class Mass:
    """Probabilities of the points (or label codes) of a scale. `undecided` is that of tokens that could begin several;
    `improbable` says that numbers reported at a wanted position are no probabilities."""

    points: dict[float, float]
    undecided: float = 0.0
    improbable: bool = False

    def alternatives(self, token: Token) -> Mapping[str, float]:
        """The token's alternatives; empty, and `improbable` is set, where they are no probabilities."""
        if token.alternatives is None:
            self.improbable = True
            return {}
        return token.alternatives


def read_tokens(logprobs: Any) -> list[Token]:
    """Tokens of a chat answer (`content`) or plain completion (`tokens`, `top_logprobs`); [] for any other value."""
    if not isinstance(logprobs, Mapping):
        return []
    try:
        return _tokens(logprobs)
    except (AttributeError, KeyError, TypeError):
        # What was kept before answers were checked at the door, or by another program, may have any form.
        return []


def _tokens(logprobs: Mapping[str, Any]) -> list[Token]:
    content = logprobs.get("content")
    if isinstance(content, Sequence):
        return [_token(entry["token"], entry["logprob"], entry.get("top_logprobs") or []) for entry in content]
    texts, own, top = (logprobs.get(key) or [] for key in ("tokens", "token_logprobs", "top_logprobs"))
    tokens = []
    for i, text in enumerate(texts):
        others = top[i] if i < len(top) and top[i] else {}
        listed = [{"token": t, "logprob": p} for t, p in others.items()]
        tokens.append(_token(text, own[i] if i < len(own) and own[i] is not None else -math.inf, listed))
    return tokens


def _token(text: str, logprob: Any, top: Sequence[Mapping[str, Any]]) -> Token:
    chances: dict[str, float] = {}
    for entry in top:
        # Byte-level tokenizers can show two tokens by one text: their probabilities add up.
        chances[entry["token"]] = chances.get(entry["token"], 0.0) + _probability(entry["logprob"])
    own = _probability(logprob)
    # Some servers list the token without the blank before it: it would count twice.
    if text not in chances and chances.get(text.strip()) == own:
        del chances[text.strip()]
    chances.setdefault(text, own)
    # A number that is none fails this comparison too.
    sound = own <= 1 + _ROUNDING and sum(chances.values()) <= 1 + _ROUNDING
    return Token(text, chances if sound else None)


def _probability(logprob: Any) -> float:
    if isinstance(logprob, bool) or not isinstance(logprob, int | float):
        return math.nan
    return math.exp(logprob) if logprob <= _ROUNDING else math.nan


def position(tokens: Sequence[Token], text: str, start: int) -> int | None:
    """Index of the token that begins at character `start`; None where the tokens do not spell the answer or other text
    precedes in the token. Tokens after the text are allowed: servers list end tokens and stop strings."""
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


# Probabilities of the labels or points of a scale at the position of the rating in an answer, from token
# log-probabilities. They are followed along the generated tokens; the letter case of labels does not count.


def follow_labels(tokens: Sequence[Token], prefix: str, weight: float, forms: Mapping[str, float], mass: Mass) -> None:
    """Add to `mass` the probability `weight` of `prefix`, spread over the labels (`forms`: lower case -> code) it can
    become."""
    for token in tokens:
        onward: tuple[str, float] | None = None
        for text, probability in mass.alternatives(token).items():
            word = prefix + (text.lstrip() if not prefix else text).lower()
            word = " ".join(word.split()) + (" " if word[-1:].isspace() else "")
            longer = any(form.startswith(word) and form != word for form in forms)
            if longer and text == token.text:
                onward = word, weight * probability
            elif longer:
                mass.undecided += weight * probability
            elif word.strip() in forms:
                _settle(word, weight * probability, forms, mass)
            elif prefix and not text[:1].isalnum():
                # The label ended with the token before: "Agree" and not "Agree strongly".
                _settle(prefix, weight * probability, forms, mass)
            elif not prefix and word.rstrip(".,:;!*\n ") in forms:
                _settle(word.rstrip(".,:;!*\n "), weight * probability, forms, mass)
        if onward is None:
            return
        prefix, weight = onward
    _settle(prefix, weight, forms, mass)


def follow_numbers(tokens: Sequence[Token], prefix: str, weight: float, forms: Mapping[str, float], mass: Mass) -> None:
    """Add to `mass` the probability `weight` of `prefix`, spread over the points (`forms`: text -> value) it can
    become."""
    for token in tokens:
        onward: tuple[str, float] | None = None
        for text, probability in mass.alternatives(token).items():
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
                _settle(word, weight * probability, forms, mass)
            elif text == token.text:
                onward = word, weight * probability
            else:
                mass.undecided += weight * probability
        if onward is None:
            return
        prefix, weight = onward
    _settle(prefix, weight, forms, mass)


def _settle(word: str, weight: float, forms: Mapping[str, float], mass: Mass) -> None:
    code = forms.get(word.strip())
    if code is not None:
        mass.points[code] += weight
