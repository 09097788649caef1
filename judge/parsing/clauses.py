"""Reads the words that stand before a number: a label, or the clause that states it. Never looks behind the number."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judge.parsing import vocabulary as words
from judge.parsing.mentions import Mention
from judge.parsing.page import Page

_STOPS = frozenset(".!?;:,\n—–(){}[]<>|=→-：，。；！？、")
_LABEL_STOPS = frozenset(":=→|—–->：]")
_LABEL_FILLERS = words.GLUE | words.STORY | words.SUBJECT | words.STATE | words.RATING
_REVISES = re.compile(
    r"final\s(?:rating|score|answer|verdict|assessment|judg|grade|mark|evaluation|decision)"
    r"|(?:up)?on\s(?:further\s|closer\s|second\s)?(?:reflection|thought|consideration|reconsideration|reading|review)"
    r"|reconsider|\brevis|\bcorrect(?:ion|ed|ing)\b|second\sthought|scratch\sthat|\A\s*actually\b|\bwait\b|\bor\srather\b|\bmake\sthat\b"
    r"|\b(?:lower|rais|chang|adjust|updat|upgrad|downgrad|reduc|increas|bump)\w*\s[^.\n]{0,30}\bto\b"
)
_KNOWN = words.GLUE | words.STATE | words.STORY | words.SUBJECT | words.RATING | words.STORY_STATE
_LONGEST_LABEL = 14
_MODAL = words.word_set("would should i'd we'd")
_ARTICLES = words.word_set("a an un une um uma una eine einen solid strong low high good decent fair respectable")
_LINKS = words.word_set("is of be at as was to with")
_BEING = words.word_set("is was it's be")
_PRONOUNS = words.word_set("it this that one it's that's")
_HEDGES = words.word_set("around about roughly approximately a an")


@dataclass(frozen=True, slots=True)
class Label:
    """A label before a number: `rating` (ours), `other` criterion's, or `unknown`."""

    kind: str
    named: bool = False
    weak: bool = False
    overall: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """The clause before a number. `states` is the tier (1, 2) in which it states a rating, 0 when it does not;
    `whole` says that nothing but fillers stands between the sentence's start and the number."""

    states: int = 0
    named: bool = False
    other: bool = False
    denied: bool = False
    whole: bool = False


def label_before(page: Page, before: list[str]) -> Label | None:
    """The label directly before the number, on its line or as the heading above it; None when there is none."""
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
        while tokens and tokens[-1] in _LABEL_STOPS:
            tokens.pop()
    elif not crossed and not _names_directly(page, tokens):
        return None
    return _classify(page, _last_segment(tokens))


def _names_directly(page: Page, tokens: list[str]) -> bool:
    """ "Coherence 4", "Rating 4": a line that is a name and a number."""
    segment = _last_segment(tokens)
    if not 1 <= len(segment) <= 2:
        return False
    return all(
        page.names.is_asked(w) or page.names.is_other(w) or (w in words.RATING and w not in words.WEAK_RATING)
        for w in segment
    )


def _before_parenthesis(page: Page, tokens: list[str]) -> Label | None:
    """ "Coherence (4): ..." and "Rating: Good (4)", where one to three words stand between label and parenthesis."""
    if _names_directly(page, tokens):
        return _classify(page, _last_segment(tokens))
    for back in range(1, 5):
        if len(tokens) > back and tokens[-back - 1] == ":" and not _STOPS & set(tokens[-back:]):
            return _classify(page, _last_segment(tokens[: -back - 1]))
    return None


def _last_segment(tokens: list[str]) -> list[str]:
    """The words back to the last stop."""
    start = len(tokens)
    while start and tokens[start - 1] not in _STOPS:
        start -= 1
    return tokens[start:]


