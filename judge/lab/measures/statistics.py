"""Surface statistics of a story and of its overlap with the story-prompt, from own tokens and from spaCy's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from judge.base.errors import MissingExtraError
from judge.inputs import text_features
from judge.lab.measures import Direction, Family, Item, Measure, Scored, Tools

_WHAT = {
    "length": "tokens of the story",
    "compression": "tokens of the story-prompt per token of the story",
    "coverage": "share of the story's tokens in fragments copied from the story-prompt",
    "density": "sum of the squared lengths of these fragments per token of the story",
    **{f"novelty-{n}": f"share of the story's distinct {n}-grams that the story-prompt lacks" for n in (1, 2, 3)},
    **{f"repetition-{n}": f"share of the story's distinct {n}-grams that occur more than once" for n in (1, 2, 3, 4)},
    "vocabulary": "mean share of distinct words in windows of 50 words, or of all words of a shorter story",
    "word-length": "mean number of letters of a word",
    "long-words": "share of words of more than six letters",
    "packed": "bytes of the story compressed by zlib per byte of the story",
    "punctuation": "share of tokens that are no words",
    "quotes": "share of tokens that are quotation marks",
    "commas": "share of tokens that are commas",
    "function-words": "share of tokens that are function words",
    "pronouns": "share of tokens that are pronouns",
    "being": "share of tokens that are forms of be and have",
    "prompt-words": "share of the story-prompt's content words that the story contains",
    "sentences": "sentences",
    "sentence-length": "mean words of a sentence",
    "sentence-spread": "standard deviation of the number of words of a sentence",
    "duplicate-sentences": "share of sentences that repeat an earlier sentence",
    "sentence-overlap": "mean share of content words that neighbouring sentences share",
    "repeats-in-sentence": "mean share of content words that repeat within their sentence",
    "words-given-before": "mean share of content words that occur in an earlier sentence",
    "stutter": "share of words that repeat the word before them",
}
_WORSE = ("repetition", "duplicate-sentences", "repeats-in-sentence", "stutter")


def _direction(name: str) -> Direction:
    return -1 if name.startswith(_WORSE) else 0


def _own(items: Sequence[Item], _: Tools) -> list[Scored]:
    return [Scored(text_features.own_features(item.text, item.story_prompt)) for item in items]


def _by_spacy(items: Sequence[Item], _: Tools) -> list[Scored]:
    tokens = lru_cache(maxsize=2048)(lambda text: [token.text for token in _tokenizer()(text)])
    return [
        Scored(text_features.features_of_tokens(tokens(f"{item.text}\n"), tokens(f"{item.story_prompt}\n")))
        for item in items
    ]


@cache
def _tokenizer() -> Any:
    try:
        import spacy
    except ImportError as error:
        raise MissingExtraError("HANNA's statistics, which are of spaCy's tokens,", "spacy") from error
    return spacy.blank("en").tokenizer


FAMILIES = (
    Family(
        name="statistics",
        source="Grusky et al. 2018, Fabbri et al. 2021; own",
        needs=("story-prompt",),
        score=_own,
        measures=tuple(Measure(name, name, _direction(name), f"{what}; own tokens") for name, what in _WHAT.items()),
    ),
    Family(
        name="statistics-spacy",
        source="Grusky et al. 2018, Fabbri et al. 2021; own, on spaCy's tokens as SummEval has them",
        needs=("story-prompt",),
        distributions=("spacy",),
        extra="spacy",
        score=_by_spacy,
        measures=tuple(
            Measure(
                f"{name}-hanna",
                name,
                _direction(name),
                f"{_WHAT[name]}; tokens of spaCy's blank English, a newline behind both texts",
                as_published=True,
            )
            for name in text_features.SCORE_FILE_FEATURES
        ),
    ),
)
