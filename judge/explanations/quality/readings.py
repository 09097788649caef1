"""What stands in texts, read once each for all measures of one look: quotations, repetition, run-on."""

from __future__ import annotations

from dataclasses import dataclass, field

from judge.explanations.quality.evidence import Quoting, quoting
from judge.explanations.quality.repetition import repeats, runs_on


@dataclass(frozen=True, slots=True)
class Reading:
    """One text: its quotations, whether it repeats itself, and whether it runs on into a next turn of a chat."""

    quoting: Quoting
    repeats: bool
    runs_on: bool

    @classmethod
    def of(cls, text: str) -> Reading:
        """Read a text."""
        return cls(quoting(text), repeats(text), runs_on(text))


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of the texts of one look; equal texts, of which there are many, are read once."""

    _known: dict[str, Reading] = field(default_factory=dict)

    def of(self, text: str) -> Reading:
        """What stands in a text."""
        if text not in self._known:
            self._known[text] = Reading.of(text)
        return self._known[text]
