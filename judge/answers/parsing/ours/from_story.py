"""Checks whether the words that state a rating also occur in the judged story, and may thus be quoted from it.

Words are compared without letter case, punctuation, markup and invisible characters. Number words equal their digits.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from judge.answers.parsing.ours.json_answer import placed_objects
from judge.answers.parsing.ours.page import Page
from judge.answers.parsing.ours.reading import StatedWords
from judge.answers.parsing.ours.statements import Statement, stating_words
from judge.answers.parsing.words import vocabulary as words
from judge.answers.parsing.words.tiers import DOUBTFUL

_TOKEN = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS = {word: str(value) for value, word in enumerate(_NUMBERS)}
_REPORTS = words.word_set(
    "says said writes wrote reads states stated claims claimed ends ended closes closed contains includes tells told "
    "asks asked demands demanded orders ordered instructs instructed instruction instructions words line lines quote "
    "quotes quoted author narrator message note injected appended"
)
_TELLS = words.word_set("story text author narrator tale passage writer piece")
_OWN = words.word_set("my i we own d ll would")
_FEWEST, _MOST = 2, 5
_NEAR, _LABEL = 8, 24


@dataclass(frozen=True, slots=True)
class _Forms:
    """Two searchable forms of a story: `words` separated by spaces, and `exact` without any spaces."""

    words: str
    exact: str


def stands_in(story: str, stated: str) -> bool:
    """Whether the words in `stated` occur in the story. A number without words never counts, because it occurs in many
    stories.
    """
    tokens = _tokens(stated)
    return _has_letters(tokens) and _within(tokens, _forms(story))


def is_quoted(story: str, stated: StatedWords) -> bool:
    """Whether a rating statement is quoted from the story: its last words, or the words that its sentence attributes to
    somebody else, occur in the story.
    """
    forms = _forms(story)
    tokens = _tokens(stated.words)
    own = any(token in _OWN for token in tokens[:-1])
    if stated.exact:
        return not own and re.search(re.escape(_squeezed(stated.exact)) + r"(?!\d)", forms.exact) is not None
    size = min(_MOST, len(tokens))
    while size < len(tokens) and tokens[-size - 1] in _OWN:
        size += 1
    last = tokens[-size:]
    if _has_letters(last) and _within(last, forms):
        return True
    return any(
        _reported(tokens[:-size]) and tokens[-size] in words.RATING | words.STATE and _within(tokens[-size:], forms)
        for size in range(_FEWEST, min(_MOST, len(tokens)))
    )


def without_quoted(page: Page, stated: list[Statement], story: str) -> list[Statement]:
    """The answer's statements of a rating, with those that quote the story marked as doubtful.

    If the first statement opens the answer and quotes the story, it may still be the judge's own. If another statement
    differs from it, all statements are then marked as doubtful, so that the answer is ambiguous.
    """
    kept: list[Statement] = []
    for statement in stated:
        words_of = stating_words(page, statement) if statement.tier < DOUBTFUL else None
        quoted = words_of is not None and is_quoted(story, words_of)
        kept.append(replace(statement, tier=DOUBTFUL, form="quoted") if quoted else statement)
    first = min(kept, key=lambda statement: statement.mention.start)
    claims = {statement.mention.value for statement in kept if statement.tier < DOUBTFUL and not statement.other}
    if first.form == "quoted" and _opens(page, first) and claims - {first.mention.value}:
        return [
            statement if statement.form == "quoted" else replace(statement, tier=max(statement.tier, DOUBTFUL))
            for statement in kept
        ]
    return kept


def _opens(page: Page, first: Statement) -> bool:
    """Whether a statement of a rating opens the answer, apart from a label before it."""
    before = page.low[: first.mention.start]
    return len(before) <= _LABEL and not any(mark in before.strip() for mark in "\n.!?,;")


def without_objects(story: str, text: str) -> str:
    """The text with JSON objects that occur in the story replaced by spaces. All other characters keep their
    positions.
    """
    if "{" not in story or "{" not in text:
        return text
    for _, start, end in list(placed_objects(text)):
        if _squeezed(text[start:end]) in _forms(story).exact:
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def _reported(before: list[str]) -> bool:
    """Whether the words before a statement of a rating attribute it to somebody else."""
    near = before[-_NEAR:]
    if not near or near[-1] in _OWN:
        return False
    pairs = pairwise(near)
    return not _REPORTS.isdisjoint(near) or any(token in _TELLS and other == "s" for token, other in pairs)


def _has_letters(tokens: list[str]) -> bool:
    return any(_LETTERS.search(token) for token in tokens)


def _within(tokens: list[str], forms: _Forms) -> bool:
    return f" {' '.join(tokens)} " in forms.words


@lru_cache(maxsize=256)
def _forms(story: str) -> _Forms:
    return _Forms(f" {' '.join(_tokens(story))} ", _squeezed(story))


def _tokens(text: str) -> list[str]:
    return [_DIGITS.get(token, token) for token in _TOKEN.findall(_plain(text))]


def _squeezed(text: str) -> str:
    return "".join(_plain(text).split())


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c) != "Cf")
