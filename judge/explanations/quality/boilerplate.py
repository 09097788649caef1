"""Boilerplate: the share of an explanation that the same judge also writes about many other stories.

A word n-gram is boilerplate if it occurs in the judge's explanations of at least a given share of the other stories,
and of at least three. Copied guidelines and words of the question count too, because they say nothing about this story.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
MIN_STORIES = 10
LEAST = 3
"""Stories below which there is no share, and other stories a run must stand in at least."""


def boilerplate(texts: Sequence[str], story: Codes, words: int, share: float) -> Floats:
    """Share of each text's n-grams of `words` words that are boilerplate among these texts, which are all by one judge.

    Parameters
    ----------
    texts : sequence of str
    story : array of int, shape (n texts,)
        Index of each text's story, from 0.
    words : int
        Length of an n-gram.
    share : float
        An n-gram is boilerplate if it occurs in texts on at least this share of the other stories.

    Returns
    -------
    array, shape (n texts,)
        0-1; NaN for a text with fewer than `words` words, and for all texts with fewer than `MIN_STORIES` stories.
    """
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
    """(code, text) of all n-grams of `words` words in lower case, as two arrays: the code (from 0) of each n-gram,
    equal for equal n-grams, and the index of the text that contains it.

    N-grams are identified by 64-bit hashes. With two million n-grams, the probability that any two share a hash is
    about 1e-7.
    """
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
