"""Reads the label before a number: "Rating:", "Coherence -", "Confidence ="."""

from __future__ import annotations

from dataclasses import dataclass, replace

from judge.answers.parsing.ours.page import Page
from judge.answers.parsing.words import vocabulary as words

_LABEL_STOPS = frozenset(":=→|—–->：]")
_LABEL_FILLERS = words.GLUE | words.STORY | words.SUBJECT | words.STATE | words.RATING
_DASHES = frozenset("—–->")
_COUNTABLE = words.word_set("answer evaluation assessment result output response opinion conclusion total number note")
_CONCLUDES = words.word_set("so thus hence therefore finally ultimately")
_OWN_LABEL = words.STORY | words.SUBJECT
_PLURALS = words.word_set("ratings scores notes stars points marks grades")
_COUNTS = words.word_set("number total given count many")
_LONGEST_LABEL = 14
"""Words before a colon: more are a sentence, which names no quantity."""

_HEDGES = words.word_set("around about roughly approximately a an")


@dataclass(frozen=True, slots=True)
class Label:
    """A label before a number, such as "Rating:".

    `kind` is one of these. `rating`: of the story. `other`: of another criterion. `doubtful`: words of rating among
    unknown words. `heading`: an unknown label on the line above. `unknown`: another quantity.

    `named`: the label names the requested criterion. `weak`: its words are only weak signs of a rating. `overall`: it
    announces an overall rating. `counts`: the number may number an answer ("Answer 2: ...").
    """

    kind: str
    named: bool = False
    weak: bool = False
    overall: bool = False
    counts: bool = False


def label_before(page: Page, before: list[str]) -> Label | None:
    """The label directly before the number, on its line or as the heading above; None without a label."""
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
    """Whether the words directly before a number are a criterion's name or a word for a rating, without a colon:
    "Coherence 4", "Rating 4".
    """
    segment = _last_segment(tokens)
    if not 1 <= len(segment) <= 2:
        return False
    return all(
        page.names.is_asked(w) or page.names.is_other(w) or (w in words.RATING and w not in words.WEAK_RATING)
        for w in segment
    )


def _before_parenthesis(page: Page, tokens: list[str]) -> Label | None:
    """The label of a number in parentheses: "Coherence (4): ...", or "Rating: Good (4)" with one to three words
    between. None without a label.
    """
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
    """The words after the last punctuation mark that ends a label or sentence."""
    start = len(tokens)
    while start and tokens[start - 1] not in words.STOPS:
        start -= 1
    return tokens[start:]


def _classify(page: Page, segment: list[str], *, dash: bool) -> Label | None:
    """The label before a number that some words form, with its kind; None where they are no label.

    Before a colon or an equals sign, unknown words name another quantity. Before a dash they may be the end of a
    sentence, and are then no label.
    """
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
    """Whether the words name a quantity other than a rating: "Number of ratings", "Score out of", "Grade level",
    "Scale".
    """
    if segment[-1] in ("scale", "of") or (not asked and "level" in segment):
        return True
    return not _PLURALS.isdisjoint(segment) and not _COUNTS.isdisjoint(segment)
