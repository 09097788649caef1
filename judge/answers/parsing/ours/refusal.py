"""Detects refusals. Used only for answers without a rating."""

from __future__ import annotations

import re

_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am)\s(?:sorry\b.{0,40}\b(?:can't|cannot|can not|unable|won't|not able)"
    r"|unable\sto|not\sable\sto|not\scomfortable|afraid\s(?:i|that))"
    r"|i\s(?:can't|cannot|can\snot|won't|will\snot|am\sunable\sto|must\sdecline|decline|refuse)\s?(?:to\s)?"
    r"(?:rate|give(?![^.\n]{0,30}\b(?:more|higher|better|above|less|lower)\b)|provide|help|assist|fulfil|comply|evaluate|assess|judge|engage|answer|do\s(?:that|this)|complete|continue"
    r"|create|generate|score|respond|discuss|offer|assign|read|see|access)?"
    r"|as\san?\s(?:ai|artificial|language\smodel|large\slanguage)"
    r"|(?:it\sis|it's)\snot\s(?:possible|appropriate)\s(?:for\sme\s)?to\s(?:rate|give|evaluate|provide))"
)
_ALONE = re.compile(r"i\s(?:can't|cannot|can\snot|won't|will\snot)\s?\Z")


def refuses(low: str) -> bool:
    """Whether a lower-case text without a rating is a refusal. Only its first 600 characters are read."""
    # "I cannot relate to the hero" is an opinion: the bare modal alone says nothing.
    return any(not _ALONE.match(match.group()) for match in _REFUSAL.finditer(low[:600]))
