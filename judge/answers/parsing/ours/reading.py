"""Types for the result of reading an answer and for the words from which it was read."""

from __future__ import annotations

from dataclasses import dataclass

from judge.base.records import Judgment


@dataclass(frozen=True, slots=True)
class StatedWords:
    """The words that state a rating: the number and the words before it in its sentence.

    `exact` is a rating written with marks, such as [[4]], which is compared verbatim; "" for a rating in words.
    """

    words: str
    exact: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A judgment with the words of every statement of a rating, so that the story can be searched for these words.

    `worded` says that the rating is stated in words, and not by a number alone or with marks such as [[4]].
    """

    judgment: Judgment
    stated_words: tuple[StatedWords, ...] = ()
    worded: bool = False
