"""Shared patterns for the forms of a verdict: symbols of stories, words that prefer neither story, and text after a
name that shows that it is no verdict.
"""

from __future__ import annotations

import re

from judge.answers.parsing.verdict.statements import Statement

ANY = "[①②⓪]"
SIDE = "[①②]"
NO_ONE = (
    r"(?:neither(?:\s(?:one|story|of\s(?:them|the\stwo)|is\sbetter))?|(?:they\sare\s"
    r"|both\s(?:stories\s)?(?:are\s)?)?(?:equal(?:ly\sgood)?|tied)|no\s(?:clear\s)?(?:preference|difference"
    r"|winner))"
)
RATED = re.compile(r"[\"')\]]{0,2}\s?[:=(—–-]+\s?[(]?\d|\s(?:gets|scores|receives|earns|with)\s(?:an?\s)?\d")
OPTION_BEHIND = re.compile(
    r"\s{0,2}(?:\]\]|\})?[\"']?\s{0,2}(?:\b(?:or|if|for|when|means?|and|would|indicates|denotes|versus|vs"
    r"|were|unless|had|provided|only)\b|/|=|\?|\||,\s?[\"']?(?:\[\[)?[①②⓪])"
)
FILLER = re.compile(
    r"(?:\W|\b(?:so|thus|hence|therefore|overall|then|and|but|in|to|conclusion|summary|short|sum|brief|up"
    r"|conclude|all|considered|things|everything|on|balance|the|whole|end|finally|ultimately|my|final"
    r"|answer|verdict|winner|choice|pick|vote|preference|is|it's|it|i|say|i'd|would|go|with|for|me|that"
    r"|must|be|has|of|these|reasons|this|reason"
    r"|certainly|easily|taken|together|altogether|considering|which|why|two|between|one|given|after"
    r"|weighing|both|clearly|definitely|probably|personally|honestly|accordingly|consequently|better|story"
    r"|stronger|best)\b)+"
)
"""Words of a sentence that only leads up to a label."""


def form(symbol: str, start: int, stop: int, begin: int, position: int, revises: bool = False) -> Statement:
    return Statement(symbol, "form", start, stop, begin, stop, position, revises, direct=True)
