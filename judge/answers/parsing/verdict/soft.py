"""Certainty of a verdict: each label's probability at its position, from token log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.answers.parsing.answer_tokens import Mass, follow_labels, position, read_tokens
from judge.answers.parsing.verdict.json_verdicts import sides
from judge.answers.parsing.verdict.parser import CHOICES, states_its_label
from judge.base.records import Response, Structured, Verdict

# Shares of a smaller total would be ratios of rounding errors.
_LEAST = 1e-9
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Shares:
    """Probabilities normalised to the sum 1; `tie` is 0 where none was offered. `outside`: tokens that begin no label,
    or were not reported. `undecided`: tokens that could begin several."""

    first: float
    second: float
    tie: float
    outside: float
    undecided: float


def soft_verdict(
    verdict: Verdict,
    response: Response,
    choices: Sequence[str] = CHOICES,
    *,
    structured: Structured = "none",
    criterion: str = "",
) -> Shares | None:
    """Probability shares of first story, second story and tie at the position where the answer states its label.

    None without a preference or log-probabilities, where the reported numbers are no probabilities (they add up to more
    than 1), and where the label is not itself the answer: in "A is worse than B" the alternatives to a name are not
    alternative verdicts, and "the second story" is no label."""
    if verdict.preference is None or verdict.span is None or response.logprobs is None:
        return None
    if not states_its_label(response, choices, structured, criterion):
        return None
    tokens = read_tokens(response.logprobs)
    start = position(tokens, response.text, verdict.span[0])
    if start is None:
        return None
    forms: dict[str, float] = {}
    spelled = response.text[slice(*verdict.span)].lower()
    whole = tuple(" ".join(choice.lower().split()) for choice in choices)
    # "Story A" may stand in the answer with its first word or without it.
    words = whole if any(spelled.startswith(word) for word in whole) else _without_common(tuple(choices), whole)
    for code, word in enumerate(words):
        forms.setdefault(word, float(code))
    mass = Mass(dict.fromkeys(map(float, range(3)), 0.0))
    follow_labels(tokens[start:], "", 1.0, forms, mass)
    total = sum(mass.points.values())
    if mass.improbable or total <= _LEAST:
        return None
    first, second, tie = (mass.points[float(code)] / total for code in range(3))
    outside = max(0.0, 1 - total - mass.undecided)
    return Shares(first, second, tie, outside, mass.undecided)


def _without_common(choices: tuple[str, ...], whole: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(name.lower() for name in sides(choices).names)
    return (*names, *whole[_PAIR:])
