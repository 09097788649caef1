"""An answer prepared for the search for ratings: lower case, simplified markup and quotation marks, all characters at
their original positions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from judge.answers.parsing.words.criterion_names import Names
from judge.base.records import Scale

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[.!?;:,\n—–(){}\[\]<>|=→\-：，。；！？、]")
_PARENTHESIS = re.compile(r"\([^()\n]{0,80}\)|\[[^\[\]\n]{0,20}\]")
_SCALE_RANGE = re.compile(
    r"(?:(?<=\bscale of )|(?<=\bscale from ))(\d{1,3})\s?[-–]\s?(\d{1,3})\b"
    r"|(?<!\d)(\d{1,3})\s?[-–]\s?(\d{1,3})(?=[ -](?:point )?scale\b)"
)
_WINDOW = 130
"""Characters before a number that are read for what it counts. The bound keeps the time of long answers linear."""


@dataclass(frozen=True, slots=True)
class Page:
    """A cleaned answer (`text`), its lower-case copy of equal length (`low`), the names of the requested criterion and
    of others, and the scale. `last` is the end of the answer's text, without white space after it.
    """

    text: str
    low: str
    names: Names
    scale: Scale
    last: int
    """Where the text ends but for white space."""

    def tokens_before(self, position: int) -> list[str]:
        """Words and punctuation marks in the 130 characters before a position, without text in parentheses."""
        window = self.low[max(0, position - _WINDOW) : position]
        if ")" in window or "]" in window:
            window = _PARENTHESIS.sub(" ", window)
        if "scale" in window:
            window = _SCALE_RANGE.sub(r"\1\3 to \2\4", window)
        tokens: list[str] = _TOKEN.findall(window)
        return tokens

    def part(self, begin: int, end: int) -> Page:
        """The prepared answer with all text outside [begin, end) replaced by spaces, so that positions stay the
        same.
        """
        before, after = " " * begin, " " * (len(self.low) - end)
        text, low = (before + whole[begin:end] + after for whole in (self.text, self.low))
        return replace(self, text=text, low=low, last=end)

    def sentence(self, start: int, stop: int) -> tuple[int, int, str]:
        """(start, end, punctuation mark at the end) of the sentence around [start, stop). The mark is "" where the
        sentence ends with its line.
        """
        first = max(0, start - _REACH)
        begin = first
        for match in _SENTENCE_STOP.finditer(self.low, first, start):
            if not _ABBREVIATION.search(self.low, max(0, match.start() - 4), match.start() + 1):
                begin = match.end()
        for match in _NUMBER_THEN_CAPITAL.finditer(self.text, begin, start):
            begin = match.end()
        last = _SENTENCE_LAST.search(self.low, stop, min(len(self.low), stop + _REACH))
        if last is None:
            return begin, min(len(self.low), stop + _REACH), ""
        return begin, last.start(), last.group()[:1].strip()

    def word_at(self, position: int) -> str:
        """The first word at or after a position, in lower case."""
        match = _WORD.match(self.low, position)
        return match.group(1) if match else ""


_REACH = 400
"""Characters to each side in which a sentence may end: an answer without stops would take quadratic time."""

_SENTENCE_STOP = re.compile(r"[.!?;][\"'”’»)\]]{0,2}\s|\n|[。！？]")
_NUMBER_THEN_CAPITAL = re.compile(
    r"(?:\d|\b(?i:zero|one|two|three|four|five|six|seven|eight|nine|ten))[\"'”’»)\]*_]{0,4}\s+(?=[A-Z])"
)
_SENTENCE_LAST = re.compile(r"[.!?;](?=[\"'”’»)\]]{0,2}(?:\s|\Z))|\n|[。！？]")
_ABBREVIATION = re.compile(r"(?:\be\.g|\bi\.e|\bvs|\betc|\bmr|\bdr|\bcf|\bno)\.\Z")
_WORD = re.compile(r"[\s\"'”»)\]}]{0,6}([^\W\d_]+(?:'[^\W_]+)?)")


def page(text: str, names: Names, scale: Scale) -> Page:
    """A cleaned text prepared for the search for ratings: lower case, simplified markup and quotation marks, all
    characters at their original positions.
    """
    low = text.lower()
    if len(low) != len(text):
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    for mark, plain in (("*", " "), ("_", " "), ("`", " "), ("’", "'"), ("~", " "), ("\\", " ")):
        if mark in low:
            low = low.replace(mark, plain)
    return Page(text, low, names, scale, len(text.rstrip()))
