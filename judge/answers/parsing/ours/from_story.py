"""Whether the words that state a rating occur in the judged story, and may be quoted from it. Letter case, punctuation,
markup and invisible characters do not count; number words equal their digits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

from judge.answers.parsing import vocabulary as words
from judge.answers.parsing.ours.clauses import Page
from judge.answers.parsing.ours.explanation import tidy
from judge.answers.parsing.ours.json_answer import objects_in, placed_objects, stated_number, without_placed
from judge.answers.parsing.ours.mentions import number
from judge.answers.parsing.ours.statements import StatedWords, Statement, stating_words
from judge.answers.parsing.vocabulary import DOUBTFUL
from judge.base.errors import SpecError
from judge.base.late_pattern import late
from judge.base.records import Judgment, Scale

_TOKEN = late(r"[^\W_]+")
_LETTERS = late(r"[^\W\d_]{2,}")
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
    words: str
    exact: str


def stands_in(story: str, stated: str) -> bool:
    """Whether the words occur in the story. A number without words never counts: it occurs in many stories."""
    tokens = _tokens(stated)
    return _has_letters(tokens) and _within(tokens, _forms(story))


def is_quoted(story: str, stated: StatedWords) -> bool:
    """Whether a statement's last words, or those its sentence attributes to somebody else, occur in the story."""
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
    """The statements, with those that quote the story doubtful. A first one that opens the answer may be the judge's
    own: if another differs from it, all become doubtful, so that the answer is ambiguous."""
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
    before = page.low[: first.mention.start]
    return len(before) <= _LABEL and not any(mark in before.strip() for mark in "\n.!?,;")


def without_objects(story: str, text: str) -> str:
    """The text with JSON objects that occur in the story replaced by spaces; positions stay."""
    if "{" not in story or "{" not in text:
        return text
    quoted = [placed for placed in placed_objects(text) if _squeezed(text[slice(*placed[1:])]) in _forms(story).exact]
    return without_placed(text, quoted)


def _reported(before: list[str]) -> bool:
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


# Reads ratings by an Eval-Prompt's own pattern: a regular expression with one group, or a JSON path.

_PATH = late(r"\$(?:\.[^\W\d][\w-]*|\[\d+\]|\['[^']+'\]|\[\"[^\"]+\"\])+")
_STEP = late(r"\.([^\W\d][\w-]*)|\[(\d+)\]|\['([^']+)'\]|\[\"([^\"]+)\"\]")
_JSON = ("$.", "$[")
_GROUP = "rating"
_AROUND_LABEL = " \t\n*_\"'`.,!()[]"
_Read = Callable[[str | float], float | None]
_EXAMPLES = "for example 'Final score: (\\d)' or '$.scores.coherence'"


def check_pattern(pattern: str, *, where: str) -> None:
    """Raise `SpecError` for a pattern that cannot be used; the message begins with `where`."""
    if pattern.startswith(_JSON):
        if _PATH.fullmatch(pattern) is None:
            raise SpecError(f"{where}: rating_pattern {pattern!r} is no JSON path", hint=f"write {_EXAMPLES}")
        return
    compiled = _compiled(pattern, where)
    if compiled.groups == 0 or (compiled.groups > 1 and _GROUP not in compiled.groupindex):
        raise SpecError(
            f"{where}: rating_pattern {pattern!r} has {compiled.groups} groups, and one must hold the rating",
            hint=f"put the number into one group, or name it (?P<{_GROUP}>...): {_EXAMPLES}",
        )


def pattern_judgment(pattern: str, text: str, scale: Scale, story: str = "") -> Judgment:
    """Judgment by a checked pattern: `no_rating` without a match, `ambiguous` where matches differ. A match whose words
    occur in `story` is a quotation."""
    read = partial(_code, scale) if scale.labels else _number_of
    matcher = _json_matches if pattern.startswith(_JSON) else _matches
    own = without_objects(story, text) if matcher is _json_matches else text
    all_matches = list(matcher(pattern, own, read))
    matches = [match for match in all_matches if not story or not stands_in(story, text[slice(*match[2])])]
    if not matches and (all_matches or (own != text and any(matcher(pattern, text, read)))):
        return Judgment("ambiguous", flags=("quoted",))
    values = {value for value, _, _ in matches}
    if not values:
        return Judgment("no_rating")
    if len(values) > 1:
        return Judgment("ambiguous")
    value, span, whole = matches[-1]
    if value not in scale:
        return Judgment("out_of_scale")
    begin, end = whole
    return Judgment("ok", value, (), tidy(text[:begin], text[end:]), span)


def captures(pattern: str, text: str) -> bool:
    """Whether a pattern captures text; for where the scale's labels are not known yet."""
    matches = _json_matches if pattern.startswith(_JSON) else _matches
    return any(True for _ in matches(pattern, text, lambda found: 0.0 if str(found).strip() else None))


def _matches(pattern: str, text: str, read: _Read) -> Iterator[tuple[float, tuple[int, int] | None, tuple[int, int]]]:
    # (value, span of the rating, span of the whole match)
    compiled = _compiled(pattern, "rating_pattern")
    group = compiled.groupindex.get(_GROUP, 1)
    for match in compiled.finditer(text):
        literal = (match.group(group) or "").strip().lower()
        value = read(literal)
        if value is not None:
            yield value, match.span(group), match.span()


def _json_matches(path: str, text: str, read: _Read) -> Iterator[tuple[float, None, tuple[int, int]]]:
    for item in objects_in(text):
        value: Any = item
        for step in _STEP.finditer(path):
            value = _step(value, step)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            continue
        stated = read(value)
        if stated is not None:
            yield stated, None, (len(text), len(text))


def _step(value: Any, step: re.Match[str]) -> Any:
    name, index = step[1] or step[3] or step[4], step[2]
    if index is not None:
        return value[int(index)] if isinstance(value, list) and int(index) < len(value) else None
    return value.get(name) if isinstance(value, dict) else None


def _number_of(text: str | float) -> float | None:
    return _number(text.strip().lower()) if isinstance(text, str) else stated_number(text)


def _code(scale: Scale, text: str | float) -> float | None:
    code = scale.code_of(text.strip(_AROUND_LABEL)) if isinstance(text, str) else None
    return None if code is None else float(code)


def _number(literal: str) -> float | None:
    try:
        return number(literal) if literal else None
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _compiled(pattern: str, where: str) -> Any:
    import re2

    try:
        options = re2.Options()
        options.log_errors = False
        return re2.compile(pattern, options)
    except re2.error as error:
        message = error.args[0] if error.args else ""
        reason = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        raise SpecError(
            f"{where}: rating_pattern {pattern!r} is no regular expression that RE2 knows: {reason}",
            hint="look-around and back-references are not known; close every group and bracket",
        ) from error
