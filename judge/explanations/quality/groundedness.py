"""Groundedness of explanations: quotations and names from the story, unsupported claims, boilerplate. The numbers do
not show whether a quotation supports the rating. A text without either may still be about the story, and a quotation
found in no source may be irony."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.explanations.quality.options import NumbersOptions
from judge.explanations.quality.quoted_evidence import Evidence, Library, Readings, evidence
from judge.explanations.quality.specificity import BY_CRITERION, STORY, Measured, Row, codes, groups, rows_with
from judge.stats.estimation.means import SHARE, clustered
from judge.stats.estimation.sample_size import clustered_proportion

# Boilerplate: the share of an explanation that the same judge also writes about many other stories.

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
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
    codes = [[number.setdefault(w, len(number)) for w in _WORDS.findall(text.lower())] for text in texts]
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
        evidence(readings.of(text).quoting, library.of(dataset, story, criterion))
        if library.knows(dataset, story)
        else None
        for dataset, story, criterion, text in zip(*columns, strict=True)
    ]


def _groundedness(frame: pd.DataFrame, evidences: Sequence[Evidence | None], common: Floats) -> Groundedness:
    has_story = np.array([item is not None for item in evidences])
    story = codes(frame, STORY) if bool(rows_with(frame, "story").all()) else np.arange(len(frame), dtype=np.int64)
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
