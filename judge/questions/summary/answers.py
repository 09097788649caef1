"""Data classes for the answers of a summary: a reader's question, a verdict with its rule, and sentences with the
numbers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a question of a summary in a few words, and the rule by which it was chosen."""

    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a summary: the reader's question, a verdict in a few words where a rule gives one, and sentences
    with the numbers.

    `label` is a short name of the question, printed next to the answer on a screen. `brief` holds shorter sentences for
    a screen where `sentences` are too long for it; all other formats use `sentences`.
    """

    question: str
    sentences: tuple[str, ...]
    verdict: Verdict | None = None
    label: str = ""
    brief: tuple[str, ...] = ()
