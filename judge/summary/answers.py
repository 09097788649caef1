"""What stands first, on a screen and on a page: a reader's question, a verdict by a rule, the sentences behind it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer in a few words, and the rule that gives it."""

    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A question of the reader, the verdict by a rule where there is one, and sentences with the numbers.

    `label` is the question's short name beside which a narrow screen prints it.
    """

    question: str
    sentences: tuple[str, ...]
    verdict: Verdict | None = None
    label: str = ""
