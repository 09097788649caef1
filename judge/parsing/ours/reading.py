"""Types for what was read from an answer, and from which words."""

from __future__ import annotations

from dataclasses import dataclass

from judge.records import Judgment


@dataclass(frozen=True, slots=True)
class StatedWords:
    """The words that state a rating: the number and the words before it in its sentence.

    `exact` is a form of marks such as [[4]], compared as it stands; "" for a form of words.
    """

    words: str
    exact: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A judgment with the words of every statement of a rating, so that a story can be searched for these words.

    `worded` says that the rating is stated in words, not by a number alone or by a form of marks.
    """

    judgment: Judgment
    stated_words: tuple[StatedWords, ...] = ()
    worded: bool = False
