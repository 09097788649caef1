"""What the page says first: a reader's question, a verdict by a rule, and the sentences behind it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer in a few words, and the rule that gives it."""

    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A question of the reader, the verdict by a rule where there is one, and sentences with the numbers."""

    question: str
    sentences: tuple[str, ...]
    verdict: Verdict | None = None
