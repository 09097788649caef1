"""Says of a number whether the answer states it as a rating, how plainly, of which criterion. Never chooses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judge.parsing import vocabulary as words
from judge.parsing.clauses import Clause, clause_before, label_before, revises
from judge.parsing.mentions import Mention
from judge.parsing.page import Page

PLAIN, LIKELY, STANDING = 1, 2, 3
"""How a rating is stated: in so many words; in a form that mostly means one; a number on a line of its own."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A rating as stated: of the criterion asked for (`named` when by its name) or of another one (`other`)."""

    mention: Mention
    tier: int
    place: str
    named: bool = False
    other: bool = False
    overall: bool = False


_ABOUT = re.compile(
    r"[\s\"'\])]{0,3}(?:(?:stars?|points?|rating|score)\s)?(?:on|for|in|regarding|in terms of)\s"
    r"(?:the\s|its\s|this\sstory's\s)?"
    r"(?:criterion\s|level of\s|scale of\s)?([^\W\d_]+(?:\s[^\W\d_]+)?)"
)
_HYPOTHETICAL_AFTER = re.compile(
    r"[\"'\s]{0,2}(?:rating\s|score\s|on[^.\n]{0,30}\s)?(?:if\b|would(?!\sbe\s(?:appropriate|fair|fitting|my|suitable|right))"
    r"|could\b|might\b|means?\b|indicates\b|requires?\b|represents\b|is\s(?:reserved|defined|for)\b|were\b|unless\b)"
)
_JUNK = " \n\t\r\u00a0\u3000\"'“”«»#>([{$•<\u200b\ufeff-"


def statement(page: Page, mention: Mention) -> Statement | None:
    """What the answer says with this number, or None when it says no rating."""
    follow = follows(page, mention)
    if follow == "no" or _excluded(page, mention):
        return None
    about = _about(page, mention)
    found = _leading(page, mention, follow) or _standing_form(page, mention)
    if found is None:
        before = page.tokens_before(mention.start)
        found = _labelled(page, before, mention, follow)
        if found is None and follow != "noun":
            found = _in_sentence(page, before, mention, follow)
    if found is None and about == "other" and mention.kind != "stars":
        found = Statement(mention, LIKELY, "other", other=True)
    if found is None:
        return None
    if found.place in ("sentence", "fraction", "likely", "leading"):
        if found.place != "leading" and _HYPOTHETICAL_AFTER.match(page.low, mention.stop):
            return None
        if about == "other" and not (found.place == "leading" and follow == "stop"):
            return Statement(mention, found.tier, found.place, other=True)
    if about == "other" and found.place == "label" and not found.named:
        return Statement(mention, found.tier, found.place, other=True)
    if about == "asked":
        return Statement(mention, PLAIN, found.place, named=True)
    return found


def follows(page: Page, mention: Mention) -> str:
    """What stands behind: `stop`, `dash`, `scale` ("1 = worst"), `word` (may follow a rating), `Word` (a new sentence
    without a stop), `noun` (the number counts something) or `no` (part of a compound)."""
    return _behind(page, mention.stop)


def _behind(page: Page, stop: int) -> str:
    low, place = page.low, stop
    while place < len(low) and low[place] in " \t\"'”»)]}>$":
        place += 1
    if place >= len(low):
        return "stop"
    char = low[place]
    if char == "-" and place == stop and low[place + 1 : place + 2].isalpha():
        return _behind(page, place + 5) if low.startswith("star", place + 1) else "no"
    if char == "=":
        return "scale"
    if char == "," and _LISTED.match(low, place):
        return "noun"
    if not char.isalnum():
        return "dash" if char in "—–-:：" else "stop"
    word = page.word_at(place)
    if not word:
        return "noun"
    if word in words.COUNTED or page.names.is_asked(word) or page.names.is_other(word):
        behind = _behind(page, place + len(word))
        return "word" if behind in ("stop", "dash", "Word") else behind
    if word in words.AFTER:
        return "word"
    if ord(char) > 0x2E80:
        return "word" if place > stop or char in "分点점" else "noun"
    if word in words.OPENING:
        return "Word"
    return "noun"


_LISTED = re.compile(r",\s{0,2}\d")


def _excluded(page: Page, mention: Mention) -> bool:
    """A range that is the scale itself: "1 to 5"."""
    scale = page.scale
    return mention.high is not None and (mention.value, mention.high) == (scale.min, scale.max)


