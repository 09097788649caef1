"""Features of texts that several measures use, computed once per text: quotations, repetition, text after the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from judge.explanations.quality.evidence import Quoting, quoting
from judge.explanations.quality.repetition import repeats, runs_on


@dataclass(frozen=True, slots=True)
class Reading:
    """Features of one text: its quotations, whether it repeats itself, and whether another chat turn follows it."""

    quoting: Quoting
    repeats: bool
    runs_on: bool

    @classmethod
    def of(cls, text: str) -> Reading:
        """The features of a text: its quotations, whether it repeats itself, and whether another chat turn
        follows it.
        """
        return cls(quoting(text), repeats(text), runs_on(text))


@dataclass(frozen=True, slots=True)
class Readings:
    """Features (quotations, repetition, a further chat turn) of all texts of one analysis. Equal texts, which are
    frequent, are analysed once.
    """

    _known: dict[str, Reading] = field(default_factory=dict)

    def of(self, text: str) -> Reading:
        """The features of a text (quotations, repetition, a further chat turn), computed when the text is met for the
        first time.
        """
        if text not in self._known:
            self._known[text] = Reading.of(text)
        return self._known[text]
