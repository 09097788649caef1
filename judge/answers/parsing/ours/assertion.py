"""Checks whether the sentence around a number states it as the judge's own rating of this story, or only
mentions it.

A judge also mentions ratings that it does not give: "If it had an ending it would be a 2", "It falls short of a 2",
"Humans rated it a 2", "Is it a 2?". An unclear statement is `doubtful`. This can lose a rating, but never gives one
that was not stated.
"""

from __future__ import annotations

import re
from typing import Literal

from judge.answers.parsing.ours.mentions import Mention
from judge.answers.parsing.ours.page import Page
from judge.answers.parsing.words import phrases

Assertion = Literal["asserted", "doubtful", "denied"]

_FORMS = ("label", "leading", "line", "boxed")
_FEW_CHARACTERS = 24
""""Rating: 4?" asks; a question mark further behind ends another thought."""


def assertion(page: Page, mention: Mention, form: str) -> Assertion:
    """Whether a number's sentence gives it as the judge's rating: `asserted` (yes), `denied` (no) or `doubtful`
    (unclear). `form` is the form in which the number is stated (such as `label`, `leading`, `sentence`).
    """
    begin, end, mark = page.sentence(mention.start, mention.stop)
    before, after = page.low[begin : mention.start], page.low[mention.stop : end]
    if mark == "?" and (form not in _FORMS or len(after) <= _FEW_CHARACTERS):
        return "denied"
    if phrases.TEMPLATE.search(page.low, max(0, begin - 40), mention.start) or _struck_out(page.text, mention):
        return "denied"
    if form == "boxed":
        return "asserted"
    core = phrases.ASIDE.sub(" ", _behind_last(phrases.RESET, before))
    if phrases.HYPOTHETICAL.search(core) or phrases.ELSEWHERE.search(core):
        return "denied"
    if form == "label":
        return "asserted"
    if _only_spoken_of(page, mention, core, after):
        return "denied"
    if form in _FORMS:
        return "denied" if phrases.CONDITION_AFTER.match(after.lstrip(" ,")) else "asserted"
    if _conditioned(after) or _about_another(page, core) or phrases.EXAMPLE.search(before):
        return "denied"
    if phrases.AT_FIRST.search(core) or _not_given(core):
        return "denied"
    return "doubtful" if phrases.UNSURE.search(core) else "asserted"


def is_template(text: str, position: int) -> bool:
    """Whether the words before a position introduce an example of an answer, so that the text there is not the answer
    itself.
    """
    return phrases.TEMPLATE.search(text[max(0, position - 60) : position].lower()) is not None


def _struck_out(text: str, mention: Mention) -> bool:
    """Whether the number is struck out: ~~4~~."""
    line = text.rfind("\n", 0, mention.start) + 1
    end = text.find("\n", mention.stop)
    after = text[mention.stop :] if end < 0 else text[mention.stop : end]
    return "~~" in after and text.count("~~", line, mention.start) % 2 == 1


def _behind_last(stop: re.Pattern[str], text: str) -> str:
    """The text after the last match of `stop`; the whole text where there is no match."""
    start = 0
    for match in stop.finditer(text):
        start = match.end()
    return text[start:]


def _not_given(core: str) -> bool:
    """Whether the clause before the number denies the rating, says that the judge only intended to give it, or says
    that other people give it or that something other than the story receives it.
    """
    clause = _behind_last(phrases.CLAUSE_END, core)
    own = clause
    for match in phrases.OWN_SUBJECT.finditer(clause):
        if not phrases.HOLDS_A_CLAUSE.search(clause, 0, match.start()):
            own = clause[match.start() :]
    ways = (phrases.DENIED, phrases.INTENDED, phrases.ALONE, phrases.OTHER_OBJECT, phrases.OTHERS_RATE)
    return any(way.search(own) for way in ways)


def _only_spoken_of(page: Page, mention: Mention, core: str, after: str) -> bool:
    """Whether the words directly after the number show that it is not the judge's rating: "a 2 would be too harsh", "2
    by people", "2 on Goodreads".
    """
    if phrases.ONLY_SPOKEN_OF.match(after) or phrases.BY_OTHERS.match(after) or phrases.TO_ANOTHER.match(after):
        return True
    if phrases.GERUND.search(core) and phrases.BEING_AFTER.match(after):
        return True
    name = phrases.PLACE_NAME.match(page.text, mention.stop)
    return name is not None and not _is_known_word(page, name.group(1).lower())


def _conditioned(after: str) -> bool:
    """Whether the rest of the clause states a condition: "a 2 if it had an ending"."""
    stop = phrases.SUFFIX_END.search(after)
    near = phrases.NOT_A_CONDITION.sub(" ", after[: stop.start()] if stop else after)
    return phrases.CONDITION_AFTER.search(near) is not None


def _about_another(page: Page, core: str) -> bool:
    """Whether the sentence begins by naming another aspect than the requested criterion: "In terms of style, it is a
    2".
    """
    topic = phrases.TOPIC.match(core) or phrases.HEADING.match(core)
    return topic is not None and any(page.names.is_other(word) for word in topic.group(1).split())


def _is_known_word(page: Page, word: str) -> bool:
    return (
        page.names.is_asked(word) or page.names.is_other(word) or word in ("story", "scale", "terms", "general", "my")
    )
