"""An answer of a summary: a reader's question, a verdict with its rule, and sentences with the numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer in a few words, and the rule that gives it."""

    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A reader's question, the verdict where a rule gives one, and sentences with the numbers.

    `label` is the question's short name beside which a narrow screen prints it. `brief` are shorter sentences for a
    screen, where `sentences` list more than has room there; every other format holds `sentences`.
    """

    question: str
    sentences: tuple[str, ...]
    verdict: Verdict | None = None
    label: str = ""
    brief: tuple[str, ...] = ()
