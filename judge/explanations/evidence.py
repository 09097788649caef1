"""What an explanation quotes and whom it names, and where that stands: in the story, its story-prompt, or nowhere.

Quotations are spans in double or typographic quotation marks, and in single ones around two words or more, of at least
two words; each piece between omission marks must be found. Names are capitalised words inside a sentence that are not
written small elsewhere in the text. Both are compared without case, punctuation and typography. What this cannot say:
that a quotation supports the claim it stands beside, that an invented event is told without a name, or that a name in
another spelling is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from judge.records import Criterion

Place = Literal["story", "story-prompt", "reference", "task", "nowhere"]
PLACES: tuple[Place, ...] = ("story", "story-prompt", "reference", "task", "nowhere")
"""Where something may stand, looked through in this order; `task` is the criterion's own wording."""

_QUOTED = re.compile(
    r"[“„«]([^“”„«»\n]{3,400})[”“»]|(?<!\w)\"([^\"\n]{3,400})\"(?!\w)|``([^`'\n]{3,400})''"
    r"|(?<!\w)[‘']((?:[^\s‘’']|(?<=\w)[’'](?=\w))+(?:\s+(?:[^\s‘’']|(?<=\w)[’'](?=\w))+)+)[’'](?!\w)"
)
_OMITTED = re.compile(r"\[?(?:\.\s?){3,}\]?|\[?…\]?")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCES = re.compile(r"(?<=[.!?:;…])[\"”’')\]]*\s+|\n+|\s[-–—*•]\s")
_NUMBERED = re.compile(r"^[\s\"“”'‘’(\[*•#>_-]*(?:\d+[.):]?\s*)?[\s\"“”'‘’(\[*_–—-]*")
_NOT_NAMES = frozenset(
    "i i'm i'd i've i'll mr mrs ms dr god english american explanation rating rate score guidelines guideline prompt "
    "story overall however author reader human eval".split()
)
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A text in which evidence is looked for: its normalised words between blanks, and the set of them."""

    words: str
    known: frozenset[str]

    @classmethod
    def of(cls, *texts: str | None) -> Source:
        """From texts; None and empty ones hold nothing."""
        folded = " | ".join(normalised(text) for text in texts if text)
        return cls(f" {folded} ", frozenset(folded.split()))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Quotations and names of one explanation, each with the first place it stands in."""

    quotes: tuple[tuple[str, Place], ...] = ()
    names: tuple[tuple[str, Place], ...] = ()

    def count(self, kind: Literal["quotes", "names"], place: Place) -> int:
        """How many of a kind stand in a place."""
        return sum(where == place for _, where in getattr(self, kind))


@dataclass(frozen=True, slots=True)
class Sources:
    """What may support an explanation, by place."""

    by_place: dict[Place, Source] = field(default_factory=dict)

    @classmethod
    def of(
        cls, story: str | None, story_prompt: str | None, reference: str | None, criterion: Criterion | None
    ) -> Sources:
        """From the texts as they are; None = not known."""
        task = (criterion.name, criterion.definition, *criterion.guidelines) if criterion else ()
        return cls(
            {
                "story": Source.of(story),
                "story-prompt": Source.of(story_prompt),
                "reference": Source.of(reference),
                "task": Source.of(*task),
            }
        )


def evidence(text: str, sources: Sources) -> Evidence:
    """Quotations and names of a text, and where they stand."""
    quotes = tuple((span, _place_of_quote(span, sources)) for span in quotations(text))
    found = tuple((name, _place_of_name(name, sources)) for name in names(text))
    return Evidence(quotes, found)


def normalised(text: str) -> str:
    """Words in small letters with single blanks; punctuation, typography and possessives gone."""
    return " ".join(_POSSESSIVE.sub("", word).replace("’", "'") for word in _WORDS.findall(text.casefold()))


def quotations(text: str) -> list[str]:
    """Spans of two words or more in quotation marks, in order."""
    spans = (next(part for part in found.groups() if part) for found in _QUOTED.finditer(text))
    return [span.strip() for span in spans if len(_WORDS.findall(span)) > 1]


def names(text: str) -> list[str]:
    """Runs of capitalised words inside sentences, outside quotations; each once, in order."""
    bare = _QUOTED.sub(" , ", text)
    small = {word for word in _WORDS.findall(bare) if word[0].islower()}
    found: dict[str, None] = {}
    for sentence in _SENTENCES.split(bare):
        start = _NUMBERED.match(sentence)
        after = start.end() if start else 0
        run: list[str] = []
        last = after
        for number, match in enumerate(_WORDS.finditer(sentence, after)):
            word = _POSSESSIVE.sub("", match.group())
            is_name = number > 0 and word[0].isupper() and word.lower() not in small | _NOT_NAMES
            if run and (not is_name or sentence[last : match.start()] != " "):
                found[" ".join(run)] = None
                run = []
            if is_name:
                run.append(word)
            last = match.end()
        if run:
            found[" ".join(run)] = None
    return list(found)


def _place_of_quote(span: str, sources: Sources) -> Place:
    pieces = [normalised(piece) for piece in _OMITTED.split(span)]
    return _first(sources, lambda source: all(f" {piece} " in source.words for piece in pieces if piece))


def _place_of_name(name: str, sources: Sources) -> Place:
    words = normalised(name).split()
    return _first(sources, lambda source: all(word in source.known for word in words))


def _first(sources: Sources, holds: Callable[[Source], bool]) -> Place:
    for place in PLACES[:-1]:
        source = sources.by_place.get(place)
        if source is not None and source.known and holds(source):
            return place
    return "nowhere"

