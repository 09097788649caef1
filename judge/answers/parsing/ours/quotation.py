"""Checks whether a rating is inside quotation marks of reported speech."""

from __future__ import annotations

import re

_REACH = 600
"""Characters to each side in which quotation marks are looked for: a whole answer in one line would take quadratic
time."""

_PAIRS = (("“", "”"), ("«", "»"), ("„", "“"), ("‘", "’"), ("‹", "›"), ("《", "》"), ("「", "」"), ("『", "』"))
_SINGLE_OPEN = re.compile(r"(?:(?<=[\s(\[:,;—–>-])|\A)'(?=\S)")
_SINGLE_CLOSE = re.compile(r"(?<=\S)'(?!\w)")
_ONLY_A_NUMBER = re.compile(r"\W*[\w.,]+\s?(?:(?:[/／]|out of)\s?\w+)?(?:\s(?:stars?|points?))?\W*\Z")
_OWN = re.compile(
    r"(?:\b(?:rating|score|grade|mark|answer|verdict|output|response|evaluation|judge?ment|conclusion|result|note|nota|json)"
    r"\s{0,2}(?:[:：=]|is|would be|as)?|\bi(?:'d| would| will|'ll)? (?:say|answer|write|respond"
    r"|reply)\s{0,2}:?)\s{0,2}\Z"
)
_REPORTS = re.compile(
    r"\b(?:says?|said|writes?|wrote|reads?|states?|stated|claims?|claimed|words?|phrase|sentence|line|lines|text|passage|quote[sd]?"
    r"|asks?|asked|ends? with|contains?|demands?|instructs?|instruction|note|replies|replied|answers|answered"
    r"|cries|cried"
    r"|story|author|narrator)\b[^\n\"'“‘«]{0,12}\Z"
)


def quotation(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """(start, end) of the reported speech around [start, stop); None where the text is the judge's own.

    Quotation marks around the whole answer, around a whole line, or after one of the judge's own labels ('Rating: "4"')
    are not reported speech.
    """
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
    """Whether the text ends in a label that belongs to the story and not to the judge: "The note is", "the author's
    answer".
    """
    return (
        re.search(
            r"\b(?:the|a|an|his|her|their|\w+'s) (?:note|answer|response|result|mark|grade)\b\s*(?:is|:)?\s*\Z", low
        )
        is not None
    )


def _around(text: str, line: int, start: int, stop: int, end: int) -> tuple[int, int] | None:
    """(position of the opening mark, position of the closing mark) of the quotation marks around [start, stop); None
    without any. They are searched between `line` and `end`, one kind of marks after another.
    """
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
    """(position of the opening mark, position of the closing mark) of the straight single quotation marks around
    [start, stop), searched between `line` and `end`; None without any. Apostrophes are not taken for quotation marks.
    """
    if "'" not in text[line:start]:
        return None
    opened = None
    for match in _SINGLE_OPEN.finditer(text, line, start):
        if _SINGLE_CLOSE.search(text, match.end(), start) is None:
            opened = match.start()
            break
    closed = _SINGLE_CLOSE.search(text, stop - 1, end) if opened is not None else None
    return None if opened is None or closed is None else (opened, closed.start())
