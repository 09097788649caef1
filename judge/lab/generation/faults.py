"""Faults of a generated story that are visible in its text, and the removal of what is no part of the story."""

from __future__ import annotations

import re
from typing import Literal, get_args

from judge.base.errors import OptionError
from judge.base.late_pattern import late

Fault = Literal[
    "leading_blank",
    "preamble",
    "reply",
    "title",
    "run_on",
    "prompt_echo",
    "no_end",
    "once_upon_a_time",
    "too_short",
    "too_long",
    "near_duplicate",
]
FAULTS: tuple[Fault, ...] = get_args(Fault)

FAULT_TEXTS: dict[Fault, str] = {
    "leading_blank": "begins with a blank or a line end",
    "preamble": "begins by announcing the story (Sure, Great, Of course, Certainly, Absolutely, Here is)",
    "reply": "begins by replying to the request in other words (Okay, Hello, That's a great prompt, ...)",
    "title": "begins with a title that is labelled as one (Title:)",
    "run_on": "holds turns of a chat (Human:, User:, Assistant:, AI:) or ### marks",
    "prompt_echo": "holds the first 60 characters of its story-prompt",
    "no_end": "its last character ends no sentence",
    "once_upon_a_time": "holds 'once upon a time' within its first 80 characters",
    "too_short": "has fewer words than were asked for",
    "too_long": "has more words than were asked for",
    "near_duplicate": "shares more than 5 % of its 8-grams with another story of its system",
}

PREAMBLE = late(r"\s*(?:sure|great|of course|certainly|absolutely|here is|here's)\b", re.I)
REPLY = late(
    r"\s*(?:okay|ok|hello|hi|interesting|ah|oh|alright|yes|i can do that|i(?:'m| am) happy|i'd be happy"
    r"|that(?:'s| is) (?:an?|quite) [\w, -]{0,60}prompt|thank(?:s| you)|can you (?:tell|give)|could you"
    r"|is there anything|what would you|how would you|how does|how do you|what do you|and then what)\b",
    re.I,
)
TITLE = late(r"\s*[\"*#]*\s*title\s*:", re.I)
RUN_ON = late(r"^[^\S\n]*(?:human|user|assistant|ai)\s*:|###", re.I | re.M)

_ENDS = frozenset(".!?…\"'”’)*")
_ECHOED, _NEAR_THE_START = 60, 80


def faults_of(text: str, story_prompt: str, words: tuple[int, int] | None = None) -> tuple[Fault, ...]:
    """Faults in the order of `FAULTS`; `words` is the requested (minimum, maximum), None checks no length."""
    joined = " ".join(text.lower().split())
    wanted = " ".join(story_prompt.lower().split())[:_ECHOED]
    count = len(text.split())
    faults: dict[Fault, bool] = {
        "leading_blank": text[:1].isspace(),
        "preamble": bool(PREAMBLE.match(text)),
        "reply": bool(REPLY.match(text)),
        "title": bool(TITLE.match(text)),
        "run_on": bool(RUN_ON.search(text)),
        # A story that was asked for in one word may well hold it.
        "prompt_echo": " " in wanted and wanted in joined,
        "no_end": bool(joined) and text.rstrip()[-1] not in _ENDS,
        "once_upon_a_time": "once upon a time" in joined[:_NEAR_THE_START],
        "too_short": words is not None and count < words[0],
        "too_long": words is not None and count > words[1],
    }
    return tuple(fault for fault in FAULTS if faults.get(fault))


# Removal of parts of an answer that are not part of the story, by rules that the user names; it is recorded. A rule
# that would remove the whole text is not applied.

Rule = Literal["preamble", "run-on"]
RULES: tuple[Rule, ...] = get_args(Rule)

_FIRST = late(r"\s*([^\n]*)\n(?:\s*-{3,}[^\S\n]*\n)?\s*")
_ANNOUNCES = late(r"\bhere(?: is|'s)\b|\bstory\b|\blet me see\b|^\W*(?:\w+\W*){1,3}$", re.I)
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
