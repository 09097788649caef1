"""Detects numbers in an answer that restate the scale or number a list."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judge.answers.parsing.ours.mentions import Mention
from judge.base.records import Scale

_BEHIND = re.compile(r"\s{0,2}(=|being\b|means\b|meaning\b|is\b|[-—–:.)\]](?!\d)|\((?=[a-z]))")
_DEFINES = frozenset(("=", "being", "means", "meaning"))
_LIST_MARKS = (".", ")", ":")
_BULLETS = " \t-•>(["


@dataclass(frozen=True, slots=True)
class _Point:
    """A whole number that may be a point of the scale or the number of a list item. `behind` is the text after it."""

    start: int
    value: int
    behind: str
    opens_line: bool


def scale_numbers(low: str, mentions: list[Mention], scale: Scale) -> set[int]:
    """Start positions of the numbers that belong to a restated scale or to a numbered list."""
    points: list[_Point] = []
    for mention in mentions:
        behind = _BEHIND.match(low, mention.end)
        if behind is None or mention.kind != "digits" or mention.value % 1 or abs(mention.value) > 1000:
            continue
        line = low.rfind("\n", 0, mention.start) + 1
        opens = mention.start - line < 12 and not low[line : mention.start].strip(_BULLETS)
        points.append(_Point(mention.start, int(mention.value), behind.group(1), opens))
    masked = {p.start for p in points if p.behind in _DEFINES}
    lines = [p for p in points if p.opens_line]
    masked |= _runs(lines, scale, lists=True)
    return masked | _runs([p for p in points if p.behind not in (".", ")", "]")], scale, lists=False)


def opens_line(low: str, mention: Mention) -> bool:
    """Whether the number begins its line, possibly after a bullet."""
    return not low[low.rfind("\n", 0, mention.start) + 1 : mention.start].strip(_BULLETS)


def continues_list(low: str, mention: Mention, earlier: Mention, *, cut: bool) -> bool:
    """Whether a number alone on the last line may be the next number of the list above it.

    After an empty line it counts as a rating, unless the answer was cut.
    """
    line = low.rfind("\n", 0, mention.start) + 1
    if not opens_line(low, mention) or low[mention.stop :].strip(" \t\n.)"):
        return False
    above = low[:line]
    return mention.value == earlier.value + 1 and (cut or above == above.rstrip() + "\n")


def ends_cut(low: str, mention: Mention, last: int, earlier: list[Mention]) -> bool:
    """Whether a cut answer ends in a line that is only a number, below other lines that begin with numbers. The number
    may then be the next of a list.
    """
    if not opens_line(low, mention) or low[mention.stop : last].strip(" \t\n.):"):
        return False
    line = low.rfind("\n", 0, mention.start) + 1
    return any(previous.start < line and opens_line(low, previous) for previous in earlier)


def _runs(points: list[_Point], scale: Scale, *, lists: bool) -> set[int]:
    """Start positions of the numbers in runs that count up or down by one and restate the scale or number a list.

    Two members suffice for a list from 1 ("1." "2." or "1:" "2:") and for a run that holds both ends of the scale.
    Otherwise a run needs three members, one of them an end of the scale.
    """
    masked: set[int] = set()
    start = 0
    for i in range(1, len(points) + 1):
        step = points[i].value - points[i - 1].value if i < len(points) else 0
        if abs(step) == 1 and (i == start + 1 or step == points[start + 1].value - points[start].value):
            continue
        run = points[start:i]
        values = [p.value for p in run]
        numbered = (
            lists
            and values[0] == 1
            and len(run) >= 2
            and len({p.behind for p in run}) == 1
            and run[0].behind in _LIST_MARKS
        )
        ends = {scale.min, scale.max} & set(values)
        if numbered or (len(run) >= 3 and ends) or (len(run) >= 2 and len(ends) == 2):
            masked |= {p.start for p in run}
        start = i
    return masked
