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
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.base.late_pattern import late
from judge.base.records import Criterion
from judge.explanations.options import NumbersOptions
from judge.explanations.quality.specificity import BY_CRITERION, STORY, Measured, Row, codes, groups, story_codes
from judge.stats.estimation.means import SHARE, clustered
from judge.stats.estimation.sample_size import clustered_proportion

# Rules that detect whether a text repeats itself, and whether it continues with another chat turn.

WORDS = late(r"[^\W_]+(?:['’][^\W_]+)*")
# Words of a run that stands twice, and of a sentence that does, for a text to repeat itself.
RUN, _SENTENCE = 8, 4

_SENTENCE_END = late(r"[.!?…\n]+")
_TURN_MARKS = ("\n", "<|", "[INST]", "[/INST]", "<s>", "</s>")
_NEXT_TURN = late(
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
_QUOTED = late(
    r"[“„«]([^“”„«»\n]{3,400})[”“»]|(?<!\w)\"([^\"\n]{3,400})\"(?!\w)|``([^`'\n]{3,400})''"
    r"|(?<!\w)[‘']((?:[^\s‘’']|(?<=\w)[’'](?=\w))+(?:\s+(?:[^\s‘’']|(?<=\w)[’'](?=\w))+)+)[’'](?!\w)"
)
_OMITTED = late(r"\[?(?:\.\s?){3,}\]?|\[?…\]?")
# Capitalised words behind a word or a comma: the first word of a sentence, a line or a list is never one.
_NAME = late(r"(?<=[\w,’'] )[^\W\d_a-zß-öø-ÿ][\w’'-]*(?: [^\W\d_a-zß-öø-ÿ][\w’'-]*)*")

_NO_NAME_LIST = (
    "i i'm i'd i've i'll mr mrs ms dr god english american explanation rating rate score guidelines guideline prompt "
    "story overall however author reader human eval criterion criteria scale reference"
)
_NOT_NAMES = frozenset(_NO_NAME_LIST.split())
_POSSESSIVE = late(r"(?<=\w)['’]s\b", re.IGNORECASE)
_MARKS = late(r"[\"“”„«»`‘']")


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
    return " ".join(WORDS.findall(_POSSESSIVE.sub("", text.casefold().replace("’", "'"))))


def quoting(text: str) -> Quoting:
    if _MARKS.search(text) is None:
        return Quoting((), text)
    spans, rest, at = [], [], 0
    for match in _QUOTED.finditer(text):
        span = next(part for part in match.groups() if part).strip()
        if len(WORDS.findall(span)) > 1:
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
    small = {word for word in WORDS.findall(bare) if word.islower()} if any(word in bare for word in low) else set()
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


# Features by text: `Reading.of`, or its values kept for equal texts, which are frequent in one analysis.
Readings = Callable[[str], Reading]


# Groundedness of explanations: quotations and names from the story, unsupported claims, boilerplate. The numbers do
# not show whether a quotation supports the rating. A text without either may still be about the story, and a
# quotation found in no source may be irony.

# Boilerplate: the share of an explanation that the same judge also writes about many other stories.


MIN_STORIES = 10
# Stories below which there is no share, and other stories a run must stand in at least.
LEAST = 3


def boilerplate(texts: Sequence[str], story: Codes, words: int, share: float) -> Floats:
    """Share (0-1) of each text's n-grams of `words` words that are boilerplate among these texts of one judge. An
    n-gram is boilerplate if it occurs in texts on at least `share` of the other stories. `story` numbers each text's
    story from 0. NaN for a text with fewer than `words` words, and for all with fewer than `MIN_STORIES` stories."""
    out = np.full(len(texts), np.nan)
    stories = np.unique(story).size
    if stories < MIN_STORIES:
        return out
    run, text = runs(texts, words)
    if not run.size:
        return out
    width = int(story.max()) + 1
    pair = np.sort(run * width + story[text])
    pair = pair[np.r_[True, pair[1:] != pair[:-1]]]
    in_stories = np.bincount(pair // width)
    common = in_stories[run] - 1 >= max(LEAST, share * (stories - 1))
    total = np.bincount(text, minlength=len(texts))
    hits = np.bincount(text, weights=common, minlength=len(texts))
    np.divide(hits, total, out=out, where=total > 0)
    return out


def runs(texts: Sequence[str], words: int) -> tuple[Codes, Codes]:
    """(code, index of the text) of all n-grams of `words` words in lower case; equal n-grams have equal codes. N-grams
    are identified by 64-bit hashes. With two million, the probability that any two share a hash is about 1e-7."""
    number: dict[str, int] = {}
    codes = [[number.setdefault(w, len(number)) for w in WORDS.findall(text.lower())] for text in texts]
    size = np.array([len(words_of_text) for words_of_text in codes], dtype=np.int64)
    flat = np.fromiter((w for words_of_text in codes for w in words_of_text), dtype=np.int64, count=int(size.sum()))
    text = np.repeat(np.arange(len(texts), dtype=np.int64), size)
    if flat.size < words:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    length = flat.size - words + 1
    rng = np.random.default_rng(0)
    code = np.zeros(length, dtype=np.uint64)
    for step in range(words):  # tabulation hashing (Zobrist 1970): a random number for each word at each place
        code ^= rng.integers(0, 2**64, size=len(number), dtype=np.uint64)[flat[step : step + length]]
    whole = text[:length] == text[words - 1 :]
    code, text = code[whole], text[:length][whole]
    order = np.argsort(code)
    new = np.r_[0, np.diff(code[order]) != 0] if code.size else np.empty(0)
    numbers = np.empty(code.size, dtype=np.int64)
    numbers[order] = np.cumsum(new)
    return numbers, text


_JUDGE = ("run", "judge")


@dataclass(frozen=True, slots=True)
class Groundedness:
    """Groundedness of a group of texts; `..._story` and `..._nowhere` are shares found in the story and in no source.

    `pointing` is the share of texts with a quotation or name from the story, `unsupported` with a quotation that occurs
    in no source, and `boilerplate` a mean share. Sources are the story, story-prompt, reference and criterion's
    wording."""

    pointing: Estimate
    quotes: int
    quotes_story: Estimate
    quotes_nowhere: Estimate
    names: int
    names_story: Estimate
    names_nowhere: Estimate
    unsupported: Estimate
    boilerplate: Estimate
    texts: int


def measure(
    frame: pd.DataFrame, library: Library, readings: Readings, options: NumbersOptions, signature: str
) -> Measured[Groundedness]:
    """Groundedness, in one row for each judge, Eval-Prompt and criterion. Explanations of a story whose text `library`
    does not know count for boilerplate only."""
    evidences = read_evidence(frame, library, readings)
    common = np.full(len(frame), np.nan)
    for _, places in groups(frame, _JUDGE):
        part = frame.iloc[places]
        story = codes(part, STORY)
        common[places] = boilerplate(part["text"].tolist(), story, options.words, options.stories_share)
    rows = [
        Row(asked, _groundedness(frame.iloc[places], [evidences[i] for i in places], common[places]))
        for asked, places in groups(frame, BY_CRITERION)
    ]
    notes = [
        (
            "point into the story: texts with a quotation or a name that the story has; claims without support: texts "
            "with a quotation that neither story, story-prompt, reference story nor the criterion's wording has; 95 % "
            "intervals by story"
        ),
        (
            f"boilerplate: mean share of a text's runs of {options.words} words that the same judge writes about "
            f"{100 * options.stories_share:g} % of the other stories or more, copied guidelines among them"
        ),
        "a quotation from the story need not support the rating, and a text without one may still refer to the story",
    ]
    if lost := sum(item is None for item in evidences):
        notes.append(f"{lost} texts are about stories whose text is not known; they count for boilerplate only")
    return Measured(tuple(rows), signature, tuple(notes))


def read_evidence(frame: pd.DataFrame, library: Library, readings: Readings) -> list[Evidence | None]:
    """The evidence of each row's text; None where the story's text is not known."""
    columns = (frame[name].tolist() for name in ("dataset", "story", "criterion", "text"))
    return [
        evidence(readings(text).quoting, library.of(dataset, story, criterion))
        if library.knows(dataset, story)
        else None
        for dataset, story, criterion, text in zip(*columns, strict=True)
    ]


def _groundedness(frame: pd.DataFrame, evidences: Sequence[Evidence | None], common: Floats) -> Groundedness:
    has_story = np.array([item is not None for item in evidences])
    story = story_codes(frame)
    defined = [item for item in evidences if item is not None]
    pointing = np.array(
        [item.count("quotes", "story") + item.count("names", "story") > 0 for item in defined], dtype=float
    )
    unsupported = np.array([item.count("quotes", "nowhere") > 0 for item in defined], dtype=float)
    quotes, names = sum(len(item.quotes) for item in defined), sum(len(item.names) for item in defined)
    return Groundedness(
        pointing=_share(pointing, story[has_story]),
        quotes=quotes,
        quotes_story=_part(sum(item.count("quotes", "story") for item in defined), quotes, "quotation"),
        quotes_nowhere=_part(sum(item.count("quotes", "nowhere") for item in defined), quotes, "quotation"),
        names=names,
        names_story=_part(sum(item.count("names", "story") for item in defined), names, "name"),
        names_nowhere=_part(sum(item.count("names", "nowhere") for item in defined), names, "name"),
        unsupported=_share(unsupported, story[has_story]),
        boilerplate=_mean(common, story),
        texts=len(frame),
    )


def _part(count: int, total: int, noun: str) -> Estimate:
    return Estimate(count / total, total) if total else Estimate.undefined(f"no {noun}")


def _mean(common: Floats, story: NDArray[np.int64]) -> Estimate:
    defined = ~np.isnan(common)
    if not defined.any():
        return Estimate.undefined(f"fewer than {MIN_STORIES} stories, or texts shorter than a run")
    return clustered(common[defined], story[defined], bounds=SHARE)


def _share(hits: Floats, story: NDArray[np.int64]) -> Estimate:
    return clustered_proportion(hits, story) if hits.size else Estimate.undefined("no story's text is known")
