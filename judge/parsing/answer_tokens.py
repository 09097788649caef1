"""The tokens of an answer with their probabilities, as servers list them, and the token of the rating among them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Token:
    """One emitted token and its alternatives, itself included: text -> probability."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(slots=True)
class Mass:
    """Distribution of the probability over the options and the rest."""

    points: dict[float, float]
    undecided: float = 0.0


def read_tokens(logprobs: Any) -> list[Token]:
    """Tokens from what chat (`content`) or plain completions (`tokens`, `top_logprobs`) return; else []."""
    if not isinstance(logprobs, Mapping):
        return []
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


def _token(text: str, logprob: float, top: Sequence[Mapping[str, Any]]) -> Token:
    chances: dict[str, float] = {}
    for entry in top:
        # Byte-level tokenizers can show two tokens by one text: their probabilities add up.
        chances[entry["token"]] = chances.get(entry["token"], 0.0) + math.exp(entry["logprob"])
    chances.setdefault(text, math.exp(logprob))
    return Token(text, chances)


def position(tokens: Sequence[Token], text: str, start: int) -> int | None:
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
