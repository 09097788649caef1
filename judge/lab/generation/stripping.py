"""Removal of parts of an answer that are not part of the story, by rules that the user names; it is recorded. A rule
that would remove the whole text is not applied."""

from __future__ import annotations

import re
from typing import Literal, get_args

from judge.base.errors import OptionError
from judge.lab.generation.faults import PREAMBLE, REPLY, RUN_ON

Rule = Literal["preamble", "run-on"]
RULES: tuple[Rule, ...] = get_args(Rule)

RULE_TEXTS: dict[Rule, str] = {
    "preamble": "a first paragraph that announces the story or answers whoever asked, and a line --- after it",
    "run-on": "everything from the first turn of a chat or ### mark on",
}

_FIRST = re.compile(r"\s*([^\n]*)\n(?:\s*-{3,}[^\S\n]*\n)?\s*")
_ANNOUNCES = re.compile(r"\bhere(?: is|'s)\b|\bstory\b|\blet me see\b|^\W*(?:\w+\W*){1,3}$", re.I)
# Words: a longer first paragraph is taken for the story's own.
_LONGEST = 60


def rules_of(text: str) -> tuple[Rule, ...]:
    """Rules of a list such as `preamble,run-on`, in the order of application; OptionError for an unknown one."""
    named = [part.strip() for part in text.split(",") if part.strip()]
    for part in named:
        if part not in RULES:
            raise OptionError("strip", part, allowed=RULES)
    if not named:
        raise OptionError("strip", text, allowed=RULES)
    return tuple(rule for rule in RULES if rule in named)


def stripped(text: str, rules: tuple[Rule, ...]) -> tuple[str, tuple[Rule, ...]]:
    """The text without the parts that the rules remove, and the rules that removed something."""
    applied: list[Rule] = []
    for rule in rules:
        left = _without_preamble(text) if rule == "preamble" else _without_run_on(text)
        if left != text and left.strip():
            text = left
            applied.append(rule)
    return text, tuple(applied)


def _without_preamble(text: str) -> str:
    first = _FIRST.match(text)
    if first is None or not (PREAMBLE.match(text) or REPLY.match(text)):
        return text
    opening = first[1]
    if len(opening.split()) > _LONGEST or not _ANNOUNCES.search(opening):
        return text
    return text[first.end() :]


def _without_run_on(text: str) -> str:
    turn = RUN_ON.search(text)
    return text if turn is None else text[: turn.start()].rstrip()
