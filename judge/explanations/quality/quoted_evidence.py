"""Evidence in explanations: quotations and names, and where each of them occurs (`Place`).

Quotations are spans of at least two words in double, typographic or single quotation marks. One with omission marks
occurs in a source if each piece does. Names are capitalised words inside a sentence that do not occur in lower case
elsewhere in the text, except words of the task. Both are compared without case, punctuation and typography. The method
cannot check whether a quotation supports the claim next to it, nor detect an invented event that is described without a
name, nor match a name in another spelling."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from judge.base.records import Criterion

# Rules that detect whether a text repeats itself, and whether it continues with another chat turn.

WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Words of a run that stands twice, and of a sentence that does, for a text to repeat itself.
RUN, _SENTENCE = 8, 4

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
    """Whether a sentence of at least 4 words (`_SENTENCE`), or any sequence of 8 (`RUN`), occurs twice."""
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


Place = Literal["story", "story-prompt", "reference", "task", "criteria", "nowhere"]
# Sources in which evidence may occur, searched in this order; `task` is the criterion's own wording.
#
# `criteria`, which holds the names of all criteria, is none of them: those words are nobody's names.
PLACES: tuple[Place, ...] = ("story", "story-prompt", "reference", "task", "nowhere")

_COLUMNS: dict[Place, str] = {"story": "text", "story-prompt": "story_prompt", "reference": "reference"}
_QUOTED = re.compile(
    r"[“„«]([^“”„«»\n]{3,400})[”“»]|(?<!\w)\"([^\"\n]{3,400})\"(?!\w)|``([^`'\n]{3,400})''"
    r"|(?<!\w)[‘']((?:[^\s‘’']|(?<=\w)[’'](?=\w))+(?:\s+(?:[^\s‘’']|(?<=\w)[’'](?=\w))+)+)[’'](?!\w)"
)
_OMITTED = re.compile(r"\[?(?:\.\s?){3,}\]?|\[?…\]?")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Capitalised words behind a word or a comma: the first word of a sentence, a line or a list is never one.
_NAME = re.compile(r"(?<=[\w,’'] )[^\W\d_a-zß-öø-ÿ][\w’'-]*(?: [^\W\d_a-zß-öø-ÿ][\w’'-]*)*")

_NO_NAME_LIST = (
    "i i'm i'd i've i'll mr mrs ms dr god english american explanation rating rate score guidelines guideline prompt "
    "story overall however author reader human eval criterion criteria scale reference"
)
_NOT_NAMES = frozenset(_NO_NAME_LIST.split())
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_MARKS = re.compile(r"[\"“”„«»`‘']")


@dataclass(frozen=True, slots=True)
class Source:
    """A text that is searched: its normalised words separated by spaces, and their set."""

    words: str
    word_set: frozenset[str]

    @classmethod
    def of(cls, *texts: str | None) -> Source:
        """One source made of several texts; None and empty texts add nothing."""
        folded = " | ".join(normalised(text) for text in texts if text)
        return cls(f" {folded} ", frozenset(folded.split()))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Quotations and names of one explanation, each with the first source that contains it, "task" (the criterion's
    wording) or "nowhere"."""

    quotes: tuple[tuple[str, Place], ...] = ()
    names: tuple[tuple[str, Place], ...] = ()

    def count(self, kind: Literal["quotes", "names"], place: Place) -> int:
        """Number of quotations or names whose first source is `place`."""
        return sum(where == place for _, where in getattr(self, kind))


# What may support an explanation, by place; a place that is not known is absent or holds nothing.
Sources = Mapping[Place, Source]


class Library:
    """The texts in which an explanation's quotations and names are searched."""

    def __init__(self, stories: pd.DataFrame, criteria: Sequence[Criterion]) -> None:
        self._texts = dict(zip(stories.index, stories.to_dict("records"), strict=True))
        self._task = {c.name: Source.of(c.name, c.definition, *c.guidelines) for c in criteria}
        self._criteria = Source.of(*(c.name for c in criteria))
        self._stories: dict[tuple[str, str], dict[Place, Source]] = {}

    def knows(self, dataset: str, story: str) -> bool:
        """Whether the text of this story is known."""
        return isinstance(self._texts.get((dataset, story), {}).get("text"), str)

    def of(self, dataset: str, story: str, criterion: str) -> Sources:
        """Sources of an explanation: story, story-prompt, reference, the criterion's wording and the names of all
        criteria."""
        story_key = (dataset, story)
        if story_key not in self._stories:
            row = self._texts.get(story_key, {})
            words = {key: row[key] if isinstance(row.get(key), str) else None for key in _COLUMNS.values()}
            sources: dict[Place, Source] = {where: Source.of(words[key]) for where, key in _COLUMNS.items()}
            self._stories[story_key] = sources | {"criteria": self._criteria}
        task = self._task.get(criterion)
        return self._stories[story_key] if task is None else {**self._stories[story_key], "task": task}


