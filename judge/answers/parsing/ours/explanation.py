"""The explanation in an answer: the verbatim text without the statement of the rating."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from judge.answers.parsing import vocabulary as words
from judge.answers.parsing.ours.clauses import Page
from judge.answers.parsing.ours.statements import Statement
from judge.base.late_pattern import late
from judge.base.records import Criterion

_HEADING = late(
    r"[#*_>\-\s\"'•{,]*(?:(?:brief|short|my)\s)?(?:explanation|reason|reasons|reasoning|justification|rationale|comments?"
    r"|analysis|feedback|begründung|explication|explicación|spiegazione|理由|解释)(?:\sfor\s(?:the\s|my\s)?rating)?"
    r"[*_\"']{0,3}\s{0,2}(?:[:：\-–—=][*_\"'\s]{0,5}|\n)",
    re.IGNORECASE,
)
_TAGS = late(
    r"</?(?:explanation|reason|reasoning|answer|rating|score|justification|rationale|response|analysis|comment)>",
    re.IGNORECASE,
)
_LIST_MARK = late(r"\s*\d{1,2}[.)]\s*")
_EDGE = " \t\r\n.,:;)]}*_—–-\"'“”|>#`$=•"
_TAIL_EDGE = " \t\r\n*_#|`{[(<—–-"
_WORD = late(r"[^\W_]+(?:'[^\W_]+)?")
_PIECE_END = late(r"[.!?\n;—–:,-]")
_SENTENCE_END = late(r"[.!?\n;。！？]")
_SENTENCE_MARKS = ("\n", ". ", "! ", "? ", "; ", "。", "！", "？")
_LABEL_BACK = " \t\n\"'([{<*_:=→|—–->#$`：\\"
_TRIVIAL = (
    words.GLUE
    | words.STORY
    | words.STATE
    | words.SUBJECT
    | words.RATING
    | words.STORY_STATE
    | words.COUNTED
    | {"lowest", "highest"}
)
_PERSON = {"me": "you", "i": "you", "my": "your", "we": "you", "us": "you"}
# Share of common words (of both texts' words together): judges copy a guideline with a word or two changed.
_LIKENESS = 0.8


def explanation(page: Page, statement: Statement) -> str | None:
    """The text without the statement of the rating, or None. A sentence that says more ("a 3 because ...") is kept."""
    begin, stop = _region(page, statement)
    return tidy(page.text[:begin], page.text[stop:])


def tidy(before: str, after: str) -> str | None:
    """The texts before and after a rating, joined without its labels, tags and marks; None without a letter or
    digit."""
    before = "" if _LIST_MARK.fullmatch(before) else before.strip()
    after = after.strip().lstrip(_EDGE)
    text = f"{before}\n{after}" if before else after
    if "|--" in text or "| --" in text:
        text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("|"))
    if "<" in text:
        text = _TAGS.sub(" ", text)
    heading = _HEADING.match(text)
    if heading is not None:
        text = text[heading.end() :]
    text = text.strip().rstrip(_TAIL_EDGE)
    if before == "":
        text = text.lstrip(_EDGE)
    return text if any(c.isalnum() for c in text) else None


def only_guideline(text: str, criterion: Criterion) -> bool:
    """Whether an explanation only repeats a guideline, apart from grammatical person and a few words."""
    if not criterion.guidelines or len(text) > 1.4 * max(map(len, criterion.guidelines)) + 20:
        return False
    spoken = _bag(text, criterion.name)
    total = spoken.total()
    for meant, words_meant in _guideline_bags(criterion.guidelines, criterion.name):
        # Texts of too unequal length share too little, whatever their words.
        if min(total, words_meant) < _LIKENESS * max(total, words_meant):
            continue
        common = sum(min(count, spoken[word]) for word, count in meant.items())
        if common >= _LIKENESS * (total + words_meant - common) and common:
            return True
    return False


@lru_cache(maxsize=64)
def _guideline_bags(guidelines: tuple[str, ...], name: str) -> tuple[tuple[Counter[str], int], ...]:
    bags = [_bag(guideline, name) for guideline in guidelines]
    return tuple((bag, bag.total()) for bag in bags)


def _bag(text: str, name: str) -> Counter[str]:
    bag_words = [_PERSON.get(w, w) for w in _WORD.findall(text.lower().replace("’", "'"))]
    if bag_words[: len(name.split())] == name.lower().split():
        bag_words = bag_words[len(name.split()) :]
    return Counter(bag_words)


def _region(page: Page, statement: Statement) -> tuple[int, int]:
    # Start and end are equal where the statement must be kept.
    mention = statement.mention
    if statement.form == "leading":
        return 0, _through_trivial(page, mention.stop)
    if statement.form == "label":
        return _label_begin(page, mention.start), _through_trivial(page, mention.stop)
    if statement.form == "line":
        return page.low.rfind("\n", 0, mention.start) + 1, _through_trivial(page, mention.stop)
    low = page.low
    begin = max(low.rfind(mark, 0, mention.start) + 1 for mark in _SENTENCE_MARKS)
    match = _SENTENCE_END.search(low, mention.stop)
    stop = match.end() if match else len(low)
    before, after = page.low[begin : mention.start], page.low[mention.stop : stop]
    if _trivial(page, before) and _trivial(page, after):
        return begin, stop
    return (mention.stop, mention.stop)


def _through_trivial(page: Page, stop: int) -> int:
    # Through "stars", "on Coherence" or "on a scale from 1 to 5" after the number.
    match = _PIECE_END.search(page.low, stop, stop + 60)
    end = match.start() if match else min(stop + 60, len(page.low))
    rest = page.low[stop:end]
    if end - stop < 60 and rest.strip() and _trivial(page, rest):
        return end
    return stop


def _trivial(page: Page, piece: str) -> bool:
    return all(w in _TRIVIAL or w.isdigit() or page.names.is_asked(w) for w in _WORD.findall(piece))


def _label_begin(page: Page, start: int) -> int:
    low = page.low
    position = start
    while position > 0 and low[position - 1] in _LABEL_BACK:
        position -= 1
    depth = 0
    while position > 0 and start - position < 130:
        char = low[position - 1]
        if char == ")":
            depth += 1
        elif char == "(" and depth:
            depth -= 1
        elif not depth and char in ".!?\n;,|{(<":
            break
        position -= 1
    return position
