"""Rules that detect whether a text repeats itself, and whether it continues with another chat turn."""

from __future__ import annotations

import itertools
import re

WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
RUN, _SENTENCE = 8, 4
"""Words of a run that stands twice, and of a sentence that does, for a text to repeat itself."""

_SENTENCE_END = re.compile(r"[.!?…\n]+")
_TURN_MARKS = ("\n", "<|", "[INST]", "[/INST]", "<s>", "</s>")
_NEXT_TURN = re.compile(
    r"<\|(?:im_start|im_end|user|assistant|system|eot_id|start_header_id|endoftext)\|>|\[/?INST\]|</?s>"
    r"|^[ \t]*(?:#{1,6}[ \t]*|\*\*)?(?:user|human|assistant|system|instructions?|ai)(?:\*\*)?[ \t]*(?::|$)"
    r"|^[ \t]*#{2,6}[ \t]*(?:input|response|output|question|story|prompt)\b"
    r"|^[ \t]*(?:now[, ]+)?(?:please )?rate the (?:target )?story on a scale",
    re.IGNORECASE | re.MULTILINE,
)


def repeats(text: str) -> bool:
    """Whether a sentence of at least 4 words (`_SENTENCE`), or any sequence of 8 words (`RUN`), occurs twice in the
    text.
    """
    low = text.lower()
    parts = (part.strip() for part in _SENTENCE_END.split(low))
    long = [part for part in parts if part.count(" ") >= _SENTENCE - 1]
    if len(set(long)) < len(long):
        return True
    words = WORDS.findall(low)
    # A run that stands twice repeats all its pairs: few texts have so many, and only they are looked at further.
    if max(0, len(words) - 1) - len(set(itertools.pairwise(words))) < RUN - 1:
        return False
    runs = max(0, len(words) - RUN + 1)
    return len(set(zip(*(words[i:] for i in range(RUN)), strict=False))) < runs


def runs_on(text: str) -> bool:
    """Whether the explanation is followed by another chat turn or a new task."""
    if not any(mark in text for mark in _TURN_MARKS):
        return False
    return any(re.search(r"\w", text[: match.start()]) is not None for match in _NEXT_TURN.finditer(text))
