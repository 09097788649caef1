"""Reads the label before a number: "Rating:", "Coherence -", "Confidence ="."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from judge.answers.parsing import vocabulary as words
from judge.answers.parsing.ours.clauses import Page
from judge.base.late_pattern import late

# Checks whether a rating is inside quotation marks of reported speech.

# Characters to each side in which quotation marks are looked for: a whole answer in one line would take quadratic
# time.
_REACH = 600

_PAIRS = (("“", "”"), ("«", "»"), ("„", "“"), ("‘", "’"), ("‹", "›"), ("《", "》"), ("「", "」"), ("『", "』"))
_SINGLE_OPEN = late(r"(?:(?<=[\s(\[:,;—–>-])|\A)'(?=\S)")
_SINGLE_CLOSE = late(r"(?<=\S)'(?!\w)")
_ONLY_A_NUMBER = late(r"\W*[\w.,]+\s?(?:(?:[/／]|out of)\s?\w+)?(?:\s(?:stars?|points?))?\W*\Z")
_OWN = late(
    r"(?:\b(?:rating|score|grade|mark|answer|verdict|output|response|evaluation|judge?ment|conclusion|result|note|nota|json)"
    r"\s{0,2}(?:[:：=]|is|would be|as)?|\bi(?:'d| would| will|'ll)? (?:say|answer|write|respond"
    r"|reply)\s{0,2}:?)\s{0,2}\Z"
)
_REPORTS = late(
    r"\b(?:says?|said|writes?|wrote|reads?|states?|stated|claims?|claimed|words?|phrase|sentence|line|lines|text|passage|quote[sd]?"
    r"|asks?|asked|ends? with|contains?|demands?|instructs?|instruction|note|replies|replied|answers|answered"
    r"|cries|cried"
    r"|story|author|narrator)\b[^\n\"'“‘«]{0,12}\Z"
)


def quotation(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """(start, end) of the reported speech around [start, stop); None where the text is the judge's own. Quotation marks
    around the whole answer, a whole line, or after one of the judge's own labels ('Rating: "4"') are not reported
    speech."""
    line = max(text.rfind("\n", 0, start) + 1, start - _REACH)
    end = text.find("\n", stop)
    end = min(len(text) if end < 0 else end, stop + _REACH)
    span = _around(text, line, start, stop, end)
    if span is None:
        return None
    opened, closed = span
    before = text[line:opened]
    content = text[opened + 1 : closed]
    if not before.strip(" \t*_#>-•{[(") and not text[closed + 1 : end].strip(" \t*_.!,;}])"):
        return None
    low = before.lower().replace("’", "'")
    if _OWN.search(low) is not None and not _reports_before_own(low):
        return None
    if _ONLY_A_NUMBER.match(content):
        return (opened + 1, closed) if _REPORTS.search(low) is not None else None
    return opened + 1, closed


def _reports_before_own(low: str) -> bool:
    # The label is the story's and not the judge's: "The note is", "the author's answer".
    return (
        re.search(
            r"\b(?:the|a|an|his|her|their|\w+'s) (?:note|answer|response|result|mark|grade)\b\s*(?:is|:)?\s*\Z", low
        )
        is not None
    )


def _around(text: str, line: int, start: int, stop: int, end: int) -> tuple[int, int] | None:
    before, after = text[line:start], text[stop:end]
    if before.count('"') % 2 and '"' in after:
        return line + before.rfind('"'), stop + after.find('"')
    for left, right in _PAIRS:
        opened = before.rfind(left)
        if opened >= 0 and right not in before[opened + 1 :] and right in after:
            return line + opened, stop + after.find(right)
    if before.count("`") % 2 and "`" in after:
        return line + before.rfind("`"), stop + after.find("`")
    return _single(text, line, start, stop, end)


def _single(text: str, line: int, start: int, stop: int, end: int) -> tuple[int, int] | None:
    # Apostrophes are no quotation marks.
    if "'" not in text[line:start]:
        return None
    opened = None
    for match in _SINGLE_OPEN.finditer(text, line, start):
        if _SINGLE_CLOSE.search(text, match.end(), start) is None:
            opened = match.start()
            break
    closed = _SINGLE_CLOSE.search(text, stop - 1, end) if opened is not None else None
    return None if opened is None or closed is None else (opened, closed.start())


_LABEL_STOPS = frozenset(":=→|—–->：]")
_LABEL_FILLERS = words.GLUE | words.STORY | words.SUBJECT | words.STATE | words.RATING
_DASHES = frozenset("—–->")
_COUNTABLE = words.word_set("answer evaluation assessment result output response opinion conclusion total number note")
_CONCLUDES = words.word_set("so thus hence therefore finally ultimately")
_OWN_LABEL = words.STORY | words.SUBJECT
_PLURALS = words.word_set("ratings scores notes stars points marks grades")
_COUNTS = words.word_set("number total given count many")
_GUIDES = words.word_set("guideline guidelines scale level")
# Words before a colon: more are a sentence, which names no quantity.
_LONGEST_LABEL = 14

_HEDGES = words.word_set("around about roughly approximately a an")


@dataclass(frozen=True, slots=True)
class Label:
    """A label before a number, such as "Rating:".

    `kind` is `rating` (of the story), `other` (criterion), `doubtful` (words of rating among unknown words), `heading`
    (an unknown label on the line above) or `unknown` (another quantity). `named`: it names the requested criterion.
    `weak`: its words are only weak signs of a rating. `overall`: it announces an overall rating. `counts`: the number
    may number an answer ("Answer 2: ...")."""

    kind: str
    named: bool = False
    weak: bool = False
    overall: bool = False
    counts: bool = False


def label_before(page: Page, before: list[str]) -> Label | None:
    """The label directly before the number, on its line or as the heading above."""
    tokens = before.copy()
    crossed = False
    while tokens and tokens[-1] in ("\n", "(", "[", "{", "<"):
        crossed = crossed or tokens[-1] == "\n"
        bracket = tokens.pop()
        if bracket == "(":
            return _before_parenthesis(page, tokens)
    while tokens and tokens[-1] in _HEDGES:
        tokens.pop()
    if not tokens:
        return None
    if tokens[-1] in _LABEL_STOPS:
        dash = True
        while tokens and tokens[-1] in _LABEL_STOPS:
            dash = tokens.pop() in _DASHES and dash
        return _classify(page, _last_segment(tokens), dash=dash)
    if crossed:
        label = _classify(page, _last_segment(tokens), dash=True)
        # A heading of unknown words ("Confidence") or the end of what was said before.
        return Label("heading") if label is not None and label.kind == "unknown" else label
    if not _names_directly(page, tokens):
        return None
    segment = _last_segment(tokens)
    label = _classify(page, segment, dash=True)
    heading = tokens[: len(tokens) - len(segment)]
    if heading and heading[-1] == ":":
        # "Reading level: grade 2": the label before the colon says what is counted.
        outer = _classify(page, _last_segment(heading[:-1]), dash=False)
        if outer is not None and outer.kind != "rating":
            return outer
    if label is not None and label.kind == "rating" and _COUNTABLE.issuperset(segment):
        return replace(label, counts=True)
    return label


def _names_directly(page: Page, tokens: list[str]) -> bool:
    # Such as "Coherence 4", "Rating 4"
    segment = _last_segment(tokens)
    if not 1 <= len(segment) <= 2:
        return False
    return all(
        page.names.is_asked(w) or page.names.is_other(w) or (w in words.RATING and w not in words.WEAK_RATING)
        for w in segment
    )


def _before_parenthesis(page: Page, tokens: list[str]) -> Label | None:
    # Such as "Coherence (4): ...", or "Rating: Good (4)" with one to three words between.
    if _names_directly(page, tokens):
        return _classify(page, _last_segment(tokens), dash=True)
    for back in range(1, 5):
        between = tokens[-back:]
        if any(word.isdigit() for word in between):
            return None
        if len(tokens) > back and tokens[-back - 1] == ":" and words.STOPS.isdisjoint(between):
            return _classify(page, _last_segment(tokens[: -back - 1]), dash=True)
    return None


def _last_segment(tokens: list[str]) -> list[str]:
    start = len(tokens)
    while start and tokens[start - 1] not in words.STOPS:
        start -= 1
    return tokens[start:]


def _classify(page: Page, segment: list[str], *, dash: bool) -> Label | None:
    # Before a colon or an equals sign, unknown words name another quantity; before a dash they may end a sentence.
    if not segment:
        return None
    if len(segment) > _LONGEST_LABEL:
        return None if dash else Label("unknown")
    if not words.COMPARED.isdisjoint(segment):
        return Label("other")
    asked = any(page.names.is_asked(w) for w in segment)
    if not asked and any(page.names.is_other(w) for w in segment):
        named = len(segment) <= 4 or any(w in words.RATING for w in segment)
        return Label("other") if named else None if dash else Label("unknown")
    rating = [w for w in segment if w in words.RATING]
    fillers = all(w in _LABEL_FILLERS or w.isdigit() or page.names.is_asked(w) for w in segment)
    if _another_quantity(segment, asked=asked):
        return Label("unknown")
    if (rating or asked) and fillers:
        weak = not asked and all(w in words.WEAK_RATING for w in rating)
        return Label("rating", asked, weak and "overall" not in rating and "final" not in rating, "overall" in segment)
    if fillers and not (words.STATE.isdisjoint(segment) or (words.SUBJECT | words.STORY).isdisjoint(segment)):
        return Label("rating")
    if segment[0] == "target" and fillers:
        return Label("rating", weak=True)
    if fillers and ("scale" in segment or _CONCLUDES.issuperset(segment)):
        return Label("rating")
    if dash:
        return Label("unknown") if len(segment) <= 2 and not all(w.isdigit() for w in segment) else None
    own = not _OWN_LABEL.isdisjoint(segment) and words.QUANTITY.isdisjoint(segment)
    return Label("doubtful" if own else "unknown")


def _another_quantity(segment: list[str], *, asked: bool) -> bool:
    # Such as "Number of ratings", "Score out of", "Grade level", "Scale", "Rating guidelines"
    if segment[-1] in ("scale", "of") or (not asked and "level" in segment):
        return True
    if segment[-1] in _GUIDES and not words.RATING.isdisjoint(segment[-2:-1]):
        return True
    return not _PLURALS.isdisjoint(segment) and not _COUNTS.isdisjoint(segment)