def _classify(page: Page, segment: list[str]) -> Label | None:
    if not segment or len(segment) > _LONGEST_LABEL:
        return None
    if not words.COMPARED.isdisjoint(segment):
        return Label("other")
    asked = any(page.names.is_asked(w) for w in segment)
    if not asked and any(page.names.is_other(w) for w in segment):
        return Label("other") if len(segment) <= 4 or any(w in words.RATING for w in segment) else None
    rating = [w for w in segment if w in words.RATING]
    fillers = all(w in _LABEL_FILLERS or w.isdigit() or page.names.is_asked(w) for w in segment)
    if (rating or asked) and fillers:
        weak = not asked and all(w in words.WEAK_RATING for w in rating)
        return Label("rating", asked, weak and "overall" not in rating and "final" not in rating, "overall" in segment)
    if fillers and not (words.STATE.isdisjoint(segment) or (words.SUBJECT | words.STORY).isdisjoint(segment)):
        return Label("rating")
    if segment[0] == "target" and fillers:
        return Label("rating", weak=True)
    return Label("unknown") if len(segment) <= 2 else None


def clause_before(page: Page, before: list[str], mention: Mention) -> Clause:
    """Walk back from the number over words that can state a rating, and say what they state."""
    run: list[str] = []
    stop = ""
    for token in reversed(before):
        if token in _KNOWN or page.names.is_asked(token):
            run.append(token)
            continue
        if page.names.is_other(token):
            return _other_clause(run)
        stop = token
        break
    run.reverse()
    if stop in words.COMPARED or ("which" in run and not words.COMPARED.isdisjoint(before[-len(run) - 4 :])):
        return Clause(other=True)
    if stop.endswith(("打", "给", "給")) and page.low.startswith("分", mention.stop):
        return Clause(1)
    if stop in words.DENIAL or stop.endswith("n't") or _conditional(run) or not words.BOUND.isdisjoint(run[-3:]):
        return Clause(denied=True)
    whole = not stop or stop in _STOPS
    return _weigh(page, run, stop, whole, mention)


def _other_clause(run: list[str]) -> Clause:
    """A clause about another criterion, unless its name is too far from the number to own it."""
    return Clause(other=len(run) <= 5)


def _conditional(run: list[str]) -> bool:
    """ "would have given it a", "nearly a", "to give it a" without anybody who does: what was not given."""
    if "nearly" in run:
        return True
    if "have" in run:
        place = run.index("have")
        if place and run[place - 1] in _MODAL and run[place + 1 : place + 2] != ["to"]:
            return True
    if "to" not in run[:-1]:
        return False
    place = run.index("to")
    before, after = set(run[:place]), set(run[place:])
    if before & (words.SUBJECT | words.STATE | words.RATING):
        return False
    return bool(after & (words.STATE | words.STORY_STATE))


def _weigh(page: Page, run: list[str], stop: str, whole: bool, mention: Mention) -> Clause:
    """The tier of a run of known words: who states (I, the story, a rating) and how closely it stands to the number."""
    named = any(page.names.is_asked(w) for w in run)
    if not run:
        return Clause(0, named, whole=whole)
    said, last = set(run), run[-1]
    subject = not words.SUBJECT.isdisjoint(said)
    if stop in words.OTHER_PEOPLE and not subject:
        return Clause(0, named, whole=whole)
    article, linked = last in _ARTICLES, last in _LINKS
    close = article or linked or mention.out_of is not None
    if mention.kind == "word" and not close:
        return Clause(0, named, whole=whole)
    states = not words.STATE.isdisjoint(said)
    rating = not words.RATING.isdisjoint(said)
    story = not words.STORY.isdisjoint(said)
    does = said & words.STORY_STATE
    tier = 0
    if (subject and (states or rating)) or (named and (article or linked or does) and (does or whole)):
        tier = 1
    elif story and does and (article or (linked and last != "is") or does - _BEING):
        tier = 1 if said & words.STORY - _PRONOUNS or (whole and does - _BEING) else 2
    elif whole and ((states and (story or article)) or (rating and (linked or article))):
        tier = 1
    elif (rating and linked) or (states and story and stop in ("and", "but", "so", "which")):
        tier = 2
    return Clause(tier, named, whole=whole)


def revises(page: Page, mention: Mention) -> bool:
    """Whether the sentence or label before the number says that it is the last word."""
    before = page.low[max(0, mention.start - 110) : mention.start].rstrip(" \n")
    cut = max(before.rfind(stop) for stop in (". ", "! ", "? ", "\n", ".\n"))
    return _REVISES.search(before[cut + 1 :]) is not None
