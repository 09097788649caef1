"""Detects where an answer continues with a question or a pair of stories that was not part of the request."""

from __future__ import annotations

import re

_NEXT = re.compile(
    r"\n[ \t]{0,4}[#*>\-_=\[(]{0,6}[ \t]{0,2}(?:question(?:[ ]\d{1,3})?[\]):]{0,2}[*]{0,2}:|q[ ]?\d{0,3}:"
    r"|task(?:[ ]\d{1,3})?:|instructions?:|example[ ]\d{1,3}\b|story[ -]?prompt:|writing prompt:|prompt:"
    r"|input:"
    r"|(?:next|new|another)[ ](?:pair|question|comparison|task|example|stories)\b|(?:pair"
    r"|comparison)[ ](?:no\.?[ ])?\d{1,3}\b|here are two (?:\w+[ ])?stories|now,?[ ](?:compare|consider"
    r"|let's compare|evaluate|read|please)\b"
    r"|(?:please[ ])?compare the (?:following|next)|which (?:story|of the|one|is better)\b[^\n]{0,80}\?"
    r"|(?:please[ ])?read the following|below are two|the following are two|you are (?:a|an|given|asked)\b"
    r"|judge:|evaluator:|interviewer:|student:|teacher:|person [ab12]:)",
    re.IGNORECASE,
)


def turns(text: str) -> list[int]:
    """Positions of the lines that may open a further question, in ascending order; at most eight."""
    starts = []
    for match in _NEXT.finditer(text):
        if text[: match.start()].strip():
            starts.append(match.start())
        if len(starts) == 8:
            break
    return starts