def _leading(page: Page, mention: Mention, follow: str) -> Statement | None:
    """The number opens the answer: what a judge writes behind "Rating:"."""
    head = page.low[: mention.start]
    if len(head) > 200 or (head.strip(_JUNK) not in ("", "a", "an")):
        return None
    if follow in ("noun", "scale"):
        return None
    bare = mention.out_of is None and page.word_at(mention.stop) not in words.COUNTED
    if mention.kind == "word" and follow not in ("stop", "dash") and bare:
        return None
    if follow == "Word" and not page.text[page.low.find(page.word_at(mention.stop), mention.stop)].isupper():
        return None
    if mention.out_of is not None and not _of_the_scale(page, mention) and follow not in ("stop", "dash"):
        return None
    if (
        follow == "word"
        and page.word_at(mention.stop) in ("a", "to", "is", "in", "at", "or", "from")
        and mention.out_of is None
    ):
        return None
    return Statement(mention, PLAIN, "leading", named=page.names.is_asked(page.word_at(mention.stop)))


def _standing_form(page: Page, mention: Mention) -> Statement | None:
    """Forms that mean a rating wherever they stand: [[4]], boxed{4}."""
    low, start = page.low, mention.start
    if low.startswith("[[", start - 2) and low.startswith("]]", mention.stop):
        return Statement(mention, PLAIN, "boxed")
    if low[max(0, start - 12) : start].rstrip("{ ").endswith(("boxed", "boxed{ text")):
        return Statement(mention, PLAIN, "boxed")
    return None


def _labelled(page: Page, before: list[str], mention: Mention, follow: str) -> Statement | None:
    """A label stands before the number: "Rating: 4", "Coherence = 4", a heading, a table cell."""
    label = label_before(page, before)
    if label is None:
        return None
    if label.kind == "other":
        return Statement(mention, PLAIN, "label", other=True)
    if label.kind == "unknown" or follow in ("scale", "noun"):
        return None
    if label.weak and follow not in ("stop", "dash") and mention.out_of is None:
        return None
    return Statement(mention, PLAIN, "label", named=label.named, overall=label.overall)


def _in_sentence(page: Page, before: list[str], mention: Mention, follow: str) -> Statement | None:
    """The number is stated in running text, or stands for itself."""
    clause = clause_before(page, before, mention)
    if clause.denied:
        return None
    if clause.other:
        return Statement(mention, LIKELY, "sentence", other=True)
    if clause.states:
        return Statement(mention, clause.states, "sentence", named=clause.named)
    if follow == "scale":
        return None
    if mention.out_of is not None or mention.kind == "stars" or page.word_at(mention.stop) in words.COUNTED:
        return _fraction(page, mention, follow, clause)
    return _alone(page, mention, follow, clause)


def _fraction(page: Page, mention: Mention, follow: str, clause: Clause) -> Statement | None:
    """A fraction of the scale, or stars, in running text."""
    if mention.out_of is not None and not _of_the_scale(page, mention) and mention.out_of not in (10, 100):
        return None
    bare_count = mention.out_of is None and mention.kind != "stars"
    after = page.word_at(mention.stop)
    if after in words.COUNTED:
        follow = "word" if bare_count else follow
    if clause.whole and (follow in ("stop", "dash") or (after in words.COUNTED and not bare_count)):
        return Statement(mention, PLAIN, "fraction")
    if bare_count:
        return None
    return Statement(mention, LIKELY, "fraction") if follow in ("stop", "dash", "word") else None


def _alone(page: Page, mention: Mention, follow: str, clause: Clause) -> Statement | None:
    """A number that is a line, or opens one with a dash, or follows "On reflection,"."""
    low, start = page.low, mention.start
    line = low.rfind("\n", 0, start) + 1
    opens = not low[line:start].strip(_JUNK)
    if opens and mention.kind == "digits":
        rest = low[mention.stop : low.find("\n", mention.stop) if "\n" in low[mention.stop :] else len(low)]
        if not rest.strip(" \t\"'”»)]}>$.|"):
            last = mention.stop + len(rest) >= page.last
            return Statement(mention, PLAIN if last else STANDING, "line")
        if follow == "dash":
            return Statement(mention, LIKELY, "line")
    if clause.whole and follow in ("stop", "dash") and revises(page, mention):
        return Statement(mention, PLAIN, "sentence")
    return None


def _of_the_scale(page: Page, mention: Mention) -> bool:
    return mention.out_of == page.scale.max


def _about(page: Page, mention: Mention) -> str:
    """Whether "on X" behind the number names the criterion asked for, another one, or none."""
    match = _ABOUT.match(page.low, mention.stop)
    if match is None:
        return ""
    for word in match.group(1).split():
        if page.names.is_asked(word):
            return "asked"
        if page.names.is_other(word):
            return "other"
    return ""
