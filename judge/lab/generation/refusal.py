"""Detection of answers in which the model refuses to write a story. A refusal by a character in a story does
not count.
"""

from __future__ import annotations

import re

_DECLINES = re.compile(
    r"\b(?:i(?:'m| am) sorry\b.{0,60}\b(?:can't|cannot|can not|unable|won't|not able)"
    r"|i(?:'m| am) (?:unable|not able|not comfortable|afraid i can)"
    r"|i (?:can't|cannot|can not|won't|will not|must decline|decline|refuse)(?: to)?(?: \w+)? ?"
    r"(?:write|create|generate|help|assist|fulfil|fulfill|provide|continue|comply|produce|engage|do (?:that|this))"
    r"|as an? (?:ai|artificial|language model|large language))",
    re.I | re.S,
)
_QUOTED = re.compile(r"[\"“].*?[\"”]", re.S)
_OPENING = 300
"""Characters: a refusal says so at its beginning, while a story's people may decline anything later on."""

_LONGEST = 120
"""Words: what is longer was written, whatever it says at first; it is flagged as a reply where it is one."""


def declines(text: str) -> bool:
    """Whether a short answer begins with a refusal outside quotation marks."""
    if len(text.split()) > _LONGEST:
        return False
    return bool(_DECLINES.search(_QUOTED.sub(" ", text[:_OPENING].replace("’", "'"))))
