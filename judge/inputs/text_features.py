"""Readable features of a story's surface: length, repetition, sentences, vocabulary. They do not measure quality.

Tokens are words and punctuation marks with their letter case; an English contraction is two tokens (``did n't``, ``she
's``). HANNA's released score file has ten of these features, the `SCORE_FILE_FEATURES`, computed from spaCy's tokens
with a newline at the end. Compared on the 96 human stories whose texts are released, the two values are exactly equal
in 8 stories for length, 25 for novelty-2, 82 for novelty-3, 5 for repetition-1, 5 for repetition-2, 6 for repetition-3,
and in none for compression, coverage, density and novelty-1. Pearson's r with the columns is between .979 (novelty-2)
and .9993 (compression). Length differs by at most 2 tokens in 69 stories, and by 187 in the worst story, which contains
a line of underscores.

Plain Python on purpose: the control judge computes its ratings from these features during a run."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import eq

from judge.base.late_pattern import late

# Our name -> column of HANNA's released score file that measures the same, over other tokens (see above).
SCORE_FILE_FEATURES: dict[str, str] = {
    "length": "Text length ¤§",
    "compression": "Compression ¤§",
    "coverage": "Coverage ¤§",
    "density": "Density ¤§",
    "novelty-1": "Novelty-1 ¤§",
    "novelty-2": "Novelty-2 ¤§",
    "novelty-3": "Novelty-3 ¤§",
    "repetition-1": "Repetition-1 ¤§",
    "repetition-2": "Repetition-2 ¤§",
    "repetition-3": "Repetition-3 ¤§",
}

# Features that act by ratio, not by difference: regressions read log(value + offset) of them.
LOG_OFFSETS: dict[str, float] = {
    "length": 1,
    "compression": 0.01,
    "density": 0.05,
    "repetition-2": 0.01,
    "repetition-3": 0.01,
    "repetition-4": 0.01,
    "sentences": 1,
    "sentence-length": 1,
    "sentence-spread": 1,
}

_TOKEN = late(
    r"\w+(?:(?<=[nN])['’][tT]\b)?"  # a word; with its n't, which is cut off afterwards
    r"|['’](?:[sSmMdD]|[rR][eE]|[vV][eE]|[lL][lL])\b"
    r"|\.{2,}|-{2,}|``|''|[^\w\s]"
)
_NOT = ("n't", "n’t", "N'T", "N’T", "N't", "N’t", "n'T", "n’T")
_SENTENCE_END = late(r"[.!?…][\"'”’)\]]*\s+|\n")
_END_MARKS = " .!?…\"'”’)]"
_WORD = late(r"\w")
_WORDS = late(r"\w+")
_QUOTES = frozenset({'"', "“", "”", "„", "«", "»", "``", "''"})
# Words: windows of one length, so that the share does not fall with the length of a story.
_WINDOW = 50

_SENTENCE_FEATURES = (
    "sentences",
    "sentence-length",
    "sentence-spread",
    "duplicate-sentences",
    "sentence-overlap",
    "repeats-in-sentence",
    "words-given-before",
)
_PRONOUN_LIST = (
    "i me my myself we our us you your he him his himself she her hers herself it its itself they them their"
)
_BEING_LIST = "am is are was were be been being 's 're 'm had has have"
_OTHER_LIST = (
    "a an the and or but if then so because as of at by for with about against between into through during before "
    "after above below to from up down in out on off over under again here there when where why how all any both "
    "each few more most other some such no nor not only own same than too very can will just should could would "
    "now ours yours theirs themselves yourself what which who whom this that these those do does did doing having "
    "n't 've 'll 'd s t"
)
_PRONOUNS = frozenset(_PRONOUN_LIST.split())
_BEING = frozenset(_BEING_LIST.split())
# English words that carry grammar rather than matter.
_FUNCTION_WORDS = _PRONOUNS | _BEING | frozenset(_OTHER_LIST.split())


def tokens(text: str) -> list[str]:
    """Words and punctuation marks of the text in order, with their letter case."""
    words: list[str] = _TOKEN.findall(text)
    if not any(mark in text for mark in _NOT):
        return words
    parts: list[str] = []
    for token in words:
        if len(token) > 3 and token.endswith(_NOT):
            parts += (token[:-3], token[-3:])
        else:
            parts.append(token)
    return parts


def length(text: str) -> int:
    """Number of tokens (words and punctuation marks) of the text."""
    return len(tokens(text))


def sentences(text: str) -> list[str]:
    """Sentences with a word, split at line ends and at . ! ? … before a blank; blanks are collapsed, end marks
    removed."""
    parts = (" ".join(part.split()).rstrip(_END_MARKS) for part in _SENTENCE_END.split(text))
    return [part for part in parts if _WORD.search(part)]


def score_file_features(text: str, story_prompt: str) -> dict[str, float]:
    """The ten features `SCORE_FILE_FEATURES` of one story by name, with the story-prompt as source text.

    length: tokens. compression: tokens of the story-prompt / tokens of the story. novelty-n: share of the story's
    distinct n-grams that the story-prompt lacks. repetition-n: share of them that occur more than once. coverage and
    density: sum of the lengths, and of the squared lengths, of the fragments copied from the story-prompt, per token of
    the story; fragments are matched greedily and ignore letter case (Grusky et al. 2018, section 4). In a story without
    n-grams, repetition is 0 and novelty is 1."""
    return features_of_tokens(tokens(text), tokens(story_prompt))


def features_of_tokens(story: Sequence[str], prompt: Sequence[str]) -> dict[str, float]:
    """Features as in `score_file_features`, from tokens of any tokenizer."""
    size = len(story)
    fragments = _copied_fragments([*map(str.lower, story)], [*map(str.lower, prompt)])
    values: dict[str, float] = {
        "length": float(size),
        "compression": len(prompt) / size if size else 0.0,
        "coverage": sum(fragments) / size if size else 0.0,
        "density": sum(n * n for n in fragments) / size if size else 0.0,
    }
    for order in (1, 2, 3):
        counts = _ngram_counts(story, order)
        prompt_grams = set(zip(*(prompt[i:] for i in range(order)), strict=False))
        values[f"novelty-{order}"] = 1 - len(prompt_grams & counts.keys()) / len(counts) if counts else 1.0
        values[f"repetition-{order}"] = _repeated_share(counts)
    return values


def own_features(text: str, story_prompt: str) -> dict[str, float]:
    """`score_file_features` and further features, for data without a score file. Counts are tokens or sentences; shares
    lie in 0-1. Similarity of sentences is the share of common word types (Jaccard)."""
    story, prompt = tokens(text), tokens(story_prompt)
    lower = [t.lower() for t in story]
    words = [t for t in lower if t[0].isalnum()]
    values = features_of_tokens(story, prompt)
    values.update(_vocabulary(words, text))
    values.update(_wording(lower, words, prompt))
    values.update(_sentence_features(sentences(text.lower())))
    values["repetition-4"] = _repeated_share(_ngram_counts(story, 4))
    values["stutter"] = sum(map(eq, words, words[1:])) / max(len(words), 1)
    return values


def for_regression(features: Mapping[str, float]) -> dict[str, float]:
    """Features for regressions: those in `LOG_OFFSETS` become log(value + offset), the others are unchanged."""
    return {
        name: math.log(value + LOG_OFFSETS[name]) if name in LOG_OFFSETS else value for name, value in features.items()
    }


def _vocabulary(words: Sequence[str], text: str) -> dict[str, float]:
    count = max(len(words), 1)
    sizes = [*map(len, words)]
    raw = text.encode()
    return {
        "vocabulary": _windowed_type_share(words),
        "word-length": sum(sizes) / count,
        "long-words": sum(n > 6 for n in sizes) / count,
        "packed": len(zlib.compress(raw, 6)) / len(raw) if raw else 0.0,
    }


def _wording(lower: Sequence[str], words: Sequence[str], prompt: Sequence[str]) -> dict[str, float]:
    size, counts = max(len(lower), 1), Counter(lower)
    wanted = {t.lower() for t in prompt if t[0].isalnum()} - _FUNCTION_WORDS
    return {
        "punctuation": 1 - len(words) / size,
        "quotes": sum(counts[t] for t in _QUOTES) / size,
        "commas": counts[","] / size,
        "function-words": sum(counts[t] for t in counts.keys() & _FUNCTION_WORDS) / size,
        "pronouns": sum(counts[t] for t in _PRONOUNS) / size,
        "being": sum(counts[t] for t in _BEING) / size,
        "prompt-words": len(wanted & counts.keys()) / len(wanted) if wanted else 0.0,
    }


def _sentence_features(parts: Sequence[str]) -> dict[str, float]:
    # They include signs of repeated, disconnected or stuttering text. `parts` are in lower case.
    count = len(parts)
    if not count:
        return dict.fromkeys(_SENTENCE_FEATURES, 0.0)
    sizes = [part.count(" ") + 1 for part in parts]
    mean = sum(sizes) / count
    overlap = repeats = given = 0.0
    seen: set[str] = set()
    before: set[str] = set()
    for part in parts:
        content = [w for w in _WORDS.findall(part) if w not in _FUNCTION_WORDS]
        types = set(content)
        if types:
            repeats += 1 - len(types) / len(content)
            given += len(types & seen) / len(types)
            overlap += len(types & before) / len(types | before)
        seen |= types
        before = types
    # In whole numbers: since Python 3.12 sum() rounds fractions otherwise than before.
    spread = math.sqrt(count * sum(n * n for n in sizes) - sum(sizes) ** 2) / count
    shares = (1 - len(set(parts)) / count, overlap / max(count - 1, 1), repeats / count, given / max(count - 1, 1))
    return dict(zip(_SENTENCE_FEATURES, (float(count), mean, spread, *shares), strict=True))


def _ngram_counts(items: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(items[i:] for i in range(order)), strict=False))


def _repeated_share(counts: Counter[tuple[str, ...]]) -> float:
    return sum(n > 1 for n in counts.values()) / len(counts) if counts else 0.0


def _windowed_type_share(words: Sequence[str]) -> float:
    # Over all windows of 50 words: unlike the type-token ratio, it does not decrease with text length.
    if len(words) <= _WINDOW:
        return len(set(words)) / len(words) if words else 0.0
    last = len(words) - _WINDOW
    latest: dict[str, int] = {}
    total = 0
    for at, word in enumerate(words):
        # the word is new in every window that holds it and starts after its previous place
        first = max(latest.get(word, -1) + 1, at - _WINDOW + 1)
        total += max((at if at < last else last) - first + 1, 0)
        latest[word] = at
    return total / _WINDOW / (last + 1)


def _copied_fragments(story: Sequence[str], prompt: Sequence[str]) -> list[int]:
    # Greedily: at each position of the story the longest match is taken.
    runs = _runs(prompt)
    lengths: list[int] = []
    state = size = 0
    for token in story:
        onward = runs[state].get(token)
        if onward is None:
            if size:
                lengths.append(size)
            size = 0
            onward = runs[0].get(token)
        state = onward or 0
        size += onward is not None
    return [*lengths, size] if size else lengths


def _runs(tokens: Sequence[str]) -> list[dict[str, int]]:
    # Suffix automaton (Blumer et al. 1985): for each state, the next state by token. The paths from state 0 are all
    # contiguous parts of the sequence; its size is at most proportional to the length.
    ways: list[dict[str, int]] = [{}]
    longest, link = [0], [-1]
    last = 0
    for token in tokens:
        new = len(ways)
        ways.append({})
        longest.append(longest[last] + 1)
        link.append(0)
        at = last
        while at >= 0 and token not in ways[at]:
            ways[at][token] = new
            at = link[at]
        if at >= 0:
            behind = ways[at][token]
            if longest[behind] != longest[at] + 1:
                copy = len(ways)
                ways.append(dict(ways[behind]))
                longest.append(longest[at] + 1)
                link.append(link[behind])
                while at >= 0 and ways[at].get(token) == behind:
                    ways[at][token] = copy
                    at = link[at]
                link[behind], behind = copy, copy
            link[new] = behind
        last = new
    return ways
