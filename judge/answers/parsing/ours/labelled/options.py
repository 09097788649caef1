"""Detects labels of the scale that only restate the choice: "Yes or No?", or a scale explained line by line."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from judge.answers.parsing.ours.mentions import Mention
from judge.answers.parsing.ours.page import Page

_QUOTES = r"[\s\"'“”‘’«»]{0,4}"
_JOINT = re.compile(rf"{_QUOTES}(/|\||,|;|,?\s?or\b|,?\s?and\b|&|to\b|vs\.?|versus\b|-|–){_QUOTES}(?:an?\s)?{_QUOTES}")
_BOTH = ("and", "to", "&", "-", "–")
_ENDS = re.compile(r"[\"'“”’»\s]{0,3}(?:[.!?:;,)\]\n|]|\Z)")
_OPENS = re.compile(r"[ \t>(\[]{0,4}(?:(?:[-•+]|\#{1,6}|\d{1,2}[.)])[ \t]{1,4})?[\s\"'(\[]{0,4}")
_BEHIND = re.compile(r"[\"')\]\s]{0,3}?([:=.)—–-]|means\b)[ \t]{0,3}(?=\S)")
_SHORT = 60
"""Characters: the options restated stand in a short line; in a longer sentence the labels are its own words."""


@dataclass(frozen=True, slots=True)
class Options:
    """The labels of an answer that only restate the choice ("Yes or No?"). `page`: the answer in which labels joined by
    words such as "or" are replaced by spaces. `masked`: start positions of all labels that only restate the choice.
    `doubtful`: those of them that may still be an answer.
    """

    page: Page
    masked: frozenset[int]
    doubtful: tuple[Mention, ...]


def without_options(page: Page, mentions: list[Mention]) -> Options:
    """The labels that only restate the choice ("Yes or No?"), and the answer in which those of them that are joined by
    words such as "or" are replaced by spaces. All other characters keep their positions.
    """
    groups = _joined(page, mentions)
    lines = _listed(page, mentions)
    masked = {m.start for group, _ in groups for m in group} | {m.start for m in lines}
    doubtful = [group[0] for group, both in groups if both and _is_answer(page, group)]
    doubtful += [m for m in lines if not _letters(page.low[: m.start])]
    low = page.low
    for group, _ in groups:
        first, last = group[0].start, group[-1].stop
        low = low[:first] + " " * (last - first) + low[last:]
    return Options(replace(page, low=low), frozenset(masked), tuple(doubtful))


def _joined(page: Page, mentions: list[Mention]) -> list[tuple[list[Mention], bool]]:
    """For each group of labels joined by words such as "or": (the labels, whether the joining words say that all of
    them hold).
    """
    groups: list[tuple[list[Mention], bool]] = []
    run: list[Mention] = []
    joints: list[str] = []
    for i, mention in enumerate(mentions):
        run.append(mention)
        following = mentions[i + 1] if i + 1 < len(mentions) else None
        joint = _JOINT.fullmatch(page.low, mention.stop, following.start) if following is not None else None
        if joint is not None and following is not None and following.value != mention.value:
            joints.append(joint.group(1).strip(" ,"))
            continue
        if joints and _is_group(page, run, joints):
            groups.append((run, any(joint in _BOTH for joint in joints)))
        run, joints = [], []
    return groups


def _is_group(page: Page, run: list[Mention], joints: list[str]) -> bool:
    """Whether labels that are joined ("Yes or No") form a group that may only restate the choice. Commas and dashes
    alone join labels only if no words follow ("Yes, no scene is wasted" is no group).
    """
    if any(joint in ("or", "/", "|", "vs", "vs.", "versus", "to", "&") for joint in joints):
        return True
    return _ENDS.match(page.low, run[-1].stop) is not None and ("and" in joints or len(run) > 1)


def _is_answer(page: Page, group: list[Mention]) -> bool:
    begin, end, _ = page.sentence(group[0].start, group[-1].stop)
    return end - begin <= _SHORT


def _listed(page: Page, mentions: list[Mention]) -> list[Mention]:
    """Labels of the scale at the beginning of lines that go through the scale or a list."""
    marked: dict[str, list[Mention]] = {}
    for mention in mentions:
        line = page.low.rfind("\n", 0, mention.start) + 1
        opening = _OPENS.fullmatch(page.low, line, mention.start)
        if opening is None:
            continue
        behind = _BEHIND.match(page.low, mention.stop)
        item = any(c in "-•+#" or c.isdigit() for c in opening.group())
        if behind is not None and "\n" not in behind.group():
            marked.setdefault(behind.group(1), []).append(mention)
        elif item and not page.low[mention.stop :].split("\n", 1)[0].strip(" \t.,;:)\"'"):
            marked.setdefault("item", []).append(mention)
    return [m for members in marked.values() if len({m.value for m in members}) > 1 for m in members]


def _letters(text: str) -> bool:
    return any(c.isalnum() for c in text)
