"""Faults of a generated story that are visible in its text, each by a rule; they are reported and never corrected."""

from __future__ import annotations

import re
from typing import Literal, get_args

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

PREAMBLE = re.compile(r"\s*(?:sure|great|of course|certainly|absolutely|here is|here's)\b", re.I)
REPLY = re.compile(
    r"\s*(?:okay|ok|hello|hi|interesting|ah|oh|alright|yes|i can do that|i(?:'m| am) happy|i'd be happy"
    r"|that(?:'s| is) (?:an?|quite) [\w, -]{0,60}prompt|thank(?:s| you)|can you (?:tell|give)|could you"
    r"|is there anything|what would you|how would you|how does|how do you|what do you|and then what)\b",
    re.I,
)
TITLE = re.compile(r"\s*[\"*#]*\s*title\s*:", re.I)
RUN_ON = re.compile(r"^[^\S\n]*(?:human|user|assistant|ai)\s*:|###", re.I | re.M)

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