@dataclass(frozen=True, slots=True)
class Quoting:
    """A text's quotations of two words or more, in order, and the text without its quotations (`bare`)."""

    spans: tuple[str, ...]
    bare: str

    @property
    def names(self) -> list[str]:
        """Sequences of capitalised words inside sentences and outside quotations, each once."""
        return _names(self.bare)


def evidence(text: Quoting, sources: Sources) -> Evidence:
    """Quotations and names, each with the first source that contains it; names of criteria's words are left out."""
    quotes = tuple((span, place_of_quote(span, sources)) for span in text.spans)
    task = sources["criteria"].word_set if "criteria" in sources else frozenset()
    named = [name for name in text.names if not task.issuperset(normalised(name).split())]
    return Evidence(quotes, tuple((name, _place_of_name(name, sources)) for name in named))


def normalised(text: str) -> str:
    """The words in lower case with single spaces, without punctuation, possessives and typographic apostrophes."""
    return " ".join(_WORDS.findall(_POSSESSIVE.sub("", text.casefold().replace("’", "'"))))


def quoting(text: str) -> Quoting:
    if _MARKS.search(text) is None:
        return Quoting((), text)
    spans, rest, at = [], [], 0
    for match in _QUOTED.finditer(text):
        span = next(part for part in match.groups() if part).strip()
        if len(_WORDS.findall(span)) > 1:
            spans.append(span)
        rest.append(text[at : match.start()])
        at = match.end()
    return Quoting(tuple(spans), " , ".join([*rest, text[at:]]))


def _names(bare: str) -> list[str]:
    runs = [_POSSESSIVE.sub("", run.rstrip("-'’")) for run in _NAME.findall(bare)]
    if not runs:
        return []
    low = {word.lower() for run in runs for word in run.split() if not _NOT_NAMES.issuperset(word.lower().split("-"))}
    # Few names stand in small letters in the same text, even as a part of a word: only then are its words looked at.
    small = {word for word in _WORDS.findall(bare) if word.islower()} if any(word in bare for word in low) else set()
    names: dict[str, None] = {}
    for run in runs:
        kept = [word for word in run.split() if word.lower() in low and word.lower() not in small]
        if kept:
            names[" ".join(kept)] = None
    return list(names)


def place_of_quote(span: str, sources: Sources) -> Place:
    """The first source that contains a quotation; the pieces between omission marks may occur anywhere in it."""
    pieces = [normalised(piece) for piece in _OMITTED.split(span)]
    return _first(sources, lambda source: all(f" {piece} " in source.words for piece in pieces if piece))


def _place_of_name(name: str, sources: Sources) -> Place:
    words = normalised(name).split()
    return _first(sources, lambda source: all(word in source.word_set for word in words))


def _first(sources: Sources, holds: Callable[[Source], bool]) -> Place:
    for where in PLACES[:-1]:
        source = sources.get(where)
        if source is not None and source.word_set and holds(source):
            return where
    return "nowhere"


# Features of texts that several measures use, computed once per text: quotations, repetition, text after the end.


@dataclass(frozen=True, slots=True)
class Reading:
    """Features of one text: quotations, whether it repeats itself, and whether another chat turn follows it."""

    quoting: Quoting
    repeats: bool
    runs_on: bool

    @classmethod
    def of(cls, text: str) -> Reading:
        return cls(quoting(text), repeats(text), runs_on(text))


@dataclass(frozen=True, slots=True)
class Readings:
    """Features of all texts of one analysis. Equal texts, which are frequent, are analysed once."""

    _known: dict[str, Reading] = field(default_factory=dict)

    def of(self, text: str) -> Reading:
        if text not in self._known:
            self._known[text] = Reading.of(text)
        return self._known[text]
